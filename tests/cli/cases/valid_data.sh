# A validation part from a file of its own, for train and update.
make() { awk -v n=$1 -v seed=$2 'BEGIN { srand(seed); print "a,b,kind"
    for (i = 0; i < n; i++) { k = i % 3; printf "%.3f,%.3f,%s\n", k + rand(), 2 * rand() - k, substr("xyz", k + 1, 1) } }'; }
make 150 1 > t.csv
make 30 2 > v.csv
enhope train --data t.csv --label kind --valid-data v.csv --n-epochs 10 -o t.safetensors 2>&1 | sed -n 's/^\(Errors with 95 % intervals: validation\) [0-9.]*\( % of [0-9]*\).*\(training\) [0-9.]*\( % of [0-9]*\).*/\1\2 \3\4/p; /samples/p'
enhope update t.safetensors --data t.csv --label kind --valid-data v.csv --n-epochs 2 -o u.safetensors 2>&1 | sed -n 's/^\(Errors with 95 % intervals: validation\) [0-9.]*\( % of [0-9]*\).*\(training\) [0-9.]*\( % of [0-9]*\).*/\1\2 \3\4/p; /samples/p'
# a run with checkpoints resumes only with the same validation part
enhope train --data t.csv --label kind --valid-data v.csv --n-epochs 10 --checkpoint run --every 0s -q -o c.safetensors
cmp t.safetensors c.safetensors && echo "the same model"
enhope train --data t.csv --label kind --n-epochs 10 --checkpoint run --resume -q -o c.safetensors 2>&1 | sed 's/run[^ ]*:/run:/'
# columns are found by name and encoded as in the training data
awk -F, 'NR == 1 { print "a,b,color,kind" } NR > 1 { print $1 "," (NR % 9 ? $2 : "") "," (NR % 2 ? "red" : NR % 7 ? "blue" : "green") "," $3 }' t.csv > tc.csv
awk -F, 'NR == 1 { print "kind,color,a,b" } NR > 1 { print $3 ",red," $1 "," $2 }' v.csv > vc.csv
enhope train --data tc.csv --label kind --valid-data vc.csv --n-epochs 3 -o tc.safetensors 2>&1 | grep samples
echo "== refused"
try() { enhope train --data t.csv --label kind -q -o no.safetensors "$@" 2>&1; }
try --valid-data v.csv --validation-fraction 0.2
try --valid-data missing.csv
sed 's/x$/w/' v.csv > other.csv; try --valid-data other.csv
sed '1s/b/c/' v.csv > named.csv; try --valid-data named.csv
cut -d, -f1,3 v.csv > narrow.csv; try --valid-data narrow.csv
enhope train --data t.csv --label kind --valid-data v.csv -o v.csv 2>&1
ls no.safetensors 2> /dev/null
true

# Weights of samples from a column of a table.
make() { awk -v n=$1 -v seed=$2 'function uniform() { seed = seed * 16807 % 2147483647; return seed / 2147483647 }
BEGIN {
    print "x,w,y,kind"
    for (i = 0; i < n; i++) {
        k = i % 2
        printf "%.4f,%s,%.4f,%s\n", 3 * k + 4 * uniform(), k ? "20" : "1", uniform(), substr("ab", k + 1, 1)
    } }'; }
make 300 12345 > t.csv
train() { enhope train --label kind --n-epochs 40 --random-state 1 -q "$@"; }
second() { enhope predict $1 --data t.csv --label none 2> /dev/null | grep -c ',b$' | awk '{ print ($1 > 180 ? "more" : "half") }'; }
train --data t.csv --ignore w -o plain.safetensors
train --data t.csv --weight w -o heavy.safetensors
echo "the second class: $(second plain.safetensors), with weights $(second heavy.safetensors)"
enhope info heavy.safetensors | sed -n '/^columns/,/^settings/p'
echo "== a common factor and a number instead of the name"
sed 's/,20,/,40,/; s/,1,/,2,/' t.csv > double.csv
train --data double.csv --weight 2 -o double.safetensors
cmp heavy.safetensors double.safetensors && echo "the same model"
echo "== no column of labels or ids, no other method, no other format"
enhope data t.csv --weight w
train --data t.csv --weight kind
train --data t.csv --weight w --id w
train --data t.csv --weight w,x
train --data t.csv --weight weight
train --data t.csv --weight w --method hope
enhope train --data synthetic:digits,n=100,seed=1 --weight w -q
echo "== weights that are none"
sed '4s/,1,/,-1,/; 5s/,20,/,much,/; 7s/,20,/,,/' t.csv > bad.csv
train --data bad.csv --weight w
train --data bad.csv --weight w --skip-bad -o skip.safetensors && echo "skipped"
sed 's/,20,/,0,/; s/,1,/,0,/' t.csv > zero.csv
train --data zero.csv --weight w
echo "== the validation error is weighted"
enhope train --data t.csv --label kind --weight w --n-epochs 3 --validation-fraction 0.3 -o v.safetensors 2> log | sed 's/[0-9][0-9.]*/#/g; 1q'
grep -o 'lowest weighted.*' log
enhope cv --data t.csv --label kind --weight w --n-epochs 3 --folds 2 2> /dev/null | sed 's/[0-9][0-9.]*/#/g' | head -n 3

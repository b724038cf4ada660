# Permutation importance: informative columns come first, for dense, sparse and image data.
awk 'BEGIN { srand(4); print "weak,noise,strong,kind"
    for (i = 0; i < 300; i++) { k = i % 3; printf "%.3f,%.3f,%.3f,%s\n", k + 3 * rand(), rand(), 2 * k + 3 * rand(), substr("xyz", k + 1, 1) } }' > t.csv
awk -F, 'NR > 1 { print $4 == "x" ? 1 : $4 == "y" ? 2 : 3, "1:" $1, "2:" $2, "3:" $3 }' t.csv > t.libsvm
enhope train --data t.csv --label kind --split 0.5@1 --n-epochs 20 -q -o t.safetensors
enhope importance t.safetensors --data t.csv --label kind --split 0.5@1 -o t.out > first
sed 's/-*[0-9]*\.[0-9][0-9]*/N/g; s/  */ /g' first
enhope importance t.safetensors --data t.csv --label kind --split 0.5@1 | cmp - first && echo "the same again"
cut -d, -f1 t.out
enhope importance t.safetensors --data t.csv --label kind --split 0.5@1 -s 5 --repeats 1 --json > t.json
python3 - <<'END'
import json
found = json.load(open("t.json"))
value = {c["column"]: c["error_percent"] for c in found["columns"]}
print(found["n"], found["repeats"], "strong first" if value["strong"] > 30 and value["noise"] < 5 else value)
END
enhope train --data t.libsvm --n-epochs 20 -q -o s.safetensors
enhope importance s.safetensors --data t.libsvm --limit 100 | sed -n 's/^\(error:\) [0-9.]* %\( of [0-9]* samples\).*/\1\2/p; s/^\(input [0-9]\).*/\1/p' | head -n 2
enhope train --data synthetic:digits,n=300,seed=1 --n-epochs 2 -q -o d.safetensors
enhope importance d.safetensors --data synthetic:digits,n=300,seed=1 --limit 40 --repeats 1 | tail -n 1
echo "== refused"
cut -d, -f1-3 t.csv > inputs.csv
enhope importance t.safetensors --data inputs.csv --label none 2>&1
enhope importance t.safetensors 2>&1
enhope importance t.safetensors --data t.csv -o t.csv 2>&1
enhope importance t.safetensors --data t.csv --repeats 0 2>&1
true

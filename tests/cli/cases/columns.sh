# A table of numbers, categories, booleans, dates, ids and missing values: the model keeps its columns and finds them by
# name in other tables.
make() { awk -v n=$1 -v seed=$2 'function uniform() { seed = seed * 16807 % 2147483647; return seed / 2147483647 }
BEGIN {
    print "id,age,color,member,day,time,same,kind"
    split("red green blue", color)
    for (i = 0; i < n; i++) {
        k = int(3 * uniform())
        age = i % 6 ? sprintf("%.1f", 20 + 8 * k + 6 * uniform()) : ""
        col = i % 7 ? color[1 + (k + (uniform() < 0.1)) % 3] : "NA"
        printf "p%04d,%s,%s,%s,2024-%02d-%02d,%.2f,7,%s\n", i, age, col, uniform() < 0.3 + 0.2 * k ? "yes" : "no",
            1 + int(12 * uniform()), 1 + int(28 * uniform()), 1700000000 + 0.5 * k + 0.2 * uniform(), substr("xyz", k + 1, 1)
    } }'; }
make 200 12345 > t.csv
make 100 67891 > n.csv
enhope train --data t.csv --label kind --n-epochs 60 --random-state 1 -q -o m.safetensors
enhope info m.safetensors | sed -n '/^label/p; /^columns/,/^settings/p'
enhope info m.safetensors --json | python3 -c 'import json, sys
i = json.load(sys.stdin)
print(i["label_column"], [c["name"] for c in i["columns"]], i["columns"][4]["offset"] > 1.69e9)'
error() { sed -n 's/^error: \([0-9]*\).*/\1/p' | awk '{ print $1 < 15 ? "good" : "bad: " $1 " %" }'; }
enhope eval m.safetensors --data n.csv 2> /dev/null | error
echo "== columns in another order, without those that training did not use"
cut -d, -f5,6 n.csv > a; cut -d, -f3 n.csv > b; cut -d, -f2,4 n.csv > c; cut -d, -f8 n.csv > d
paste -d, a d b c > order.csv
head -n 2 order.csv
enhope predict m.safetensors --data n.csv -o p.csv 2> /dev/null
enhope predict m.safetensors --data order.csv -o q.csv 2> /dev/null
cut -d, -f2 p.csv > p; cut -d, -f2 q.csv > q
wc -l < p
cmp p q && echo "the same labels"
echo "== missing and unknown"
cut -d, -f1,2,4- n.csv | sed '1s/age/Age/' > lack.csv
enhope predict m.safetensors --data lack.csv
sed 's/,red,/,mauve,/; s/,blue,/,,/' n.csv > odd.csv
enhope predict m.safetensors --data odd.csv -o /dev/null
sed 's/,yes,/,,/' n.csv > gaps.csv
enhope predict m.safetensors --data gaps.csv -o /dev/null
sed 's/2024-05-/2024-55-/' n.csv > date.csv
enhope predict m.safetensors --data date.csv -o /dev/null > /dev/null 2> err; grep -c day err
echo "== shards keep the columns"
enhope convert --data t.csv --label kind --shard-rows 70 -o shards -q
enhope train --data shards --n-epochs 60 --random-state 1 -q -o s.safetensors
enhope eval s.safetensors --data order.csv 2> /dev/null | error
enhope convert --data n.csv --label kind -o other -q
enhope eval m.safetensors --data other 2>&1 | sed 's/[0-9][0-9.]*/#/g'
echo "== an update and validation data use the columns of the training data"
enhope train --data t.csv --label kind --valid-data order.csv --n-epochs 60 --random-state 1 -q -o v.safetensors
enhope eval v.safetensors --data n.csv 2> /dev/null | error
enhope update m.safetensors --data order.csv --n-epochs 5 -q -o u.safetensors
enhope eval u.safetensors --data n.csv 2> /dev/null | error

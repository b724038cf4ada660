# The description of a data file.
printf 'width,height,kind\n1.5,2,oak\n2.5,3,elm\n3.5,4,oak\n' > trees.csv
enhope data trees.csv
enhope data --data trees.csv --label none --limit 2 || echo "exit $?"
printf '1 1:0.5 4:2\n2 2:1.5\n1 4:3.25\n' > three.svm
enhope data three.svm
enhope data trees.csv --json
enhope data synthetic:digits,n=60,seed=1 --json | python3 \
    -c 'import json, sys; d = json.load(sys.stdin); print(d["n"], d["inputs"], d["image"], len(d["classes"]))'
printf '1,2\n3,4\n' | enhope data - --label none --json | python3 -m json.tool > /dev/null && echo "unlabeled data is JSON"
enhope data
echo "exit $?"

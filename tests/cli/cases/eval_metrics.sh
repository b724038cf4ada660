# Metrics of eval agree with those computed from the output of predict, also with costs; above 40 classes the
# table has the worst ones only.
enhope train --data synthetic:blobs,n=600,classes=3,inputs=4,spread=0.9,seed=3 --n-factors 8 --n-hidden 6 --n-epochs 8 \
    --batch-size 60 --quiet -o m.safetensors
data="--data synthetic:blobs,n=400,classes=3,inputs=4,spread=0.9,seed=3,part=test"
for cost in "" "--cost 1=3,2=0.25"; do
    enhope eval m.safetensors $data $cost --json > e.json
    enhope predict m.safetensors $data $cost --proba -o p.csv
    enhope embed m.safetensors $data -o y.csv
    python3 - <<'END_OF_PYTHON'
import csv, json, math
e = json.load(open("e.json"))
rows = list(csv.DictReader(open("p.csv")))
label = [row["label"] for row in rows]
truth = [row["label"] for row in csv.DictReader(open("y.csv"))]
p = [[float(row[f"p({name})"]) for name in e["classes"]] for row in rows]
cost = [e.get("costs", {}).get(name, 1) for name in e["classes"]]
best = [max(a * b for a, b in zip(row, cost)) for row in p]
assert cost == [1, 1, 1] or all(row[int(name)] * cost[int(name)] > 0.9999 * top for row, name, top in zip(p, label, best))
close = lambda a, b: abs(a - b) < 1e-4
f1s = []
for k, row in enumerate(e["per_class"]):
    right = sum(a == b == row["class"] for a, b in zip(label, truth))
    precision, recall = right / label.count(row["class"]), right / truth.count(row["class"])
    assert close(row["precision"], precision) and close(row["recall"], recall)
    f1s.append(2 * precision * recall / (precision + recall))
    assert close(row["f1"], f1s[-1]) and close(row["recall"], 1 - row["error_percent"] / 100)
    mine, others = ([q[k] for q, t in zip(p, truth) if (t == row["class"]) == is_mine] for is_mine in (True, False))
    pairs = sum((a > b) + 0.5 * (a == b) for a in mine for b in others)
    assert close(row["roc_auc"], pairs / len(mine) / len(others))
assert close(e["f1"], sum(f1s) / 3) and close(e["roc_auc"], sum(row["roc_auc"] for row in e["per_class"]) / 3)
assert close(e["balanced_accuracy_percent"], 100 * sum(row["recall"] for row in e["per_class"]) / 3)
assert close(e["log_loss"], sum(-math.log(q[int(t)]) for q, t in zip(p, truth)) / len(truth)), e["log_loss"]
print("agrees", cost)
END_OF_PYTHON
done
enhope eval m.safetensors $data --cost 1=3,2=0.25 | grep costs
try() { "$@"; echo "exit $?"; }
try enhope eval m.safetensors $data --cost 7=2
try enhope eval m.safetensors $data --cost 1=-2
try enhope eval m.safetensors $data --cost 1=2 --reject margin
try enhope predict m.safetensors $data --cost 1=2 --reject margin=0.1
enhope train --data synthetic:blobs,n=900,classes=45,inputs=4,seed=3 --n-epochs 2 --n-factors 8 --n-hidden 6 --quiet \
    -o many.safetensors
enhope eval many.safetensors --data synthetic:blobs,n=900,classes=45,inputs=4,seed=3 | sed -n '/lowest F1/p; /^class/,/^$/p' |
    awk '/lowest/ { print } /^[0-9]/ { rows++; if ($7 < last) bad++; last = $7 } END { print rows, bad + 0 }'

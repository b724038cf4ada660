# eval --json has its documented keys, and its numbers are consistent with each other and with predict.
enhope train --data synthetic:digits,n=600,seed=1 --n-factors 30 --n-hidden 20 --n-epochs 4 --batch-size 200 --quiet \
    -o m.safetensors
enhope eval m.safetensors --data synthetic:digits,n=300,seed=2 --json > e.json
enhope predict m.safetensors --data synthetic:digits,n=300,seed=2 > p.csv
enhope embed m.safetensors --data synthetic:digits,n=300,seed=2 > y.csv
python3 - <<'END'
import csv, json
e = json.load(open("e.json"))
print(list(e))
c = e["confusion"]
off = sum(sum(row) for row in c) - sum(c[k][k] for k in range(len(c)))
assert e["n"] == 300 == sum(map(sum, c)) and e["errors"] == off and abs(e["error_percent"] - off / 3) < 1e-6
assert [p["class"] for p in e["per_class"]] == e["classes"] and len(c) == 10
assert all(p["n"] == sum(row) and p["errors"] == p["n"] - row[k] for k, (p, row) in enumerate(zip(e["per_class"], c)))
assert all(abs(p["error_percent"] - 100 * p["errors"] / p["n"]) < 1e-6 for p in e["per_class"])
low, high = e["interval_percent"]
assert low <= e["error_percent"] <= high and high - low < 12
assert e["seconds"] > 0 and abs(3e-4 * e["microseconds_per_point"] / e["seconds"] - 1) < 1e-3
predicted = [row["label"] for row in csv.DictReader(open("p.csv"))]
truth = [row["label"] for row in csv.DictReader(open("y.csv"))]
assert sum(a != b for a, b in zip(predicted, truth)) == e["errors"] and len(truth) == 300
assert e["errors"] < 240  # 270 by chance
END

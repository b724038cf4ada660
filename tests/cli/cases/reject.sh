# predict rejects the points that eval reports for a threshold; reliability and coverage match the predictions.
data="--data synthetic:digits,n=300,seed=2"
enhope train --data synthetic:digits,n=900,seed=1 --recipe paper --target-weight sample --n-factors 60 --n-hidden 30 --solver adam --learning-rate 0.02 --n-epochs 20 \
    --batch-size 90 --quiet -o m.safetensors
enhope eval m.safetensors $data --reliability --reject margin > report
sed -n '/^probabilities/s/[0-9.]\{3,\}/#/gp' report
grep -A 1 '^reliability' report
sed -n '/^most confident/,$p' report | sed 's/-*[0-9][0-9.]*$/#/; s/curve [0-9.]*/curve #/; s/ *[0-9]* *[0-9.]*   #/ # # #/; s/^\( *50 *\)[0-9]*/\1#/' # ties may change the count at 50 %
enhope embed m.safetensors $data > y.csv
enhope predict m.safetensors $data --proba -o all.csv
for kind in probability margin distance; do
    enhope eval m.safetensors $data --reject $kind --json > $kind.json
    for row in 0 2 6; do
        value=$(python3 -c "import json; print(json.load(open('$kind.json'))['rejection']['coverage'][$row]['threshold'])")
        enhope predict m.safetensors $data --reject $kind=$value -o $kind.$row.csv
    done
    python3 -c "import json; e = json.load(open('$kind.json')); assert e['errors'] < 90, e['errors']"
    value=$(enhope eval m.safetensors $data --reject $kind --keep 0.8 | awk 'END {print $5}')
    enhope predict m.safetensors $data --reject $kind=$value | grep -c ',[0-9l]' | sed 's/241/240 and a header/'
done
python3 - <<'END'
import csv, json, math
truth = [row["label"] for row in csv.DictReader(open("y.csv"))]
rows = list(csv.DictReader(open("all.csv")))
for kind in "probability", "margin", "distance":
    e = json.load(open(kind + ".json"))
    r = e["rejection"]
    assert r["by"] == kind and [c["share"] for c in r["coverage"]] == [1, 0.99, 0.95, 0.9, 0.8, 0.7, 0.5]
    assert r["coverage"][0]["errors"] == e["errors"] and r["coverage"][0]["n"] == 300 and 0 < r["area_percent"] < 100
    for i in 0, 2, 6:
        label = [row["label"] for row in csv.DictReader(open(f"{kind}.{i}.csv"))]
        kept = [k for k in range(300) if label[k]]
        assert all(label[k] == rows[k]["label"] for k in kept) and len(label) == 300
        assert len(kept) == r["coverage"][i]["n"] >= 300 * r["coverage"][i]["share"]
        assert sum(label[k] != truth[k] for k in kept) == r["coverage"][i]["errors"]
likelihood = sum(-math.log(float(row[f"p({t})"])) for row, t in zip(rows, truth)) / 300
assert abs(e["negative_log_likelihood"] - likelihood) < 1e-4
bins = [[] for _ in range(15)]
for row, t in zip(rows, truth):
    p = float(row[f"p({row['label']})"])
    bins[min(14, int(p * 15))].append((p, row["label"] == t))
assert [b["n"] for b in e["reliability"]] == [len(b) for b in bins]
gap = sum(abs(sum(p for p, _ in b) - sum(right for _, right in b)) for b in bins) / 3
assert abs(gap - e["calibration_error_percent"]) < 1e-3 and e["temperature"] > 0
END
enhope eval m.safetensors $data --reject luck
echo "exit $?"
enhope eval m.safetensors $data --keep 0.9
echo "exit $?"
enhope eval m.safetensors $data --reject margin --keep 1.5
echo "exit $?"
enhope predict m.safetensors $data --reject margin
echo "exit $?"
enhope predict m.safetensors $data --reject luck=1
echo "exit $?"
enhope predict m.safetensors $data --reject margin=much
echo "exit $?"
enhope eval m.safetensors $data --references training --reject margin
echo "exit $?"

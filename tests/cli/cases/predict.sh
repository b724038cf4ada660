# predict: labels, probabilities that sum to 1, the nearest exemplar and its distance.
enhope train --data synthetic:blobs,n=180,classes=3,inputs=4,spread=0.05,seed=3 --n-factors 8 --n-hidden 6 --n-epochs 8 \
    --batch-size 60 -z 6 --quiet
data="--data synthetic:blobs,n=30,classes=3,inputs=4,spread=0.05,seed=3"
enhope predict model.safetensors $data -o p.csv
enhope predict model.safetensors $data --proba --winner -o all.csv
enhope embed model.safetensors $data -o y.csv
enhope embed model.safetensors $data -o y.npy
python3 - <<'END'
import csv, struct
rows = list(csv.DictReader(open("all.csv")))
print(list(rows[0]))
plain = [row["label"] for row in csv.DictReader(open("p.csv"))]
placed = list(csv.DictReader(open("y.csv")))
print(list(placed[0]), len(rows), plain == [row["label"] for row in rows] == [row["label"] for row in placed])
shares = [[float(row[key]) for key in row if key.startswith("p(")] for row in rows]
assert all(abs(sum(s) - 1) < 1e-4 and min(s) >= 0 for s in shares)
assert all(row[f"p({row['label']})"] == max((row[k] for k in row if k.startswith("p(")), key=float) for row in rows)
assert all(0 <= int(row["winner"]) < 6 and float(row["distance"]) >= 0 for row in rows)
raw = open("y.npy", "rb").read()
assert raw[:8] == b"\x93NUMPY\x01\x00" and len(raw) == 128 + 30 * 2 * 4
print(raw[10:128].decode().strip())
values = struct.unpack("<60f", raw[128:])
written = [float(row[key]) for row in placed for key in ("y1", "y2")]
assert all(abs(a - b) <= 1e-6 * abs(a) for a, b in zip(values, written))
END

# The ending of -o chooses the format of predict and embed; all formats have the same content; other endings are
# refused before anything is read or written.
cat > train.csv <<'DATA'
a,b,label
0.1,0.2,"Grün, spät"
0.15,0.22,"Grün, spät"
0.12,0.19,"Grün, spät"
9.1,9.3,say "no"
9.4,9.2,say "no"
9.2,9.1,say "no"
DATA
enhope train --data train.csv --n-factors 4 --n-hidden 3 --n-epochs 10 --validation-fraction 0 --batch-size 0 -z 2 --quiet -o m
for ending in csv tsv json jsonl npz; do
    enhope predict m --data train.csv --proba --winner -o p.$ending
    enhope embed m --data train.csv -o y.$ending
done
enhope predict m --data train.csv -o p.npy
enhope embed m --data train.csv -o y.npy
enhope predict m --data train.csv -o p.CSV
head -n 2 p.CSV p.jsonl | sed 's/0\.[0-9]*/#/g; s/distance": .*/distance": #}/'
cp p.npz again.npz
enhope predict m --data train.csv --proba --winner -o p.npz
cmp p.npz again.npz && echo "byte-identical"
cat > check.py <<'PYTHON'
import csv, json, sys, zipfile
def csv_rows(path, delimiter):
    return list(csv.DictReader(open(path, encoding="utf-8"), delimiter=delimiter))
for name in "p", "y":
    rows = csv_rows(name + ".csv", ",")
    objects = json.load(open(name + ".json", encoding="utf-8"))
    assert rows == csv_rows(name + ".tsv", "\t") and len(rows) == 6
    assert objects == [json.loads(line) for line in open(name + ".jsonl", encoding="utf-8")]
    for row, other in zip(rows, objects):
        assert list(row) == list(other)
        assert all(row[key] == other[key] if key == "label" else float(row[key]) == other[key] for key in row)
    assert zipfile.ZipFile(name + ".npz").testzip() is None
print(list(rows[0]))
try:
    import numpy
except ImportError:
    sys.exit()
rows = csv_rows("p.csv", ",")
p, y = numpy.load("p.npz"), numpy.load("y.npz")
assert list(p) == ["row", "label", "proba", "classes", "winner", "distance"] and list(y) == ["Y", "label"]
assert p["row"].tolist() == [1, 2, 3, 4, 5, 6] and p["row"].dtype == p["winner"].dtype == numpy.int64
assert p["label"].tolist() == [row["label"] for row in rows] == numpy.load("p.npy").tolist()
assert p["classes"].tolist() == ['Grün, spät', 'say "no"']
assert p["proba"].dtype == p["distance"].dtype == y["Y"].dtype == numpy.float32 and p["proba"].shape == (6, 2)
for k, name in enumerate(p["classes"]):
    assert numpy.allclose(p["proba"][:, k], [float(row[f"p({name})"]) for row in rows], atol=1e-6)
assert numpy.allclose(p["distance"], [float(row["distance"]) for row in rows], atol=1e-5)
assert (y["Y"] == numpy.load("y.npy")).all() and y["Y"].shape == (6, 2)
assert y["label"].tolist() == [row["label"] for row in csv_rows("y.csv", ",")]
PYTHON
python3 check.py
/usr/bin/python3 check.py > /dev/null # Debian's python3-numpy serves the system's own python3
rm -r p.* y.* again.npz check.py
try() { "$@"; echo "exit $?"; }
try enhope predict m --data train.csv -o p.parquet
try enhope embed m --data train.csv -o folder/p.csv.gz
try enhope predict m --data train.csv --proba -o p.npy
try enhope predict m --data train.csv --reject probability=2 -o p.npz
try enhope predict m --data train.csv -o .hidden
ls -A

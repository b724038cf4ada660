# Measures of the map, against the other rows or the train part, with labels and without.
data=synthetic:blobs,n=400,classes=3,inputs=4,seed=2
enhope train --data $data --split 300@1 --n-epochs 3 --n-factors 16 --n-hidden 8 -q -o m.safetensors
for to in rows training; do
    echo "== $to"
    enhope eval m.safetensors --data $data --split 300@1 --map $to > report
    sed -n '/^map/,$p' report | sed 's/0\.[0-9]*/0.x/g'
done
enhope eval m.safetensors --data $data --split 300@1 --map rows --json > report.json
python3 - <<'END' || echo "python3: exit $?"
import json
report = json.load(open("report.json"))
print(sorted(report["map"]), sorted(report["map"]["accuracy"]), report["n"])
assert 0.5 < report["map"]["trustworthiness"] <= 1
END
echo "== without labels"
for i in 1 2 3 4 5 6 7 8 9; do
    for j in 1 2 3; do echo "$i.${j}7,0.$j$i,$((i * j)).5"; done
done > x.csv
enhope train --data x.csv --label none --method pca -q -o p
enhope eval p --data x.csv --label none --map rows | sed 's/0\.[0-9]*/0.x/g'
enhope eval p --data x.csv --label none --map rows --json | grep -o '"rows": 27\|"5": null'
echo "== refused"
enhope eval m.safetensors --data $data --split 300@1 --map columns
echo "exit $?"
enhope eval m.safetensors --data $data --split 300@1 --part test --map training
echo "exit $?"
python3 - <<'END' || echo "python3: exit $?"
import struct, zipfile
def array(shape, kind, form, values):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head += " " * (53 - len(head) % 64 + 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(values), form), *values)
with zipfile.ZipFile("whole.npz", "w") as file: # without parts
    file.writestr("X.npy", array((40, 4), "<f4", "f", [i * 7 % 11 + 0.5 for i in range(160)]))
    file.writestr("y.npy", array((40,), "<i4", "i", [i % 3 for i in range(40)]))
END
enhope eval m.safetensors --data whole.npz --map training
echo "exit $?"

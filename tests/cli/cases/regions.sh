# Every point is in the region of its predicted class, except points on a border.
tiny="--n-factors 8 --n-hidden 6 --n-epochs 4 --batch-size 0 --quiet"
blobs="synthetic:blobs,n=500,classes=5,inputs=5,seed=3"
enhope train --data $blobs $tiny --limit 400 -z 25 -o m.safetensors
enhope embed m.safetensors --data $blobs -o y.csv
cat > check.py <<'END'
import csv, re
from xml.etree import ElementTree
points = [tuple(map(float, row[:2])) for row in list(csv.reader(open("y.csv")))[1:]]
labels = [int(row["label"]) for row in csv.DictReader(open("labels.csv"))]
paths = [p.attrib for p in ElementTree.parse("map.svg").getroot().iter("{http://www.w3.org/2000/svg}path")]
regions = [p["d"] for p in paths if p.get("fill") != "none"]  # one for each class, in their order
dots = [tuple(map(float, d)) for p in paths if p.get("fill") == "none"
        for d in re.findall(r"M(-?[\d.]+) ?(-?[\d.]+)h0", p["d"])]
# from the map to the page: the outermost points are the outermost dots
x, y = zip(*points)
u, v = zip(*dots)
scale = (max(u) - min(u)) / (max(x) - min(x))
page = [(min(u) + scale * (a - min(x)), max(v) - scale * (b - min(y))) for a, b in points]
cells = [(label, [tuple(map(float, c)) for c in re.findall(r"[ML](-?[\d.]+) ?(-?[\d.]+)", cell)])
         for label, region in enumerate(regions) for cell in region.split("z") if cell]

def depth(cell, x, y):
    """Distance inside, in pixels. Corners are rounded to 0.01: short sides have no exact direction."""
    u, v = zip(*cell)
    inside = [x - min(u), max(u) - x, y - min(v), max(v) - y]
    for (a, b), (c, d) in zip(cell, cell[1:] + cell[:1]):
        length = ((c - a) ** 2 + (d - b) ** 2) ** 0.5
        if length > 0.1:
            inside.append(((c - a) * (y - b) - (d - b) * (x - a)) / length)
    return min(inside)

right = wrong = lost = 0
for (x, y), label in zip(page, labels):
    found = {owner for owner, cell in cells if depth(cell, x, y) > -0.3}
    lost += not found
    if len(found) == 1:
        right += found == {label}
        wrong += found != {label}
print(len(regions), "classes,", wrong, "wrong,", lost, "lost,", right > 0.9 * len(points))
END
for k in 1 2 3 5; do
    enhope predict m.safetensors --data $blobs -k $k -o labels.csv
    enhope plot m.safetensors --data $blobs -k $k --regions --no-legend
    python3 check.py
done

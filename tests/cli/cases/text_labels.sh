# Unusual class names in a CSV file, from training to prediction, evaluation and figure.
python3 - <<'END'
import csv, random
random.seed(5)
names = ["rosa & co", 'the "wild" <one>', "Grün, spät"]
with open("flowers.csv", "w", newline="", encoding="utf-8") as f:
    w = csv.writer(f)
    w.writerow(["width", "species", "height", "depth"])
    for i in range(120):
        k = i % 3
        width, height, depth = (round(at + random.gauss(0, 0.3), 4) for at in (5.31 * k, 2.7 - 4.9 * (k == 1), 0))
        w.writerow([width, names[k], height, depth])
END
enhope data flowers.csv --label species
enhope train --data flowers.csv --label species --recipe paper --n-factors 6 --n-hidden 5 --n-epochs 30 --batch-size 0 --validation-fraction 0 \
    --scaling standard --quiet -o f.safetensors
enhope eval f.safetensors --data flowers.csv --label species | sed '/^time:/d; /^probabilities/s/[0-9.]\{3,\}/#/g'
enhope predict f.safetensors --data flowers.csv --label species --limit 4
cut -d, -f1 flowers.csv | head -n 3
enhope eval f.safetensors --data flowers.csv --label species --json > e.json
enhope plot f.safetensors --data flowers.csv --label species -o f.svg
python3 - <<'END'
import json
from xml.etree import ElementTree
print(json.load(open("e.json", encoding="utf-8"))["classes"] == ["Grün, spät", "rosa & co", 'the "wild" <one>'])
texts = [t.text for t in ElementTree.parse("f.svg").iter("{http://www.w3.org/2000/svg}text")]
print([t.encode("ascii", "backslashreplace").decode() for t in texts])
END

# The picture: well-formed, a path per class, a circle twice per exemplar and once in the legend, names escaped, small.
tiny="--factors 8 --hidden 6 --epochs 2 --batch 0 --quiet"
blobs="synthetic:blobs,n=10000,classes=12,inputs=5,seed=1"
enhope train --data $blobs $tiny --limit 300 -z 24 -o m.safetensors
enhope plot m.safetensors --data $blobs --title 'a < b & "c"' --width 500 --height 400 --point 1.5
enhope plot m.safetensors --data $blobs --point 1.5 -o - | cmp -s - map.svg || echo "another size is another picture"
python3 - <<'END'
import os
from xml.etree import ElementTree
space = "{http://www.w3.org/2000/svg}"
root = ElementTree.parse("map.svg").getroot()
print(root.get("width"), root.get("height"), root.find(space + "title").text)
paths = root.findall(f"{space}g/{space}path"), root.findall(space + "path")
print(len(list(root.iter(space + "circle"))), *map(len, paths))
print(os.path.getsize("map.svg") < 300000, len({p.get("stroke") for p in root.findall(space + "path")}))
END
enhope train --data $blobs $tiny --limit 200 --dims 1 -o one.safetensors
enhope plot one.safetensors --data $blobs
echo "exit $?"
enhope train --data $blobs $tiny --limit 200 --dims 3 -o three.safetensors
enhope plot three.safetensors --data $blobs --limit 50 -o three.svg
echo "exit $?"
enhope train --data $blobs --limit 200 --method knn --quiet -o knn.safetensors
enhope plot knn.safetensors --data $blobs --limit 50 -o - 2> /dev/null | grep -c '<circle'
enhope plot m.safetensors --data $blobs --limit 50 --width 3
echo "exit $?"

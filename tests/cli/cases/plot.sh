# The figure: well-formed, a path per class and opacity, circles of exemplars, a legend, escaped names, small.
tiny="--n-factors 8 --n-hidden 6 --n-epochs 2 --batch-size 0 --quiet"
blobs="synthetic:blobs,n=10000,classes=12,inputs=5,seed=1"
enhope train --data $blobs $tiny --limit 300 -z 24 -o m.safetensors
enhope plot m.safetensors --data $blobs --title 'a < b & "c"' --font 'x"y' --width 500 --height 400 --point 1.5
enhope plot m.safetensors --data $blobs --point 1.5 -o - | cmp -s - map.svg || echo "another size gives another figure"
cat > look.py <<'END'
import os, sys
from xml.etree import ElementTree
space = "{http://www.w3.org/2000/svg}"
root = ElementTree.parse(sys.argv[1]).getroot()
paths = root.findall(space + "path")
print(root.get("width"), root.get("height"), root.find(space + "title").text, root.get("font-family"))
print("circles", sum(p.get("d").count("a") // 2 for p in paths), "texts", len(root.findall(space + "text")))
print("colors", len({p.get("fill") if p.get("fill") != "none" else p.get("stroke") for p in paths}))
rings = [i for i, p in enumerate(paths) if p.get("d").count("a") > 2]  # not the one of the legend
dots = [i for i, p in enumerate(paths) if "h0" in p.get("d")]
print("circles below sparse dots", any(rings[-1] < i for i in dots) if rings else None)
print("opaque", not any("opacity" in name for p in paths for name in p.keys()))
print("small", os.path.getsize(sys.argv[1]) < 300000)
END
python3 look.py map.svg
enhope plot m.safetensors --data $blobs --no-legend --labels off --title '' -o bare.svg
python3 look.py bare.svg
enhope train --data $blobs $tiny --limit 200 --n-components 1 -o one.safetensors
enhope plot one.safetensors --data $blobs
echo "exit $?"
enhope train --data $blobs $tiny --limit 200 --n-components 3 -o three.safetensors
enhope plot three.safetensors --data $blobs --limit 50 -o three.svg
echo "exit $?"
enhope plot three.safetensors --data $blobs --limit 50 --regions -o regions.svg
echo "exit $?"
enhope train --data $blobs --limit 200 --method knn --quiet -o knn.safetensors
enhope plot knn.safetensors --data $blobs --limit 50 -o knn.svg 2> /dev/null && python3 look.py knn.svg | grep circles
enhope plot m.safetensors --data $blobs --limit 50 --width 3
echo "exit $?"

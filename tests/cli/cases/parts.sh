# If the data has parts, train reads the train part and other commands the test part: a split, an .npz
# file, synthetic data.
python3 - <<'END'
import struct, zipfile
def npy(shape, values):
    head = repr({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    head += b" " * (117 - len(head)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(values)}f", *values)
def write(name, **parts):
    with zipfile.ZipFile(name, "w") as z:
        for part, n in parts.items():
            z.writestr(f"X{part}.npy", npy((n, 2), [7.3 * (i // 2 % 3) + 0.01 * i for i in range(2 * n)]))
            z.writestr(f"y{part}.npy", npy((n,), [i % 3 for i in range(n)]))
write("halves.npz", _train=30, _test=12)
write("whole.npz", **{"": 30})
END
count() { enhope eval model.safetensors --json "$@" | grep '"n":.*[0-9],$'; }
enhope train --data halves.npz --method knn --n-neighbors 1 --quiet
count --data halves.npz
count --data halves.npz --part train
count --data whole.npz
count --data whole.npz --split 25@1
count --data whole.npz --split 25@1 --part train
count --data whole.npz --part test
count --data synthetic:blobs,n=60,classes=3,inputs=2,seed=1 --limit 7
enhope embed model.safetensors --data synthetic:blobs,n=6,classes=3,inputs=2,seed=1 > made.csv
enhope embed model.safetensors --data synthetic:blobs,n=6,classes=3,inputs=2,seed=1 --part test | cmp - made.csv
enhope embed model.safetensors --data synthetic:blobs,n=6,classes=3,inputs=2,seed=1 --part train | cmp -s - made.csv ||
    echo "the parts of synthetic data differ"

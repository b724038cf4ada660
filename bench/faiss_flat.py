"""Times the exact flat index of faiss on the same samples.

usage: faiss_flat.py MNIST-FOLDER SECONDS     SECONDS: the time of enhope, for the ratio
"""
import gzip
import os
import sys
import time


def images(folder, stem):
    import numpy as np

    path = os.path.join(folder, stem)
    opener = (lambda: gzip.open(path + ".gz")) if os.path.exists(path + ".gz") else (lambda: open(path, "rb"))
    with opener() as f:
        f.read(16)
        return np.frombuffer(f.read(), np.uint8).reshape(-1, 784).astype(np.float32) / 255


def main():
    folder, ours = sys.argv[1], float(sys.argv[2])
    try:
        import faiss
    except ImportError:
        print("faiss-flat      not measured: python3-faiss is not installed; scripts/setup peers installs it")
        return
    if not os.path.isdir(folder):
        print("faiss-flat      not measured: --data is not a folder of IDX files")
        return
    train, test = images(folder, "train-images-idx3-ubyte"), images(folder, "t10k-images-idx3-ubyte")
    index = faiss.IndexFlatL2(train.shape[1])
    index.add(train)
    best = float("inf")
    for _ in range(2):
        start = time.perf_counter()
        index.search(test, 5)
        best = min(best, time.perf_counter() - start)
    print(f"faiss-flat      the same samples, k = 5: {best:.3f} s, {best / ours:.0f} times as long")


main()

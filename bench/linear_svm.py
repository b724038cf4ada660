"""The test error of a linear SVM (scikit-learn's LinearSVC, one against the rest) on a folder of IDX files, C by a tenth of
the training part that is held out: linear_svm.py FOLDER."""
import gzip
import os
import sys

import numpy as np
from sklearn.svm import LinearSVC


def read(folder, stem, header):
    path = os.path.join(folder, stem)
    opener = (lambda: gzip.open(path + ".gz")) if os.path.exists(path + ".gz") else (lambda: open(path, "rb"))
    with opener() as f:
        f.read(header)
        return np.frombuffer(f.read(), np.uint8)


def part(folder, name):
    labels = read(folder, name + "-labels-idx1-ubyte", 8)
    return read(folder, name + "-images-idx3-ubyte", 16).reshape(len(labels), -1).astype(np.float32) / 255, labels


def error(c, train, test):
    model = LinearSVC(C=c, dual=False, tol=1e-3).fit(*train)
    return 100 * (1 - model.score(*test))


def main():
    (x, y), test = part(sys.argv[1], "train"), part(sys.argv[1], "t10k")
    order = np.random.default_rng(1).permutation(len(y))
    held, rest = order[: len(y) // 10], order[len(y) // 10 :]
    found = {c: error(c, (x[rest], y[rest]), (x[held], y[held])) for c in (0.01, 0.1)}
    for c, percent in found.items():
        print(f"C = {c}: {percent:.2f} % of the samples held out")
    best = min(found, key=found.get)
    print(f"linear SVM, C = {best}: {error(best, (x, y), test):.2f} % of the test part")


main()

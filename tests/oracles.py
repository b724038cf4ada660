"""Compares enhope with NumPy, SciPy and scikit-learn, which share no code with it.

usage: oracles.py ORACLE

ORACLE is the test program that prints results of enhope (tests/oracle.c). Prints a line for each
comparison. Exits with 1 if one fails and with 77 if a library is missing (CTest: skipped). A
comparison is a function of COMPARISONS that yields (name, difference, tolerance). It calls the other
library, or computes in double from the definition, and does not repeat the algorithm of enhope.
"""

import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.io
    import scipy.linalg
    import scipy.sparse
    import scipy.spatial.distance
    import sklearn.decomposition
    import sklearn.discriminant_analysis
    import sklearn.manifold
    import sklearn.neighbors
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

DEVICES = ["ref", "cpu"]


def samples(seed, n=180, inputs=6, classes=3):
    """Overlapping classes of unequal sizes and widths, away from the origin; float32, as in enhope."""
    draw = np.random.RandomState(seed)
    label = draw.choice(classes, n, p=np.arange(1, classes + 1) / (classes * (classes + 1) / 2))
    center = draw.normal(0, 1.3, (classes, inputs))
    mix = np.eye(inputs) + 0.4 * draw.normal(0, 1, (inputs, inputs))
    x = (center[label] + draw.normal(0, 1, (n, inputs))) @ mix + 3
    return x.astype(np.float32).astype(np.float64), label


def centered(x):
    return x - x.mean(axis=0)


class Oracle:
    """Runs the test program on arrays."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def __call__(self, what, arrays, **settings):
        paths = []
        for number, array in enumerate(arrays):
            paths.append(os.path.join(self.folder, f"{number}.csv"))
            np.savetxt(paths[-1], array, fmt="%.17g", delimiter=",")
        words = [self.program, what, *paths, *(f"{name}={value}" for name, value in settings.items())]
        run = subprocess.run(words, capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(f"{' '.join(words)}: exit {run.returncode}: {run.stderr.strip()}")
        return [np.array(line.split(), float) for line in run.stdout.splitlines()]

    def map(self, x, label, **settings):
        """The loss, and the map A (H, h) and shift (h) with y = A^T x + shift, after training."""
        rows = self("map", [np.column_stack([x, label])], **settings)
        return rows[0][0], np.array(rows[1:-1]), rows[-1]


def between(a, b):
    """The largest angle between the spaces that the columns of a and b span, as its sine."""
    return np.sin(scipy.linalg.subspace_angles(a, b).max())


def apart(a, b):
    """The largest difference of entries, relative to the largest entry."""
    return np.abs(np.asarray(a) - b).max() / np.abs(b).max()


def apart_but_for_sign(a, b):
    """The same, column by column, ignoring the sign of each column."""
    return max(min(apart(u, v), apart(-u, v)) for u, v in zip(a.T, b.T))


# ---- the comparisons ----


def nca(oracle):
    """scikit-learn maximizes sum_i p_i, enhope minimizes - mean_i log p_i. With the mask of a single
    sample, scikit-learn returns p_i and dp_i/dA of that sample; this computes the loss and gradient
    of enhope from them."""
    for seed in (1, 2):
        x, label = samples(seed)
        x = 0.5 * centered(x).astype(np.float32).astype(np.float64)
        A = np.random.RandomState(seed).normal(0, 0.4, (x.shape[1], 2)).astype(np.float32).astype(np.float64)
        other = sklearn.neighbors.NeighborhoodComponentsAnalysis()
        other.n_iter_ = 1
        loss, gradient = 0, np.zeros_like(A)
        for i in range(len(x)):
            mask = np.zeros((len(x), len(x)))
            mask[i] = label == label[i]
            p, slope = other._loss_grad_lbfgs(A.T.ravel(), x, mask)
            loss -= np.log(p) / len(x)
            gradient -= slope.reshape(A.T.shape).T / p / len(x)
        for device in DEVICES:
            rows = oracle("loss", [np.column_stack([x, label]), A], method="nca", n_components=2, device=device)
            tolerance = 1e-9 if device == "ref" else 1e-5
            yield f"nca loss, scikit-learn's p_i, seed {seed}, {device}", abs(rows[0][0] - loss) / loss, tolerance
            yield f"nca gradient, scikit-learn's dp_i, seed {seed}, {device}", apart(rows[1:], gradient), tolerance


def mcml_loss_and_slope(x, label, M):
    """From the definition: mean KL over the rows, and its gradient in M."""
    same = (label[:, None] == label) & ~np.eye(len(x), dtype=bool)
    p = same / same.sum(axis=1, keepdims=True)
    difference = x[:, None] - x
    d = np.einsum("ijk,kl,ijl->ij", difference, M, difference)
    np.fill_diagonal(d, np.inf)
    q = np.exp(d.min(axis=1, keepdims=True) - d)
    q /= q.sum(axis=1, keepdims=True)
    loss = np.sum(p[same] * np.log(p[same] / q[same])) / len(x)
    return loss, np.einsum("ij,ijk,ijl->kl", p - q, difference, difference) / len(x)


def mcml(oracle):
    """The metric satisfies the conditions of a minimum over M >= 0: no slope along M, and no descent
    direction into the cone. By convexity the loss exceeds the minimum by at most <G, M> - (smallest
    eigenvalue of G, if negative) x trace of the best M, which is estimated by the trace of M."""
    x, label = samples(3, n=120, inputs=4)
    loss, A, _ = oracle.map(x, label, method="mcml", n_components=4)
    M = A @ A.T
    want, G = mcml_loss_and_slope(x, label, M)
    yield "mcml loss, from its definition", abs(loss - want) / want, 1e-5
    gap = abs(np.sum(G * M)) - min(scipy.linalg.eigvalsh(G)[0], 0) * np.trace(M)
    yield "mcml, what is left above the minimum", gap / want, 5e-3


def pca(oracle):
    x, label = samples(4)
    values, vectors = scipy.linalg.eigh(np.cov(x.T, bias=True))
    other = sklearn.decomposition.PCA(3).fit(x)
    for device in DEVICES:
        loss, A, shift = oracle.map(x, label, method="pca", n_components=3, device=device)
        yield f"pca directions, scipy's eigh, {device}", apart_but_for_sign(A, vectors[:, :-4:-1]), 1e-5
        yield f"pca loss, scipy's eigh, {device}", abs(loss - (1 - values[-3:].sum() / values.sum())), 1e-5
        yield f"pca embedding, scikit-learn's PCA, {device}", apart_but_for_sign(x @ A + shift, other.transform(x)), 1e-5


def generalized(x, W, variance=0.98, ridge=1e-6):
    """LPP with dense matrices: eigenvalues, directions of the inputs, and the samples in the pca space."""
    z = centered(x)
    values, vectors = scipy.linalg.eigh(z.T @ z)
    r = np.searchsorted(np.cumsum(values[::-1]) / values.sum(), variance) + 1
    V = vectors[:, ::-1][:, :r]
    z = z @ V
    D = W.sum(axis=1)
    B = z.T @ (D[:, None] * z)
    B += ridge * np.trace(B) / r * np.eye(r)
    w, a = scipy.linalg.eigh(z.T @ (np.diag(D) - W) @ z, B)
    return w, np.sqrt(D.sum()) * V @ a, z


def lpp_nearest(oracle):
    for seed, links in ((5, 5), (6, 3), (7, 12)):
        x, label = samples(seed, inputs=8)
        z = generalized(x, np.eye(len(x)))[2]
        W = sklearn.neighbors.kneighbors_graph(z, links).toarray()
        w, a, _ = generalized(x, np.maximum(W, W.T))
        for device in DEVICES:
            loss, A, _ = oracle.map(x, label, method="lpp", graph_k=links, n_components=2, device=device)
            name = f"{links} links, scipy's eigh on scikit-learn's graph, {device}"
            yield f"lpp eigenvalues, {name}", abs(loss - w[:2].mean()) / w[:2].mean(), 1e-5
            yield f"lpp directions, {name}", apart_but_for_sign(A, a[:, :2]), 1e-4


def lpp_class(oracle):
    for seed, classes in ((8, 3), (9, 4)):
        x, label = samples(seed, classes=classes, n=260)
        W = np.equal.outer(label, label) / np.bincount(label)[label]
        w, a, _ = generalized(x, W)
        for device in DEVICES:
            loss, A, _ = oracle.map(x, label, method="lpp", graph_k=0, n_components=classes - 1, device=device)
            name = f"{classes} classes, scipy's eigh, {device}"
            yield f"lpp class eigenvalues, {name}", abs(loss - w[: classes - 1].mean()) / w[0], 1e-5
            yield f"lpp class directions, {name}", apart_but_for_sign(A, a[:, : classes - 1]), 1e-4


def lpp_is_lda(oracle):
    """If pca drops nothing, the outputs of the class graph span the discriminants of scikit-learn, each
    up to a scale."""
    draw = np.random.RandomState(10)
    label = np.arange(300) % 7 % 3
    x = (draw.normal(0, 1, (3, 4))[label] + draw.normal(0, 1, (300, 4))).astype(np.float32).astype(np.float64)
    y = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(solver="eigen").fit(x, label).transform(x)
    y = centered(y)
    for device in DEVICES:
        _, A, shift = oracle.map(x, label, method="lpp", graph_k=0, n_components=2, device=device)
        mine = x @ A + shift
        yield f"lpp class space, scikit-learn's discriminants, {device}", between(mine, y), 1e-5
        each = max(between(mine[:, [k]], y[:, [k]]) for k in range(2))
        yield f"lpp class outputs, each up to scale, {device}", each, 1e-5


def knn(oracle):
    """Tied votes may differ: enhope chooses the nearest class, scikit-learn the smaller class."""
    x, label = samples(11, n=700)
    x, new, label = x[:400], x[400:], label[:400]
    for k in (1, 5, 12):
        other = sklearn.neighbors.KNeighborsClassifier(k).fit(x, label)
        votes = np.sort(other.predict_proba(new), axis=1)
        clear = votes[:, -1] > votes[:, -2]
        for device in DEVICES:
            rows = oracle("classes", [np.column_stack([x, label]), np.column_stack([new, np.zeros(len(new))])],
                          method="knn", n_neighbors=k, device=device)
            differ = (np.array(rows).ravel() != other.predict(new))[clear]
            yield f"{k}-nn classes of {clear.sum()} samples, scikit-learn, {device}", differ.mean(), 0


def affinities(oracle):
    """scikit-learn computes bandwidths by bisection, with entropies within 1e-5."""
    x, label = samples(12, n=230)
    for perplexity in (5, 30, 70):
        d = scipy.spatial.distance.cdist(x, x, "sqeuclidean").astype(np.float32)
        P = scipy.spatial.distance.squareform(sklearn.manifold._t_sne._joint_probabilities(d, perplexity, 0))
        for device in DEVICES:
            rows = oracle("affinities", [np.column_stack([x, label])], perplexity=perplexity, device=device)
            yield f"affinities at perplexity {perplexity}, scikit-learn's t-SNE, {device}", apart(rows, P), 1e-4


def measures_of_a_map(oracle):
    """Trustworthiness; continuity is that with inputs and map exchanged. The accuracy leaves out each sample itself."""
    x, label = samples(14, n=240)
    draw = np.random.RandomState(15)
    y = (x[:, :2] + 0.5 * draw.normal(0, 1, (len(x), 2))).astype(np.float32).astype(np.float64)
    for k in (5, 15, 40):
        expected = [sklearn.manifold.trustworthiness(a, b, n_neighbors=k) for a, b in ((x, y), (y, x))]
        for device in DEVICES:
            rows = oracle("trustworthiness", [y, np.column_stack([x, label])], n_neighbors=k, device=device)
            yield f"trustworthiness and continuity, {k} neighbors, scikit-learn, {device}", apart(rows[0][:2], expected), 1e-6


def matlab(oracle):
    """Files of scipy.io.savemat, which chooses the stored types; loadmat reads them again."""
    draw = np.random.RandomState(13)
    x = draw.randint(0, 200, (23, 7))
    label = draw.randint(1, 4, 23)
    path = os.path.join(oracle.folder, "a.mat")
    for kind in ("f8", "f4", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "?"):
        for packed in (False, True):
            for make in (np.asarray, scipy.sparse.csc_matrix):
                if make is not np.asarray and kind not in ("f8", "?"):
                    continue
                scipy.io.savemat(path, {"X": make((x % 127 - (kind[0] in "fi") * 50).astype(kind)), "text": "none",
                                        "y": label.astype(draw.choice(["f8", "u1", "i4"])), "s": {"field": x}},
                                 do_compression=packed)
                saved = scipy.io.loadmat(path)
                values = saved["X"] if make is np.asarray else saved["X"].toarray()
                rows = np.array(oracle("samples", [], path=path))
                name = f"scipy's MATLAB file of {kind}, {'packed' if packed else 'plain'}, {make.__name__}"
                yield name, np.abs(rows - np.column_stack([values, label])).max(), 0


COMPARISONS = [nca, mcml, pca, lpp_nearest, lpp_class, lpp_is_lda, knn, affinities, measures_of_a_map, matlab]


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(sys.argv[1], folder)
        for comparison in COMPARISONS:
            for name, difference, tolerance in comparison(oracle):
                good = difference <= tolerance
                failed += not good
                print(f"{'ok    ' if good else 'FAILED'} {name}: {difference:.2g} (at most {tolerance:g})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

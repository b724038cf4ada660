"""Pictures of an embedding, by matplotlib."""

import io
import os

import numpy as np

from . import _labels
from ._view import View, view

# Colors and markers of ``enhope plot``. The colors are distinguishable with any color vision.
_COLORS = ["#" + color for color in """
    1100cc bb8800 880000 8888bb ff3377 770066 005544 667744 1166cc 119988 ff5511 664400 0099cc 996688
    444477 6644ff aa4444 770033 998855 337766 334400 009900 bb00bb bb7777 cc55ff bb1166 007733 ee44aa
    552288 773333 aa5511 117788 5588ff 889900 669966 005577 bb77bb 773300 0044cc 886644 ff0033 7755aa
    777700 774466 0099aa 8877ff 005500 bb5577 aa7755 7700cc cc2200 cc7722 885544 0077aa 003388 224422
    aa00ff aa4488 aa77dd cc5544 886600 cc7799 dd0055 556699 553366 998800 555500 336644 4466ff 553311
    447700 882299 ee00dd 009966 0088dd 779944 884455 9966aa 991133 dd1188 cc6633 885511 228888 9955ff
    2222ff 5544aa aa6655 882255 663322 bb55aa 994422 aa7733 6677cc dd6666 ff1100 aa0088 448855 1188aa
    8844cc cc1133""".split()]
_GRAY = "#8a8f98"  # samples without a label
_MARKERS = ["o", "^", "s", "v", "D"]
_PER_MARKER = 10  # classes
_LISTED = 24  # classes in a legend, unless one is requested
_FORMATS = (".svg", ".png", ".pdf")


def _color(classes, i):
    return _GRAY if classes[i] is None and len(classes) > 1 else _COLORS[i % len(_COLORS)]


class Map:
    """An embedding with labels, as returned by ``plot``. Notebooks display it as a picture.

    Parameters
    ----------
    Y : array-like of shape (n_samples, 2)
        Coordinates.
    labels : array-like of shape (n_samples,) or None
        Labels, which determine the colors.
    exemplars : ndarray of shape (n_exemplars, 2) or None, default=None
        Coordinates of exemplars.
    exemplar_labels : ndarray of shape (n_exemplars,) or None, default=None
        Labels of the exemplars.
    title : str, default=""
        Title of the plot.
    wrong : array-like of bool of shape (n_samples,) or None, default=None
        Samples to mark as misclassified.
    legend : bool, str or None, default=None
        Whether to draw a legend. A text is a place inside the axes, as for matplotlib ("best"). None
        draws it beside the axes if there are at most 24 classes.
    """

    def __init__(self, Y, labels, exemplars=None, exemplar_labels=None, title="", wrong=None, legend=None):
        self.Y = np.asarray(Y, dtype=np.float64)
        self.labels = labels
        self.exemplars = exemplars
        self.exemplar_labels = exemplar_labels
        self.title = title
        self.wrong = None if wrong is None else np.asarray(wrong, dtype=bool)
        self.legend = legend
        self._ax = None
        self._view = None  # makes the page
        self._classes, self._code = ([None], np.zeros(len(self.Y), int)) if labels is None else _labels.encode(np.asarray(labels))

    def __repr__(self):
        classes = "" if self.labels is None else f" of {sum(label is not None for label in self._classes)} classes"
        return f"<enhope map: {len(self.Y)} samples{classes}; .show() opens a window, .ax draws, .save(path) writes a file>"

    def draw(self, ax=None):
        """Draw with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            Axes to draw on; None creates a figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=(7, 6))[1]
        size = float(np.clip(20000 / max(len(self.Y), 1), 1, 18))
        for i, label in enumerate(self._classes):
            self._scatter(ax, i, self._code == i, s=size, linewidths=0, label=None if label is None else str(label))
        if self.wrong is not None:
            for i in np.unique(self._code[self.wrong]):
                self._scatter(ax, i, self.wrong & (self._code == i), s=max(size, 8), linewidths=0.7, edgecolors="#111")
        if self.exemplars is not None:
            for width, color, label in ((2.6, "#fff", None), (1.1, "#111", "exemplar")):
                ax.scatter(self.exemplars[:, 0], self.exemplars[:, 1], s=40, facecolors="none", edgecolors=color,
                           linewidths=width, label=label)
        ax.set_aspect("equal", adjustable="datalim")  # distances are meaningful
        ax.set_title(self.title)
        ax.set_xticks([])
        ax.set_yticks([])
        listed = self.labels is not None and len(self._classes) <= _LISTED if self.legend is None else self.legend
        if isinstance(listed, str):
            ax.legend(handles=self._legend(), loc=listed)
        elif listed:
            ax.legend(handles=self._legend(), loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        self._ax = ax
        return ax

    def _marker(self, i):
        return _MARKERS[i // _PER_MARKER % len(_MARKERS)]

    def _scatter(self, ax, i, own, **look):
        """Draw the samples `own` in the color and marker of class i."""
        ax.scatter(self.Y[own, 0], self.Y[own, 1], c=_color(self._classes, i), marker=self._marker(i), **look)

    def _legend(self):
        """Legend entries, whose size does not depend on the number of samples."""
        from matplotlib.lines import Line2D

        keys = [Line2D([], [], ls="", marker=self._marker(i), ms=6, mew=0, c=_color(self._classes, i),
                       label="no label" if label is None else str(label)) for i, label in enumerate(self._classes)]
        if self.exemplars is not None:
            keys.append(Line2D([], [], ls="", marker="o", ms=6.3, mew=1.1, mfc="none", mec="#111", label="exemplar"))
        if self.wrong is not None:
            keys.append(Line2D([], [], ls="", marker="o", ms=5, mew=0.7, mfc="#ccc", mec="#111", label="misclassified"))
        return keys

    @property
    def ax(self):
        """The matplotlib axes. The first access draws the map."""
        return self._ax if self._ax is not None else self.draw()

    def show(self):
        """Open the map in a matplotlib window."""
        import matplotlib.pyplot as plt

        self.ax
        plt.show()

    def _figure(self):
        """A figure that no window shows."""
        from matplotlib.figure import Figure

        figure, ax = Figure(figsize=(7, 6)), self._ax
        self.draw(figure.subplots())
        self._ax = ax
        return figure

    def html(self):
        """Return the page of ``enhope.view``, if the map was made by ``plot``.

        Returns
        -------
        html : str
        """
        if self._view is None:
            raise ValueError("the map has no model, so there is no page of it: expected a map made by enhope.plot")
        return self._view().html()

    def save(self, path):
        """Write the map to a file, in the format of the path's extension.

        Parameters
        ----------
        path : str or path-like
            File to write: a picture (.svg, .png or .pdf), or the page of ``enhope.view`` (.html).
        """
        name = os.fsdecode(path)
        extension = os.path.splitext(name)[1].lower()
        if extension == ".html":
            View(self.html()).save(path)
        elif extension in _FORMATS:
            self._figure().savefig(path, format=extension[1:], dpi=200, bbox_inches="tight")
        else:
            raise ValueError(f"{name}: unknown format {extension!r}: expected a name that ends with {', '.join(_FORMATS)} or .html")

    def _repr_png_(self):
        try:
            figure = self._figure()
        except ImportError:  # without matplotlib the notebook prints the text
            return None
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=100, bbox_inches="tight")
        return file.getvalue()


def _misclassified(estimator, X, labels):
    """Whether each label is present and differs from the prediction."""
    if labels is None:
        raise ValueError("errors=True needs labels, but y is None: expected labels; pass y")
    pairs = zip(labels.tolist(), np.asarray(estimator.predict(X)).tolist())
    return np.array([not _labels.is_missing(label) and label != predicted for label, predicted in pairs], dtype=bool)


def plot(estimator, X, y=None, ax=None, title=None, errors=False, legend=None):
    """Plot the embedding of X.

    Parameters
    ----------
    estimator : Estimator or sklearn.pipeline.Pipeline
        A fitted estimator with at least two components, of which the first two are plotted, or
        a pipeline that ends with one.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,) or None, default=None
        Labels, which determine the colors. None and NaN mark samples without a label.
    ax : matplotlib.axes.Axes or None, default=None
        Axes to draw on immediately. If None, ``Map.show`` or ``Map.ax`` draws.
    title : str or None, default=None
        Title; None uses the class name and the number of samples.
    errors : bool, default=False
        Draw a dark edge around misclassified samples. Their fill color is that of the label in y.
    legend : bool, str or None, default=None
        Whether to draw a legend. A text is a place inside the axes, as for matplotlib ("best"). None
        draws it beside the axes if there are at most 24 classes.

    Returns
    -------
    map : Map

    Examples
    --------
    >>> import enhope
    >>> X, y = enhope.datasets.load("synthetic:blobs,n=300,classes=3,inputs=5,seed=1", return_X_y=True)
    >>> model = enhope.EnHOPE(n_factors=20, n_hidden=10, n_epochs=20, random_state=1).fit(X, y)
    >>> enhope.plot(model, X, y).exemplars.shape
    (3, 2)
    """
    Y = np.asarray(estimator.transform(X))
    if Y.ndim != 2 or Y.shape[1] < 2:
        raise ValueError(f"the embedding has {Y.shape[1]} component: expected at least 2; fit with n_components=2")
    labels = None if y is None else _labels.one_for_each(y, len(Y))
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    G = own = None
    if hasattr(last, "exemplars_"):
        G, number = last._references()
        own = last._labels[number]
    if title is None:
        title = f"{type(last).__name__}, {len(Y)} samples"
    result = Map(Y, labels, G, own, title, _misclassified(estimator, X, labels) if errors else None, legend)
    result._view = lambda: view(estimator, X, y, title=title)
    if ax is not None:
        result.draw(ax)
    return result


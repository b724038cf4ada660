"""The page of ``enhope view``."""

import html
import os
import sys

import numpy as np

from . import _arrays, _frames, _labels, _places


class View:
    """An interactive page, as returned by ``view``. Notebooks display it.

    Parameters
    ----------
    html : str or bytes
        The page.
    """

    def __init__(self, html):
        self._bytes = html.encode("utf-8") if isinstance(html, str) else html
        self._file = None  # of show()

    def __repr__(self):
        return f"<enhope page: {len(self._bytes) / 1e6:.1f} MB; .show() opens it, .save(path) writes it>"

    def html(self):
        """Return the page: one file that needs no network.

        Returns
        -------
        html : str
        """
        return self._bytes.decode("utf-8")

    def save(self, path):
        """Write the page to a file.

        Parameters
        ----------
        path : str or path-like
            File to write, which ends with .html. ``enhope.plot`` makes pictures.
        """
        name = os.fsdecode(path)
        if not name.lower().endswith((".html", ".htm")):
            raise ValueError(f"{name}: a page is HTML: expected a name that ends with .html; enhope.plot(...).save writes pictures")
        with open(path, "wb") as file:
            file.write(self._bytes)

    def show(self):
        """Display the page: in a notebook below the cell, otherwise in the browser.

        The browser reads a temporary file, which remains, because a script may end before.
        """
        import tempfile
        import webbrowser

        from ._progress import in_notebook

        if in_notebook():
            sys.modules["IPython"].display.display(self)
            return
        if self._file is None:
            with tempfile.NamedTemporaryFile(prefix="enhope-", suffix=".html", delete=False) as file:
                file.write(self._bytes)
            self._file = file.name
        if not webbrowser.open("file://" + self._file):
            raise RuntimeError("no browser was found: use .save(path), and open the file on another machine")

    def _repr_html_(self):
        page = html.escape(self.html(), quote=True)
        return (f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{page}" '
                'style="width:100%;height:640px;border:0"></iframe>')


def view(estimator, X, y=None, *, title=None, sample=200000, detail=10000):
    """Make the interactive page of the command ``enhope view``.

    It shows the map of X with exemplars and errors, the samples behind the points, and a form that
    classifies new inputs. Of an estimator that was fitted without labels it shows the clusters of
    the map, or the labels ``y``, and the form places new inputs.

    Parameters
    ----------
    estimator : Estimator or sklearn.pipeline.Pipeline
        A fitted estimator with at least two components, of which the first two are drawn, or a
        pipeline that ends with one.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,) or None, default=None
        Labels of any type. None and NaN mark samples without a label. An estimator that was fitted
        without labels shows them as colors.
    title : str or None, default=None
        Title; None uses the name of the method.
    sample : int, default=200000
        Maximum number of points, the same fraction of every class.
    detail : int, default=10000
        Maximum number of points whose inputs the page contains; 0: none.

    Returns
    -------
    view : View

    Examples
    --------
    >>> import enhope
    >>> X, y = enhope.datasets.load("synthetic:blobs,n=300,classes=3,inputs=5,seed=1", return_X_y=True)
    >>> model = enhope.EnHOPE(n_factors=20, n_hidden=10, n_epochs=20, random_state=1).fit(X, y)
    >>> enhope.view(model, X, y).save("map.html")  # doctest: +SKIP
    """
    for name, number, minimum in (("sample", sample, 1), ("detail", detail, 0)):
        if number != int(number) or number < minimum:
            raise ValueError(f"{name} is {number!r}: expected an integer of at least {minimum}")
    last = estimator
    if hasattr(estimator, "steps"):
        last = estimator[-1]
        X = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
    model, data, n = last._check_input(X)
    code, names = None, []
    if y is not None:
        classes, index = _labels.encode(_labels.one_for_each(y, n))
        code = np.where([label is None for label in classes], -1, np.arange(len(classes)))[index].astype(np.int32)
        names = [_arrays.label_text(label).encode() for label in classes if label is not None]
    name = type(last).__name__
    with _places.of(X):
        return View(model.page(_frames.payload(data), n, code, names, last._placement(), title, name, int(sample), int(detail)))

"""Maps, pages and the progress of training, also in a notebook."""

import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import zlib

import numpy as np
import pytest

import enhope
from conftest import quick

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module")
def model(blobs):
    return quick(enhope.EnHOPE).fit(*blobs)


def about(page):
    """The metadata of a page."""
    return json.loads(re.search(r'<script type="application/json" id="about">(.*?)</script>', page, re.S).group(1))


def find_block(page, name):
    return re.search(rf'id="{name}" data-count="(\d+)" data-width="(\d+)">(.*?)</script>', page, re.S)


def block(page, name):
    """The numbers of an element of a page."""
    import base64

    found = find_block(page, name)
    count, width = int(found.group(1)), int(found.group(2))
    planes = np.frombuffer(zlib.decompress(base64.b64decode(found.group(3))), np.uint8).reshape(width, count)
    return sum(planes[b].astype(np.int64) << 8 * b for b in range(width))


# ---- maps ----


def test_map_is_drawn_and_displayed_as_a_picture(blobs, model):
    X, y = blobs
    plot = enhope.plot(model, X, y, title="<i>$x")
    assert plot.ax is plot.ax and len(plot.ax.collections) == 5
    assert plot._repr_png_().startswith(b"\x89PNG") and not hasattr(plot, "_repr_html_")
    plot.show()
    with pytest.raises(ValueError, match="at least 2"):
        enhope.plot(quick(enhope.EnHOPE, n_components=1).fit(X, y), X)


def test_map_is_saved_in_the_format_of_the_extension(blobs, model, tmp_path):
    plot = enhope.plot(model, *blobs)
    for name, begin in (("m.png", b"\x89PNG"), ("m.PNG", b"\x89PNG"), ("m.svg", b"<?xml"), ("m.pdf", b"%PDF"),
                        ("m.html", b"<!doctype html>")):
        plot.save(tmp_path / name)
        with open(tmp_path / name, "rb") as file:
            assert file.read(15).lower().startswith(begin.lower()), name
    for name in ("m.jpg", "m", "png", "m.html.gz"):
        with pytest.raises(ValueError, match=r"unknown format .*: expected a name that ends with \.svg, \.png, \.pdf or \.html"):
            plot.save(tmp_path / name)
        assert not os.path.exists(tmp_path / name)
    with pytest.raises(ValueError, match="the map has no model"):
        enhope.Map(plot.Y, plot.labels).save(tmp_path / "other.html")


def test_map_is_drawn_on_given_axes_with_or_without_a_legend(blobs, model):
    import matplotlib.pyplot as plt

    X, y = blobs
    figure, axes = plt.subplots(1, 2)
    plot = enhope.plot(model, X, y, ax=axes[0])
    assert plot.ax is axes[0] and len(axes[0].collections) == 5 and not axes[1].collections
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == ["0", "1", "2", "exemplar"]
    enhope.plot(model, X, y, ax=axes[1], legend=False)
    assert axes[1].get_legend() is None
    many = np.arange(300) % 30
    assert enhope.plot(model, X, many).ax.get_legend() is None
    assert len(enhope.plot(model, X, many, legend=True).ax.get_legend().get_texts()) == 31
    assert enhope.plot(model, X, y, legend="upper left").ax.get_legend()._loc == 2
    plt.close("all")


def test_map_accepts_missing_labels(blobs, model):
    X, y = blobs
    some = y.astype(object)
    some[::3] = None
    for labels, classes in ((some, 3), (np.where(y == 1, np.nan, y), 2), (["a", 3] * 150, 2)):
        plot = enhope.plot(model, X, labels)
        assert f"300 samples of {classes} classes" in repr(plot)
        assert plot._repr_png_()
    assert repr(enhope.plot(model, X)).startswith("<enhope map: 300 samples; ")


def test_map_marks_misclassified_samples(blobs, model):
    X, y = blobs
    given = y.astype(object)
    given[:7] = (y[:7] + 1) % 3
    given[7] = None
    wrong = enhope.plot(model, X, given, errors=True).wrong
    expected = model.predict(X) != np.where(np.arange(len(y)) < 7, (y + 1) % 3, y)
    expected[7] = False
    assert wrong[:8].sum() >= 5 and (wrong == expected).all()
    assert enhope.plot(model, X, given).wrong is None
    with pytest.raises(ValueError, match="expected labels"):
        enhope.plot(model, X, errors=True)


# ---- pages ----


def view(*args, **more):
    """enhope.view, or a skipped test if the page was not built."""
    try:
        return enhope.view(*args, **more)
    except RuntimeError as error:
        assert "built without its page" in str(error) and "node" in str(error)
        pytest.skip(str(error))


def test_page_is_that_of_the_command_with_rows_that_count_from_0(model, tmp_path, command, blobs):
    X, y = blobs
    model.save(tmp_path / "m.safetensors")
    np.savez(tmp_path / "x.npz", X=X, y=y)
    page = view(model, X, y).html()
    subprocess.run([command, "view", "m.safetensors", "--data", "x.npz", "-o", "map.html"], cwd=tmp_path, check=True)
    theirs = (tmp_path / "map.html").read_text(encoding="utf-8")
    assert about(page)["data"] == "X" and about(page)["model"] == "EnHOPE"
    assert (block(page, "row") == np.arange(300)).all() and (block(theirs, "row") == np.arange(1, 301)).all()
    page = page.replace(find_block(page, "row").group(), find_block(theirs, "row").group())
    names = {'"data":"X"': '"data":"x.npz"', '"model":"EnHOPE"': '"model":"m.safetensors"'}
    for own, other in names.items():
        page = page.replace(own, other)
    assert page == theirs


def test_page_is_saved_and_displayed(blobs, model, tmp_path, monkeypatch):
    page = view(model, *blobs)
    page.save(tmp_path / "map.html")
    assert (tmp_path / "map.html").read_text(encoding="utf-8") == page.html()
    for name in ("map.png", "map"):
        with pytest.raises(ValueError, match="a page is HTML: expected a name that ends with .html"):
            page.save(tmp_path / name)
        assert not (tmp_path / name).exists()
    frame = page._repr_html_()
    assert frame.startswith("<iframe sandbox=") and "<script" not in frame and "allow-same-origin" not in frame
    opened = []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(open(address[7:], encoding="utf-8").read()) or True)
    page.show()
    assert opened == [page.html()]
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    with pytest.raises(RuntimeError, match=r"no browser was found: use \.save"):
        page.show()


def test_page_contains_labels_of_any_type(blobs):
    X, y = blobs
    for kinds in (["</script><b>", "ä", "c"], [True, False], [np.datetime64("2020-01-01"), np.datetime64("2021-01-01")], [3.0, -1.0]):
        labels = np.array(kinds)[y % len(kinds)]
        estimator = quick(enhope.EnHOPE).fit(X, labels)
        page = view(estimator, X, labels).html()
        names = [str(int(k) if isinstance(k, float) else k) for k in sorted(set(labels.tolist() if labels.dtype.kind != "M" else labels))]
        assert sorted(about(page)["classes"]) == sorted(names)
        truth, wrong = block(page, "truth"), block(page, "truth") != block(page, "label")
        assert wrong.sum() == (estimator.predict(X) != labels).sum() and len(truth) == 300
    some = y.astype(object)
    some[:40] = None
    some[40] = 7
    page = view(quick(enhope.EnHOPE).fit(X, y), X, some).html()
    truth = block(page, "truth")
    assert (truth[:40] == 3).all() and truth[40] == 4 and about(page)["parts"][0]["labelled"] == 260
    assert "labelled\":0," in view(quick(enhope.EnHOPE).fit(X, y), X).html()
    with pytest.raises(ValueError, match="y has 2 labels, but X has 300 samples"):
        enhope.view(quick(enhope.EnHOPE).fit(X, y), X, [1, 2])


def test_page_of_frames_sparse_matrices_images_and_pipelines(blobs):
    pd, sp = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = blobs
    frame = pd.DataFrame(X, columns=list("abcde")).assign(kind=np.array(["x", "y", "z"])[y], day=pd.date_range("2020-01-01", periods=300))
    frame.loc[3, "a"] = np.nan
    facts = about(view(quick(enhope.EnHOPE).fit(frame, y), frame, y).html())
    assert [column["name"] for column in facts["columns"]] == list(frame.columns)
    assert facts["columns"][5]["categories"] == ["x", "y", "z"] and facts["importance"]["n"] == 300
    words = sp.random(200, 30, 0.2, format="csr", dtype=np.float32, random_state=0)
    facts = about(view(quick(enhope.EnHOPE).fit(words, y[:200]), words.tocoo(), y[:200]).html())
    assert facts["kind"] == "words" and facts["n"] == 200
    digits = enhope.datasets.load("synthetic:digits,n=200,seed=1")
    images = digits.data.reshape(-1, 28, 28)
    facts = about(view(quick(enhope.EnHOPE, n_epochs=3).fit(images, digits.target), images, digits.target).html())
    assert facts["kind"] == "image" and facts["image"] == [28, 28]
    pipe = make_pipeline(StandardScaler(), quick(enhope.EnHOPE)).fit(X, y)
    facts = about(view(pipe, X, y, title="<i>wine").html())
    assert facts["title"] == "<i>wine" and facts["parts"][0]["errors"] == (pipe.predict(X) != y).sum()
    few = view(pipe, X, y, sample=90, detail=0).html()
    assert about(few)["n"] == 90 and about(few)["details"] == 0 and 'id="detail"' not in few


def test_page_of_estimators_without_labels_has_the_labels_that_are_given(blobs):
    X, y = blobs
    kinds = np.array(["x", "y", "z"], dtype=object)[y]
    kinds[7] = None
    for estimator in (quick(enhope.EnTSNE), enhope.PCA(n_components=2)):
        estimator.fit(X)
        page = view(estimator, X).html()
        facts = about(page)
        assert not facts["classifies"] and facts["classes"] == [] and facts["parts"][0]["labelled"] == 0
        assert not any(f'id="{name}"' in page for name in ("label", "winner", "proba", "rank"))
        place, (x0, y0, x1, y1) = estimator.transform(X), facts["box"]
        assert np.abs(x0 + block(page, "x") / 65535 * (x1 - x0) - place[:, 0]).max() <= (x1 - x0) / 65535
        page = view(estimator, X, kinds).html()
        names = np.array(about(page)["classes"] + [None], dtype=object)
        assert (names[block(page, "truth")] == kinds).all() and about(page)["parts"][0]["errors"] == 0


def test_page_refuses_unsuitable_input(blobs, model):
    X, y = blobs
    view(model, X, y)
    for more in ({"sample": 0}, {"sample": 2.5}, {"detail": -1}):
        with pytest.raises(ValueError, match="expected an integer of at least"):
            enhope.view(model, X, y, **more)
    with pytest.raises(ValueError, match="the embedding has 1 component: expected at least 2"):
        enhope.view(quick(enhope.EnHOPE, n_components=1).fit(X, y), X)
    bad = X.copy()
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"X\[7, 2\] is NaN"):
        enhope.view(model, bad, y)
    with pytest.raises(ValueError, match="is expecting 5 features"):
        enhope.view(model, X[:, :4], y)
    with pytest.raises(enhope.NotFittedError):
        enhope.view(enhope.EnHOPE(), X, y)


# ---- progress ----


def test_progress_bar_fits_the_terminal(monkeypatch):
    from enhope import _progress

    for columns in (20, 60, 80, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        out = io.StringIO()
        bar = _progress._Terminal(out)
        for epoch in (1, 500, 1000):
            bar.show(enhope.Progress(epoch, 1000, 1, 1, 0.1234, 0.05, 0.05, 12345.0, 12345.0, True))
        lines = out.getvalue().split("\r")[1:]
        assert len(lines) == 3 and max(map(len, lines)) < columns
        assert columns < 100 or "[=" in lines[-1]


NOTEBOOK = ["""import enhope
X, y = enhope.datasets.load("synthetic:blobs,n=300,classes=3,inputs=5,seed=1", return_X_y=True)
model = enhope.EnHOPE(n_factors=20, n_hidden=10, n_epochs=30, random_state=1, verbose=True).fit(X, y)
""", "enhope.plot(model, X, y)", "enhope.view(model, X, y)", "enhope.view(model, X, y).show()", "model"]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """The cells of NOTEBOOK, executed by nbconvert in a kernel of IPython."""
    missing = [name for name in ("nbconvert", "ipykernel") if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (scripts/setup test)")
    import nbformat

    folder = tmp_path_factory.mktemp("notebook")
    cells = [nbformat.v4.new_code_cell(text) for text in NOTEBOOK]
    kernel = {"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "test",
              "language": "python"}
    (folder / "kernels" / "test").mkdir(parents=True)
    (folder / "kernels" / "test" / "kernel.json").write_text(json.dumps(kernel))
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": {"name": "test", "display_name": "test"}}), folder / "n.ipynb")
    environment = {**os.environ, "JUPYTER_PATH": str(folder), "IPYTHONDIR": str(folder), "HOME": str(folder)}
    for arguments in (("--to", "notebook", "--execute", "--output", "done.ipynb", "n.ipynb"),
                      ("--to", "html", "--output", "n.html", "done.ipynb")):
        done = subprocess.run([sys.executable, "-m", "nbconvert", *arguments], cwd=folder, env=environment, capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stderr[-3000:]
    return nbformat.read(folder / "done.ipynb", 4).cells, (folder / "n.html").read_text(encoding="utf-8")


def test_notebook_shows_the_progress_of_training(notebook):
    (cell, *_), page = notebook
    (bar,) = [output for output in cell.outputs if output.output_type == "display_data"]
    assert re.match(r'<progress max="1" value="1.0000"></progress> epoch 30/30  loss ', bar.data["text/html"])
    assert page.count("<progress") == 1
    assert not [output for output in cell.outputs if output.output_type == "stream" and "epoch" in output.text]


def test_notebook_shows_the_map_as_one_picture(notebook):
    (_, cell, *_), _ = notebook
    (output,) = cell.outputs
    assert "image/png" in output.data and output.data["text/plain"].startswith("<enhope map: 300 samples")


def test_notebook_shows_the_page(notebook, blobs, model):
    expected = view(model, *blobs)
    (_, _, returned, displayed, _), page = notebook
    for cell in (returned, displayed):
        (output,) = cell.outputs
        assert output.data["text/html"] == expected._repr_html_()
    assert page.count('<iframe sandbox="allow-scripts') == 2

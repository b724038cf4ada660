"""Typical use: label types, files, pickles, processes, frames, continued training."""

import datetime
import multiprocessing
import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import enhope
from conftest import quick

sp = pytest.importorskip("scipy.sparse")
pd = pytest.importorskip("pandas")
joblib = pytest.importorskip("joblib")


# ---- threads and processes ----


def test_sparse_matrix_may_change_during_training():
    rng = np.random.RandomState(0)
    X = sp.random(400, 90, 0.1, format="csr", dtype=np.float32, random_state=0)
    for indptr in (np.int32, np.int64):
        X.indptr = X.indptr.astype(indptr)

        def overwrite(p):
            X.indices[:] = 2**30
            X.indptr[1:-1] = 2**30

        good = X.copy()
        model = quick(enhope.EnHOPE, n_epochs=3, callback=overwrite).fit(X, rng.randint(0, 3, 400))
        assert model.n_iter_ == 3 and model.predict(good).shape == (400,)
        X = good


_forked = {}


def _predict_forked(i):
    return _forked["model"].predict(_forked["X"]).tolist()


def test_forked_process_can_predict_and_train(blobs):
    X, y = blobs
    _forked["model"], _forked["X"] = quick(enhope.EnHOPE, n_jobs=2).fit(X, y), X
    expected = _predict_forked(0)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_predict_forked, (0,)).get(timeout=60) == expected
        again = pool.apply_async(quick(enhope.EnHOPE, n_epochs=2).fit, (X, y)).get(timeout=60)
    assert again.score(X, y) > 0.3


def test_prediction_releases_the_gil():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(6000, 200)).astype(np.float32)
    model = enhope.KNN().fit(X, np.arange(6000) % 2)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.002):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    while time.monotonic() - start < 0.3:
        model.predict(X)
        model.transform(X)
    stop.set()
    thread.join()
    assert len(ticks) >= 10


def test_slices_do_not_change_predictions(monkeypatch):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(2500, 20)).astype(np.float32)
    X[rng.rand(*X.shape) < 0.5] = 0
    for cls in (enhope.KNN, enhope.EnHOPE):
        model = quick(cls).fit(X[:1500], np.arange(1500) % 3)
        for data in (X, sp.csr_matrix(X)):
            whole = model.predict(data), model.predict_proba(data), *model.kneighbors(data, 3)
            with monkeypatch.context() as patch:
                patch.setattr("enhope._prediction._SLICE_WORK", 1)
                sliced = model.predict(data), model.predict_proba(data), *model.kneighbors(data, 3)
            for a, b in zip(whole, sliced):
                assert (a == b).all()


def test_ctrl_c_interrupts_long_predictions(monkeypatch):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60000, 30)).astype(np.float32)
    model = enhope.KNN(n_jobs=1).fit(X, np.arange(60000) % 2)
    monkeypatch.setattr("enhope._prediction._SLICE_WORK", 1)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        while time.monotonic() - start < 30:
            model.predict(X)
    assert time.monotonic() - start < 10


# ---- labels ----


@pytest.mark.parametrize("kinds", [["0", "1"], [True, False], [b"a", b"b"], ["a", "b"], [3, -1], [2.0, 1.0],
                                   [np.datetime64("2020-02-01"), np.datetime64("2021-03-04")],
                                   [np.timedelta64(5, "s"), np.timedelta64(7, "s")]], ids=lambda kinds: repr(kinds[0]))
@pytest.mark.parametrize("as_object", [False, True])
def test_label_types_are_restored_from_a_file(blobs, tmp_path, kinds, as_object):
    X, y = blobs
    labels = np.array(kinds)[y % 2]
    if as_object and labels.dtype.kind not in "Mm":
        labels = labels.astype(object)
    model = quick(enhope.EnHOPE).fit(X, labels)
    model.save(tmp_path / "m")
    again = enhope.load(tmp_path / "m")
    assert (again.predict(X) == model.predict(X)).all()
    if not as_object and labels.dtype.kind != "f":
        assert again.classes_.dtype.kind == labels.dtype.kind
    assert (again.partial_fit(X, labels).predict(X) == labels).mean() > 0.5 and len(again.classes_) == 2


def test_invalid_notes_in_a_model_are_rejected(blobs):
    X, y = blobs
    from enhope import _classes, _enhope

    methods = {"en-hope": enhope.EnHOPE}
    model = quick(enhope.EnHOPE, n_epochs=2).fit(X, y)
    for bad in ("{", "[]", '{"labels": 3}', '{"labels": "bool"}', '{"parameters": 3}', '{"parameters": {"n_epochs": "x"}}',
                '{"parameters": {"n_epochs": []}}', '{"labels": "datetime64[fortnight]"}', "[" * 100000):
        model._model.set_note("python", bad)
        with pytest.raises(ValueError, match="the model|of the model"):
            _classes.from_model(_enhope.from_bytes(model._model.to_bytes()), methods)
    model._model.set_note("python", '{"parameters": {"unknown": "1"}}')
    assert _classes.from_model(model._model, methods).n_factors == 20


@pytest.mark.parametrize("y", [pd.Series([1, None] * 150, dtype="Int64"), [None, "a"] * 150, [float("nan"), 1.0] * 150,
                               pd.Series([pd.NaT, pd.Timestamp(2020, 1, 1)] * 150), [datetime.date(2020, 1, 1), pd.NaT] * 150])
def test_missing_labels_are_rejected(blobs, y):
    with pytest.raises(ValueError, match="expected a label for each sample"):
        quick(enhope.EnHOPE).fit(blobs[0], y)


# ---- frames ----


@pytest.mark.parametrize("column, value", [
    (["red", "blue"], "'red'"),
    (pd.Categorical(["red", "blue"]), "'red'"),
    (pd.to_datetime(["2020-01-01", "2021-01-01"]), "2020"),
    (pd.array([1, None], dtype="Int64"), "<NA>"),
    ([None, 2], "row 0, column 'odd' of X is NaN"),
])
def test_error_names_the_column_that_is_not_numeric(column, value):
    frame = pd.DataFrame({"wide": [1.0, 2.0], "odd": column, "high": [3, 4]})
    model = quick(enhope.EnHOPE, n_epochs=1).fit(np.eye(4, 3, dtype=np.float32), [0, 1, 0, 1])
    model.feature_names_in_ = np.array(["wide", "odd", "high"], dtype=object)
    with pytest.raises(ValueError, match=value) as error:
        model.predict(frame)
    assert "'odd'" in str(error.value)
    with pytest.raises(ValueError, match="'odd'"):
        model.predict(frame[["odd"]].assign(odd=pd.to_datetime(["2020-01-01", "2021-01-01"])))


def test_frames_with_all_numeric_types_are_accepted(blobs):
    X, y = blobs
    frame = pd.DataFrame(np.round(X), columns=list("abcde"))
    mixed = frame.astype({"a": "Int64", "b": "float64", "c": "int16", "d": "object"})
    model = quick(enhope.EnHOPE).fit(frame, y)
    assert (model.predict(mixed) == model.predict(frame)).all()


# ---- parameters ----


def test_lists_are_converted_to_the_text_of_the_setting(blobs):
    X, y = blobs
    assert quick(enhope.DeepEnHOPE, hidden_layer_sizes=(9, 7)).fit(X, y)._model.setting("hidden_layer_sizes") == "9-7"
    assert quick(enhope.DeepEnHOPE, hidden_layer_sizes=np.array([9, 7])).fit(X, y)._model.setting("hidden_layer_sizes") == "9-7"


@pytest.mark.parametrize("params, message", [
    ({"n_exemplars": 2}, "2 exemplars for 3 classes"),
    ({"n_jobs": "all"}, "n_jobs is 'all': expected an integer"),
    ({"n_jobs": 0}, "n_jobs is 0: expected"),
    ({"n_jobs": 1.5}, "n_jobs is 1.5: expected"),
    ({"n_jobs": 2**40}, "n_jobs is 1099511627776: expected"),
    ({"image_shape": 28}, "image_shape is 28: expected two positive integers"),
    ({"image_shape": (5,)}, "image_shape is"),
    ({"image_shape": (5, 0)}, "image_shape is"),
    ({"image_shape": (5, 1.5)}, "image_shape is"),
    ({"image_shape": "51"}, "image_shape is"),
])
def test_invalid_parameters_are_rejected_with_a_message(blobs, params, message):
    with pytest.raises(ValueError) as error:
        quick(enhope.EnHOPE, **params).fit(*blobs)
    assert message in str(error.value)


def test_parameters_can_be_numpy_scalars_and_arrays(blobs):
    X, y = blobs
    model = quick(enhope.EnHOPE, n_jobs=np.int64(1), image_shape=np.array([5, 1]), n_factors=np.int32(9)).fit(X, y)
    assert model._model.info()["image_rows"] == 5 and quick(enhope.EnHOPE, n_jobs=-2).fit(X, y).score(X, y) > 0.9


# ---- warnings ----


def test_warnings_point_to_the_line_of_the_caller():
    X = np.arange(24, dtype=np.float32).reshape(6, 4)
    with pytest.warns(UserWarning, match="no validation part: 6 samples are too few") as caught:
        quick(enhope.EnHOPE, n_epochs=2, validation_fraction=0.1).fit(X, [0, 1] * 3)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="no validation part") as caught:
        quick(enhope.EnHOPE, n_epochs=2, validation_fraction=0.1).fit_transform(X, [0, 1] * 3)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        framed = quick(enhope.EnHOPE, n_epochs=2).fit(pd.DataFrame(X, columns=list("abcd")), [0, 1] * 3)
    for call in (framed.predict, framed.transform, framed.predict_proba):
        with pytest.warns(UserWarning, match="no column names") as caught:
            call(X)
        assert caught[0].filename == __file__


def test_ordinary_use_gives_no_warnings(blobs):
    X, y = blobs
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cls in (enhope.EnHOPE, enhope.LPP, enhope.MCML, enhope.LMNN):
            quick(cls).fit(X, y).predict(X)


def test_verbose_prints_information_to_stderr(blobs, capfd):
    X, y = blobs
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enhope.LPP().fit(X, y)
        assert capfd.readouterr().err == ""
        enhope.LPP(verbose=True).fit(X, y)
    assert "lpp: searching 5 neighbors for each of" in capfd.readouterr().err


# ---- continued training ----


def test_partial_fit_continues_and_keeps_the_state(blobs, tmp_path):
    X, y = blobs
    model = quick(enhope.EnHOPE, noise=0.3).fit(X, y)
    before = model._model.info()
    for i in range(3):
        model.partial_fit(X, y)
    after = model._model.info()
    assert model.n_iter_ == before["epochs"] + 3 and after["valid_n"] == before["valid_n"] > 0
    assert after["temperature"] == before["temperature"] != 1
    assert model.history_["epoch"].tolist() == list(range(1, model.n_iter_ + 1))
    assert (np.diff(model.history_["seconds"]) >= 0).all()
    model.save(tmp_path / "m")
    again = enhope.load(tmp_path / "m")
    assert again.n_epochs == 30 and again.validation_fraction is None and again.patience is None and again.n_iter_ == model.n_iter_
    a, b = again.partial_fit(X, y), pickle.loads(pickle.dumps(model)).partial_fit(X, y)
    assert (a.transform(X) == b.transform(X)).all()  # the state is in the model
    assert (a.transform(X) != model.transform(X)).any()
    first = quick(enhope.EnHOPE).partial_fit(X, y)
    first.save(tmp_path / "m")
    assert enhope.load(tmp_path / "m").n_epochs == 30
    with pytest.raises(ValueError, match="classes was given without y"):
        quick(enhope.EnTSNE).partial_fit(X, classes=[0, 1])


def test_fixed_parameters_cannot_change_when_training_continues(blobs, tmp_path):
    X, y = blobs
    model = quick(enhope.EnHOPE, warm_start=True).fit(X, y)
    for params in ({"n_factors": 21}, {"n_components": 3}, {"order": 2}, {"n_exemplars": 9}, {"scaling": "none"},
                   {"recipe": "paper"}):
        (name,) = params
        before = getattr(model, name)
        with pytest.raises(ValueError, match=f"{name} is .*: training continues from a model with"):
            model.set_params(**params).fit(X, y)
        model.set_params(**{name: before})
    model.set_params(n_epochs=2, learning_rate=0.001).fit(X, y)
    assert model.set_params(n_factors=21, warm_start=False).fit(X, y)._model.setting("n_factors") == "21"
    model.save(tmp_path / "m")
    with pytest.raises(ValueError, match="n_factors is 7: "):
        enhope.load(tmp_path / "m").set_params(n_factors=7).partial_fit(X, y)


def test_inapplicable_parameters_are_rejected_and_loaded_models_can_be_refitted(blobs, tmp_path):
    X, y = blobs
    with pytest.raises(ValueError, match=r"line_searches does not apply to solver adam \(it applies to: gradient methods; solver cg"):
        quick(enhope.EnHOPE, solver="adam", line_searches=3).fit(X, y)
    with pytest.raises(TypeError, match="n_factors"):
        enhope.NCA(n_factors=3)
    assert "n_components" not in enhope.SNC().get_params()
    for cls in (enhope.EnHOPE, enhope.NCA, enhope.LPP, enhope.KNN):
        model = quick(cls, random_state=3).fit(X, y)
        model.save(tmp_path / "m")
        again = enhope.load(tmp_path / "m")
        assert (again.fit(X, y).transform(X) == model.transform(X)).all()


# ---- files ----


def test_pickles_of_other_versions_load(blobs, tmp_path):
    X, y = blobs
    model = quick(enhope.EnHOPE).fit(X, y)
    state = model.__getstate__()
    assert state["_enhope_version"] == enhope.__version__
    for name in ("recipe", "_fixed", "_enhope_version"):
        del state[name]
    state.update(noise=None, dropout=0.25)  # pickles had all parameters
    state["dims"] = state.pop("n_components")  # a name that was changed
    old = enhope.EnHOPE.__new__(enhope.EnHOPE)
    old.__setstate__({**state, "of_a_later_version": 3})
    assert old.noise is None and old.recipe is None and old.get_params()["dropout"] == 0.25
    assert old.get_params()["n_factors"] == 20 and (old.transform(X) == model.transform(X)).all()
    old.partial_fit(X, y).fit(X, y)
    joblib.dump(model, tmp_path / "m.joblib", compress=3)
    assert (joblib.load(tmp_path / "m.joblib").transform(X) == model.transform(X)).all()


def test_system_errors_have_matching_exception_types(blobs, tmp_path):
    model = quick(enhope.EnHOPE, n_epochs=1).fit(*blobs)
    with pytest.raises(FileNotFoundError, match="none.safetensors: cannot open") as caught:
        enhope.load(tmp_path / "none.safetensors")
    assert caught.value.errno == 2
    with pytest.raises(FileNotFoundError):
        enhope.datasets.load(tmp_path / "none.csv")
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "no folder" / "m")
    with pytest.raises(OSError):
        model.save(tmp_path)
    if os.getuid() != 0:
        (tmp_path / "read_only").mkdir(mode=0o500)
        with pytest.raises(PermissionError):
            model.save(tmp_path / "read_only" / "m")


def test_module_rejects_none_for_exemplars(blobs):
    with pytest.raises(TypeError, match="X: expected an array"):
        quick(enhope.EnHOPE, n_epochs=1).fit(*blobs)._model.exemplars(None)

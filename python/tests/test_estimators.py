"""The interface of the estimators, including scikit-learn's own checks."""

import copy
import inspect
import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import enhope
from conftest import CLASSES, quick
from enhope import _enhope, _table

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator


def check(estimator):
    """Run scikit-learn's checks. From version 1.6 on it is not the estimator that names exceptions."""
    known = "expected_failed_checks" in inspect.signature(check_estimator).parameters
    check_estimator(estimator, **({"expected_failed_checks": estimator._expected_failed_checks()} if known else {}))


@pytest.mark.parametrize("cls", [cls for cls in CLASSES if cls is not enhope.EnHOPE], ids=lambda cls: cls.__name__)
def test_scikit_learn_checks_pass_for_every_class(cls):
    check(quick(cls))


def test_scikit_learn_checks_pass_with_default_parameters():
    check(enhope.EnHOPE(n_jobs=1))  # fastest for small data


def test_each_method_has_a_class_with_its_settings_as_parameters():
    assert [cls._method["name"] for cls in CLASSES] == [row["name"] for row in _enhope.methods()]
    for cls in CLASSES:
        parameters = cls._defaults
        for parameter, row in _table.settings_of(cls._method):
            assert parameters[parameter] is None
            if parameter in ("random_state", "class_weight"):  # have texts of their own
                continue
            doc = " ".join(cls.__doc__.split())
            assert row["help"][1:] in doc, (cls, parameter)
            if row["type"] in ("integer", "real"):
                assert f"from {row['minimum']:.15g} to {row['maximum']:.15g}. Default: {row['initial']}" in doc
    parameters_of = {cls.__name__: set(cls._defaults) for cls in CLASSES}
    assert {"n_factors", "n_exemplars", "warm_start", "learning_rate", "noise"} <= parameters_of["EnHOPE"]
    assert "hidden_layer_sizes" in parameters_of["DtMCML"] and "n_factors" not in parameters_of["DtMCML"]
    assert not {"n_epochs", "n_exemplars", "warm_start", "n_components"} & parameters_of["KNN"]
    assert "lmnn_k" in parameters_of["LMNN"] and "normalizer" not in parameters_of["LMNN"] and "lmnn_k" not in parameters_of["NCA"]
    assert not hasattr(enhope.PCA, "partial_fit")


def test_stub_file_is_up_to_date():
    import stubs

    with open(os.path.join(os.path.dirname(enhope.__file__), "__init__.pyi"), encoding="utf-8") as file:
        assert file.read() == stubs.text()


def test_invalid_parameters_are_rejected_with_the_message_of_the_library(blobs):
    X, y = blobs
    for params, message in (
        ({"n_factors": 0}, "n_factors is 0: expected 1 to 1048576"),
        ({"n_components": 0}, "n_components is 0: expected 1 to 65536"),
        ({"solver": "sgd"}, "solver is 'sgd': expected one of cg|lbfgs|adam"),
        ({"learning_rate": "fast"}, "learning_rate is 'fast': expected a number"),
        ({"recipe": "unknown"}, "recipe is 'unknown': expected one of"),
        ({"shift": 1}, "the data is not known to be images"),
        ({"device": "abacus"}, "abacus"),
    ):
        with pytest.raises(ValueError) as error:
            quick(enhope.EnHOPE, **params).fit(X, y)
        assert message in str(error.value)
    with pytest.raises(TypeError, match="no parameter 'factor': expected some of"):
        enhope.EnHOPE(factor=3)


def test_old_parameter_names_give_an_error_with_the_current_name():
    with pytest.raises(TypeError, match=r"EnHOPE\(\) has no parameter 'dims': it is now 'n_components'"):
        enhope.EnHOPE(dims=3)
    with pytest.raises(ValueError, match="EnHOPE has no parameter 'seed': it is now 'random_state'"):
        enhope.EnHOPE().set_params(seed=3)
    with pytest.raises(TypeError, match="KNN.* has no parameter 'z': expected some of"):  # not of this method
        enhope.KNN(z=3)
    with pytest.raises(TypeError, match="'rate': it is now 'learning_rate'"):
        enhope.EnHOPE(rate=0.1)
    with pytest.raises(TypeError, match="'balance': it is now 'class_weight'"):
        enhope.EnHOPE(balance=1)
    with pytest.raises(TypeError, match="'class_weighting': it is now 'class_weight'"):
        enhope.EnHOPE(class_weighting="balanced")
    with pytest.raises(TypeError, match="'mix': it was removed"):
        enhope.EnHOPE(mix=0.1)


def test_class_weights_are_those_of_scikit_learn(blobs, tmp_path):
    X, y = blobs
    labels = np.array(["a,b", 'say "no"', "x=1"])[y]
    weights = {"a,b": 2.5, 'say "no"': np.float32(0.25)}
    model = quick(enhope.EnHOPE, class_weight=weights).fit(X, labels)
    assert model._model.setting("class_weight") == '"a,b"=2.5,"say ""no"""=0.25'
    model.save(tmp_path / "m.safetensors")
    assert enhope.load(tmp_path / "m.safetensors").class_weight == weights
    for numbers in ({0: 3, 2: 0.5}, {0.0: 3, np.int64(2): 0.5}):
        model = quick(enhope.EnHOPE, class_weight=numbers).fit(X, y)
        assert model._model.setting("class_weight") == "0=3.0,2=0.5"
        model.save(tmp_path / "m.safetensors")
        assert enhope.load(tmp_path / "m.safetensors").class_weight == {0: 3, 2: 0.5}
    for plain in (None, {}, "none", {0: 1, 1: 1, 2: 1}, {0: 4, 1: 4, 2: 4}):
        same = quick(enhope.EnHOPE, class_weight=plain).fit(X, y)
        assert (same.transform(X) == quick(enhope.EnHOPE).fit(X, y).transform(X)).all(), plain
    for wrong, message in (({7: 2}, "the class '7', which the data does not have; its classes are '0', '1', '2'"),
                           ({0: 0}, "has the weight 0: expected a number from 1e-9 to 1e9"), ({0: -1}, "has the weight -1"),
                           ({0: np.nan}, "has the weight nan"), ({0: "much"}, "has the weight 'much': expected a number"),
                           ("heavy", "is 'heavy': expected 'balanced', a dict of labels and weights, or None"),
                           ([1, 2, 3], r"is \[1, 2, 3\]: expected 'balanced'")):
        with pytest.raises(ValueError, match=message):
            quick(enhope.EnHOPE, class_weight=wrong).fit(X, y)


def test_parameters_override_the_recipe(blobs):
    X, y = blobs
    model = enhope.EnHOPE(recipe="paper", n_factors=9, n_epochs=2).fit(X, y)
    assert model._model.setting("order") == "2" and model._model.setting("solver") == "cg"
    assert model._model.setting("n_factors") == "9"


def test_predictions_have_the_type_of_the_labels(blobs):
    X, y = blobs
    for kinds in (["b", "a", "c"], [True, False], [-5, 7, 3], [1.0, 2.0, 0.0], ["<b>", "ä\u2028", "\ud800"]):
        labels = np.array(kinds)[y % len(kinds)]
        model = quick(enhope.EnHOPE).fit(X, labels)
        assert list(model.classes_) == sorted(set(kinds))
        assert model.predict(X).dtype == labels.dtype
        assert set(model.predict(X)) <= set(labels)
        assert model.exemplar_labels_.dtype == labels.dtype


def test_results_do_not_depend_on_type_and_layout_of_the_array(blobs):
    import pandas as pd
    import scipy.sparse as sp

    X, y = blobs
    X = np.round(X).astype(np.float32)
    model = quick(enhope.EnHOPE).fit(X, y)
    expected = model.transform(X)
    readonly = X.copy()
    readonly.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(X.shape)
    padded = np.zeros((len(X), 9), np.float32)
    padded[:, 2:7] = X
    for same in (X.astype(np.float64), np.asfortranarray(X), readonly, unaligned, padded[:, 2:7], X[::-1][::-1],
                 X.astype(">f4"), X.astype(np.int16), X.tolist(), X.astype(object), np.ma.asarray(X)):
        assert (model.transform(same) == expected).all()
        assert (quick(enhope.EnHOPE).fit(same, y).transform(X) == expected).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (model.transform(pd.DataFrame(X, columns=list("abcde"))) == expected).all()
    for matrix in (sp.csr_matrix, sp.csc_matrix, sp.coo_matrix):
        assert np.allclose(model.transform(matrix(X)), expected, atol=1e-5)


def test_frames_are_recognized_by_their_interface(blobs):
    X, y = blobs

    class Frame:  # like that of polars: column names and to_numpy()
        columns = ["a", "b", "c", "d", "e"]

        def __init__(self, values):
            self.values = values

        def to_numpy(self):
            return self.values

        def __len__(self):
            return len(self.values)

    model = quick(enhope.EnHOPE).fit(Frame(X), y)
    assert list(model.feature_names_in_) == Frame.columns
    assert (model.transform(Frame(X)) == quick(enhope.EnHOPE).fit(X, y).transform(X)).all()
    other = Frame(X)
    other.columns = ["a", "b", "c", "e", "d"]
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(other)


def test_suitable_arrays_are_not_copied(blobs):
    from enhope import _arrays

    X, _ = blobs
    assert _arrays.samples(X)[0] is X
    bytes_ = X.astype(np.uint8)
    assert _arrays.samples(bytes_)[0] is bytes_


def test_image_shape_is_taken_from_array_or_parameter():
    digits = enhope.datasets.load("synthetic:digits,n=200,seed=1")
    images = digits.data.reshape(-1, 28, 28)
    a = quick(enhope.EnHOPE, shift=1, n_epochs=3).fit(images, digits.target)
    b = quick(enhope.EnHOPE, shift=1, n_epochs=3, image_shape=(28, 28)).fit(digits.data, digits.target)
    assert (a.transform(images) == b.transform(digits.data)).all() and a.n_features_in_ == 784


def test_results_of_a_row_do_not_depend_on_other_rows(blobs):
    X, y = blobs
    for cls in CLASSES:
        model = quick(cls).fit(X, y)
        Y, label = model.transform(X), model.predict(X)
        for i in (0, 7, 299):
            assert (model.transform(X[i:i + 1]) == Y[i]).all() and model.predict(X[i:i + 1])[0] == label[i]


def test_probabilities_scores_and_neighbors_match_predictions(blobs):
    X, y = blobs
    for cls in CLASSES:
        for labels in (y, y > 0):
            model = quick(cls).fit(X, labels)
            predicted, proba, decision = model.predict(X), model.predict_proba(X), model.decision_function(X)
            assert np.allclose(proba.sum(axis=1), 1, atol=1e-5)
            assert (model.classes_[proba.argmax(axis=1)] == predicted).all()
            if proba.shape[1] == 2:
                assert (model.classes_[(decision > 0).astype(int)] == predicted).all()
            else:
                assert (model.classes_[decision.argmax(axis=1)] == predicted).all()
        distance, index = model.kneighbors(X[:9], 2)
        assert distance.shape == index.shape == (9, 2) and (np.diff(distance) >= 0).all()
        with pytest.raises(ValueError):
            model.kneighbors(X, 10**6)


def test_estimators_work_with_scikit_learn_tools(blobs):
    X, y = blobs
    pipe = make_pipeline(StandardScaler(), quick(enhope.EnHOPE))
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(quick(enhope.EnHOPE), {"n_exemplars": [3, 6]}, cv=2, n_jobs=2).fit(X, y)
    assert search.best_params_["n_exemplars"] in (3, 6)
    model = quick(enhope.EnHOPE, random_state=np.random.RandomState(3)).fit(X, y)
    assert clone(model).get_params()["n_factors"] == 20
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert (again.transform(X) == model.transform(X)).all() and (again.predict(X) == model.predict(X)).all()
    assert enhope.plot(pipe.fit(X, y), X, y).exemplars.shape == (3, 2)
    framed = quick(enhope.EnHOPE).set_output(transform="pandas").fit(X, y)
    assert list(framed.transform(X).columns) == ["enhope0", "enhope1"]


def test_threads_can_share_a_model(blobs):
    X, y = blobs
    model = quick(enhope.EnHOPE, n_jobs=1).fit(X, y)
    expected, wrong = model.transform(X), []

    def transform():
        for _ in range(20):
            if not (model.transform(X) == expected).all():
                wrong.append(1)

    threads = [threading.Thread(target=transform) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_training_releases_the_gil(blobs):
    X, y = blobs
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    quick(enhope.EnHOPE, n_epochs=100000, time_limit=0.4).fit(X, y)
    stop.set()
    thread.join()
    assert len(ticks) >= 5


def test_ctrl_c_stops_training_and_leaves_a_fitted_estimator(blobs):
    X, y = blobs
    start = []

    def press_soon(p):  # after some epochs, however slow the machine is
        if p.epoch == 50:
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            start.append(time.monotonic())

    model = quick(enhope.EnHOPE, n_epochs=1000000, time_limit=60, callback=press_soon)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - start[0] < 20
    assert model.score(X, y) > 0.9 and model.n_iter_ < 1000000


def test_callback_is_called_each_epoch_and_can_stop_or_raise(blobs, capfd):
    X, y = blobs
    calls = []

    def stop_at_four(p):
        calls.append(p)
        return p.epoch == 4

    model = quick(enhope.EnHOPE, callback=stop_at_four, verbose=True).fit(X, y)
    assert [p.epoch for p in calls] == [1, 2, 3, 4] and model.n_iter_ == 4 and calls[0].epochs == 30
    assert "epoch" in capfd.readouterr().err

    def fail(p):
        raise LookupError("from the callback")

    model = quick(enhope.EnHOPE, callback=fail)
    with pytest.raises(LookupError, match="from the callback"):
        model.fit(X, y)
    assert model.predict(X).shape == (300,)  # fitted nevertheless


def test_results_are_determined_by_random_state(blobs):
    X, y = blobs
    a, b, c = (quick(enhope.EnHOPE, random_state=s).fit(X, y).transform(X) for s in (1, 1, 2))
    assert (a == b).all() and (a != c).any()
    one = quick(enhope.EnHOPE, n_jobs=1).fit(X, y)
    assert (one.transform(X) == a).all()


def test_warm_start_and_partial_fit_continue_training_and_add_classes(blobs):
    X, y = blobs
    names = np.array(["b", "c", "a"])[y]
    model = quick(enhope.EnHOPE, n_factors=100, n_hidden=50, n_exemplars=4, warm_start=True)
    model.fit(X[names != "a"], names[names != "a"])
    assert list(model.classes_) == ["b", "c"] and len(model.exemplars_) == 4
    model.fit(X, names)
    assert list(model.classes_) == ["a", "b", "c"] and len(model.exemplars_) == 6
    assert model.score(X, names) > 0.9
    proba = model.predict_proba(X)
    assert (model.classes_[proba.argmax(axis=1)] == model.predict(X)).all()

    model = quick(enhope.EnHOPE, n_factors=100, n_hidden=50, batch_size=20)
    for _ in range(8):
        for rows in np.array_split(np.random.RandomState(0).permutation(300), 5):
            model.partial_fit(X[rows], names[rows], classes=["a", "b", "c", "d"])
    assert list(model.classes_) == ["a", "b", "c", "d"] and model.score(X, names) > 0.9
    assert model.predict_proba(X).shape == (300, 4)
    with pytest.raises(ValueError, match="not in classes"):
        quick(enhope.EnHOPE).partial_fit(X, names, classes=["a", "b"])
    again = pickle.loads(pickle.dumps(model)).partial_fit(X, names)
    assert again.score(X, names) > 0.9


def test_unfitted_estimators_raise_not_fitted_error(blobs):
    X, _ = blobs
    for method in ("predict", "transform", "predict_proba", "decision_function", "kneighbors"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(enhope.EnHOPE(), method)(X)
    with pytest.raises(NotFittedError):
        enhope.EnHOPE().save("nowhere")

"""What users of scikit-learn expect, beyond the checks of check_estimator."""

import inspect
import pickle
import re
import warnings

import numpy as np
import pytest

import enhope
from conftest import CLASSES, quick

joblib = pytest.importorskip("joblib")
pd = pytest.importorskip("pandas")
sp = pytest.importorskip("scipy.sparse")
sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline


# ---- parameters ----


def test_signature_has_the_main_parameters_and_the_others_are_keywords_or_a_dict(blobs):
    X, y = blobs
    for cls in CLASSES:
        names = list(inspect.signature(cls).parameters)
        assert names[-2:] == ["settings", "more_settings"] and len(names) <= 15, cls
    by_keyword, by_dict = enhope.EnHOPE(noise=0.3, n_factors=7), enhope.EnHOPE(settings={"noise": 0.3, "n_factors": 7})
    assert by_keyword.get_params() == by_dict.get_params() and by_dict.noise == 0.3 and by_dict.n_factors == 7
    assert enhope.EnHOPE(settings={"noise": 0.3}, noise=0.1).noise == 0.1
    assert by_dict.set_params(settings={"noise": 0.2}, dropout=0.4).get_params()["noise"] == 0.2 and by_dict.dropout == 0.4
    assert "noise" not in enhope.EnHOPE().get_params() and enhope.EnHOPE().noise is None
    assert by_dict.set_params(noise=None).get_params().keys() == {*inspect.signature(enhope.EnHOPE).parameters, "dropout"} - {
        "settings", "more_settings"}
    with pytest.raises(TypeError, match=r"EnHOPE\(\) has no parameter 'nois': expected some of"):
        enhope.EnHOPE(settings={"nois": 0.3})
    with pytest.raises(ValueError, match="EnHOPE has no parameter 'nois': expected some of"):
        enhope.EnHOPE().set_params(settings={"nois": 0.3})


def test_all_parameters_are_cloned_searched_pickled_and_printed(blobs):
    X, y = blobs
    model = quick(enhope.EnHOPE, noise=0.3, image_shape=(5, 1), precision="float32")
    for same in (clone(model), pickle.loads(pickle.dumps(model))):
        assert same.get_params() == model.get_params() and same.noise == 0.3 and same.precision == "float32"
    search = GridSearchCV(make_pipeline(quick(enhope.EnHOPE)), {"enhope__noise": [0, 0.2], "enhope__n_hidden": [5]}, cv=2).fit(X, y)
    assert search.best_params_["enhope__noise"] in (0, 0.2)
    assert repr(enhope.EnHOPE(noise=0.3, n_epochs=5)) == "EnHOPE(n_epochs=5, noise=0.3)"
    assert repr(make_pipeline(enhope.KNN())) == "Pipeline(steps=[('knn', KNN())])"


def test_docstring_lists_every_parameter_once_by_topic():
    for cls in CLASSES:
        listed = re.findall(r"^(\w+) : .*, default=", cls.__doc__, re.M)
        assert sorted(listed) == sorted([*cls._defaults, "settings"]), cls
    titles = re.findall(r"^([A-Z].*)\n---", enhope.EnHOPE.__doc__, re.M)
    assert titles == ["Parameters", "Map parameters", "Objective parameters", "Optimization parameters",
                      "Augmentation parameters", "Further parameters", "Attributes", "Examples"]


def test_settings_are_the_effective_ones(blobs):
    X, y = blobs
    model = quick(enhope.EnHOPE, noise=0.25, class_weight={0: 2})
    with pytest.raises(AttributeError, match="no settings_ yet"):
        model.settings_
    settings = model.fit(X, y).settings_
    assert settings["noise"] == 0.25 and settings["n_epochs"] == 30 and settings["class_weight"] == {0: 2}
    assert settings["scaling"] != "auto" and settings["n_exemplars"] == len(model.exemplars_)  # chosen by the data
    assert settings["recipe"] == "fast" and "line_searches" not in settings  # of another solver
    refitted = enhope.EnHOPE(settings={k: v for k, v in settings.items()}).fit(X, y)
    assert (refitted.transform(X) == model.transform(X)).all()
    assert enhope.KNN().fit(X, y).settings_["n_neighbors"] == 5


def test_balanced_classes_have_equal_weight(blobs):
    X, y = blobs
    rows = np.flatnonzero((y != 1) | (np.arange(300) % 5 == 0))
    X, y = X[rows], y[rows]
    size = np.bincount(y)
    balanced = quick(enhope.EnHOPE, class_weight="balanced").fit(X, y)
    weighted = quick(enhope.EnHOPE, class_weight={k: len(y) / (3 * size[k]) for k in range(3)}).fit(X, y)
    assert balanced.settings_["class_weight"] == "balanced" and max(size) > 4 * min(size)
    assert np.allclose(balanced.transform(X), weighted.transform(X), atol=1e-3)
    assert np.abs(balanced.transform(X) - quick(enhope.EnHOPE).fit(X, y).transform(X)).max() > 0.01


def test_random_state_none_draws_a_seed_from_numpy(blobs):
    X, y = blobs
    np.random.seed(3)
    first, second = (quick(enhope.EnHOPE, random_state=None).fit(X, y) for _ in range(2))
    assert first.settings_["random_state"] != second.settings_["random_state"]
    assert (first.transform(X) != second.transform(X)).any()
    np.random.seed(3)
    again = quick(enhope.EnHOPE, random_state=None).fit(X, y)
    same = quick(enhope.EnHOPE, random_state=first.settings_["random_state"]).fit(X, y)
    assert (again.transform(X) == first.transform(X)).all() and (same.transform(X) == first.transform(X)).all()
    drawn = quick(enhope.EnHOPE, random_state=np.random.default_rng(3)).fit(X, y).settings_["random_state"]
    assert 0 <= drawn < 2**31 - 1
    seed = again.settings_["random_state"]
    assert again.partial_fit(X, y).settings_["random_state"] == seed  # training that continues keeps it


def test_n_jobs_none_is_one_unless_joblib_sets_it(blobs, monkeypatch):
    X, y = blobs
    from enhope import _placement

    context = getattr(joblib, "parallel_config", joblib.parallel_backend)
    model = quick(enhope.EnHOPE)
    assert model._placement() == ("cpu", "fp32", 1) and quick(enhope.EnHOPE, n_jobs=-1)._placement()[2] == 0
    with context("loky", n_jobs=3):
        assert model._placement()[2] == 3 and quick(enhope.EnHOPE, n_jobs=2)._placement()[2] == 2
        model.fit(X, y)
        assert (model.predict(X) == quick(enhope.EnHOPE).fit(X, y).predict(X)).all()
    with context("threading", n_jobs=-1):
        assert model._placement()[2] == joblib.cpu_count()
    assert _placement.n_threads(None) == 1
    monkeypatch.delitem(__import__("sys").modules, "joblib")
    assert _placement.n_threads(None) == 1


def test_device_auto_gives_no_warning(blobs):
    X, y = blobs
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(enhope.EnHOPE, device="auto").fit(X, y).predict(X)


# ---- outputs ----


def test_log_probabilities_are_logarithms(blobs):
    X, y = blobs
    for cls in (enhope.EnHOPE, enhope.KNN):
        model = quick(cls).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            logs = model.predict_log_proba(X)
        assert logs.shape == (300, 3) and (np.exp(logs).astype(np.float32) == model.predict_proba(X)).mean() > 0.99
        assert np.allclose(np.exp(logs), model.predict_proba(X), rtol=1e-6)


def test_scores_of_samples_are_log_similarities_to_the_nearest_exemplar(blobs):
    X, y = blobs
    for settings, similarity in (({"similarity": "student", "dof": 3}, lambda d: (1 + d / 3) ** -2),
                                 ({"similarity": "gaussian"}, lambda d: np.exp(-d))):
        model = quick(enhope.EnHOPE, **settings).fit(X, y)
        G, _ = model._references()
        squared = ((model.transform(X)[:, None].astype(float) - G) ** 2).sum(axis=2).min(axis=1)
        assert np.allclose(model.score_samples(X), np.log(similarity(squared)), rtol=1e-3, atol=1e-5)
    inside = model.score_samples(X)
    between = np.array([(X[y == a].mean(axis=0) + X[y == b].mean(axis=0)) / 2 for a, b in ((0, 1), (0, 2), (1, 2))])
    assert model.score_samples(between).max() < np.quantile(inside, 0.2) and (inside <= 0).all()
    neighbors = enhope.KNN().fit(X, y)
    assert (neighbors.score_samples(X) == 0).all() and (neighbors.score_samples(X + 5) < 0).all()


# ---- values ----


@pytest.mark.parametrize("cls", [enhope.EnHOPE, enhope.KNN])
def test_messages_name_rows_and_columns_as_the_user_knows_them(blobs, cls):
    X, y = blobs
    model = quick(cls).fit(X, y)
    for value, message in ((np.nan, "is NaN, a missing value: expected a number; fill it, for example with sklearn.impute"),
                           (np.inf, "is inf: expected a finite number"), (-np.inf, "is -inf: expected a finite number")):
        bad = X.copy()
        bad[3, 1] = value
        for some in (bad, bad.astype(np.float64), bad.tolist(), np.asfortranarray(bad)):
            for call in (model.predict, model.transform, model.predict_proba, model.score_samples, lambda a: quick(cls).fit(a, y)):
                with pytest.raises(ValueError, match=r"X\[3, 1\] " + re.escape(message)):
                    call(some)
        with pytest.raises(ValueError, match=r"X\[0, 1\] " + re.escape(message)):
            model.predict(bad[3:4])
        with pytest.raises(ValueError, match=r"X\[3, 1\] " + re.escape(message)):
            model.predict(sp.csr_matrix(bad))
    frame = pd.DataFrame(X.copy(), columns=list("abcde"), index=[f"p{i}" for i in range(300)])
    fitted = quick(cls).fit(frame, y)
    frame.iloc[3, 1] = np.inf
    for call in (fitted.predict, lambda a: quick(cls).fit(a, y)):
        with pytest.raises(ValueError, match="row 'p3', column 'b' of X is inf: expected a finite number"):
            call(frame)
    frame.iloc[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 'p3', column 'b' of X is NaN, .* or train with missing values in this column"):
        fitted.predict(frame)


def test_rows_of_slices_are_counted_from_the_first_row(blobs, monkeypatch):
    X, y = blobs
    model = quick(enhope.EnHOPE).fit(X, y)
    many = np.concatenate([X] * 9)
    many[2017, 4] = np.nan
    monkeypatch.setattr("enhope._prediction._SLICE_WORK", 1)
    with pytest.raises(ValueError, match=r"X\[2017, 4\] is NaN"):
        model.predict(many)


def test_pixels_of_images_are_named():
    images = np.random.RandomState(0).rand(40, 4, 6)
    model = quick(enhope.EnHOPE, n_epochs=1).fit(images, np.arange(40) % 2)
    images[7, 2, 5] = np.nan
    with pytest.raises(ValueError, match=r"X\[7, 2, 5\] is NaN"):
        model.predict(images)


def test_large_finite_numbers_are_not_called_infinite(blobs):
    X, y = blobs
    model = quick(enhope.EnHOPE).fit(X, y)
    bad = X.astype(np.float64)
    bad[5, 2] = -1e300
    for call in (model.predict, lambda a: model.predict(a[5:6]), lambda a: quick(enhope.EnHOPE).fit(a, y),
                 lambda a: quick(enhope.EnHOPE).fit(pd.DataFrame(a, columns=list("abcde")), y)):
        with pytest.raises(ValueError, match=r"-1e\+300.*expected at most 3.403e\+38 in size") as error:
            call(bad)
        assert "inf" not in str(error.value)
    bad[5, 2] = 1e35
    frame = pd.DataFrame(bad, columns=list("abcde"))
    for some, place in ((bad, r"X\[:, 2\]"), (sp.csr_matrix(bad), r"X\[:, 2\]"), (frame, "column 'c' of X"),
                        (frame.assign(kind=np.array(["x", "y", "z"])[y])[["kind", *"abcde"]], "column 'c' of X"),
                        (bad[:240].reshape(120, 2, 5), r"X\[:, 1, 2\]")):
        with pytest.raises(ValueError, match=f"^{place} has a value of size 1e\\+35: expected at most 1e\\+30; divide"):
            quick(enhope.EnHOPE).fit(some, np.arange(some.shape[0]) % 3)


def test_columns_without_names_are_counted_from_0_in_warnings_and_encoded_tables(blobs):
    X, y = blobs
    moved = X.astype(np.float64) + 1e9
    moved[:, 3] = 7
    with pytest.warns(UserWarning, match=r"^not used, because all rows have the same value: X\[:, 3\]$"):
        model = quick(enhope.EnHOPE).fit(moved, y)
    bad = moved.copy()
    bad[5, 2] = 1e39
    with pytest.raises(ValueError, match=r"X\[5, 2\] is 1e\+39: expected at most 3.403e\+38 in size"):
        model.predict(bad)
    frame = pd.DataFrame(X.astype(np.float64), columns=list("abcde"), index=range(7, 307)).assign(kind=np.array(["x", "y", "z"])[y])
    model = quick(enhope.EnHOPE).fit(frame, y)
    for value, message in ((np.inf, "inf: expected a finite number"), (-1e300, r"-1e\+300: expected at most 3.403e\+38 in size")):
        frame.loc[9, "d"] = value
        for call in (model.predict, lambda a: quick(enhope.EnHOPE).fit(a, y)):
            with pytest.raises(ValueError, match=f"row 9, column 'd' of X is {message}"):
                call(frame)


def test_missing_labels_are_named(blobs):
    X, y = blobs
    for missing, text in ((np.nan, "NaN"), (None, "None"), (pd.NA, "<NA>"), (np.datetime64("NaT"), "NaT")):
        labels = y.astype({float: float, np.datetime64: "datetime64[D]"}.get(type(missing), object))
        labels[11] = missing
        with pytest.raises(ValueError, match=rf"y\[11\] is {text}, a missing label: expected a label for each sample; drop"):
            quick(enhope.EnHOPE).fit(X, labels)


def test_texts_and_missing_objects_are_named(blobs):
    X, y = blobs
    model = quick(enhope.EnHOPE).fit(X, y)
    bad = X.astype(object)
    bad[4, 2] = "red"
    with pytest.raises(ValueError, match=r"X\[4, 2\] is 'red': expected a number; pass a data frame"):
        model.predict(bad)
    bad[4, 2] = None
    with pytest.raises(ValueError, match=r"X\[4, 2\] is NaN, a missing value"):
        model.predict(bad)


def test_offsets_do_not_cost_accuracy():
    X, y = load_wine(return_X_y=True)
    part = np.random.RandomState(0).permutation(len(X))
    fit, test = part[:120], part[120:]
    scores = []
    for moved in (X, X + 1e9):
        model = enhope.EnHOPE(random_state=1, n_jobs=-1).fit(moved[fit], y[fit])
        scores.append(model.score(moved[test], y[test]))
        assert (model.predict(moved[test[:1]]) == model.predict(moved[test])[:1]).all()
    assert scores[0] > 0.9 and abs(scores[0] - scores[1]) < 0.02


# ---- inputs ----


def test_arrays_of_the_array_api_are_accepted(blobs):
    X, y = blobs
    model = quick(enhope.EnHOPE).fit(X, y)

    class Foreign:  # offers its memory by DLPack only
        def __init__(self, a):
            self._a = a

        def __dlpack__(self, **more):
            return self._a.__dlpack__(**more)

        def __dlpack_device__(self):
            return self._a.__dlpack_device__()

    for same in (Foreign(X), Foreign(X.astype(np.float64))):
        assert (model.transform(same) == model.transform(X)).all()
        assert (quick(enhope.EnHOPE).fit(same, y).transform(X) == model.transform(X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api = pytest.importorskip("numpy.array_api")
        assert (model.predict(api.asarray(X)) == model.predict(X)).all()


def test_frames_of_polars_are_accepted(blobs):
    polars = pytest.importorskip("polars")
    X, y = blobs
    frame = polars.DataFrame({name: X[:, j] for j, name in enumerate("abcde")}).with_columns(
        polars.Series("kind", np.array(["x", "y", None], dtype=object)[y], dtype=polars.Utf8))
    model = quick(enhope.EnHOPE).fit(frame, y)
    assert list(model.feature_names_in_) == [*"abcde", "kind"] and model.score(frame, y) > 0.9
    with pytest.raises(TypeError, match=r"pass X.collect\(\)"):
        model.predict(frame.lazy())


def test_lazy_frames_are_refused_with_the_remedy(blobs):
    class LazyFrame:
        columns = ["a"]

        def collect(self):
            return None

    with pytest.raises(TypeError, match=r"X is a LazyFrame: expected a frame with values; pass X.collect\(\)"):
        quick(enhope.EnHOPE).fit(LazyFrame(), blobs[1])


def test_names_of_columns_are_kept_and_checked(blobs, tmp_path):
    X, y = blobs
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = quick(enhope.EnHOPE).fit(frame, y)
    model.save(tmp_path / "m.safetensors")
    for same in (model, enhope.load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(model))):
        assert same.feature_names_in_.tolist() == list("abcde") and same.feature_names_in_.dtype == object
    assert not hasattr(model.fit(X, y), "feature_names_in_")


@pytest.mark.skipif(not hasattr(sklearn, "set_config") or "enable_metadata_routing" not in sklearn.get_config(),
                    reason="this scikit-learn has no metadata routing")
def test_metadata_is_routed(blobs):
    X, y = blobs
    with sklearn.config_context(enable_metadata_routing=True):
        model = quick(enhope.EnHOPE).set_partial_fit_request(classes=True)
        assert model.get_metadata_routing().partial_fit.requests == {"classes": True}


# ---- without labels ----


def test_methods_without_labels_embed_and_do_not_classify(blobs, tmp_path):
    X, y = blobs
    for cls in (enhope.EnTSNE, enhope.DeepEnTSNE, enhope.LinearEnTSNE, enhope.PtSNE, enhope.PCA, enhope.LPP):
        model = quick(cls).fit(X)
        assert model.transform(X).shape == (300, 2) and len(model.classes_) == 0, cls
        assert (model.fit_transform(X) == model.transform(X)).all()
        with pytest.raises(ValueError, match="trained without labels"):
            model.predict(X)
        model.save(tmp_path / "m")
        same = enhope.load(tmp_path / "m")
        assert (same.transform(X) == model.transform(X)).all() and type(same) is cls
        assert cls.__name__ in repr(clone(model)) and pickle.loads(pickle.dumps(model)).transform(X).shape == (300, 2)
    with pytest.raises(ValueError, match="requires y"):
        quick(enhope.EnHOPE).fit(X)
    assert (quick(enhope.EnTSNE).fit(X, y).predict(X) == y).mean() > 0.7

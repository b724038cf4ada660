"""Data frames with columns of all types, and numbers that float32 cannot resolve."""

import pickle

import numpy as np
import pytest

import enhope
from conftest import quick

pd = pytest.importorskip("pandas")
load_wine = pytest.importorskip("sklearn.datasets").load_wine


def table(n=240, seed=3):
    """A frame of all types with missing values, and labels that depend on most of them."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n)
    frame = pd.DataFrame({
        "age": random.normal(30 + 4 * y, 5),
        "color": np.array(["red", "green", "blue"], dtype=object)[(y + (random.random(n) < 0.1)) % 3],
        "size": pd.Categorical(random.integers(1, 4, n)),
        "member": random.random(n) < 0.3 + 0.2 * y,
        "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(random.integers(0, 700, n), unit="D"),
        "far": 1e9 + 2 * y + random.normal(0, 0.5, n),
        "count": pd.array(random.integers(0, 9, n), dtype="Int64"),
    })
    frame.loc[::6, "age"] = np.nan
    frame.loc[::7, "color"] = None
    frame.loc[::8, "day"] = pd.NaT
    frame.loc[::9, "count"] = pd.NA
    return frame, y


def test_frames_of_all_types_train_and_predict(tmp_path):
    frame, y = table()
    test, expected = table(seed=4)
    model = enhope.EnHOPE(n_factors=20, n_hidden=10, random_state=1).fit(frame, y)
    assert model.n_features_in_ == 7 and list(model.feature_names_in_) == list(frame.columns)
    proba, label = model.predict_proba(test), model.predict(test)
    assert np.mean(label == expected) > 0.9
    # columns are found by name; others are left out
    shuffled = test[["far", "day", "size", "count", "member", "color", "age"]].assign(more=1.5)
    assert (model.predict_proba(shuffled) == proba).all()
    # the encoding is in the file, in pickles and in what the command writes
    model.save(tmp_path / "m.safetensors")
    for other in (enhope.load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(model))):
        assert other.n_features_in_ == 7 and list(other.feature_names_in_) == list(frame.columns)
        assert (other.predict(shuffled) == label).all()
    with pytest.raises(ValueError, match="columns of the training data are missing: 'age', 'color'; the data has others: 'Color'"):
        model.predict(test.drop(columns=["age", "color"]).assign(Color="red"))
    # texts that can be read as the type of training are
    texts = test.assign(far=[repr(x) for x in test["far"]], day=test["day"].dt.strftime("%Y-%m-%d"))
    assert (model.predict_proba(texts) == proba).all()
    with pytest.raises(ValueError, match="column 'far' contains 'x': expected a number"):
        model.predict(test.assign(far="x"))


def test_unknown_categories_and_new_missing_values_give_a_warning():
    frame, y = table()
    model = quick(enhope.EnHOPE).fit(frame, y)
    with pytest.warns(UserWarning, match="column 'size': 240 values are not among the categories of training .'7'."):
        model.predict(frame.assign(size=7))
    with pytest.warns(UserWarning, match="in columns that had no missing values in training.*'far'"):
        model.transform(frame.assign(far=np.nan))


def test_constant_columns_are_dropped_with_a_warning():
    frame, y = table()
    with pytest.warns(UserWarning, match="all rows have the same value: 'same', 'alike'"):
        model = quick(enhope.EnHOPE).fit(frame.assign(same=3.5, alike="a"), y)
    assert (model.predict(frame) == model.predict(frame.assign(same=4, alike="b"))).all()


def test_ids_are_dropped_with_a_warning():
    frame, y = table()
    ids = frame.assign(visit_id=np.arange(240) ** 2, paid=np.arange(240) ** 2)
    with pytest.warns(UserWarning, match="not used: 'visit_id' .unique numbers.; rename a column to use it"):
        model = quick(enhope.EnHOPE).fit(ids, y)
    assert (model.predict(ids) == model.predict(ids.drop(columns="visit_id"))).all()
    # also if all columns are numbers; the index that pandas has written is one
    X, y = load_wine(return_X_y=True)
    numbers = pd.DataFrame(X).add_prefix("x")
    for name, first in (("Unnamed: 0", 0), ("day", 1000)):
        counted = numbers.copy()
        counted.insert(0, name, np.arange(first, first + len(X)))
        with pytest.warns(UserWarning, match=f"not used: '{name}' .a counter."):
            model = quick(enhope.EnHOPE).fit(counted, y)
        assert model.n_features_in_ == 14
        assert (model.predict(numbers) == model.predict(counted)).all()


def test_training_of_a_frame_continues():
    frame, y = table()
    model = quick(enhope.EnHOPE, warm_start=True).fit(frame, y)
    offset = model._model.columns()[5]["offset"]
    model.fit(frame[frame.columns[::-1]].assign(far=frame["far"] + 1), y)
    assert model._model.columns()[5]["offset"] == offset
    model.partial_fit(frame[:50], y[:50])
    assert model.predict(frame).shape == y.shape


def test_a_column_of_several_types_is_refused():
    frame, y = table()
    frame["mixed"] = [1, "a"] * 120
    with pytest.raises(ValueError, match="column 'mixed' contains values of types int, str: expected one type"):
        quick(enhope.EnHOPE).fit(frame, y)


def test_numbers_that_float32_cannot_resolve_are_centered():
    X, y = load_wine(return_X_y=True)
    parameters = dict(n_factors=20, n_hidden=10, n_epochs=60, random_state=1)
    near, far = (enhope.EnHOPE(**parameters).fit(X + offset, y) for offset in (0.0, 1e9))
    assert near._model.columns() is None
    assert abs(near.score(X, y) - far.score(X + 1e9, y)) < 0.02
    assert far.score(X + 1e9, y) > 0.95
    # integers, frames and single rows too
    assert (far.predict((X + 1e9)[:1]) == far.predict(X + 1e9)[:1]).all()
    times = np.round(X * 100).astype(np.int64) + 1_700_000_000_000
    assert enhope.EnHOPE(**parameters).fit(times, y).score(times, y) > 0.95
    frame = pd.DataFrame(X + 1e9).add_prefix("x")
    model = enhope.EnHOPE(**parameters).fit(frame, y)
    assert (model.predict(frame[frame.columns[::-1]]) == far.predict(X + 1e9)).all()
    with pytest.raises(ValueError, match=r"X\[1, 2\] is NaN"):
        far.predict(np.where(np.arange(X.size).reshape(X.shape) == X.shape[1] + 2, np.nan, X))
    with pytest.raises(ValueError, match="12 features"):
        far.predict(X[:, :12])

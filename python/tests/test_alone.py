"""The package works with numpy only: scikit-learn, scipy, pandas and matplotlib are blocked."""

import subprocess
import sys

PROGRAM = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("sklearn", "scipy", "pandas", "matplotlib", "joblib", "IPython"):
            raise ImportError(name)
sys.meta_path.insert(0, Block())
import enhope, numpy as np, pickle
X, y = enhope.datasets.load("synthetic:blobs,n=200,classes=3,inputs=5,seed=1", return_X_y=True)
model = enhope.EnHOPE(n_factors=10, n_hidden=5, n_epochs=20)
try:
    model.predict(X)
except enhope.NotFittedError as error:
    assert isinstance(error, ValueError) and "not fitted" in str(error)
model.fit(X, y)
assert model.score(X, y) > 0.9
assert (pickle.loads(pickle.dumps(model)).transform(X) == model.transform(X)).all()
assert model.get_params()["n_factors"] == 10 and repr(model) == "EnHOPE(n_epochs=20, n_factors=10, n_hidden=5)"
model.set_params(n_epochs=3).fit(X, y).partial_fit(X, y)
try:
    model.set_params(unknown=1)
except ValueError as error:
    assert "no parameter 'unknown'" in str(error)
assert enhope.plot(model, X, y)._repr_png_() is None
"""


def test_package_needs_only_numpy():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)

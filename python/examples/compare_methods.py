# %% [markdown]
# # Compare methods
# Every method is a scikit-learn estimator, so `cross_val_score` compares them on the same folds.

# %%
import sys

import enhope

quick = "--quick" in sys.argv
path = next((a for a in sys.argv[1:] if a != "--quick"), f"synthetic:blobs,n={150 if quick else 900},classes=5,inputs=8,seed=2")
X, y = enhope.datasets.load(path, return_X_y=True)

# %%
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline

estimators = {
    "EnHOPE": enhope.EnHOPE(n_epochs=5 if quick else None),
    "HOPE": enhope.HOPE(n_epochs=5 if quick else None),
    "LMNN": enhope.LMNN(n_epochs=5 if quick else None),
    "NCA": enhope.NCA(n_epochs=5 if quick else None),
    "PCA": enhope.PCA(),
    "KNN": enhope.KNN(),
    "scikit-learn NCA + kNN": make_pipeline(
        NeighborhoodComponentsAnalysis(n_components=2, max_iter=5 if quick else 50, random_state=0), KNeighborsClassifier()
    ),
}
for name, estimator in estimators.items():
    scores = cross_val_score(estimator, X, y, cv=3)
    print(f"{name:24} accuracy {100 * scores.mean():5.1f} % +- {100 * scores.std():.1f}")

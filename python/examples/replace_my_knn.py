# %% [markdown] # Replace my kNN Replace a nearest-neighbor classifier by one that compares with 20
# exemplars instead of all training samples: the same methods, less memory, less time. `python3
# replace_my_knn.py MNIST-FOLDER`; without a folder, the digits are synthetic.

# %%
import pickle
import sys
import time

import enhope

quick = "--quick" in sys.argv
folder = next((a for a in sys.argv[1:] if a != "--quick"), f"synthetic:digits,n={600 if quick else 6000},seed=1")
train, test = (enhope.datasets.load(folder, part=part) for part in ("train", "test"))

# %%
for model in (enhope.KNN(), enhope.EnHOPE(n_epochs=5 if quick else None)):
    start = time.perf_counter()
    model.fit(train.data, train.target)
    fitted = time.perf_counter()
    error = 1 - model.score(test.data, test.target)
    print(f"{type(model).__name__:8} fit {fitted - start:6.2f} s   predict {time.perf_counter() - fitted:6.3f} s   "
          f"error {100 * error:5.2f} %   {len(pickle.dumps(model)) / 1e6:6.1f} MB")

# %% [markdown]
# The classifier also gives probabilities and the nearest exemplars.

# %%
proba = model.predict_proba(test.data[:3])
distance, exemplar = model.kneighbors(test.data[:3], 2)
for row in range(3):
    print(f"class {model.classes_[proba[row].argmax()]} with probability {proba[row].max():.2f}, nearest exemplars "
          f"{exemplar[row].tolist()} at {distance[row].round(2).tolist()}")

# %% [markdown]
# # Map my table
# Embed a table with a column of classes in two dimensions. With your own CSV file:
# `python3 map_my_table.py flowers.csv species`. Without arguments, the data is synthetic.

# %%
import sys

import enhope

arguments = [a for a in sys.argv[1:] if a != "--quick"]
path = arguments[0] if arguments else "synthetic:blobs,n=600,classes=4,inputs=6,seed=1"
table = enhope.datasets.load(path, label=arguments[1] if len(arguments) > 1 else None)
print(table)

# %% [markdown]
# `fit` trains the model. It holds out 10 % of the rows automatically to choose the best epoch.

# %%
model = enhope.EnHOPE(n_epochs=20 if "--quick" in sys.argv else None)
model.fit(table.data, table.target)
held_out = model.history_["valid_error"].min()
print(f"held-out error {100 * held_out:.1f} % after {model.n_iter_} epochs")

# %% [markdown]
# A notebook displays the page below the cell. `save` writes it to a file.

# %%
page = enhope.view(model, table.data, table.target, title="My table")
page.save("map.html")
print("the map is in map.html; exemplars of each class, in the units of the table:")
for label, exemplar in zip(model.exemplar_labels_, model.exemplars_):
    print(f"  {label}: " + ", ".join(f"{value:.2f}" for value in exemplar[:6]))
page

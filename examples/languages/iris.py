"""Trains on iris.csv and prints the species of the flowers in new.csv, in Python.

    enhope examples .
    python3 iris.py
"""

import numpy

import enhope

table = numpy.genfromtxt("iris.csv", delimiter=",", skip_header=1, dtype=str)
fresh = numpy.genfromtxt("new.csv", delimiter=",", skip_header=1)
model = enhope.EnHOPE(random_state=0).fit(table[:, :4].astype(float), table[:, 4])
print("\n".join(model.predict(fresh)))

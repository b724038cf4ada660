"""Where estimators compute: device, precision, and number of threads."""

import operator
import os
import sys

# A constant, because a model keeps the predictor of its last placement.
_ONE_THREAD = ("cpu", "fp32", 1)


def _jobs_of_context():
    """The number of jobs of joblib's context (parallel_config, parallel_backend); 1 without one."""
    effective = getattr(sys.modules.get("joblib"), "effective_n_jobs", None)
    return 1 if effective is None else max(int(effective(None)), 1)


def n_threads(n_jobs):
    """The number of threads for the library, in which 0 means all cores."""
    if n_jobs is None:
        return _jobs_of_context()
    try:
        jobs = operator.index(n_jobs)
        if jobs != 0 and abs(jobs) < 2**31:
            return jobs if jobs > 0 else 0 if jobs == -1 else max(1, (os.cpu_count() or 1) + 1 + jobs)
    except TypeError:
        pass
    raise ValueError(f"n_jobs is {n_jobs!r}: expected an integer other than 0, or None")


class Placement:
    """The part of an estimator that chooses where to compute."""

    def _placement(self):
        """(device, precision, threads) for the module."""
        jobs = n_threads(self.n_jobs)
        if jobs == 1 and self.device == "cpu" and self.precision == "fp32":
            return _ONE_THREAD
        return str(self.device), str(self.precision), jobs

    def _row_placement(self):
        """The same for one row, which needs no second thread."""
        if self.n_jobs is None and self.device == "cpu" and self.precision == "fp32":
            return _ONE_THREAD
        return self._placement()

    def _training_placement(self):
        """The same for training, which has no arithmetic of predictions."""
        device, precision, jobs = self._placement()
        return device, "fp32" if precision in ("float32", "int8") else precision, jobs

"""Training with weights of the samples, for methods with exemplars."""


class WeightedFit:
    """Base class of the estimators whose loss is a weighted mean over the samples."""

    def fit(self, X, y=None, sample_weight=None):
        """Train the model.

        Ctrl-C stops training and raises KeyboardInterrupt; the estimator then has the best state so
        far.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Training samples. An array of three dimensions contains images. Arrays of float32 and
            uint8 in C order are not copied; other numbers are converted to float32. Frames may
            have columns of texts, categories, booleans and dates, and missing values; the model
            encodes them. Columns of uint8 are scaled together, like intensities of images; for a
            table with columns of different units, pass float32 or choose the scaling
            ``'standard'``.
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the samples, from 0; None: all are equal. Only their ratios count: a sample
            of weight 2 counts like two such samples, and one of weight 0 is left out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X, y=None, classes=None, sample_weight=None):
        """Train for one epoch on X, starting from the current state. Each call may add classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Training samples. The first call needs samples of at least two classes.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like or None, default=None
            All labels that later calls may contain, as for scikit-learn's estimators. Optional.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the samples, as in ``fit``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit_epoch(X, y, classes, sample_weight)

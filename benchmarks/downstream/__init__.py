"""scikit-learn and SciPy on stride0."""

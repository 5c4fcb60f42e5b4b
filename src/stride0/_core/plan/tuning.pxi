# Thresholds, which tests and benchmarks change, and counters, which tests read.

tuning = {threshold.name: threshold.value for threshold in THRESHOLDS}


def tune(**values):
    """Change thresholds, for tests and benchmarks; returns the previous values."""
    global tuning
    cdef dict now = tuning
    if values.keys() - now.keys():
        raise TypeError(f"tune: no threshold {', '.join(values.keys() - now.keys())}; _tables/thresholds.py lists them")
    tuning = {**now, **values}
    return now


def counts():
    """Return the counters of `Counters`, for tests."""
    return counters

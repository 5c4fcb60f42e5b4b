# Thresholds, which tests and benchmarks change, and counters, which tests read.


def tune(**values):
    """Change thresholds, for tests and benchmarks; returns the previous values."""
    global tuning
    cdef dict now = tuning  # in the order of the fields
    cdef Tuning changed = tuning
    cdef int64_t* fields = <int64_t*> &changed
    cdef Py_ssize_t place
    if values.keys() - now.keys():
        raise TypeError(f"tune: no threshold {', '.join(values.keys() - now.keys())}; _tables/thresholds.py lists them")
    for place, name in enumerate(now):
        fields[place] = values.get(name, now[name])
    tuning = changed
    return now


tune(**{threshold.name: threshold.value for threshold in THRESHOLDS})


def counts():
    """Return the counters of `Counters`, for tests."""
    return counters

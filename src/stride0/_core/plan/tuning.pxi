# Thresholds of the planner, which tests and benchmarks change, and counters, which tests read.

cdef object last_cache():
    """
    Bytes of the last-level cache: from Linux, from the C library, or a default.

    In virtual machines the C library may report the caches of all processors of the host together.
    """
    try:
        with open("/sys/devices/system/cpu/cpu0/cache/index3/size") as file:
            size = int(file.read().strip().removesuffix("K")) << 10
    except (OSError, ValueError):
        try:
            size = os.sysconf("SC_LEVEL3_CACHE_SIZE")
        except (AttributeError, OSError, ValueError):
            size = 0
    return min(max(size, 1 << 22), 1 << 25) if size > 0 else 1 << 25


tuning.threads_from, tuning.wake_from, tuning.per_thread, tuning.cached_to, tuning.chunk_to = 8000, 100000, 4000, 24000, 2000000
tuning.fixed_from, tuning.fixed_chunk = 1 << 16, 1 << 13
tuning.transpose_from, tuning.stream_from, tuning.stream_runs_from = 1 << 10, last_cache() // 4, last_cache()
tuning.stream_calls, tuning.prefetch_from = 4, last_cache() // 2


def tune(**values):
    """Change thresholds, for tests and benchmarks; returns the previous values."""
    global tuning
    cdef dict now = tuning
    if values.keys() - now.keys():
        raise TypeError(f"tune: {', '.join(values.keys() - now.keys())}")
    tuning = {**now, **values}
    return now


def counts():
    """How often chains have transposed an operand, streamed, cast, computed an operand of a reduction, run in tiles, paired two steps, and prefetched a leaf or an output."""
    return counters

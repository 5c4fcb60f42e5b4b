# Searching in sorted arrays (kernel: `searching.h`).

ctypedef struct Search:
    # A search for `count` wanted elements in a sorted lane; each thread searches for chunks of the wanted elements.
    const char* lane
    Py_ssize_t stride
    Py_ssize_t n
    const char* wanted
    Py_ssize_t count
    Py_ssize_t each         # elements in a chunk
    int width
    int kind
    bint right
    int64_t* out


cdef void search_chunk(void* context, int chunk) noexcept nogil:
    cdef Search* search = <Search*>context
    cdef Py_ssize_t first = chunk * search.each, count = min(search.each, search.count - first)
    s0_search(search.lane, search.stride, search.n, search.wanted + first * search.width, count, search.width, search.kind, search.right, search.out + first)


cdef Array indices_in(Array among, Array wanted, bint right):
    """Return the indices at which `wanted` would be inserted into the sorted lane `among`, as a new C-ordered array. Both have the same dtype."""
    if is_stored(among.code):
        among, wanted = copy_array(among, arithmetic_code(among.code), True), copy_array(wanted, arithmetic_code(wanted.code), True)
    cdef Array lane = among
    cdef Array given = wanted if wanted.c_contiguous else copy_array(wanted, wanted.code, True)
    cdef Array out = new_array(INT64, wanted.ndim, wanted.shape_, NULL, False)
    cdef Search search
    cdef int threads = 1
    cdef Py_ssize_t chunks = 1
    if not among.c_contiguous and among.strides_[0] != 0 and among.size // tuning.elements_per_search < wanted.size:
        # Searching a strided lane costs more than copying it, except if there are only a few elements to search for.
        lane = copy_array(among, among.code, True)
    search.lane, search.n, search.wanted, search.count = data_of(lane), lane.size, data_of(given), out.size
    search.stride = itemsize_at(among.code) if lane.c_contiguous else lane.strides_[0]
    search.width, search.kind, search.right = itemsize_at(among.code), kind_of(among.code), right
    search.out = <int64_t*>data_of(out)
    if is_long_run(out.size):
        threads = threads_for(out.size * 8)
        chunks = chunks_for(out.size * tuning.search_ns, threads)
    run_in_chunks(search_chunk, &search, &search.each, out.size, chunks, threads, out.size)
    return out


def search_among(Array among not None, Array wanted not None, bint right):
    """Check the arguments of `indices_in`, then call it: `among` has one axis, and both arrays have the same bool or real dtype."""
    guard_gradient(among, "searchsorted")
    guard_gradient(wanted, "searchsorted")
    if among.ndim != 1 or among.code != wanted.code or letter_at(among.code) == c"c":
        raise ShapeError("searchsorted", "x1 must be a vector with the same bool or real dtype as x2", (), "pass a vector as x1, and astype(x2, x1.dtype)")
    return indices_in(among, wanted, right)

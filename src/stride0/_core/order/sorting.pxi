# Sorting, selection by rank, and searching in sorted arrays (kernels: `sorting.h`, `searching.h`, `distinct.h`).
#
# Note [Sorting]
#     Lanes of real numbers are sorted by the kernels in `sorting.h`, always stably: stability costs no time there. Several
#     short lanes of a matrix, along either axis, are sorted in place side by side (`sort_lanes.h`): each lane of a vector register
#     sorts one lane of the matrix. Longer lanes that are not along the last axis are sorted in a transposed copy, which costs
#     less than the sort. Columns of a small matrix are sorted one by one in place. For the set functions, NumPy sorts complex numbers.
#
#     Threads sort different lanes. If there are fewer lanes than threads, they sort parts of one lane, which are merged. The
#     sorted words are distinct, or equal in all bits, so that the result is the same.
#
#     Selection (`select_words.h`) finds the words of the first and the last wanted rank by the divisions of a sort, but continues
#     only with the parts that contain these ranks: about 1.5 n words are moved for a median. A pass over all words then collects
#     the indices of the elements in between, and only these are sorted. The k lowest words, for a
#     small k, need no divisions: the largest of the smallest words of k groups bounds them. Threads select from different lanes.
#
#     A partition keeps the order of the elements before and behind the wanted ranks, so its result is the same on all machines.

cdef extern from "order_loops.h":
    enum:
        S0_FEW_DISTINCT
    Py_ssize_t s0_distinct(char* data, Py_ssize_t n, int width, int kind) noexcept nogil
    Py_ssize_t s0_few_values(const char* x, Py_ssize_t n, int width, int kind, char* found, int64_t* counts) noexcept nogil
    void s0_search(const char* lane, Py_ssize_t stride, Py_ssize_t n, const char* wanted, Py_ssize_t count, int width, int kind, int right, int64_t* out) noexcept nogil

TABLE.interrupted = is_stopped


cdef int kind_of(int code) noexcept:
    """The kind of a dtype that is not complex, which tells how to interpret its bits."""
    cdef char letter = letter_at(code)
    return S0_FLOATING if letter == c"f" else S0_SIGNED if letter == c"i" else S0_BOOLEAN if letter == c"b" else S0_UNSIGNED


cdef Array axis_last(Array x, int axis):
    """A view of x with the given axis moved to the end."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef int k, own = 0
    for k in range(x.ndim):
        if k != axis:
            shape[own], strides[own] = x.shape_[k], x.strides_[k]
            own += 1
    shape[own], strides[own] = x.shape_[axis], x.strides_[axis]
    return view_of(x, data_of(x), x.ndim, shape, strides)


cdef enum:
    MOST_PARTS = 64
    FEW_WORDS = 512     # of scratch memory on the stack

ctypedef struct Lanes:
    # Adjacent lanes to sort, in chunks for several threads.
    s0_lane first
    Py_ssize_t words        # words of scratch memory for each chunk
    Py_ssize_t count
    Py_ssize_t each         # lanes in a chunk
    int wide                # item size of the result

ctypedef struct Parts:
    # One lane, in parts for several threads.
    s0_lane lane
    s0_seen seen[MOST_PARTS]
    Py_ssize_t each         # elements in a part
    Py_ssize_t run          # elements in a sorted run


cdef s0_lane lane_at(const Lanes* lanes, Py_ssize_t i, int chunk) noexcept nogil:
    cdef s0_lane lane = lanes.first
    lane.source += i * lane.n * lane.width
    lane.out += i * lane.n * lanes.wide
    lane.scratch += chunk * lanes.words
    return lane


cdef void sort_lanes(void* context, int chunk) noexcept nogil:
    cdef Lanes* lanes = <Lanes*>context
    cdef Py_ssize_t i, first = chunk * lanes.each
    cdef s0_lane lane
    for i in range(first, min(first + lanes.each, lanes.count)):
        if is_stopped():
            return
        lane = lane_at(lanes, i, chunk)
        TABLE.sorter.lane(&lane)


cdef void encode_part(void* context, int part) noexcept nogil:
    cdef Parts* parts = <Parts*>context
    cdef Py_ssize_t first = part * parts.each
    TABLE.sorter.encode(&parts.lane, first, min(first + parts.each, parts.lane.n), &parts.seen[part])


cdef void order_part(void* context, int part) noexcept nogil:
    cdef Parts* parts = <Parts*>context
    cdef Py_ssize_t first = part * parts.each
    TABLE.sorter.order(&parts.lane, first, min(first + parts.each, parts.lane.n))


cdef void merge_part(void* context, int part) noexcept nogil:
    cdef Parts* parts = <Parts*>context
    cdef Py_ssize_t start = part * parts.each, n = parts.lane.n, first = start - start % (2 * parts.run)
    TABLE.sorter.merge(&parts.lane, first, min(first + parts.run, n), min(first + 2 * parts.run, n), start, min(start + parts.each, n))


cdef void decode_part(void* context, int part) noexcept nogil:
    cdef Parts* parts = <Parts*>context
    cdef Py_ssize_t first = part * parts.each
    TABLE.sorter.decode(&parts.lane, first, min(first + parts.each, parts.lane.n))


cdef bint sort_in_parts(Parts* parts, int threads) noexcept nogil:
    """Sort `parts.lane` by several threads; False if a signal interrupted it."""
    cdef Py_ssize_t n = parts.lane.n
    cdef int count = 1, part
    cdef s0_seen seen
    while count < threads and count < MOST_PARTS:
        count *= 2
    parts.each = parts.run = (n + count - 1) // count
    count = <int>((n + parts.each - 1) // parts.each)
    if not run_chunks(encode_part, parts, count, threads, True):
        return False
    seen = parts.seen[0]
    for part in range(1, count):
        seen.least, seen.most = min(seen.least, parts.seen[part].least), max(seen.most, parts.seen[part].most)
        seen.ones |= parts.seen[part].ones
        seen.zeroes |= parts.seen[part].zeroes
        seen.nans += parts.seen[part].nans
        seen.zeros += parts.seen[part].zeros
        seen.negative_zeros += parts.seen[part].negative_zeros
    TABLE.sorter.plan(&parts.lane, &seen)
    if not run_chunks(order_part, parts, count, threads, True):
        return False
    while parts.run < n:
        if not run_chunks(merge_part, parts, count, threads, True):
            return False
        parts.lane.words, parts.lane.other = parts.lane.other, parts.lane.words
        parts.run *= 2
    return run_chunks(decode_part, parts, count, threads, True) and TABLE.sorter.finish(&parts.lane)


ctypedef struct Adjacent:
    # Lanes of a matrix to sort, in chunks for several threads.
    s0_adjacent lanes
    Py_ssize_t words        # words of scratch memory for each chunk
    Py_ssize_t count
    Py_ssize_t each         # groups of S0_BESIDE lanes in a chunk


cdef void sort_adjacent(void* context, int chunk) noexcept nogil:
    cdef Adjacent* adjacent = <Adjacent*>context
    cdef Py_ssize_t first = chunk * adjacent.each * S0_BESIDE
    cdef s0_adjacent lanes = adjacent.lanes
    lanes.lane.scratch += chunk * adjacent.words
    TABLE.sorter.lanes(&lanes, first, min(first + adjacent.each * S0_BESIDE, adjacent.count))


cdef bint is_sorted_aside(Array x, int axis, bint indices) noexcept:
    """Whether lanes are sorted without a transposed copy, in place side by side or one by one."""
    cdef Py_ssize_t n = x.shape_[axis]
    if x.ndim < 2 or x.size == 0 or not (x.ndim == 2 or (axis == x.ndim - 1 and x.c_contiguous)):
        return False
    if itemsize_at(x.code) >= 4 and not indices and n > 1 and n * itemsize_at(x.code) <= S0_ASIDE and x.size > 2 * n:
        return True
    return axis == 0 and n <= tuning.sorted_aside_elements


cdef Array sorted_aside(Array x, int axis, int code, bint descending, bint indices):
    """`sorted_lanes` if `is_sorted_aside`; `code` is the dtype of the result."""
    cdef Array out = new_array(code, x.ndim, x.shape_, NULL, False), scratch
    cdef Adjacent all
    cdef Py_ssize_t n = x.shape_[axis], groups, chunks, words
    cdef int other = 1 - axis if x.ndim == 2 else axis - 1, threads, width = itemsize_at(x.code), wide = itemsize_at(code)
    cdef uint64_t few[FEW_WORDS]
    cdef s0_lane* lane = &all.lanes.lane
    lane.source, lane.out, lane.n, lane.stride, lane.width = data_of(x), data_of(out), n, x.strides_[axis], width
    lane.kind, lane.mask, lane.indices, lane.nans_last = kind_of(x.code), -1 if descending else 0, indices, False
    all.lanes.next, all.lanes.out_stride, all.lanes.out_next = x.strides_[other], out.strides_[axis], out.strides_[other]
    if x.ndim > 2:
        all.lanes.next, all.lanes.out_next = n * width, n * wide
    all.count, all.words = x.size // n, 16 * n + 2 * S0_SLACK
    groups = all.each = (all.count + S0_BESIDE - 1) // S0_BESIDE
    threads = share_run(x.size, x.size * tuning.sorted_element_ns, &chunks)
    # Limit all scratch memory together to the size of source and result.
    chunks = max(<Py_ssize_t>1, min(chunks, groups, x.size * (width + wide) // (8 * all.words)))
    words = all.words * chunks
    lane.scratch = few
    if words > FEW_WORDS:
        scratch = new_array(UINT64, 1, &words, NULL, False)
        lane.scratch = <uint64_t*>data_of(scratch)
    run_in_chunks(sort_adjacent, &all, &all.each, groups, chunks, threads, x.size)
    return out


cdef Array sorted_lanes(Array x, int axis, bint descending, bint indices):
    """The sorted elements of x along an axis, or their indices; a new array in C order."""
    cdef Py_ssize_t n = x.shape_[axis], i, chunks
    cdef int threads, code = INT64 if indices else x.code, width = itemsize_at(x.code)
    cdef Array out, source, result, scratch = None
    cdef Lanes lanes
    cdef Parts parts
    cdef bint done = True, last = axis == x.ndim - 1
    guard_gradient(x, "sort")
    if is_stored(x.code):
        # The dtype of computation contains the same numbers in the same order.
        result = sorted_lanes(copy_array(x, arithmetic_code(x.code), True), axis, descending, indices)
        return result if indices else copy_array(result, x.code, True)
    if is_sorted_aside(x, axis, indices):
        return sorted_aside(x, axis, code, descending, indices)
    if not last:
        result = new_array(code, x.ndim, x.shape_, NULL, False)
        assign_array(axis_last(result, axis), sorted_lanes(axis_last(x, axis), x.ndim - 1, descending, indices), "sort")
        return result
    out = new_array(code, x.ndim, x.shape_, NULL, False)
    if x.size == 0:
        return out
    source = x if x.ndim == 1 or x.c_contiguous else copy_array(x, x.code, True)
    lanes.first.source, lanes.first.out = data_of(source), data_of(out)
    lanes.first.n, lanes.first.stride = n, source.strides_[axis] if n > 1 else width
    lanes.first.mask, lanes.first.kind, lanes.first.indices = -1 if descending else 0, kind_of(x.code), indices
    lanes.first.width, lanes.wide = width, itemsize_at(code)
    lanes.first.nans_last = False
    lanes.first.scratch, lanes.count = NULL, x.size // n
    lanes.words = (3 if indices else 2) * n + S0_SLACK if n > S0_FEW else 0
    threads = share_run(x.size, x.size * tuning.sorted_element_ns, &chunks)
    chunks = min(chunks, lanes.count)
    if lanes.words:
        # Limit all scratch memory together to the size of source and result.
        chunks = max(<Py_ssize_t>1, min(chunks, x.size * (width + lanes.wide) // (8 * lanes.words)))
        i = lanes.words * chunks
        scratch = new_array(UINT64, 1, &i, NULL, False)
        lanes.first.scratch = <uint64_t*>data_of(scratch)
    if lanes.count >= threads or lanes.first.kind == S0_BOOLEAN:
        run_in_chunks(sort_lanes, &lanes, &lanes.each, lanes.count, chunks, threads, x.size)
        return out
    with nogil:
        for i in range(lanes.count):
            parts.lane = lane_at(&lanes, i, 0)
            done = done and sort_in_parts(&parts, threads)
    if not done:
        not_completed("sort")
    return out


cdef void select_lanes(void* context, int chunk) noexcept nogil:
    cdef Lanes* lanes = <Lanes*>context
    cdef Py_ssize_t i, first = chunk * lanes.each, count = lanes.first.n if lanes.first.whole else lanes.first.last - lanes.first.first
    cdef s0_lane lane
    for i in range(first, min(first + lanes.each, lanes.count)):
        if is_stopped():
            return
        lane = lanes.first
        lane.source += i * lane.n * lane.width
        lane.out += i * count * lanes.wide
        lane.scratch += chunk * lanes.words
        TABLE.sorter.select(&lane)


cdef Array selected_lanes(Array x, int axis, Py_ssize_t first, Py_ssize_t last, bint descending, bint whole, bint indices=True):
    """
    The indices of the elements that a sort along an axis would put at the positions from `first` to `last`.

    NaN is last, in descending order too. Equal elements keep their order. With `whole`, the result covers the whole lane: the
    indices of lesser ranks come before, and the indices of greater ranks behind, both in their original order. Without
    `indices`, the elements are returned instead, for a whole lane of elements with 4 or 8 bytes.
    """
    cdef Py_ssize_t n = x.shape_[axis], count = n if whole else last - first, chunks, words
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef int threads, k, code = INT64 if indices else x.code
    cdef Array out, source, result, scratch = None
    cdef Lanes lanes
    guard_gradient(x, "argpartition")
    if is_stored(x.code):
        # The dtype of computation contains the same numbers in the same order.
        x = copy_array(x, arithmetic_code(x.code), True)
    elif letter_at(x.code) == c"b":
        x = copy_array(x, UINT8, True)
    for k in range(x.ndim):
        shape[k] = x.shape_[k]
    shape[axis] = count
    if axis != x.ndim - 1:
        result = new_array(code, x.ndim, shape, NULL, False)
        assign_array(axis_last(result, axis), selected_lanes(axis_last(x, axis), x.ndim - 1, first, last, descending, whole, indices), "argpartition")
        return result
    out = new_array(code, x.ndim, shape, NULL, False)
    if out.size == 0:
        return out
    source = x if (x.ndim == 1 and indices) or x.c_contiguous else copy_array(x, x.code, True)
    lanes.first.source, lanes.first.out = data_of(source), data_of(out)
    lanes.first.width, lanes.wide = itemsize_at(x.code), itemsize_at(code)
    lanes.first.n, lanes.first.stride = n, source.strides_[axis] if n > 1 else lanes.first.width
    lanes.first.mask, lanes.first.kind, lanes.first.indices = -1 if descending else 0, kind_of(x.code), indices
    lanes.first.nans_last, lanes.first.first, lanes.first.last, lanes.first.whole = True, first, last, whole
    lanes.first.scratch, lanes.count = NULL, x.size // n
    lanes.words = 3 * n + 2 * (last - first + 1) + S0_SLACK if n > S0_FEW else 0
    threads = share_run(x.size, x.size * tuning.selected_element_ns, &chunks)
    chunks = min(chunks, lanes.count)
    if lanes.words:
        # Limit all scratch memory together to the size of the elements and their indices.
        chunks = max(<Py_ssize_t>1, min(chunks, x.size * (lanes.first.width + lanes.wide) // (8 * lanes.words)))
        words = lanes.words * chunks
        scratch = new_array(UINT64, 1, &words, NULL, False)
        lanes.first.scratch = <uint64_t*>data_of(scratch)
    run_in_chunks(select_lanes, &lanes, &lanes.each, lanes.count, chunks, threads, x.size)
    return out


def sort_along(Array x not None, int axis, bint descending, bint indices):
    """The sorted elements of x along a non-negative axis, or their indices: a new array in C order."""
    check_axis(x, axis, "sort")
    if letter_at(x.code) == c"c":
        raise DTypeError("sort", f"Unsupported dtype {dtype_at(x.code).name}")
    return sorted_lanes(x, axis, descending, indices)


def few_counts(Array x not None):
    """
    The distinct elements of x and their counts, in no order; None if there may be many.

    If x has -0.0 and 0.0, the value is the one that comes first.
    """
    cdef int width = itemsize_at(x.code), kind
    cdef char found[8 * S0_FEW_DISTINCT]
    cdef int64_t each[S0_FEW_DISTINCT]
    cdef Py_ssize_t n
    cdef const char* elements
    cdef Array flat, values, counts
    guard_gradient(x, "unique_counts")
    if x.size < S0_FEW_DISTINCT or width < 4 or letter_at(x.code) == c"c":
        return None
    kind = kind_of(x.code)
    flat = x if x.c_contiguous else copy_array(x, x.code, True)
    elements, n = data_of(flat), x.size
    with nogil:
        n = s0_few_values(elements, n, width, kind, found, each)
    if n < 0:
        return None
    values, counts = new_array(x.code, 1, &n, NULL, False), new_array(INT64, 1, &n, NULL, False)
    memcpy(data_of(values), found, n * width)
    memcpy(data_of(counts), each, n * sizeof(int64_t))
    return values, counts


cdef Array distinct_values(Array x):
    """The distinct elements of x in order: each NaN counts as distinct, -0.0 and 0.0 as equal."""
    if is_stored(x.code):
        return copy_array(distinct_values(copy_array(x, arithmetic_code(x.code), True)), x.code, True)
    cdef Py_ssize_t stride = itemsize_at(x.code), n
    cdef int width = itemsize_at(x.code), kind = kind_of(x.code)
    cdef Array flat = x if x.c_contiguous else copy_array(x, x.code, True), ordered, out
    few = few_counts(flat)
    if few is not None:
        return sorted_lanes(few[0], 0, False, False)
    ordered = sorted_lanes(view_of(flat, data_of(flat), 1, &flat.size, &stride), 0, False, False)
    cdef char* values = data_of(ordered)
    with nogil:
        n = s0_distinct(values, ordered.size, width, kind)
    if n == ordered.size:
        return ordered
    out = new_array(x.code, 1, &n, NULL, False)
    memcpy(data_of(out), data_of(ordered), n * width)
    return out

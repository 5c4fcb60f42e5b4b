# Functions that write several arrays to a new one: see `joining.pyx`.

cdef enum:
    # Bytes of a run up to which memcpy copies it, without a plan. C libraries may copy longer ones by one instruction
    # (rep movsb), which on some processors takes ten times as long where source and target lie differently in cache lines.
    RUN_BYTES = 1 << 12

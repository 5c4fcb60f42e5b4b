"""Blocks of memory are aligned, zero on request, reused, and returned to the system."""

from __future__ import annotations

import ctypes
import itertools
import os
import random
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import stride0 as xp
from stride0 import memory
from stride0._core.memory import storage

# Around every bound: small blocks, a size class, mappings, huge pages, lazy zeros.
SIZES = sorted(
    {
        max(0, border + off)
        for border in (
            0,
            64,
            1024,
            2048,
            2304,
            4096,
            65536,
            13 << 17,
            2 << 20,
            4 << 20,
            8 << 20,
            9 << 20,
            40 << 20,
        )
        for off in (-1, 0, 1)
    }
)
LINUX = sys.platform == "linux"


@pytest.fixture(autouse=True)
def _own_cache():
    """Every test begins with an empty cache and the default limit."""
    memory.set_limit(None)
    memory.empty_cache()
    yield
    memory.set_limit(None)
    storage.set_idle_limit(10_000)
    memory.empty_cache()


def address(x: xp.Array) -> int:
    return np.asarray(x).__array_interface__["data"][0]


def block(nbytes: int) -> xp.Array:
    return xp.empty(nbytes, dtype=xp.uint8)


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


# --- properties of blocks


@pytest.mark.parametrize("nbytes", SIZES)
def test_alignment_and_zeros(nbytes):
    for _ in range(3):
        x = block(nbytes)
        assert address(x) % 64 == 0 or nbytes == 0
        assert address(x) % 4096 == 0 or nbytes < 32 << 10  # Note [Alignment]
        np.asarray(x)[...] = 0xAB
        del x
        x = xp.zeros(nbytes, dtype=xp.uint8)
        assert not np.asarray(x).any()
        np.asarray(x)[...] = 0xCD
        del x


def test_zeros_of_a_block_that_was_larger():
    # A size class has several sizes: bytes behind the elements belong to the block; elements are zero.
    for nbytes in (2100, 70_000, 2_000_000, 9_000_000):
        x = block(nbytes + nbytes // 16)
        np.asarray(x)[...] = 7
        del x
        assert not np.asarray(xp.zeros(nbytes, dtype=xp.uint8)).any()


def test_blocks_of_live_arrays_are_apart():
    rng = random.Random(7)
    live: list[tuple[xp.Array, int]] = []
    spans: list[tuple[int, int]] = []
    memory.set_limit(64 << 20)
    for step in range(3000):
        if live and (len(live) > 40 or rng.random() < 0.5):
            x, value = live.pop(rng.randrange(len(live)))
            found = np.asarray(x)
            assert found[0] == found[-1] == value
            assert (found == value).all()
        else:
            size = int(2 ** rng.uniform(0, 22 if step % 20 else 24))
            make = xp.zeros if rng.random() < 0.3 else xp.empty
            x, value = make(size, dtype=xp.uint8), rng.randrange(256)
            assert make is xp.empty or not np.asarray(x).any()
            np.asarray(x)[...] = value
            live.append((x, value))
        if step % 500 == 0:
            spans = sorted((address(x), address(x) + x.size) for x, _ in live)
            assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))
    assert len(spans) > 5
    found = memory.stats()
    assert found["reused"] > 500
    assert found["cached_bytes"] <= (64 << 20) + (2 << 20)  # plus small blocks


# --- reuse


@pytest.mark.parametrize("nbytes", [8, 1000, 2049, 100_000, 3_000_000, 20_000_000])
def test_a_freed_block_is_used_again(nbytes):
    x = block(nbytes)
    where = address(x)
    before = memory.stats()
    del x
    waiting = memory.stats()
    assert waiting["cached_blocks"] == before["cached_blocks"] + 1
    assert waiting["cached_bytes"] - before["cached_bytes"] >= nbytes
    assert waiting["live_bytes"] == before["live_bytes"] - nbytes
    x = block(nbytes)
    after = memory.stats()
    assert address(x) == where
    assert after["reused"] == waiting["reused"] + 1
    assert after["allocations"] == waiting["allocations"] + 1
    assert after["cached_blocks"] == before["cached_blocks"]


def test_views_keep_the_block():
    x = xp.arange(1_000_000)
    view = x[10:20]
    where = address(x)
    del x
    others = [block(8_000_000) for _ in range(3)]
    assert where not in [address(other) for other in others]
    assert np.asarray(view).tolist() == list(range(10, 20))


def test_the_youngest_of_a_class_first_and_the_oldest_go():
    memory.set_limit(35_000_000)
    x = [block(9_500_000) for _ in range(5)]
    where = [address(each) for each in x]
    while x:
        del x[0]
    # Three blocks of about 10 MB fit: the oldest two were freed.
    assert memory.stats()["cached_blocks"] == 3
    assert address(block(9_500_000)) == where[4]


def test_many_blocks_of_one_class():
    x = [block(4000) for _ in range(3000)]
    del x
    found = memory.stats()
    assert found["cached_blocks"] <= 1024 + 32 * 32
    assert found["cached_blocks"] >= 1000
    y = [block(4000) for _ in range(3000)]
    assert len({address(each) for each in y}) == 3000
    assert memory.stats()["reused"] - found["reused"] >= 1000


# --- return to the system


def test_empty_cache():
    for nbytes in SIZES:
        block(nbytes)
    assert memory.stats()["cached_blocks"] > 10
    memory.empty_cache()
    found = memory.stats()
    assert (found["cached_blocks"], found["cached_bytes"], found["offered_bytes"]) == (0, 0, 0)
    assert np.asarray(xp.ones(1000)).sum() == 1000


def test_limit():
    memory.set_limit(10_000_000)
    assert memory.get_limit() == memory.stats()["limit"] == 10_000_000
    block(20_000_000)
    assert memory.stats()["cached_bytes"] < 2 << 20
    for _ in range(2):
        x = [block(3_000_000) for _ in range(6)]
        del x
        assert 3_000_000 <= memory.stats()["cached_bytes"] <= 10_000_000 + (1 << 20)
    memory.set_limit(0)
    assert memory.stats()["cached_bytes"] == 0
    for nbytes in SIZES:
        block(nbytes)
        assert memory.stats()["cached_blocks"] == 0
    memory.set_limit(np.int64(5_000_000))
    assert memory.get_limit() == 5_000_000
    memory.set_limit(1 << 200)
    assert memory.get_limit() >= 1 << 60
    memory.set_limit(None)
    assert memory.get_limit() == storage.memory_of_machine() // 8


def test_medium_blocks_are_limited_to_less_by_default():
    bound = memory.get_limit() // 8
    count = bound // 6_000_000 + 3
    if count > 1000:
        pytest.skip("this machine has too much memory to fill what may wait")
    x = [block(6_000_000) for _ in range(count)]
    del x
    found = memory.stats()
    assert bound - 7_000_000 <= found["cached_bytes"] - found["offered_bytes"] <= bound + (2 << 20)


@pytest.mark.parametrize("wrong", ["1", 1.5, None.__class__, [1]])
def test_limit_of_a_wrong_type(wrong):
    with pytest.raises(xp.ArgumentTypeError, match="set_limit: limit is "):
        memory.set_limit(wrong)
    assert memory.get_limit() > 0


def test_negative_limit():
    with pytest.raises(xp.ArgumentValueError, match="set_limit: limit is -1"):
        memory.set_limit(-1)


def test_peak():
    start = memory.stats(reset_peak=True)["live_bytes"]
    x = block(1_000_000)
    del x
    assert memory.stats(reset_peak=True)["peak_bytes"] == start + 1_000_000
    assert memory.stats()["peak_bytes"] == start


def test_what_waited_too_long_goes():
    storage.set_idle_limit(50)
    block(3_000_000)
    block(20_000_000)
    assert memory.stats()["cached_blocks"] == 2
    threading.Event().wait(0.2)
    block(5000)
    found = memory.stats()
    assert found["cached_blocks"] == 1
    assert 5000 <= found["cached_bytes"] <= 6000


def test_no_memory():
    block(20_000_000)
    with pytest.raises(MemoryError, match="no memory for an array of"):
        xp.empty(1 << 60, dtype=xp.uint8)
    # Cached blocks were freed first.
    assert memory.stats()["cached_bytes"] == 0
    assert np.asarray(xp.ones(5)).tolist() == [1.0] * 5


FAILING = """
import _testcapi
import stride0 as xp

x = xp.ones(4)
kept = [x[...] for _ in range(300)]  # so that no freed array waits to be used again
refused = failed = 0
for first in range(40):
    _testcapi.set_nomemory(first, first + 1)
    try:
        kept.append(x + x)
    except MemoryError:
        failed += 1
    finally:
        _testcapi.remove_mem_hooks()
    try:
        xp.Array.__new__(xp.Array)
    except TypeError:
        refused += 1
assert failed
assert refused == 40, refused
assert (x + x)[0] == 2.0
"""


def test_python_makes_no_array_after_one_that_there_was_no_memory_for():
    pytest.importorskip("_testcapi")
    done = subprocess.run([sys.executable, "-c", FAILING], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not LINUX, reason="/proc is Linux's")
def test_the_system_gets_it_back():
    x = xp.ones(50_000_000, dtype=xp.uint8)
    full = resident()
    del x
    memory.empty_cache()
    assert full - resident() > 45_000_000


@pytest.mark.skipif(not LINUX, reason="mappings and MADV_FREE are used on Linux alone")
def test_large_blocks_are_offered_oldest_first_beyond_an_eighth_of_the_limit():
    memory.set_limit(800_000_000)
    x = [xp.ones(40_000_000, dtype=xp.uint8) for _ in range(5)]
    places = [address(y) for y in x]
    while len(x) > 3:
        del x[0]
    assert memory.stats()["offered_bytes"] == 0  # 80 million bytes wait
    while x:
        del x[0]
    found = memory.stats()
    assert found["cached_bytes"] >= 200_000_000
    if found["offered_bytes"]:  # the system has huge pages
        assert 100_000_000 <= found["offered_bytes"] < 140_000_000
    # The newest block is reused first; offered blocks are reused last.
    again = [xp.ones(40_000_000, dtype=xp.uint8) for _ in range(5)]
    assert [address(y) for y in again] == places[::-1]
    assert all(int(xp.sum(y, dtype=xp.int64)) == 40_000_000 for y in again)
    assert memory.stats()["offered_bytes"] == 0


@pytest.mark.skipif(not LINUX, reason="mappings and MADV_FREE are used on Linux alone")
def test_soft_blocks_are_the_systems_to_take():
    memory.set_limit(200_000_000)  # an eighth of it may be cached without being offered
    x = xp.ones(50_000_000, dtype=xp.uint8)
    del x
    found = memory.stats()
    text = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    lazy = int(re.search(r"LazyFree:\s+(\d+) kB", text)[1]) * 1024
    if Path("/sys/kernel/mm/transparent_hugepage/enabled").exists() and found["offered_bytes"]:
        assert found["offered_bytes"] >= 50_000_000
        assert lazy > 40_000_000
    else:
        assert found["offered_bytes"] == lazy == 0
    # Whether the system took the pages or not, new writes are read back.
    y = xp.ones(50_000_000, dtype=xp.uint8)
    assert int(xp.sum(y, dtype=xp.int64)) == 50_000_000


@pytest.mark.skipif(not LINUX, reason="limits on the address space are Linux's to keep")
def test_a_failed_allocation_gets_what_waits():
    done = run(
        """
import resource
import stride0 as xp
from stride0 import memory
memory.set_limit(1 << 40)
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (600 << 20), used + (600 << 20)))
x = [xp.empty(100 << 20, dtype=xp.uint8) for _ in range(5)]
del x
assert memory.stats()["cached_bytes"] >= 500 << 20, memory.stats()
y = xp.ones(300 << 20, dtype=xp.uint8)
assert memory.stats()["cached_bytes"] < 1 << 20
assert int(xp.sum(y, dtype=xp.int64)) == 300 << 20
try:
    xp.empty(700 << 20, dtype=xp.uint8)
except MemoryError as error:
    print(error)
"""
    )
    assert done.returncode == 0, done.stderr
    assert "no memory for an array of 734003200 bytes" in done.stdout


def test_tables_of_transforms_are_freed():
    x = xp.ones(1 << 19)
    before = memory.stats()["live_bytes"]
    y = xp.fft.fft(x)
    assert memory.stats()["live_bytes"] > before + y.nbytes + (1 << 19)
    memory.empty_cache()
    assert memory.stats()["live_bytes"] == before + y.nbytes
    assert np.array_equal(np.asarray(xp.fft.fft(x)), np.asarray(y))


# --- the limit's default


def test_limit_of_the_environment():
    show = "import stride0; print(stride0.memory.get_limit())"
    assert run(show, STRIDE0_CACHE_LIMIT="12345").stdout.strip() == "12345"
    assert run(show, STRIDE0_CACHE_LIMIT="").stdout.strip() == str(memory.get_limit())
    for wrong in ("much", "-1", "1e9", str(1 << 62)):
        done = run(show, STRIDE0_CACHE_LIMIT=wrong)
        assert done.returncode == 1
        assert f"ImportError: STRIDE0_CACHE_LIMIT: '{wrong}' is not a number of bytes" in done.stderr


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/a/b\n", {"a/b/memory.max": "max\n", "a/memory.max": "4096000\n"}, 4096000),
        ("0::/a/b\n", {"a/b/memory.max": "1000000\n", "a/memory.max": "4096000\n"}, 1000000),
        ("0::/\n", {"memory.max": "2000000\n"}, 2000000),
        ("0::/gone\n", {"memory.max": "2000000\n"}, 2000000),
        ("3:cpu:/x\n4:memory:/x\n0::/\n", {"memory/x/memory.limit_in_bytes": "3000000\n"}, 3000000),
        ("5:cpu,memory:/x\n", {"memory/memory.limit_in_bytes": "3000001\n"}, 3000001),
        ("4:memory:/x\n", {"memory/x/memory.limit_in_bytes": f"{2**63 - 4096}\n"}, None),
        ("0::/a\n", {"a/memory.max": "max\n"}, None),
        ("0::/a\n", {"a/memory.max": "nonsense\n"}, None),
        ("nonsense\n\n", {}, None),
    ],
)
def test_memory_of_a_control_group(tmp_path, groups, files, expected):
    whole = storage.memory_of_machine(str(tmp_path))
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(groups, encoding="utf-8")
    for name, text in files.items():
        file = tmp_path / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="ascii")
    assert storage.memory_of_machine(str(tmp_path)) == (whole if expected is None else expected)
    assert whole > 1 << 24


# --- threads and processes


def test_threads():
    wrong = []

    def work(seed):
        rng = random.Random(seed)
        for _ in range(150):
            n = rng.choice([3, 100, 5000, 300_000, 2_000_000])
            x = xp.full(n, seed)
            y = x + x
            del x
            z = xp.zeros(n, dtype=xp.int64)
            if not (np.asarray(y) == 2 * seed).all() or np.asarray(z).any():
                wrong.append((seed, n))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork():
    # In a separate process without other threads, which a fork would stop in the middle of a call.
    done = run(
        """
import os
import stride0 as xp
from stride0 import memory
x = xp.ones(3_000_000)
y = x + x
del y
assert memory.stats()["cached_bytes"] >= 24_000_000
child = os.fork()
if child == 0:
    found = memory.stats()
    good = found["cached_bytes"] == 0 and found["live_bytes"] == 24_000_000
    good = good and float(xp.sum(x * 2.0 + 1.0)) == 9_000_000.0 and memory.stats()["cached_bytes"] > 0
    x += 5.0
    os._exit(0 if good else 1)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
assert memory.stats()["cached_bytes"] >= 24_000_000
assert float(xp.sum(x + x)) == 6_000_000.0
print("good")
""",
        STRIDE0_FUSED="",  # with it, `y` would never be computed
        STRIDE0_CACHE_LIMIT="",  # the default
    )
    assert done.stdout.strip() == "good", done.stderr


def test_exports_keep_the_block():
    x = xp.full(400_000, 3)
    view = memoryview(x)
    other = np.from_dlpack(x)
    where = ctypes.addressof(ctypes.c_char.from_buffer(view))
    del x
    y = [block(3_200_000) for _ in range(4)]
    assert where not in [address(each) for each in y]
    assert view[5] == 3
    assert other[7] == 3

"""How many processors a process may use: quotas of control groups, from files as Linux writes them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stride0._base import processors as _processors


def tree(root: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


VERSION_2 = {"proc/self/cgroup": "0::/user.slice/job.scope\n"}
VERSION_1 = {"proc/self/cgroup": "12:memory:/docker/ab\n7:cpu,cpuacct:/docker/ab\n1:name=systemd:/\n"}


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, None),
        (VERSION_2, None),
        ({**VERSION_2, "sys/fs/cgroup/user.slice/job.scope/cpu.max": "max 100000\n"}, None),
        ({**VERSION_2, "sys/fs/cgroup/user.slice/job.scope/cpu.max": "250000 100000\n"}, 2.5),
        (
            {
                **VERSION_2,
                "sys/fs/cgroup/user.slice/job.scope/cpu.max": "400000 100000\n",
                "sys/fs/cgroup/user.slice/cpu.max": "150000 100000\n",
            },
            1.5,
        ),
        # In a container the group's own files are at the top.
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5),
        ({"proc/self/cgroup": "0::/../../outside\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"}, 3.0),
        ({**VERSION_2, "sys/fs/cgroup/user.slice/job.scope/cpu.max": "nonsense\n"}, None),
        ({**VERSION_2, "sys/fs/cgroup/user.slice/job.scope/cpu.max": "1 0\n"}, None),
        (
            {
                **VERSION_1,
                "sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_quota_us": "200000\n",
                "sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_period_us": "100000\n",
            },
            2.0,
        ),
        (
            {
                **VERSION_1,
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            None,
        ),
        ({"proc/self/cgroup": "not a line of it\n"}, None),
    ],
)
def test_quotas(tmp_path: Path, files: dict[str, str], quota: float | None) -> None:
    assert _processors.smallest_quota(tree(tmp_path, files)) == quota


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs affinities")
def test_available(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(6)))
    assert _processors.available(str(tmp_path)) == 6
    for quota, expected in (
        ("50000 100000", 1),
        ("390000 100000", 3),
        ("max 100000", 6),
        ("900000 100000", 6),
    ):
        root = tree(tmp_path, {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": quota})
        assert _processors.available(root) == expected

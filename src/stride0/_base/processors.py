"""The number of processors that this process may use, by its affinity and its control group's quota."""

from __future__ import annotations

import os

__all__ = ["available"]


def available(root: str = "/") -> int:
    """Number of processors, at least 1. A quota of 2.5 counts as 2, so that calls are not throttled."""
    try:
        count = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        count = os.cpu_count() or 1
    quota = smallest_quota(root)
    return count if quota is None else max(1, min(count, int(quota)))


def smallest_quota(root: str) -> float | None:
    """The smallest quota of this process's control groups and their parents; None without a limit.

    Version 2 has one file with quota and period in each group, version 1 has two files. In a container the
    files may belong to its own group, which it sees as the root of the tree.
    """
    try:
        with open(os.path.join(root, "proc/self/cgroup")) as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return None
    found = []
    for line in lines:
        if len(line) != 3:
            continue
        _, controllers, path = line
        if controllers == "":
            top, read = os.path.join(root, "sys/fs/cgroup"), quota_of_version_2
        elif "cpu" in controllers.split(","):
            top, read = os.path.join(root, "sys/fs/cgroup", controllers), quota_of_version_1
        else:
            continue
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for depth in range(len(parts) + 1):
            quota = read(os.path.join(top, *parts[:depth]))
            if quota is not None:
                found.append(quota)
    return min(found, default=None)


def quota_of_version_2(group: str) -> float | None:
    try:
        with open(os.path.join(group, "cpu.max")) as file:
            quota, period = file.read().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def quota_of_version_1(group: str) -> float | None:
    try:
        with open(os.path.join(group, "cpu.cfs_quota_us")) as file:
            quota = int(file.read())
        with open(os.path.join(group, "cpu.cfs_period_us")) as file:
            period = int(file.read())
        return quota / period if quota > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None

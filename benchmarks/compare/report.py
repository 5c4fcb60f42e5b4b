"""The report of `compare`: speedups, means, and whether the goals are reached."""

from __future__ import annotations

from typing import Any

from benchmarks.common.timing import duration, geometric_mean
from benchmarks.compare.cases import GOALS, LIMIT, OURS, Goal

Report = dict[str, Any]  # the contents of the JSON file
Found = dict[str, Any]  # a row of it

CHANGED = 1.1  # rows are reported as changed from this factor on
MORE_MEMORY = 2**20  # least difference of peaks that is reported: the kernel counts in batches


def speedup(row: Found, peers: tuple[str, ...]) -> tuple[float, str] | None:
    """The speedup of stride0 over the fastest peer, and the name of that peer."""
    present = [peer for peer in peers if peer in row["speedups"]]
    return min((row["speedups"][peer][1], peer) for peer in present) if present else None


def below_floor(rows: list[Found], goal: Goal) -> list[tuple[float, str, str]]:
    """The rows that stay below the floor, the worst first: speedup, peer, key."""
    if goal.floor is None:
        return []
    found = [(*judged, row["key"]) for row in rows if (judged := speedup(row, goal.floor_of))]
    return sorted(item for item in found if item[0] < goal.floor)


def group_summaries(report: Report) -> dict[str, Any]:
    """For each measured group: the mean, the rows below the floor, and the verdict."""
    summaries = {}
    for group, goal in GOALS.items():
        rows = [row for row in report["rows"] if row["group"] == group]
        if not rows:
            continue
        judged = {row["key"]: speedup(row, goal.of) for row in rows if row["counts"]}
        speedups = [found[0] for found in judged.values() if found]
        mean = geometric_mean(speedups) if speedups else None
        below = below_floor([row for row in rows if row["counts"]], goal)
        unjudged = [key for key, found in judged.items() if found is None]
        wrong = [row["key"] for row in rows if row["wrong"]]
        summaries[group] = {
            **{"rows": len(rows), "counted": len(speedups), "geometric_mean": mean, "goal": goal.mean},
            **{"floor": goal.floor, "below": below, "unjudged": unjudged, "wrong": wrong},
            "missing": [peer for peer in goal.of if peer not in report["libraries"]],
            "met": bool(mean and mean >= goal.mean and not below and not wrong and not unjudged),
        }
    return summaries


def print_headline(group: str, libraries: list[str]) -> None:
    """Print the head of the table of a group."""
    factors = [f"x {name}" for name in libraries if name != OURS]
    header = [group, *libraries, *factors, "best peer", "of the limit"]
    print("\n| " + " | ".join(header) + " |\n|---|" + "---:|" * (len(header) - 1))


def print_row(row: Found, libraries: list[str]) -> None:
    """Print a line of the table of a group."""
    peers = [name for name in libraries if name != OURS]
    cells = [row["name"] if row["counts"] else f"({row['name']})"]
    for name in libraries:
        seconds = row["seconds"].get(name)
        cells.append(duration(seconds[1]) if seconds else "-")
    cells += [f"{row['speedups'][peer][1]:.2f}" if peer in row["speedups"] else "" for peer in peers]
    judged = speedup(row, GOALS[row["group"]].of)
    cells.append(f"{judged[0]:.2f} {judged[1]}" if judged else "")
    cells.append(f"{row['speedups'][LIMIT][1]:.0%}" if LIMIT in row["speedups"] else "")
    print("| " + " | ".join(cells) + " |", flush=True)
    for name, reason in row["wrong"].items():
        print(f"\n**WRONG: {name} in {row['key']}: {reason}**\n", flush=True)
    for name, reason in row["unable"].items():
        print(f"({name} is not compared in {row['key']}: {reason.splitlines()[0][:150]})", flush=True)


def print_summary(report: Report) -> None:
    """Print the goals and whether they are reached, rows below floors, and rows that need more memory."""
    print("\nRows in parentheses do not count in their group's mean nor towards its floor.")
    if report["quick"]:
        print("**A quick run: smaller arrays, few rounds. These are not the figures the goals speak of.**")
    # With one thread processor time is measured, which excludes waiting.
    disturbed = [row["disturbed"] for row in report["rows"] if row["threads"] > 1]
    if disturbed and sum(disturbed) > len(disturbed) / 50:
        share = f"{sum(disturbed) / len(disturbed):.0%}"
        print(f"**The machine was not idle: threads had to wait for a core in {share} of the samples.")
        print("What wants all cores at once, PyTorch's loops above all, looks far slower than it is.**")
    print("\n| group | rows (counted) | geometric mean | goal | rows below floor | verdict |")
    print("|---|---:|---:|---:|---:|---|")
    for group, found in report["groups"].items():
        goal = GOALS[group]
        mean = "-" if found["geometric_mean"] is None else f"{found['geometric_mean']:.2f}"
        floor = (
            "no floor"
            if goal.floor is None
            else f"{len(found['below'])} below {goal.floor} x {spell(goal.floor_of)}"
        )
        verdict = "met" if found["met"] else "NOT MET"
        if found["missing"]:
            verdict += f", but WITHOUT {', '.join(found['missing'])}"
        if found["wrong"]:
            verdict += f"; {len(found['wrong'])} rows with wrong results"
        if found["unjudged"]:
            verdict += f"; {len(found['unjudged'])} rows without any peer"
        rows = f"{found['rows']} ({found['counted']})"
        print(f"| {group} | {rows} | {mean} | {goal.mean} x {spell(goal.of)} | {floor} | {verdict} |")
    for group, found in report["groups"].items():
        if found["below"]:
            print(f"\nBelow the floor in {group}, the worst first:\n")
            for factor, peer, key in found["below"]:
                print(f"* {factor:.2f} x {peer}: {key.removeprefix(group + ': ')}")
    print_limits(report)
    print_memory(report)


def print_limits(report: Report) -> None:
    """Print how near the groups are to the machine's limits, and how many rows are below half of them."""
    print("\nOf the limit: the time of the fastest loop that reads and writes as many bytes, as a part of")
    print("stride0's time; of an addition of two Python integers, for small arrays.\n")
    print("| group | rows | geometric mean | rows below half |\n|---|---:|---:|---:|")
    measured = [row for row in report["rows"] if LIMIT in row["speedups"]]
    for group in report["groups"]:
        parts = [row["speedups"][LIMIT][1] for row in measured if row["group"] == group]
        if parts:
            below = sum(part < 0.5 for part in parts)
            print(f"| {group} | {len(parts)} | {geometric_mean(parts):.0%} | {below} |")


def spell(peers: tuple[str, ...]) -> str:
    return peers[0] if len(peers) == 1 else f"best of {', '.join(peers)}"


def print_memory(report: Report) -> None:
    measured = [name for name in report["libraries"] if any(name in row["peak"] for row in report["rows"])]
    if OURS not in measured:
        return
    print("\nRise of the peak of resident memory, MiB, summed over the rows that all libraries can do:\n")
    print("| group | rows | " + " | ".join(measured) + " |\n|---|---:|" + "---:|" * len(measured))
    for group in report["groups"]:
        rows = [row for row in report["rows"] if row["group"] == group]
        rows = [row for row in rows if all(row["peak"].get(name) is not None for name in measured)]
        sums = [sum(row["peak"][name] for row in rows) / 2**20 for name in measured]
        if rows:
            print(f"| {group} | {len(rows)} | " + " | ".join(f"{number:.1f}" for number in sums) + " |")
    greedy = []
    for row in report["rows"]:
        peaks = {name: size for name, size in row["peak"].items() if size is not None}
        if OURS in peaks and len(peaks) > 1:
            least = min(size for name, size in peaks.items() if name != OURS)
            if peaks[OURS] > least * CHANGED + MORE_MEMORY:
                greedy.append((peaks[OURS] - least, row["key"], peaks))
    if greedy:
        print("\nWhere stride0 needs more memory than a peer, the worst first (MiB):\n")
    for _, key, peaks in sorted(greedy, key=lambda item: -item[0]):
        print(f"* {key}: " + ", ".join(f"{name} {size / 2**20:.1f}" for name, size in peaks.items()))


def print_against(report: Report, earlier: Report) -> None:
    """Print changes since an earlier run: means, and rows with another speedup."""
    print("\n## Against the earlier run\n")
    if (report["quick"], report["threads"]) != (earlier["quick"], earlier["threads"]):
        print("**The earlier run had other sizes or another number of threads.**\n")
    print("| group | mean before | mean now |\n|---|---:|---:|")
    before = {row["key"]: row for row in earlier["rows"]}
    both = [row for row in report["rows"] if row["key"] in before]
    # Means of the rows of both runs: otherwise new rows would count as a change.
    then = group_summaries({**earlier, "rows": [before[row["key"]] for row in both]})
    for group, now in group_summaries({**report, "rows": both}).items():
        means = [then[group]["geometric_mean"], now["geometric_mean"]]
        print(f"| {group} | " + " | ".join("-" if mean is None else f"{mean:.2f}" for mean in means) + " |")
    changes = []
    for row in both:
        peers = GOALS[row["group"]].of
        old, new = speedup(before[row["key"]], peers), speedup(row, peers)
        if old and new and not 1 / CHANGED < new[0] / old[0] < CHANGED:
            changes.append((new[0] / old[0], row, old, new))
    print(f"\nRows whose speedup changed by a factor of {CHANGED} or more, what became slower first:\n")
    for factor, row, old, new in sorted(changes, key=lambda change: change[0]):
        times = [duration(found["seconds"][OURS][1]) for found in (before[row["key"]], row)]
        print(
            f"* {factor:.2f}: {row['key']}: {old[0]:.2f} x {old[1]} -> {new[0]:.2f} x {new[1]}"
            f" (stride0 {times[0]} -> {times[1]})"
        )
    for key in sorted({row["key"] for row in report["rows"]} - {*before}):
        print(f"* new: {key}")

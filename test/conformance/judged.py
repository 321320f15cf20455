#!/usr/bin/env python3
"""The checkers of values, judged by the executor: they never run a program, and it knows no rule of theirs.

    judged.py BP-OPT N[:SEED] FILE...       changes distributed programs in N places, one at a time, as authors err

Of what the verifiers accept, a checker refuses all that computes something else than its model, and the checkers of values
nothing that computes the same; but an operation may be another one that is run as this, as a dropout that drops nothing.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "execute"))
from distributed import changes, judge  # noqa: E402

VALUES = "shard-reconstruction,reshard-completeness,cross-rank-closure,collective-matching"


def refusals(tool, checks, name, path):
    done = subprocess.run([tool, "--emit=none", f"--check={checks}", f"--item=@{name}", path], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{path}: bp-opt --check ended with {done.returncode}\n{done.stderr}")
    return sorted(set(re.findall(r"error: \[check\.([\w.]+)", done.stderr)))


def changed_line(before, after):
    return next((a.strip(), b.strip()) for a, b in zip(before, after) if a != b)


def operation(line):
    return re.findall(r" local (\S+?)\(", line)


def main(tool, n, *paths):
    n, seed = (int(i) for i in (n + ":1").split(":")[:2])
    rng, counts, faults = random.Random(seed), {}, []
    path = os.path.join(tempfile.mkdtemp(), "changed.bpir")
    changed = changes(rng, paths, path)
    while sum(counts.values()) < n:
        file, name, text, lines = next(changed)
        said, _ = judge(tool, path, name, rng.randrange(1000))
        counts[said] = counts.get(said, 0) + 1
        before, after = changed_line(text, lines)
        found = refusals(tool, "all" if said == "wrong" else VALUES, name, path) if said in ("right", "wrong") else []
        if said == "wrong" and not found:
            faults.append(f"@{name} of {file} computes something else, and no checker says so:\n  {before}\n  {after}")
        if said == "right" and found and operation(before) == operation(after):
            faults.append(f"@{name} of {file} computes the same, and is refused ({', '.join(found)}):\n  {before}\n  {after}")
    print("\n".join(faults + [f"{n} changes: " + ", ".join(f"{v} {k}" for k, v in sorted(counts.items()))]))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

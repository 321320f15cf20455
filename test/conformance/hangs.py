#!/usr/bin/env python3
"""Random sends, receives and collectives, run rank by rank here, and judged by collective-matching: both say what hangs.

    hangs.py BP-OPT N[:SEED]        N programs
"""
import os
import random
import re
import subprocess
import sys
import tempfile

CODES = {"hang": "check.collective_matching.hang", "send": "check.collective_matching.send",
         "receive": "check.collective_matching.receive"}


def program(rng):
    """Events in the order of the text: ("send" or "receive", source, destination, channel) or ("all", ranks)."""
    ranks, events = rng.choice([2, 3, 4]), []
    for _ in range(rng.randrange(1, 6)):
        if rng.random() < 0.3:
            events.append(("all", tuple(range(ranks))))
            continue
        a, b = rng.sample(range(ranks), 2)
        channel = rng.choice("xy")
        events += [(kind, a, b, channel) for kind in ("send", "receive")]
    if rng.random() < 0.7:
        rng.shuffle(events)
    if rng.random() < 0.1:
        events.remove(rng.choice(events))
    return ranks, events


def text_of(ranks, events):
    lines = ["dist.program @p schema 1.0 {", f"  mesh @r [pp = {ranks}]", "  input %x : tensor<8x4xf32>"]
    for i, event in enumerate(events):
        if event[0] == "all":
            lines.append(f"  task @t{i} collective all_reduce() over {{pp}} reduction sum")
            continue
        values = "(%x)" if event[0] == "send" else f"() -> %y{i} : tensor<8x4xf32>"
        lines += [f"  task @t{i} transfer{values} source {event[1]} destination {event[2]} channel {event[3]}", "    work (message 128)"]
    return "\n".join(lines + ["}"]) + "\n"


def verdict(ranks, events):
    """A send ends when it is received; each rank runs its events in order."""
    for channel in {e[1:] for e in events if e[0] != "all"}:
        sends, receives = (sum(e == (kind,) + channel for e in events) for kind in ("send", "receive"))
        if sends != receives:
            return "send" if sends > receives else "receive"
    mine = lambda rank, e: rank in e[1] if e[0] == "all" else rank == e[1 if e[0] == "send" else 2]
    left = [[(i, e) for i, e in enumerate(events) if mine(rank, e)] for rank in range(ranks)]
    while any(left):
        heads = [queue[0] if queue else None for queue in left]
        for head in filter(None, heads):
            i, e = head
            if e[0] == "all":
                ready = list(e[1]) if all(heads[r] == head for r in e[1]) else []
            else:
                source, destination = heads[e[1]], heads[e[2]]
                meets = source and destination and source[1] == ("send",) + e[1:] and destination[1] == ("receive",) + e[1:]
                ready = [e[1], e[2]] if meets else []
            if ready:
                for rank in ready:
                    left[rank].pop(0)
                break
        else:
            return "hang"
    return "runs"


def main(tool, n):
    n, seed = (int(i) for i in (n + ":1").split(":")[:2])
    rng, counts, faults = random.Random(seed), {}, []
    path = os.path.join(tempfile.mkdtemp(), "program.bpir")
    for _ in range(n):
        ranks, events = program(rng)
        with open(path, "w") as out:
            out.write(text_of(ranks, events))
        done = subprocess.run([tool, "--emit=none", "--check=collective-matching", path], capture_output=True, text=True)
        found = set(re.findall(r"error: \[(check[\w.]+)", done.stderr))
        said = verdict(ranks, events)
        counts[said] = counts.get(said, 0) + 1
        if (said == "runs") != (not found) or (said != "runs" and CODES[said] not in found):
            faults.append(f"{said} here, and {sorted(found) or 'runs'} by bp-opt:\n{text_of(ranks, events)}{done.stderr}")
    print("\n".join(faults[:3] + [f"{n} programs: " + ", ".join(f"{v} {k}" for k, v in sorted(counts.items()))]))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

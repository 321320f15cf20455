#!/usr/bin/env python3
"""Closed forms against numbers: symbols.py BP_OPT DIRECTORY.

Every strategy of calculon-totals.tsv (one row of each) is derived with its microbatch, its sequence or both as symbols,
and the numbers are put in afterwards: the program must be the one derived from the numbers, fact by fact. Its forward
operations must be the oracle's. The last line is `N passed, N failed`.
"""
import sys

from chain import BpOpt, Refused, Row, table

SYMBOLS = ("microbatch", "sequence"), ("microbatch",), ("sequence",)


def strategy(row):
    return row.tensor, row.split, row.recompute, row.regather, row.sharded, row.element, row.cells["exe_fused_activation"]


def facts(items):
    """Statements of the newest distributed program, without the sources that its derivation names."""
    statements = [i for i in items if i["kind"] == "dist.program"][-1]["statements"]
    return [without_sources(s) for s in statements if s["entity"] != "origin"]


def without_sources(value):
    if isinstance(value, dict):
        return {k: without_sources(v) for k, v in value.items() if k not in ("from", "lineage")}
    return [without_sources(v) for v in value] if isinstance(value, list) else value


def passes(row, names):
    numbers = {"microbatch": row.microbatch, "sequence": row.size("seq_size")}
    return f"distribute-transformer-training{{symbolic=[{', '.join(names)}]}}", \
        "specialize{" + " ".join(f"{name}={numbers[name]}" for name in names) + "}"


def compare(bp_opt, row, names):
    """None, or what differs."""
    text = row.text()
    distribute, specialize = passes(row, names)
    direct = facts(bp_opt.items(text, "--distribute-transformer-training"))
    symbolic = facts(bp_opt.items(text, f"--pass-pipeline={distribute}"))
    filled = facts(bp_opt.items(text, f"--pass-pipeline={distribute},{specialize}"))
    if not any("$" in str(s.get("work", "")) for s in symbolic):
        return "no fact is symbolic"
    if direct != filled:
        return next((f"{a} is {b}" for a, b in zip(direct, filled) if a != b), "another number of statements")
    forward = sum(int(s.get("work", {}).get("operations", 0)) for s in filled if s.get("phase") == "forward")
    expected = row.number("block_fw_flops")
    return None if forward == expected else f"{forward} operations forward, not {expected}"


def main(path, directory):
    bp_opt, passed, failed, seen = BpOpt(path), 0, 0, set()
    for row in map(Row, table(directory, "calculon-totals.tsv")):
        if row.out_of_scope() or row.refusal() or not row.training or strategy(row) in seen:
            continue
        seen.add(strategy(row))
        for names in SYMBOLS:
            try:
                fault = compare(bp_opt, row, names)
            except Refused as refused:
                fault = str(refused)
            passed, failed = passed + (fault is None), failed + (fault is not None)
            if fault:
                print(f"{row.id} {' '.join(names)}: {fault}")
    print(f"{len(seen)} strategies, each with {len(SYMBOLS)} choices of symbols")
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed == 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

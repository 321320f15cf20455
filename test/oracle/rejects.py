#!/usr/bin/env python3
"""What Calculon accepts and refuses: rejects.py BP_OPT DIRECTORY.

Each case of calculon-rejects.tsv whose facts a strategy has is refused with its code, or derived. Other cases are about
networks, offloading or overlap. The last line is `N passed, N failed`.
"""
import json
import sys

from chain import BpOpt, Refused, Row, table

# case: the code that refuses it, or None where it is derived
CASES = {
    "baseline": None,
    "rs_ag_baseline": None,
    "rs_ag_with_tp1": None,
    "batch_seq_not_divisible_by_tp_ar": None,
    "procs_product": "strategy.world.product",
    "batch_not_multiple_of_dp": "workload.batch.not_divisible",
    "local_batch_not_multiple_of_microbatch": "workload.batch.not_divisible",
    "hidden_not_divisible_by_tp": "strategy.tensor.hidden_not_divisible",
    "heads_not_divisible_by_tp": "strategy.tensor.heads_not_divisible",
    "batch_seq_not_divisible_by_tp": "strategy.tensor.sequence_not_divisible",
    "interleave_with_pp1": "strategy.schedule.no_pipeline",
    "interleave_too_large": "strategy.virtual_stages.blocks_not_divisible",
    "interleave_not_factor": "strategy.virtual_stages.blocks_not_divisible",
    "sharding_without_dp": "strategy.optimizer_sharding.no_data",
    "redo_not_rs_ag": "strategy.input_regather.all_reduce",
    "redo_with_full": "strategy.input_regather.full_recompute",
    # Calculon rounds the blocks of a stage up; here nothing is rounded.
    "uneven_blocks_accepted": "strategy.pipeline.blocks_not_divisible",
}


def text_of(sizes, execution):
    cells = {**sizes, **{f"exe_{name}": str(int(value) if isinstance(value, bool) else value)
                         for name, value in execution.items()}}
    row = Row(cells)
    schedule = "  schedule = interleaved_one_f_one_b\n" if row.chunks > 1 else ""
    world = f"  world = {execution['num_procs']}\n"
    return row.text().replace("session.strategy @s {\n", "session.strategy @s {\n" + schedule + world)


def main(path, directory):
    bp_opt, passed, failed = BpOpt(path), 0, 0
    sizes = {cells["model"]: cells for cells in table(directory, "calculon-totals.tsv")}
    for case in table(directory, "calculon-rejects.tsv"):
        if case["case"] not in CASES:
            continue
        code = CASES[case["case"]]
        text = text_of(sizes[case["model"]], json.loads(case["exe_json"]))
        fault = None
        if code:
            fault = bp_opt.refuses(text, code)
        else:
            try:
                bp_opt.derive(text)
            except Refused as refused:
                fault = str(refused)
        passed, failed = passed + (fault is None), failed + (fault is not None)
        if fault:
            print(f"{case['case']}: {fault}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed == 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

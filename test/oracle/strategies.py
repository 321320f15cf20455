#!/usr/bin/env python3
"""The passes against the oracles: strategies.py BP_OPT DIRECTORY.

Every row of calculon-totals.tsv that can be described becomes a model, a workload and a strategy in text. bp-opt
derives the block and the plan of its heaviest stage from it; their sums, and each layer's work, are compared with the
tables. Where bp-opt departs from Calculon (docs/deviations.md) the difference is predicted from the oracle's columns.
A row that bp-opt must refuse is refused with the remainder that the columns give, and then derived on one stage.

The last line is `N passed, N failed`: rows. The exit status is not 0 when a row failed or none was compared.
"""
import sys
from fractions import Fraction

from chain import LAYERS, BpOpt, Refused, Row, table

SHOWN = 10      # faults printed of a row
PHASES = {"fw": "forward", "agrad": "activation_gradient", "wgrad": "weight_gradient", "optim": "optimizer"}


class Comparison:
    def __init__(self, row):
        self.row, self.cells, self.layers, self.gaps, self.declared, self.other = row, 0, 0, 0, set(), []

    def __call__(self, column, ours, cells=None, gap=0, why=""):
        """OURS must be the oracle's COLUMN (of CELLS, or of the row) plus GAP, which is declared as WHY."""
        expected = Fraction((cells or self.row.cells)[column])
        self.cells += 1
        if ours != expected + gap:
            self.other.append(f"{column} is {ours}, not {expected} + {gap}")
        elif gap:
            self.gaps += 1
            self.declared.add(why)

    def word(self, column, ours, cells):
        self.cells += 1
        if ours != cells[column]:
            self.other.append(f"{column} is {ours}, not {cells[column]}")


STORED = "inputs that nothing can rebuild are stored"
SPLIT = "a split boundary is a split checkpoint"
SHARES = "shares of gradients and optimizer are rounded up"
CAPPED = "microbatches in flight end at the step's"


def compare_forward(c, d):
    c("block_fw_flops", d.sum("forward", "operations"))
    c("block_fw_mem_accessed", d.sum("forward", "read", "write"))
    c("block_base_fw_tp_size", d.messages("forward"))
    c("block_weight_space", d.memory["weights"])
    c("block_act_working_space", d.memory["working"])


def compare_training(c, d, gap):
    row, optimizer = c.row, gap * c.row.optimizer_bytes()
    c("block_agrad_flops", d.sum("activation_gradient", "operations"))
    c("block_agrad_mem_accessed", d.sum("activation_gradient", "read", "write"))
    c("block_wgrad_flops", d.sum("weight_gradient", "operations"))
    c("block_wgrad_mem_accessed", d.sum("weight_gradient", "read", "write"))
    c("block_optim_flops", d.sum("optimizer", "operations"), gap=11 * gap, why=SHARES)
    c("block_optim_mem_accessed", d.sum("optimizer", "read", "write"), gap=optimizer, why=SHARES)
    c("block_re_flops", d.sum("recompute", "operations"))
    c("block_re_mem_accessed", d.sum("recompute", "read", "write"))
    c("block_base_bw_tp_size", d.messages("activation_gradient"))
    c("block_base_recomm_size", d.messages("recommunication"))
    c("block_act_storage_space", d.memory.get("stored", 0), gap=row.unstored(), why=STORED)
    c("block_act_checkpoint_size", d.memory.get("checkpoint", 0), gap=row.checkpoint_gap(), why=SPLIT)
    c("block_weight_grad_space", d.memory["gradients"], gap=gap * row.element, why=SHARES)
    c("block_weight_grad_space_no_sharding", d.memory["gradients_unsharded"])
    c("block_act_grad_space", d.memory["activation_gradients"])
    c("block_optimizer_space", d.memory["optimizer"], gap=optimizer, why=SHARES)


def compare_stage(c, d, gap):
    row, b = c.row, d.buffers
    blocks = row.number("derived_blocks_per_proc")
    ours, theirs = row.held()
    stored = row.unstored() * (ours - 1) + (ours - theirs) * row.exact("block_act_storage_space")
    checkpoint = row.checkpoint_gap() * ours + (ours - theirs) * row.exact("block_act_checkpoint_size")
    gradients, optimizer = gap * row.element * (blocks - 1), gap * row.optimizer_bytes() * blocks
    kept = b["working"] + b.get("stored", 0)
    state = b["weights"] + b["gradients"] + b["optimizer"]
    why = CAPPED if ours != theirs else SPLIT if row.recompute == "full" else STORED
    c("memory_weight_space", b["weights"])
    c("memory_act_space", kept, gap=stored, why=why)
    c("memory_act_checkpoint_size", b.get("checkpoint", 0), gap=checkpoint, why=why)
    c("memory_act_grad_space", b["activation_gradients"])
    c("memory_weight_grad_space", b["gradients"], gap=gradients, why=SHARES)
    c("memory_optimizer_space", b["optimizer"], gap=optimizer, why=SHARES)
    c("memory_tier1", state + kept + b.get("checkpoint", 0) + b["activation_gradients"],
      gap=stored + checkpoint + gradients + optimizer, why=why if stored or checkpoint else SHARES)
    if row.pipeline > 1 and not row.edge_differs:
        c("block_fw_pp_size", d.input)
        c("block_bw_pp_size", d.output)


def compare_summary(c, summary):
    """Counts for which the program has no statement. The parameters are Calculon's: of models of the papers' shape."""
    row = c.row
    if "parameters" in summary:
        c("whole_num_parameters", int(summary["parameters"]["narayanan-2021"]))
    if row.training and row.data > 1:
        c("block_dp_size", int(summary["stage"]["data_message"]))
    if row.training and row.pipeline > 1 and not row.edge_differs:
        c("block_fw_pp_size", int(summary["stage"]["pipeline_forward_message"]))
        c("block_bw_pp_size", int(summary["stage"]["pipeline_backward_message"]))


def compare_layers(c, d, layers):
    """Each layer's tasks in each phase; of a collective, its message too."""
    row = c.row
    for name, cells in zip(LAYERS, layers):
        shares = row.share_gap(int(cells["weight_elems"]))
        for column, phase in PHASES.items():
            if phase != "forward" and not row.training:
                continue
            more = shares if phase == "optimizer" else 0
            c(f"{column}_flops", d.sum(phase, "operations", layer=name), cells, 11 * more, SHARES)
            c(f"{column}_mem", d.sum(phase, "read", "write", layer=name), cells, row.optimizer_bytes() * more, SHARES)
        c("base_fw_comm_bytes", d.sum("forward", "message", layer=name), cells)
        if row.training:
            c("re_flops", d.sum("recompute", "operations", layer=name), cells)
            c("re_mem", d.sum("recompute", "read", "write", layer=name), cells)
            c("base_bw_comm_bytes", d.sum("activation_gradient", "message", layer=name), cells)
            c("base_re_comm_bytes", d.sum("recommunication", "message", layer=name), cells)
            repeated = cells["base_re_comm_kind"] != "none"
            c("fw_flops", d.sum("recommunication", "operations", layer=name), cells if repeated else {"fw_flops": 0})
            c("fw_mem", d.sum("recommunication", "read", "write", layer=name), cells if repeated else {"fw_mem": 0})


def moved(work):
    return int(work["read"]) + int(work["write"])


def compare_layer_forward(c, ours, cells):
    forward = ours["forward"]
    c("fw_flops", int(forward["operations"]), cells)
    c("fw_mem", moved(forward), cells)
    c("weight_bytes", int(ours["weight_bytes"]), cells)
    c("act_bytes", int(ours["activation_bytes"]), cells)
    c("out_bytes", int(ours["output_bytes"]), cells)
    c("act_working_add", int(ours["working"]), cells)
    c.word("base_fw_comm_kind", ours["forward_collective"], cells)
    c("base_fw_comm_bytes", int(forward["message"]), cells)


def compare_layer_training(c, name, ours, cells):
    row, forward, gradient = c.row, ours["forward"], ours["activation_gradient"]
    shares = row.share_gap(int(cells["weight_elems"]))
    state = row.optimizer_bytes() * shares
    repeated = ours["repeated_collective"] != "none"
    c("agrad_flops", int(gradient["operations"]), cells)
    c("agrad_mem", moved(gradient), cells)
    c("wgrad_flops", int(ours["weight_gradient"]["operations"]), cells)
    c("wgrad_mem", moved(ours["weight_gradient"]), cells)
    c("optim_flops", int(ours["optimizer"]["operations"]), cells, 11 * shares, SHARES)
    c("optim_mem", moved(ours["optimizer"]), cells, state, SHARES)
    c("recompute", ours["recomputed"], cells)
    c("recomm", ours["repeated"], cells)
    c("re_flops", int(forward["operations"]) if ours["recomputed"] else 0, cells)
    c("re_mem", moved(forward) if ours["recomputed"] else 0, cells)
    c("act_grad_bytes", int(ours["activation_gradient_bytes"]), cells)
    c("weight_grad_bytes", int(ours["gradient_bytes"]), cells, row.element * shares, SHARES)
    c("weight_grad_bytes_fp32", int(ours["gradient_bytes_unsharded"]), cells)
    c("optim_bytes", int(ours["optimizer_bytes"]), cells, state, SHARES)
    c("act_storage_add", int(ours["stored"]), cells, int(cells["act_bytes"]) * row.dropped(name), STORED)
    c.word("base_bw_comm_kind", ours["gradient_collective"], cells)
    c("base_bw_comm_bytes", int(gradient["message"]), cells)
    c.word("base_re_comm_kind", ours["repeated_collective"], cells)
    c("base_re_comm_bytes", int(forward["message"]) if repeated else 0, cells)


def compare_layer_summary(c, summary, layers):
    """Each layer as --summary=json prints it: work, bytes, what it adds to the block's memory, its collectives."""
    printed = [ours["name"] for ours in summary["layers"]]
    if printed != LAYERS:
        c.other.append(f"--summary has the layers {printed}")
        return
    for name, ours, cells in zip(LAYERS, summary["layers"], layers):
        c.layers += 1
        compare_layer_forward(c, ours, cells)
        if c.row.training:
            compare_layer_training(c, name, ours, cells)


def compare_row(bp_opt, row, layers, text=None):
    """A comparison, or None for a row that is refused as it stands and on one stage. TEXT stands for the row's own."""
    c = Comparison(row)
    refusal = row.refusal()
    if refusal:
        fault = bp_opt.refuses(row.text(), refusal[0], f"remainder {refusal[1]}")
        if fault:
            c.other.append(fault)
        row.one_stage()
        if row.refusal():
            return c if fault else None
    try:
        d, summary = bp_opt.derive(text or row.text()), bp_opt.summary(text or row.text())
    except Refused as refused:
        c.other.append(str(refused))
        return c
    gap = sum(row.share_gap(int(cells["weight_elems"])) for cells in layers)
    compare_forward(c, d)
    if row.training:
        compare_training(c, d, gap)
        if not refusal:
            compare_stage(c, d, gap)
    compare_summary(c, summary)
    compare_layers(c, d, layers)
    compare_layer_summary(c, summary, layers)
    return c


def layers_of(directory):
    """The rows of calculon-blocks.tsv by configuration."""
    layers = {}
    for cells in table(directory, "calculon-blocks.tsv"):
        layers.setdefault(cells["id"], []).append(cells)
    return layers


class Report:
    """What all rows came to."""

    def __init__(self):
        self.rows = self.failed = self.refused = self.cells = self.layers = self.gaps = self.other = 0
        self.skipped, self.declared, self.models = {}, {}, {}

    def skip(self, why):
        self.skipped[why] = self.skipped.get(why, 0) + 1

    def fail(self, row, line):
        print(f"{row.id} {row.model}: {line}")
        self.failed += 1
        self.other += 1

    def add(self, c):
        row = c.row
        for line in c.other[:SHOWN]:
            print(f"{row.id} {row.model}: {line}")
        self.rows += not c.other
        self.failed += bool(c.other)
        self.cells += c.cells
        self.layers += c.layers
        self.gaps += c.gaps
        self.other += len(c.other)
        for reason in c.declared:
            self.declared.setdefault(reason + " (p2p_rs_ag)" * row.edge_differs, []).append(row.id)
        self.models.setdefault(row.model, ([], []))[not row.training].append(row.id)

    def print(self):
        training, forward = (sum(len(ids[i]) for ids in self.models.values()) for i in (0, 1))
        print(f"\nthrough bp-opt: training rows {training}, inference rows {forward}, rows of layers {self.layers}")
        for reason, n in self.skipped.items():
            print(f"  {n} not derived: {reason}")
        print(f"  {self.refused} refused as they stand and on one stage")
        print(f"through bp-opt: cells {self.cells}, equal {self.cells - self.gaps - self.other}, declared {self.gaps}, "
              f"other {self.other}")
        for reason, ids in sorted(self.declared.items()):
            print(f"  {len(ids)} rows declared: {reason}: {' '.join(ids)}")
        for model, (training, forward) in sorted(self.models.items()):
            print(f"{model}: {len(training)} strategies {' '.join(training)}; forward only {' '.join(forward) or 'none'}")
        print(f"{self.rows} passed, {self.failed} failed")


def main(path, directory):
    bp_opt, layers, report = BpOpt(path), layers_of(directory), Report()
    for row in map(Row, table(directory, "calculon-totals.tsv")):
        why, n = row.out_of_scope(), len(layers.get(row.id, []))
        if why:
            report.skip(why)
        elif n != len(LAYERS):
            report.fail(row, f"{n} layers, not {len(LAYERS)}")
        else:
            c = compare_row(bp_opt, row, layers[row.id])
            if c:
                report.add(c)
            else:
                report.refused += 1
    report.print()
    return report.failed != 0 or report.rows == 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

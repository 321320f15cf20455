#!/usr/bin/env python3
"""The passes against published numbers: papers.py BP_OPT DIRECTORY EXAMPLES.

The rows of papers.tsv that a derivation can show, the demonstration (examples/gpt3-175b.bpir) to the last unit, and
each example beside the oracle's row that it is. The last line is `N passed, N failed`.
"""
import os
import re
import sys
from fractions import Fraction

from chain import BpOpt, Derived, Refused, Row, table
from strategies import compare_row, layers_of

GIB = 1 << 30

# The oracle's rows that the examples are.
EXAMPLES = {
    "anthropic-52b": "c020", "chinchilla": "c113", "gopher-280b": "c114", "gpt3-13b": "c141", "gpt3-175b": "c001",
    "lamda": "c109", "megatron-126m": "c122", "megatron-1t": "c027", "megatron-22b": "c015", "megatron-40b": "c154",
    "megatron-5b": "c185", "palm-540b": "c132", "turing-530b": "c007",
}

# What the demonstration derives: operations per phase, bytes of the block, messages, buffers of the stage.
OPERATIONS = {"forward": 953998639104, "activation_gradient": 980108181504, "weight_gradient": 927756976128,
              "recompute": 13186891776, "optimizer": 2491957248}
MEMORY = {"weights": 453083136, "stored": 106954752, "working": 471859200}
MESSAGES = [50331648] * 10
BUFFERS = {"weights": 5436997632, "gradients": 5890080768, "activation_gradients": 484442112,
           "optimizer": 32621985792, "working": 471859200, "stored": 13155434496}
TASKS = 66


class Gate:
    def __init__(self, bp_opt, directory):
        self.bp_opt, self.directory, self.passed, self.failed = bp_opt, directory, 0, 0
        self.rows = {cells["id"]: cells for cells in table(directory, "calculon-totals.tsv")}

    def verdict(self, good, what):
        self.passed += good
        self.failed += not good
        if not good:
            print(what)

    def equal(self, what, ours, expected):
        self.verdict(ours == expected, f"{what}: {ours}, not {expected}")

    def row(self, id, **changes):
        row = Row(self.rows[id])
        for name, value in changes.items():
            assert hasattr(row, name)
            setattr(row, name, value)
        return row

    def derive(self, id, **changes):
        return self.bp_opt.derive(self.row(id, **changes).text())


# ---- papers.tsv ----

GPT3 = dict(pipeline=1, chunks=1, batch=1, split=False, regather=False, recompute="none")     # c001, on one stage


def stored(gate, **changes):
    return gate.derive("c001", **{**GPT3, **changes}).memory["stored"]


def summary(gate, id, app=None, **changes):
    return gate.bp_opt.summary(reshaped(gate, id, app, **changes))


def korthikanti(gate, id, what, **changes):
    return Fraction(summary(gate, id, **changes)["korthikanti-2022"][what])


def figure_1(gate, what, **changes):
    return [korthikanti(gate, id, what, **changes) / GIB for id in ("c004", "c001", "c007", "c002")]


def chunks(gate, what):
    """Of the stages of 4 in 2 chunks with 8 microbatches."""
    stages = summary(gate, "c001", pipeline=4, chunks=2, batch=8)["pipeline"]["stages"]
    return [int(stage[what]) for stage in stages]


def full_recompute(gate):
    d = gate.derive("c001", **{**GPT3, "recompute": "full"})
    return d.sum("recompute", "operations") + d.sum("recommunication", "operations")


def gradients(gate):
    d = gate.derive("c001", **GPT3)
    return [d.sum("activation_gradient", "operations"), d.sum("weight_gradient", "operations")]


PAPERS = {
    "N1": lambda g: int(summary(g, "c002", batch=3072)["iteration_operations"]["narayanan-2021, full recompute"]),
    "N3": lambda g: int(summary(g, "c001", {"num_blocks": 80}, chunks=1)["parameters"]["narayanan-2021"]),
    "K1": lambda g: stored(g, tensor=1),
    "K2": lambda g: stored(g),
    "K3": lambda g: stored(g, split=True, regather=True),
    "K4": lambda g: stored(g, recompute="attention"),
    "K5": lambda g: stored(g, split=True, regather=True, recompute="attention"),
    "K6": lambda g: g.derive("c001", **{**GPT3, "recompute": "full"}).memory["checkpoint"],
    "K7": lambda g: figure_1(g, "activation_bytes", split=False, regather=False, recompute="none"),
    "K8": lambda g: figure_1(g, "activation_bytes", split=True, regather=True, recompute="attention"),
    "K9": lambda g: figure_1(g, "parameter_bytes"),
    "C1": lambda g: g.derive("c001", **GPT3).sum("forward", "operations"),
    "C2": gradients,
    "C3": lambda g: g.derive("c001", **GPT3).messages("forward") // 2,
    "C4": full_recompute,
    "S1": lambda g: chunks(g, "warmup_chunks"),
    "S2": lambda g: chunks(g, "peak_chunks"),
    "S4": lambda g: Fraction(summary(g, "c001")["pipeline"]["bubble_over_ideal"]),
}


def numbers(text):
    found = [Fraction(n) for n in re.findall(r"[0-9]+(?:[./][0-9]+)?", text.split(" (")[0])]
    return found if len(found) > 1 else found[0]


def reshaped(gate, id, app=None, **changes):
    """A row's text with other sizes of the model."""
    row = gate.row(id, **changes)
    row.cells = {**row.cells, **{f"app_{name}": str(value) for name, value in (app or {}).items()}}
    return row.text()


def refusals(gate):
    """Rows E of papers.tsv: id, text, code, and the number that the row expects."""
    interleaved = dict(pipeline=16, chunks=2, batch=1)
    yield "E1", reshaped(gate, "c001", {"num_blocks": 80}, **interleaved), \
        "strategy.virtual_stages.blocks_not_divisible", "remainder 16"
    yield "E2", reshaped(gate, "c001", {"num_blocks": 30}, pipeline=4, chunks=1), \
        "strategy.pipeline.blocks_not_divisible", "remainder 2"
    yield "E3", reshaped(gate, "c001", {"seq_size": 1023}, microbatch=8), \
        "strategy.tensor.sequence_not_divisible", "remainder 7"
    yield "E5", reshaped(gate, "c001", {"attn_heads": 52, "hidden": 6656}), \
        "strategy.tensor.heads_not_divisible", "1 2 4 13 26 52"
    world = reshaped(gate, "c001", pipeline=16, chunks=1, data=64)
    yield "E6", world.replace("tensor = 8", "tensor = 8\nworld = 16384"), "strategy.world.product", "8192"


def check_papers(gate):
    expected = {cells["# id"]: cells["expected"] for cells in table(gate.directory, "papers.tsv")}
    for id, ours in PAPERS.items():
        if id in expected:
            gate.equal(id, ours(gate), numbers(expected[id]))
    for id, text, code, number in refusals(gate):
        if id in expected:
            gate.verdict(number.split()[-1] in expected[id].split(), f"{id} expects {expected[id]}")
            fault = gate.bp_opt.refuses(text, code, number)
            gate.verdict(fault is None, f"{id}: {fault}")


def check_figures(gate):
    """Figures 1 and 7 of Korthikanti et al. 2022: equal as fractions, and as the double that the fraction rounds to."""
    for row in table(gate.directory, "seqsel.tsv"):
        figure, expected = row["figure"], row["closed_form"]
        what = f"{figure} {row['model']} {row['mode']} {row['quantity']}"
        if figure == "fig1":
            name = "activation_bytes" if row["quantity"] == "activations" else "parameter_bytes"
            gate.equal(what, korthikanti(gate, row["config"], name) / GIB, Fraction(expected))
        elif figure == "fig7":
            share = korthikanti(gate, row["config"], "activations_over_tensor_parallel")
            gate.equal(what, float(100 * share), float(expected))


# ---- Examples ----

def check_demonstration(gate, path):
    with open(path) as file:
        items = gate.bp_opt.items(file.read(), "--distribute-transformer-training", "--plan-transformer-training",
                                  "--bind-reference-slot")
    d = Derived(items)
    for phase, operations in OPERATIONS.items():
        gate.equal(f"operations of {phase}", d.sum(phase, "operations"), operations)
    for name, size in MEMORY.items():
        gate.equal(f"{name} of the block", d.memory[name], size)
    gate.equal("messages", [int(t["work"]["message"]) for t in d.tasks if t["body"] == "collective"], MESSAGES)
    gate.equal("tasks", len(d.tasks), TASKS)
    for name, size in BUFFERS.items():
        gate.equal(f"buffer {name}", d.buffers[name], size)
    concrete = next(i for i in items if i["kind"] == "concrete.plan")
    binds = {s["name"]: int(s["size"]) for s in concrete["statements"] if s["entity"] == "bind"}
    gate.equal("bound sizes", binds, d.buffers)
    gate.equal("commands", sum(s["entity"] == "command" for s in concrete["statements"]), TASKS)


def check_examples(gate, folder):
    layers = layers_of(gate.directory)
    for name, id in EXAMPLES.items():
        with open(os.path.join(folder, name + ".bpir")) as file:
            c = compare_row(gate.bp_opt, gate.row(id), layers[id], file.read())
        gate.verdict(not c.other, f"{name}: {c.other[:5]}")


def main(path, directory, examples):
    gate = Gate(BpOpt(path), directory)
    try:
        check_papers(gate)
        check_figures(gate)
        check_demonstration(gate, os.path.join(examples, "gpt3-175b.bpir"))
        check_examples(gate, examples)
    except Refused as refused:
        gate.verdict(False, str(refused))
    print(f"{gate.passed} passed, {gate.failed} failed")
    return gate.failed != 0 or gate.passed == 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

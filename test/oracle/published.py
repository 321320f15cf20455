#!/usr/bin/env python3
"""Numbers that papers print, and the examples: published.py BP_OPT DIRECTORY EXAMPLES.

Table 1 of Narayanan et al. 2021 and the schedules of pipelines through --summary=json; the demonstration
(examples/gpt3-175b.bpir) to the last unit; each example beside the oracle's row (of DIRECTORY) that it is. The last line is
`N passed, N failed`.
"""
import os
import sys

from chain import BpOpt, Derived, Refused, Row, table
from papers import Gate, model
from strategies import compare_row, layers_of

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


# Table 1 of Narayanan et al. 2021 in exact numbers: hidden, heads, blocks, tensor, pipeline, data, batch; parameters, operations
# of an iteration with full recompute and without. The last two rows' operations are past 2^64.
NARAYANAN = [
    (2304, 24, 24, 1, 1, 32, 512, 1652226048, 15466830067924992, 11785665138130944),
    (3072, 32, 30, 2, 1, 32, 512, 3562162176, 32655495344947200, 24739011624960000),
    (4096, 32, 36, 4, 1, 32, 512, 7467778048, 67184558503624704, 50718272366051328),
    (6144, 48, 40, 8, 1, 32, 1024, 18449743872, 324839715310141440, 244619346947604480),
    (8192, 64, 48, 8, 2, 32, 1536, 39096025088, 1021226399878348800, 767898920838758400),
    (10240, 80, 60, 8, 4, 32, 1792, 76050718720, 2302047495074611200, 1729421839328870400),
    (12288, 96, 80, 8, 8, 24, 2304, 145622237184, 5641682123048878080, 4235714614379151360),
    (16384, 128, 96, 8, 16, 15, 2160, 310130507776, 11194006936108400640, 8401071479696916480),
    (20480, 128, 105, 8, 35, 9, 2520, 529600778240, 22215941676859392000, 16670073745833984000),
    (25600, 160, 128, 8, 64, 6, 3072, 1008038707200, 51390513775273574400, 38555254837267660800),
]

# Each fact of a strategy, another value for it, and a number that follows from it: no fact is ignored.
EVERY = dict(hidden=12288, heads=96, blocks=96, tensor=8, split=True, regather=True, recompute="attention", pipeline=8,
             chunks=3, data=2, batch=128)
CHANGES = [
    ("tensor = 8", "tensor = 4", ("memory", "weights")),
    ("communication = reduce_scatter_all_gather", "communication = all_reduce", ("memory", "stored")),
    ("pipeline = 8", "pipeline = 4", ("stage", "blocks")),
    ("virtual_stages = 3", "virtual_stages = 2", ("stage", "in_flight")),
    ("virtual_stages = 3", "schedule = one_f_one_b", ("pipeline", "bubble_over_ideal")),
    ("virtual_stages = 3", "schedule = gpipe", ("stage", "in_flight")),
    ("data = 2", "data = 4", ("stage", "microbatches")),
    ("optimizer_sharding = false", "optimizer_sharding = true", ("memory", "optimizer")),
    ("recompute = attention", "recompute = none", ("memory", "stored")),
    ("fused_activation = false", "fused_activation = true", ("memory", "working")),
    ("input_regather = true", "input_regather = false", ("memory", "stored")),
]

# Of Narayanan et al. 2021, 2.2: pipeline, microbatches, chunks; bubble over ideal time, over total time.
BUBBLES = [
    (4, 8, 1, "3/8", "3/11"), (8, 64, 1, "7/64", "7/71"), (8, 64, 3, "7/192", "7/199"), (4, 8, 2, "3/16", "3/19"),
    (64, 512, 1, "63/512", "63/575"), (35, 280, 3, "17/420", "17/437"),
]

# Chunks in flight at the peak of each stage, and at the end of its warm-up.
PEAKS = [
    (4, 8, 1, [4, 3, 2, 1], [3, 2, 1, 0]),
    (8, 4, 1, [4, 4, 4, 4, 4, 3, 2, 1], None),
    (4, 8, 2, [11, 9, 7, 5], [10, 8, 6, 4]),
    (8, 64, 3, [31, 29, 27, 25, 23, 21, 19, 17], [30, 28, 26, 24, 22, 20, 18, 16]),
    (4, 4, 4, [16, 16, 15, 13], [16, 16, 14, 12]),
]


def check_narayanan(gate):
    for hidden, heads, blocks, tensor, pipeline, data, batch, parameters, recompute, without in NARAYANAN:
        text = model(hidden, heads, blocks, tensor, pipeline=pipeline, data=data, batch=batch).text()
        summary, what = gate.bp_opt.summary(text), f"{hidden} x {blocks}"
        iteration = summary["iteration_operations"]
        gate.equal(f"{what} parameters", int(summary["parameters"]["narayanan-2021"]), parameters)
        gate.equal(f"{what} with recompute", int(iteration["narayanan-2021, full recompute"]), recompute)
        gate.equal(f"{what} without recompute", int(iteration["narayanan-2021"]), without)
        per_block = int(summary["tasks_total"]["operations"]) - gate.optimizer(summary)
        ours = (per_block * batch // data + gate.optimizer(summary)) * blocks * tensor * data
        gate.equal(f"{what} of the plan", int(iteration["plan"]), ours)
        both = gate.bp_opt.run(text, "--distribute-transformer-training", "--summary").stdout
        for label, number in ((" this plan ", ours), (" without recompute ", without), (" with full recompute ", recompute)):
            line = next((line for line in both.splitlines() if label in line + " "), "")
            gate.verdict(line.endswith(f" {number}"), f"{what}: no line with{label}and {number}")


def check_changes(gate):
    text = model(**EVERY).text()
    before = gate.bp_opt.summary(text)
    for fact, other, (group, number) in CHANGES:
        gate.verdict(text.count(fact) == 1, f"{fact} is not in the strategy once")
        changed = text.replace(fact, other)
        if "all_reduce" in other:       # where nothing is gathered, nothing is gathered again
            changed = changed.replace("input_regather = true", "input_regather = false")
        after = gate.bp_opt.summary(changed)
        gate.verdict(after[group][number] != before[group][number], f"{other} changes no {group} {number}")


def pipeline_of(gate, p, m, v):
    """Of a model that every such pipeline divides."""
    row = model(4096, 32, p * v, 1, pipeline=p, chunks=v, batch=m)
    return gate.bp_opt.summary(row.text())["pipeline"]


def check_pipelines(gate):
    for p, m, v, ideal, total in BUBBLES:
        found = pipeline_of(gate, p, m, v)
        gate.equal(f"bubble {p} {m} {v}", [found["bubble_over_ideal"], found["bubble_over_total"]], [ideal, total])
    for p, m, v, peaks, warmup in PEAKS:
        stages = pipeline_of(gate, p, m, v)["stages"]
        gate.equal(f"peak {p} {m} {v}", [int(s["peak_chunks"]) for s in stages], peaks)
        if warmup:
            gate.equal(f"warm-up {p} {m} {v}", [int(s["warmup_chunks"]) for s in stages], warmup)


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
    rows = {cells["id"]: cells for cells in table(gate.directory, "calculon-totals.tsv")}
    for name, id in EXAMPLES.items():
        with open(os.path.join(folder, name + ".bpir")) as file:
            c = compare_row(gate.bp_opt, Row(rows[id]), layers[id], file.read())
        gate.verdict(not c.other, f"{name}: {c.other[:5]}")


def main(path, directory, examples):
    gate = Gate(BpOpt(path), directory)
    try:
        check_narayanan(gate)
        check_pipelines(gate)
        check_changes(gate)
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

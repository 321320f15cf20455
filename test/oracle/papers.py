#!/usr/bin/env python3
"""The passes against published numbers: papers.py BP_OPT DIRECTORY.

The rows of papers.tsv that a derivation can show, and figures 1 and 7 of Korthikanti et al. 2022
(seqsel.tsv), through bp-opt. An id of papers.tsv that no one here knows is named; it neither passes nor fails. The last
line is `N passed, N failed`.
"""
import json
import re
import sys
from fractions import Fraction

from chain import BpOpt, Refused, Row, table

GIB = 1 << 30

# Rows of papers.tsv about what is not derived here.
SKIPPED = {
    "S5": "zero-bubble and dual schedules", "Z1": "stages of ZeRO", "V2": "latent attention", "E4": "context parallelism",
}


def model(hidden, heads, blocks, tensor=8, pipeline=1, chunks=1, data=1, batch=1, microbatch=1, split=False, regather=False,
          recompute="none", sequence=2048):
    """A model of the papers' shape under a strategy, as a row of the oracle would say it."""
    recompute = {"attention": "attn_only"}.get(recompute, recompute)
    cells = {
        "id": "", "model": "", "app_hidden": hidden, "app_feedforward": 4 * hidden, "app_seq_size": sequence,
        "app_attn_heads": heads, "app_attn_size": hidden // heads, "app_num_blocks": blocks, "exe_tensor_par": tensor,
        "exe_pipeline_par": pipeline, "exe_data_par": data, "exe_batch_size": batch, "exe_microbatch_size": microbatch,
        "exe_datatype": "float16", "exe_fused_activation": 0, "exe_activation_recompute": recompute,
        "exe_pipeline_interleaving": chunks, "exe_optimizer_sharding": 0, "exe_seq_par_ag_redo": int(regather),
        "exe_tensor_par_comm_type": "rs_ag" if split else "ar", "exe_training": 1,
    }
    return Row({name: value if name == "exe_datatype" else str(value) for name, value in cells.items()})


# The models of Korthikanti et al. 2022 as its figures run them.
KORTHIKANTI = {
    "22B": dict(hidden=6144, heads=64, blocks=48, microbatch=4, batch=4),
    "175B": dict(hidden=12288, heads=96, blocks=96, pipeline=8, chunks=3, batch=64),
    "530B": dict(hidden=20480, heads=128, blocks=105, pipeline=35, chunks=3, batch=280),
    "1T": dict(hidden=25600, heads=160, blocks=128, pipeline=64, batch=512),
}
SEQUENCE = dict(split=True, regather=True)


class Gate:
    def __init__(self, bp_opt, directory):
        self.bp_opt, self.directory, self.passed, self.failed = bp_opt, directory, 0, 0

    def verdict(self, good, what):
        self.passed += good
        self.failed += not good
        if not good:
            print(what)

    def equal(self, what, ours, expected):
        self.verdict(ours == expected, f"{what}: {text(ours)}, not {text(expected)}")

    def derive(self, **sizes):
        return self.bp_opt.derive(model(**sizes).text())

    def summary(self, **sizes):
        return self.bp_opt.summary(model(**sizes).text())

    def optimizer(self, summary):
        """Operations of the optimizer, which runs once an iteration."""
        return sum(int(row["operations"]) for row in summary["tasks"] if row["phase"] == "optimizer")


def text(value):
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


# ---- papers.tsv ----

GPT3 = dict(hidden=12288, heads=96, blocks=96)      # on one stage, tensor 8


def stored(gate, **strategy):
    return gate.derive(**{**GPT3, **strategy}).memory["stored"]


def figure_1(gate, what, **strategy):
    return [Fraction(gate.summary(**{**sizes, **strategy})["korthikanti-2022"][what]) / GIB
            for sizes in KORTHIKANTI.values()]


def chunks(gate, what):
    """Of the stages of 4 in 2 chunks with 8 microbatches."""
    stages = gate.summary(**GPT3, pipeline=4, chunks=2, batch=8)["pipeline"]["stages"]
    return [int(stage[what]) for stage in stages]


def full_recompute(gate):
    d = gate.derive(**GPT3, recompute="full")
    return d.sum("recompute", "operations") + d.sum("recommunication", "operations")


def gradients(gate):
    d = gate.derive(**GPT3)
    return [d.sum("activation_gradient", "operations"), d.sum("weight_gradient", "operations")]


def all_reduce(gate):
    """Each of the two of the forward pass."""
    sizes = {int(t["work"]["message"]) for t in gate.derive(**GPT3).tasks if t["body"] == "collective"}
    return sizes.pop() if len(sizes) == 1 else sizes


def trillion(gate):
    summary = gate.summary(**{**KORTHIKANTI["1T"], "batch": 3072})
    return int(summary["iteration_operations"]["narayanan-2021, full recompute"])


def serve(gate, workload, hidden, feedforward, heads, blocks, tensor=1, sequence=131072, options=""):
    """Summaries of the steps of a Llama with 8 heads of keys and values of 128, first to last."""
    text = f"""model.program @m schema 1.0 {{
  symbol $tokens : integer
  input %x : tensor<1x($tokens)x{hidden}xbf16>
  kv_cache %kv : tensor<{blocks}x2x1x{sequence}x1024xbf16>
  op @decoder transformer.decoder_inference(%x, %kv) -> %y : tensor<1x($tokens)x{hidden}xbf16>
    hidden {hidden} feedforward {feedforward} heads {heads} kv_heads 8 head_size 128 sequence {sequence} blocks {blocks}
    norm rms_norm mlp swiglu rotary true
  output %y
}}
session.workload @w {{ {workload} batch = 1 dtype = bf16 }}
session.strategy @s {{ tensor = {tensor} }}
"""
    done = gate.bp_opt.run(text, f"--distribute-transformer-inference={options}", "--summary=json")
    if done.returncode:
        raise Refused(done.stderr.strip())
    return [json.loads(line) for line in done.stdout.splitlines()]


LLAMA_3_70B = dict(hidden=8192, feedforward=28672, heads=64, blocks=80)
LLAMA_3_405B = dict(hidden=16384, feedforward=53248, heads=128, blocks=126)
ONE_TOKEN = "mode = decode context = 1"


def token_bytes(gate, what, **strategy):
    return int(serve(gate, ONE_TOKEN, **LLAMA_3_70B, **strategy)[0]["kv_cache_of_a_token"][what])


def causal_pairs(gate):
    """Of a prompt of 8192 tokens, cut in several ways; all must agree."""
    found = {int(serve(gate, "mode = prefill context = 8192", **LLAMA_3_70B, options="attention=causal")[0]["pairs"])}
    for chunk in (5, 1000, 2048, 8191):
        steps = serve(gate, f"mode = prefill context = 8192 chunk = {chunk}", **LLAMA_3_70B, options="attention=causal")
        found |= {int(steps[0]["request"]["prefill_pairs"]), sum(int(step["pairs"]) for step in steps)}
    return found.pop() if len(found) == 1 else sorted(found)


def parameters(gate):
    """What a block holds, 2 bytes each, then embedding and output apart of each other, and the last norm."""
    block = int(serve(gate, ONE_TOKEN, **LLAMA_3_405B)[0]["memory"]["weights"]) // 2
    return block * LLAMA_3_405B["blocks"] + (2 * 128256 + 1) * LLAMA_3_405B["hidden"]


PAPERS = {
    "N1": trillion,
    "N3": lambda g: int(g.summary(**{**GPT3, "blocks": 80})["parameters"]["narayanan-2021"]),
    "K1": lambda g: stored(g, tensor=1),
    "K2": lambda g: stored(g),
    "K3": lambda g: stored(g, **SEQUENCE),
    "K4": lambda g: stored(g, recompute="attention"),
    "K5": lambda g: stored(g, **SEQUENCE, recompute="attention"),
    "K6": lambda g: g.derive(**GPT3, recompute="full").memory["checkpoint"],
    "K7": lambda g: figure_1(g, "activation_bytes"),
    "K8": lambda g: figure_1(g, "activation_bytes", **SEQUENCE, recompute="attention"),
    "K9": lambda g: figure_1(g, "parameter_bytes"),
    "C1": lambda g: g.derive(**GPT3).sum("forward", "operations"),
    "C2": gradients,
    "C3": all_reduce,
    "C4": full_recompute,
    "S1": lambda g: chunks(g, "warmup_chunks"),
    "S2": lambda g: chunks(g, "peak_chunks"),
    "V1": lambda g: token_bytes(g, "model"),
    "V3": lambda g: token_bytes(g, "rank", tensor=16),
    "F2": causal_pairs,
    "P1": parameters,
    "S4": lambda g: Fraction(g.summary(**KORTHIKANTI["175B"])["pipeline"]["bubble_over_ideal"]),
}

# What is refused: the model and strategy, its code, and what the message says of the row's expectation.
REFUSALS = {
    "E1": (model(12288, 96, 80, pipeline=16, chunks=2), "strategy.virtual_stages.blocks_not_divisible", "remainder 16"),
    "E2": (model(12288, 96, 30, pipeline=4), "strategy.pipeline.blocks_not_divisible", "remainder 2"),
    "E3": (model(12288, 96, 96, batch=8, microbatch=8, sequence=1023, split=True),
           "strategy.tensor.sequence_not_divisible", "remainder 7"),
    "E5": (model(6656, 52, 96), "strategy.tensor.heads_not_divisible", "1 2 4 13 26 52"),
    "E6": (model(12288, 96, 96, pipeline=16, data=64, batch=64), "strategy.world.product", "8192"),
}


def numbers(text):
    found = [Fraction(n) for n in re.findall(r"[0-9]+(?:[./][0-9]+)?", text.split(" (")[0])]
    return found if len(found) != 1 else found[0]


def check_refusal(gate, id, expected):
    row, code, words = REFUSALS[id]
    text = row.text().replace("tensor = 8", "tensor = 8\nworld = 16384") if id == "E6" else row.text()
    gate.verdict(re.search(rf"(^|[^0-9]){words.removeprefix('remainder ')}($|[^0-9])", expected) is not None,
                 f"{id} expects {expected}, not {words}")
    fault = gate.bp_opt.refuses(text, code, words)
    gate.verdict(fault is None, f"{id}: {fault}")


def check_papers(gate):
    compared, skipped, unknown = 0, {}, []
    for cells in table(gate.directory, "papers.tsv"):
        id, expected = cells["# id"], cells["expected"]
        if id in SKIPPED:
            skipped.setdefault(SKIPPED[id], []).append(id)
        elif id in PAPERS:
            gate.equal(id, PAPERS[id](gate), numbers(expected))
        elif id in REFUSALS:
            check_refusal(gate, id, expected)
        else:
            unknown.append(id)
        compared += id in PAPERS or id in REFUSALS
    print(f"papers.tsv: compared {compared}, skipped {sum(map(len, skipped.values()))}, unknown id {len(unknown)}"
          f"{': ' * bool(unknown)}{' '.join(unknown)}")
    for why, ids in skipped.items():
        print(f"  skipped {' '.join(ids)}: {why}")
    gate.verdict(compared + len(unknown) != 0, "papers.tsv: nothing compared")


# ---- seqsel.tsv ----

def check_figure(gate, row, summaries):
    """Equal as fractions, or as the double that the fraction rounds to."""
    figure, expected, what = row["figure"], row["closed_form"], " ".join(row[c] for c in ("figure", "config", "quantity"))
    found = summaries(row["config"])
    if not found:
        gate.verdict(False, f"{what}: no such configuration")
    elif figure == "fig1":
        name = "activation_bytes" if row["quantity"] == "activations" else "parameter_bytes"
        gate.equal(what, Fraction(found[name]) / GIB, Fraction(expected))
    else:
        gate.equal(what, float(100 * Fraction(found["activations_over_tensor_parallel"])), float(expected))


def check_figures(gate):
    rows = {cells["id"]: cells for cells in table(gate.directory, "calculon-totals.tsv")}
    figures = [row for row in table(gate.directory, "seqsel.tsv") if row["figure"] in ("fig1", "fig7")]
    seen = {}

    def summaries(id):
        if id in rows and id not in seen:
            seen[id] = gate.bp_opt.summary(Row(rows[id]).text())["korthikanti-2022"]
        return seen.get(id)

    for row in figures:
        check_figure(gate, row, summaries)
    print(f"seqsel.tsv: figures 1 and 7 {len(figures)} compared; table 5 not: seconds, measured")
    gate.verdict(bool(figures), "seqsel.tsv: nothing compared")


def main(path, directory):
    gate = Gate(BpOpt(path), directory)
    print()
    for check in (check_papers, check_figures):
        try:
            check(gate)
        except Refused as refused:
            gate.verdict(False, str(refused))
    print(f"{gate.passed} passed, {gate.failed} failed")
    return gate.failed != 0 or gate.passed == 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

"""What the gates through bp-opt share: the oracle's rows as text and as predictions, and what bp-opt makes of them."""
import csv
import json
import os
import subprocess
import sys
from fractions import Fraction

ELEMENT = {"float8": ("f8E4M3FN", 1), "float16": ("f16", 2), "bfloat16": ("bf16", 2), "float32": ("f32", 4)}
RECOMPUTE = {"none": "none", "attn_only": "attention", "full": "full"}

# The layers of a block in the order of calculon-blocks.tsv.
LAYERS = """attention.fork attention.layer_norm attention.input_collective attention.qkv_fork attention.query
    attention.key attention.value attention.query_key attention.softmax attention.probability_dropout
    attention.probability_value attention.output_projection attention.output_collective attention.output_dropout
    attention.residual mlp.fork mlp.layer_norm mlp.input_collective mlp.expand mlp.gelu mlp.contract
    mlp.output_collective mlp.output_dropout mlp.residual""".split()


def table(directory, name):
    path = os.path.join(directory, name)
    try:
        with open(path, newline="") as file:
            return list(csv.DictReader(file, delimiter="\t"))
    except OSError:
        sys.exit(f"{path}: can't be read")


class Row:
    """A configuration, and what the oracle's columns say of it."""

    def __init__(self, cells):
        self.cells = cells
        self.id, self.model = cells["id"], cells["model"]
        self.training = self.number("exe_training") == 1
        self.tensor, self.pipeline = self.number("exe_tensor_par"), self.number("exe_pipeline_par")
        self.data, self.chunks = self.number("exe_data_par"), self.number("exe_pipeline_interleaving")
        self.microbatch, self.batch = self.number("exe_microbatch_size"), self.number("exe_batch_size")
        self.dtype, self.element = ELEMENT[cells["exe_datatype"]]
        self.recompute = RECOMPUTE[cells["exe_activation_recompute"]]
        self.regather = self.number("exe_seq_par_ag_redo") == 1
        self.split = cells["exe_tensor_par_comm_type"] == "rs_ag"
        self.sharded = self.training and self.number("exe_optimizer_sharding") == 1
        # p2p_rs_ag is all_reduce inside a stage; only its edge blocks and its pipeline are not.
        self.edge_differs = cells["exe_tensor_par_comm_type"] == "p2p_rs_ag"

    def exact(self, column):
        return Fraction(self.cells[column])

    def number(self, column):
        return int(self.cells[column])

    def size(self, name):
        return self.number("app_" + name)

    def out_of_scope(self):
        c = self.cells
        if c["exe_attention_type"] != "multihead":
            return "attention is not multihead"
        if c["exe_tensor_par_overlap"] != "none":
            return "collectives overlap with products"
        if any(self.number(f"exe_{what}_offload") for what in ("weight", "activations", "optimizer")):
            return "something is offloaded"
        return None

    def refusal(self):
        """The code and the remainder of what can't be divided, or None."""
        if self.size("num_blocks") % self.pipeline:
            return "strategy.pipeline.blocks_not_divisible", self.size("num_blocks") % self.pipeline
        if self.split and self.size("seq_size") % self.tensor:
            return "strategy.tensor.sequence_not_divisible", self.size("seq_size") % self.tensor
        return None

    def one_stage(self):
        self.pipeline = self.chunks = 1

    def text(self):
        hidden = self.size("hidden")
        boundary = f"tensor<($microbatch)x($sequence)x{hidden}x{self.dtype}>"
        strategy = {
            "tensor": self.tensor,
            "communication": "reduce_scatter_all_gather" if self.split else "all_reduce",
            "pipeline": self.pipeline,
            "virtual_stages": self.chunks,
            "data": self.data,
            "optimizer_sharding": str(self.sharded).lower(),
            "recompute": self.recompute,
            "fused_activation": str(self.number("exe_fused_activation") == 1).lower(),
            "input_regather": str(self.regather).lower(),
        }
        return f"""model.program @m schema 1.0 {{
  symbol $microbatch : integer
  symbol $sequence : integer
  input %x : {boundary}
  op @decoder transformer.decoder_training(%x) -> %y : {boundary}
    hidden {hidden} feedforward {self.size("feedforward")} heads {self.size("attn_heads")}
    head_size {self.size("attn_size")} sequence {self.size("seq_size")} blocks {self.size("num_blocks")}
    vocabulary 51200
  output %y
}}
session.workload @w {{
  mode = training
  batch = {self.batch}
  microbatch = {self.microbatch}
  dtype = {self.dtype}
}}
session.strategy @s {{
  {os.linesep.join(f"{name} = {value}" for name, value in strategy.items())}
}}
"""

    # ---- What of a difference is declared (docs/deviations.md) ----

    def nothing_gathers(self):
        return self.tensor == 1 or not self.split

    def dropped(self, layer):
        """True where Calculon drops an input of this layer that nothing can rebuild."""
        if not self.nothing_gathers() or self.recompute == "full":
            return False
        return (layer == "attention.qkv_fork" and (self.regather or self.recompute == "attention")) or \
               (layer == "mlp.expand" and self.regather)

    def activation(self):
        return self.exact("derived_activation_elems") * self.element

    def unstored(self):
        return self.activation() * sum(map(self.dropped, LAYERS))

    def checkpoint_gap(self):
        split = not self.nothing_gathers() and self.recompute == "full"
        return self.activation() / self.tensor - self.activation() if split else 0

    def share_gap(self, weights):
        replicas = self.data if self.sharded else 1
        return -(-weights // replicas) - Fraction(weights, replicas)

    def optimizer_bytes(self):
        return 12 if self.element < 4 else 8

    def held(self):
        """Microbatch-blocks that a stage holds: the schedule's, then Calculon's."""
        n, p, v = self.number("derived_num_microbatches"), self.pipeline, self.chunks
        blocks = self.number("derived_blocks_per_proc")
        chunks = p if v == 1 else 2 * (p - 1) + (v - 1) * p + 1
        calculon = min(n, p) * (1 if v == 1 else 1 + Fraction(p - 1, v * p))
        return Fraction(min(chunks, n * v), v) * blocks, calculon * blocks


class Derived:
    """What bp-opt made of a row: sums per phase, work per layer and phase, the block's memory, the plan's buffers."""

    def __init__(self, items):
        block = next(i for i in items if i["kind"] == "dist.program")
        plan = next(i for i in items if i["kind"] == "portable.plan")
        self.tasks = [s for s in block["statements"] if s["entity"] == "task"]
        memory = next(s for s in block["statements"] if s["entity"] == "memory")
        self.memory = {name: int(value) for name, value in memory["facts"].items()}
        buffers = [s for s in plan["statements"] if s["entity"] == "buffer"]
        self.buffers = {s["name"]: int(s["size"]) for s in buffers}
        self.input, self.output = (next(int(s["size"]) for s in buffers if s["role"] == role)
                                   for role in ("input", "output"))
        self.work = {}
        for task in self.tasks:
            for fact, amount in task.get("work", {}).items():
                for key in ((task["phase"], None, fact), (task["phase"], task["layer"], fact)):
                    self.work[key] = self.work.get(key, 0) + int(amount)

    def sum(self, phase, *facts, layer=None):
        return sum(self.work.get((phase, layer, fact), 0) for fact in facts)

    def messages(self, phase):
        return self.sum(phase, "message")


class Refused(Exception):
    pass


class BpOpt:
    def __init__(self, path):
        self.path = path

    def run(self, text, *options):
        return subprocess.run([self.path, "-", *options], input=text, text=True, capture_output=True)

    def items(self, text, *passes):
        """The whole chain that the passes derive; Refused with what bp-opt says."""
        done = self.run(text, *passes, "--keep-sources", "--emit=json")
        if done.returncode:
            raise Refused(done.stderr.strip())
        return json.loads(done.stdout)["items"]

    def derive(self, text):
        return Derived(self.items(text, "--distribute-transformer-training", "--plan-transformer-training"))

    def summary(self, text):
        """What --summary says of the block."""
        done = self.run(text, "--distribute-transformer-training", "--summary=json")
        if done.returncode:
            raise Refused(done.stderr.strip())
        return json.loads(done.stdout)

    def refuses(self, text, code, *words):
        """None when TEXT is refused with CODE and all of WORDS, and nothing is written; else what happened instead."""
        done = self.run(text, "--distribute-transformer-training")
        good = done.returncode == 1 and f"[{code}]" in done.stderr and all(w in done.stderr for w in words)
        return None if good and not done.stdout else f"not refused with {code}: {done.stderr.strip()}"

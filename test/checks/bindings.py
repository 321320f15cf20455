#!/usr/bin/env python3
"""Portable plans at random: one that verifies is bound by slots and by queues, to a plan that is derived the same way again,
or is refused by name, because a rank reads what is made on others only. A fault of a pass (pass.internal, pass.gate) never."""
import json
import random
import subprocess
import sys
import tempfile

STORAGE = {"input": "device_local", "output": "device_local", "value": "transient", "constant": "persistent", "state": "persistent",
           "workspace": "transient", "communication": "communication"}
CHANGES = ("state", "workspace", "communication")
SESSION = """session.target @t { abi = a engines = [compute, collective, transfer, host] memory_spaces = [m] }
session.deployment @d { devices = 4 }
"""


def listed(names, sigil):
    return "(" + ", ".join(sigil + n for n in names) + ")"


class Writer:
    """One plan: buffers of all roles, tasks of all bodies, on ranks at random and ordered more often than not."""

    def __init__(self, rng, name):
        self.rng, self.ranks = rng, rng.choice([1, 2, 3, 4])
        self.buffers = {"b%d" % i: rng.choice(sorted(STORAGE)) for i in range(rng.randrange(2, 7))}
        self.ready = [b for b, role in self.buffers.items() if role in ("input", "constant", "state")]
        self.unmade = [b for b, role in self.buffers.items() if role in ("value", "output")]
        self.lines = ["portable.plan @%s schema 1.0 {" % name]
        self.lines += ["  mesh @r [tp = %d]" % self.ranks] if rng.random() < 0.8 else []
        self.lines += ["  order serial"] if rng.random() < 0.3 else []
        self.lines += ["  buffer %%%s %s %s size 64" % (b, role, STORAGE[role]) for b, role in self.buffers.items()]
        for i in range(max(rng.randrange(2, 7), len(self.unmade))):
            self.task(i)
        self.lines += ["  objective minimize latency", "}", ""]

    def result(self):
        rng, changing = self.rng, [b for b, role in self.buffers.items() if role in CHANGES]
        if self.unmade and rng.random() < 0.8:
            return [self.unmade.pop(0)]
        return [rng.choice(changing)] if changing and rng.random() < 0.5 else []

    def effects(self):
        found = []
        for _ in range(self.rng.choice([1, 1, 2])):
            b = self.rng.choice(sorted(self.buffers))
            kind = self.rng.choice(["read", "write", "write", "update", "random", "allocate", "io"])
            if kind in ("write", "update", "random") and self.buffers[b] not in CHANGES:
                kind = "read"
            if (kind, b) not in found:
                found.append((kind, b))
        return "effects (%s)" % ", ".join("%s %%%s" % e for e in found)

    def task(self, i):
        rng = self.rng
        body = rng.choice(["compute", "compute", "collective", "host", "barrier"] + ["transfer"] * (self.ranks > 1))
        reads = rng.sample(self.ready, min(len(self.ready), rng.choice([0, 1, 1, 2])))
        made = self.result() if body != "barrier" else []
        clauses = []
        after = [k for k in range(i) if rng.random() < 0.6]
        if after:
            clauses.append("after " + listed(["t%d" % k for k in after], "@"))
        if body != "barrier" and rng.random() < 0.4:
            clauses.append(self.effects())
        if body in ("collective", "transfer"):
            reads = reads[:1]
            clauses.append("work (message 64)")
        operation = {"compute": " transformer.residual_add", "collective": " all_reduce", "host": " log_it"}.get(body, "")
        head = "  task @t%d %s%s%s" % (i, body, operation, listed(reads if body != "barrier" else [], "%"))
        head += " -> %%%s" % made[0] if made else ""
        if body == "transfer":
            head += " source %d destination %d" % tuple(rng.sample(range(self.ranks), 2))
        elif rng.random() < 0.3:
            head += " ranks [%s]" % ", ".join(map(str, sorted(rng.sample(range(self.ranks), rng.randrange(1, self.ranks + 1)))))
        self.lines += [head] + (["    " + " ".join(clauses)] if clauses else [])
        self.ready += [b for b in made if b not in self.ready]


def refused(opt, plans):
    """The plans that do not verify, by number."""
    begins, lines = [], []
    for plan in plans:
        begins.append(len(lines) + 1)
        lines += plan
    with tempfile.NamedTemporaryFile("w", suffix=".bpir") as f:
        f.write("\n".join(lines) + "\n")
        f.flush()
        ran = subprocess.run([opt, "--verify-only", "--diagnostics=json", "--max-errors=0", f.name], stderr=subprocess.PIPE, text=True)
    errors = [m for m in map(json.loads, ran.stderr.splitlines()) if m["severity"] == "error"]
    return {sum(b <= m["line"] for b in begins) - 1 for m in errors}


def main():
    opt, count, rng = sys.argv[1], int(sys.argv[2]), random.Random(int(sys.argv[3]))
    plans = [Writer(rng, "p%d" % i).lines for i in range(count)]
    bad = refused(opt, plans)
    bound = absent = failed = 0
    for i, plan in enumerate(plans):
        for binder in ("slot", "queue") if i not in bad else ():
            made = subprocess.run([opt, "--bind-reference-" + binder, "--keep-sources"], input=SESSION + "\n".join(plan), text=True, capture_output=True)
            again = subprocess.run([opt, "--verify-derivation", "--emit=none"], input=made.stdout, text=True, capture_output=True)
            if made.returncode == 0 and again.returncode == 0 and "pass.derivation.same" in again.stderr:
                bound += 1
            elif made.returncode == 1 and "[pass.bind.absent]" in made.stderr and "pass.internal" not in made.stderr:
                absent += 1
            else:
                failed += 1
                print("\n".join(plan) + made.stderr + again.stderr)
    if bound < count // 5 or not absent:
        failed += 1
        print("only %d bindings and %d refusals of %d plans" % (bound, absent, count))
    print("%d plans, of which %d do not verify" % (count, len(bad)))
    print("%d passed, %d failed" % (bound + absent, failed))
    return failed > 0


sys.exit(main())

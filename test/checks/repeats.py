#!/usr/bin/env python3
"""Programs at random whose statements nearly repeat each other.

The parser copies a statement whose text is that of an earlier one but for names and numbers (src/parser/repeat.h). With
another number of blanks behind each keyword no text repeats another, and every statement is parsed. Both texts must be
refused with the same messages, or become the same program, as JSON and as text.
"""
import json
import random
import subprocess
import sys
import tempfile

NUMBERS = ["0", "1", "7", "345", "1_000", "007", "2*$s", "3*$s", "12*$s + 1", "$s", "$t", "5 + 3", "max($s, 3)", "3 floordiv 2",
           "999999999999999999", "1000000000000000000", "9223372036854775808", "18446744073709551616"]
NAMES = ["a", "block0.mlp.up", "9", '"q"', '"a b"', '"a.forward"', '"z.decode.x"', '"p-q.forward"']
TAILS = ["", ".forward", ".decode", ".forward.all_gather", ".x", ".none", ".forward.decode"]
FACTS = ["operations", "read", "write", "message"]
HEADS = {
    "dist": ["dist.program @p schema 1.0 from @m {", "  mesh @r [tp = 2]", "  symbol $s : integer", "  symbol $t : integer",
             "  input %x : tensor<4x8xf16>"],
    "portable": ["portable.plan @p schema 1.0 from @m {", "  mesh @r [tp = 2]", "  symbol $s : integer", "  symbol $t : integer",
                 "  buffer %x input device_local size 64", "  objective minimize latency"],
}
# Text behind the name, and the facts that it may have; `%v` is another value each time.
BODIES = {
    "dist": [("local model.gelu", 3), ("local model.gelu()", 3), ("local transformer.linear", 3), ("local model.gelu(%x)", 3), ("control()", 0),
             ("local model.gelu(%x) -> %v : tensor<4x8xf16>", 3), ("collective all_gather", 4), ("collective all_gather() over {tp}", 4)],
    "portable": [("compute model.gelu", 3), ("compute model.gelu()", 3), ("compute model.gelu(%x)", 3), ("barrier()", 0), ("collective all_gather", 4)],
}
CLAUSES = [["phase forward", "phase none", "phase decode"], ["layer mlp.up", 'layer "a b"', "layer a"],
           ["from @decoder", "from @other", "cloned from @decoder", "fused from (@decoder, @other)"],
           ["note {k = 1}", 'note {k = "work (read 1)"}']]
OTHERS = {"dist": [], "portable": [["group g", "group h"], ["implement x [a, b]"], ["require (storage 5)"]]}


class Program:
    """Some tasks, and then each a few times again: with another name, and perhaps other numbers."""

    def __init__(self, rng):
        self.rng, self.kind, self.names = rng, rng.choice(list(HEADS)), []
        self.head = list(HEADS[self.kind])
        if rng.random() < 0.3:      # everything then has a source: a plan's tasks their namesakes
            made = {"dist": "distribute", "portable": "plan"}[self.kind] + "-transformer-training revision 1"
            self.head[0] = self.head[0].replace(" {", " xxh128:" + "1" * 32 + f" by {made} {{")
        if self.kind == "dist" and rng.random() < 0.5:
            self.head.append("  origin @decoder")
        first, self.tasks = [], []
        for _ in range(rng.randrange(2, 9)):
            first.append(self.task())
            self.tasks.append(self.line(first[-1]))
        for _ in range(rng.randrange(5, 15)):
            self.tasks += [self.line(self.again(task)) for task in rng.sample(first, rng.randrange(1, len(first) + 1))]

    def task(self):
        """Name, body, numbers by fact, clauses, what stands before each."""
        rng, (body, n) = self.rng, self.rng.choice(BODIES[self.kind])
        facts = rng.sample(FACTS[:3], rng.randrange(1, 4)) + FACTS[3:n] if n else []
        waits = [[f"after @{name}" for name in self.names]] if self.names else []
        clauses = [rng.choice(choice) for choice in CLAUSES + OTHERS[self.kind] + waits if rng.random() < 0.2]
        rng.shuffle(clauses)
        facts = {fact: rng.choice(NUMBERS) for fact in facts}
        return rng.choice(NAMES), rng.choice(TAILS), body, facts, clauses, [rng.choice(["\n    ", " "]) for _ in range(len(clauses) + 1)]

    def again(self, task):
        rng, (name, tail, body, facts, clauses, before) = self.rng, task
        if rng.random() < 0.5:
            facts = {fact: rng.choice([number, rng.choice(NUMBERS)]) for fact, number in facts.items()}
        return rng.choice([name] * 4 + NAMES[:3]), rng.choice([tail] * 3 + TAILS[:2]), body, facts, clauses, before

    def name(self, name, tail=""):
        """A name of its own that says what NAME and TAIL do."""
        i = len(self.names)
        self.names.append(f'"u{i}.{name[1:]}' if name[0] == '"' else f"u{i}.{name}{tail}")
        return self.names[-1]

    def line(self, task):
        name, tail, body, facts, clauses, before = task
        facts = ["work (" + ", ".join(f"{fact} {number}" for fact, number in facts.items()) + ")"] if facts else []
        name = self.name(name, tail)
        return f"@{name} " + body.replace("%v", f"%v{len(self.names)}") + "".join(space + clause for space, clause in zip(before, facts + clauses))

    def text(self, blanks):
        return "\n".join(self.head + ["  task " + " " * i * blanks + task for i, task in enumerate(self.tasks)] + ["}"]) + "\n"


def run(bp_opt, text, *options):
    """Status, output and messages without their places."""
    with tempfile.NamedTemporaryFile("w", suffix=".bpir") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([bp_opt, "--max-errors=0", "--diagnostics=json", *options, file.name], capture_output=True, text=True, timeout=60, check=False)
    messages = [json.loads(line) for line in done.stderr.splitlines()]
    return done.returncode, done.stdout, [(m["code"], m["message"]) for m in messages]


def main(bp_opt, count, seed):
    failed = accepted = 0
    for i in range(count):
        program = Program(random.Random(f"{seed}.{i}"))
        ways = [[run(bp_opt, program.text(blanks), *options) for options in ((), ("--emit=json",))] for blanks in (False, True)]
        accepted += ways[0][0][0] == 0
        if ways[0] != ways[1] or ways[0][0][0] not in (0, 1):
            failed += 1
            print(f"not as if parsed: program {i} of seed {seed}\n{program.text(False)}")
    if accepted < count / 3:
        failed += 1
        print("too few programs are right")
    print(f"{accepted} right, {count - accepted} wrong")
    print(f"{count - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))

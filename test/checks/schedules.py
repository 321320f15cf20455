#!/usr/bin/env python3
"""Concrete plans at random, each run in every way that it allows: what the verifier says must be what can happen.

A command is an event on each of its ranks; a collective, a barrier and a routed transfer are one event on all of them. An
event may begin when what it waits for has ended: the commands of `after`, the commands that signal its tokens, on each of
its ranks what an ordered queue issues before it, under `order serial` the command above, with slots all of earlier ones. So whether A must end before
B begins is found by holding A back and running all else: if B begins, nothing orders them. No order is ever computed.

    deadlock   something never begins
    hazard     two events touch a binding of a rank, one of them writes, and either may come first
    unwritten  an event reads what holds nothing, with every writer held back
    overlap    two bindings have a byte in common, and neither has all of its uses before the other's

Each plan must be refused for these reasons and no others, or accepted where there is none. Of a plan with hazards only they
are compared, as what follows from them depends on chance.
"""
import json
import random
import subprocess
import sys
import tempfile

REASONS = {
    "concrete.order.deadlock": "deadlock",
    "concrete.hazard.raw": "hazard", "concrete.hazard.war": "hazard", "concrete.hazard.waw": "hazard",
    "concrete.use.unwritten": "unwritten",
    "concrete.bind.overlap": "overlap",
}


class Plan:
    """Ranks, bindings (offset, lives), queues (kind, ordered), commands, and perhaps lists of `issue`."""

    def __init__(self, rng):
        self.ranks = rng.choice([1, 2, 2, 3, 3, 4])
        self.serial = rng.random() < 0.1
        self.slots = [] if not self.serial and rng.random() < 0.12 else None
        self.binds = [(rng.choice([64, 96, 96]) * rng.randrange(9), rng.choice(["always", "always", "used", "inferred"])) for _ in range(rng.randrange(1, 6))]
        self.queues = [(kind, rng.random() < 0.8) for kind in ("compute", "compute", "collective", "transfer") if self.slots is None and rng.random() < 0.85]
        self.commands = []
        self.issue = {}
        tokens = ["t%d" % i for i in range(3)]
        signalled = set()
        for i in range(rng.randrange(2, 9)):
            self.commands.append(self.command(rng, i, tokens, signalled))
            if self.slots is not None:
                self.place(rng, self.commands[-1])
        for c in self.commands:
            c["wait"] = [t for t in c["wait"] if t in signalled]
        for q in range(len(self.queues)):
            own = [i for i, c in enumerate(self.commands) if c["via"] == q]
            if len(own) > 1 and rng.random() < 0.2:
                order = own[:]
                rng.shuffle(order)
                if not self.contradicts(order):
                    self.issue[q] = order

    def place(self, rng, c):
        """The next slot, or that of the command above, where no rank would have two in it."""
        cycle, slot = self.slots[-1] if self.slots else (0, -1)
        group = [i for i, s in enumerate(self.slots) if s == (cycle, slot)]
        free = group and not set(c["ranks"]) & {r for i in group for r in self.commands[i]["ranks"]}
        if free and rng.random() < 0.7:
            c["after"] = [a for a in c["after"] if a not in group]
            self.slots.append((cycle, slot))
        else:
            self.slots.append((cycle + 1, rng.randrange(2)) if rng.random() < 0.5 else (cycle, slot + 1))
        c["wait"], c["signal"] = [], []

    def command(self, rng, i, tokens, signalled):
        via = rng.randrange(len(self.queues)) if self.queues else None
        kind = self.queues[via][0] if self.queues else rng.choice(["compute", "compute", "collective", "transfer"])
        body = {"compute": "launch", "collective": "collective", "transfer": "transfer"}[kind]
        if body == "transfer" and self.ranks == 1:
            body, via = "barrier", None
        elif rng.random() < 0.1:
            body, via = "barrier", via if rng.random() < 0.5 else None
        ranks = list(range(self.ranks))
        if rng.random() < 0.65:
            ranks = sorted(rng.sample(ranks, rng.randrange(1, self.ranks + 1)))
        if body == "transfer":
            ranks = sorted(rng.sample(range(self.ranks), 2))
        c = {"body": body, "via": via, "ranks": ranks, "reads": [], "writes": [], "updates": [], "wait": [], "signal": [], "route": None,
             "after": sorted(rng.sample(range(i), min(i, rng.choice([0, 1, 1, 1, 2]))))}
        names = list(range(len(self.binds)))
        if body == "transfer":
            c["route"] = ranks if rng.random() < 0.5 else ranks[::-1]
            c["reads"], c["writes"] = [rng.choice(names)], [rng.choice(names)]
        elif body != "barrier":
            c["reads"] = rng.sample(names, min(len(names), rng.choice([0, 0, 1, 1, 1])))
            c["writes"] = rng.sample(names, min(len(names), rng.choice([0, 0, 1, 1])))
            if rng.random() < 0.2:
                c["updates"] = [rng.choice(names)]
        if rng.random() < 0.3:
            token = rng.choice(tokens)
            if token not in signalled:
                signalled.add(token)
                c["signal"].append(token)
        if rng.random() < 0.2:
            c["wait"].append(rng.choice(tokens))
        return c

    def before(self, c):
        """What a command waits for on all of its ranks."""
        signals = [i for i, other in enumerate(self.commands) if set(other["signal"]) & set(self.commands[c]["wait"])]
        slots = self.slots or []
        earlier = [i for i, s in enumerate(slots) if s < slots[c]]
        return self.commands[c]["after"] + signals + earlier + ([c - 1] if self.serial and c else [])

    def contradicts(self, order):
        """A list against `after` or a token within it is another rule's matter, concrete.issue.order."""
        place = {c: i for i, c in enumerate(order)}
        shared = lambda a, b: self.serial or set(self.commands[a]["ranks"]) & set(self.commands[b]["ranks"])
        return self.serial or any(b in place and place[b] > place[c] and shared(b, c) for c in order for b in self.before(c))

    def text(self, name):
        at = lambda ids: "(" + ", ".join("%%b%d" % i for i in ids) + ")"
        refs = lambda names: "(" + ", ".join("@" + n for n in names) + ")"
        lines = ["concrete.plan @%s schema 1.0 {" % name]
        lines += ['  device @d%d rank %d name "t:%d"' % (r, r, r) for r in range(self.ranks)]
        lines.append("  memory @m space local capacity 4096")
        lines += ['  queue @q%d %s engine "e"%s' % (i, kind, "" if ordered else " ordered false") for i, (kind, ordered) in enumerate(self.queues)]
        lines += ["  order serial"] if self.serial else []
        for i, (offset, lives) in enumerate(self.binds):
            lines.append("  bind %%b%d in @m offset %d size 96 lives %s" % (i, offset, lives))
        for i, c in enumerate(self.commands):
            line = "  command @c%d %s%s%s" % (i, c["body"], {"launch": " model.any", "collective": " all_reduce"}.get(c["body"], ""), at(c["reads"]))
            line += " -> " + at(c["writes"]) if c["writes"] else ""
            line += " on [%s]" % ", ".join(map(str, c["ranks"]))
            line += " via @q%d" % c["via"] if c["via"] is not None else ""
            line += " at (cycle %d, slot %d)" % self.slots[i] if self.slots is not None else ""
            line += " wait " + refs(c["wait"]) if c["wait"] else ""
            line += " signal " + refs(c["signal"]) if c["signal"] else ""
            line += " after " + refs("c%d" % b for b in c["after"]) if c["after"] else ""
            line += " effects (%s)" % ", ".join("update %%b%d" % b for b in c["updates"]) if c["updates"] else ""
            lines.append(line.replace("model.any", "any.any"))
        for i, c in enumerate(self.commands):
            if c["route"]:
                lines.append("  route @c%d source @d%d destination @d%d channel link" % (i, c["route"][0], c["route"][1]))
        lines += ["  issue @q%d %s" % (q, refs("c%d" % c for c in order)) for q, order in self.issue.items()]
        return lines + ["}", ""]


class World:
    """A plan in action."""

    def __init__(self, plan):
        self.plan = plan
        self.events = []                    # (command, its ranks)
        for i, c in enumerate(plan.commands):
            whole = c["body"] in ("collective", "barrier", "transfer")
            self.events += [(i, frozenset(c["ranks"]))] if whole else [(i, frozenset([r])) for r in c["ranks"]]
        self.of = lambda command: [e for e in self.events if e[0] == command]
        self.needs = {e: self.wants(e) for e in self.events}

    def wants(self, event):
        plan, (command, ranks) = self.plan, event
        wanted = {e for b in plan.before(command) for e in self.of(b)}
        via = plan.commands[command]["via"]
        if via is not None and plan.queues[via][1]:
            order = plan.issue.get(via, [i for i, c in enumerate(plan.commands) if c["via"] == via])
            for other in order[:order.index(command)]:
                wanted |= {e for e in self.of(other) if e[1] & ranks}
        return wanted

    def run(self, held=()):
        """The events that begin, with some held back."""
        ended, more = set(), True
        while more:
            ready = [e for e in self.events if e not in ended and e not in held and self.needs[e] <= ended]
            more = bool(ready)
            ended |= set(ready)
        # Those held back may begin, but never end.
        return ended | {e for e in held if self.needs[e] <= ended}

    def precedes(self, a, b):
        return b not in self.run([a])

    def touches(self, bind, rank):
        """{event: (reads, writes)} of a binding on a rank."""
        found = {}
        for e in self.events:
            c = self.plan.commands[e[0]]
            if rank not in e[1]:
                continue
            reads = bind in c["updates"] or (bind in c["reads"] and (not c["route"] or c["route"][0] == rank))
            writes = bind in c["updates"] or (bind in c["writes"] and (not c["route"] or c["route"][1] == rank))
            if reads or writes:
                found[e] = (reads, writes)
        return found

    def reasons(self):
        plan = self.plan
        if self.run() != set(self.events):
            return {"deadlock"}
        places = {(b, r): self.touches(b, r) for b in range(len(plan.binds)) for r in range(plan.ranks)}
        reasons = set()
        for (b, r), found in places.items():
            pairs = [(x, y) for x in found for y in found if x < y and (found[x][1] or found[y][1])]
            if any(not self.precedes(x, y) and not self.precedes(y, x) for x, y in pairs):
                return {"hazard"}
            if self.unwritten(places, b, found):
                reasons.add("unwritten")
        return reasons | ({"overlap"} if self.overlaps(places) else set())

    def first_writer(self, found):
        """Without hazards there is one that no other precedes."""
        writers = [e for e in found if found[e][1]]
        return next((w for w in writers if all(w == other or self.precedes(w, other) for other in writers)), None)

    def written(self, places, bind):
        return any(writes for r in range(self.plan.ranks) for _, writes in places[bind, r].values())

    def full(self, places, bind, found):
        """An inferred binding holds something from the start: nobody writes it, or its first writer reads it, too."""
        first = self.first_writer(found)
        return not self.written(places, bind) or (first is not None and found[first][0])

    def unwritten(self, places, bind, found):
        lives = self.plan.binds[bind][1]
        if lives == "always" or (lives == "inferred" and self.full(places, bind, found)):
            return False
        writers = [e for e in found if found[e][1]]
        return any(found[e][0] and e in self.run([w for w in writers if w != e]) and
                   not any(self.precedes(w, e) for w in writers if w != e) for e in found)

    def lease(self, places, bind, found):
        """Whether a binding has its bytes from the start, and to the end; None: it is not used on this rank."""
        lives = self.plan.binds[bind][1]
        if lives == "always" or not any(places[bind, r] for r in range(self.plan.ranks)):
            return True, True
        if not found:
            return None
        last = [e for e in found if found[e][1] and all(e == other or self.precedes(other, e) for other in found)]
        return lives == "inferred" and self.full(places, bind, found), lives == "inferred" and bool(last)

    def overlaps(self, places):
        plan = self.plan
        before = lambda x, y: all(self.precedes(e, f) for e in x for f in y)
        for b, (low, _) in enumerate(plan.binds):
            for other in range(b):
                if abs(low - plan.binds[other][0]) >= 96:
                    continue
                for r in range(plan.ranks):
                    x, y = places[b, r], places[other, r]
                    one, two = self.lease(places, b, x), self.lease(places, other, y)
                    if one is None or two is None:
                        continue
                    first = not one[1] and not two[0] and before(x, y)
                    second = not two[1] and not one[0] and before(y, x)
                    if not first and not second:
                        return True
        return False


def verdicts(opt, plans):
    """By plan: the set of reasons, and all codes."""
    lines, begins = [], []
    for i, plan in enumerate(plans):
        begins.append(len(lines) + 1)
        lines += plan.text("p%d" % i)
    with tempfile.NamedTemporaryFile("w", suffix=".bpir") as f:
        f.write("\n".join(lines) + "\n")
        f.flush()
        ran = subprocess.run([opt, "--verify-only", "--diagnostics=json", "--max-errors=0", f.name], stderr=subprocess.PIPE, text=True)
    found = [set() for _ in plans]
    for line in ran.stderr.splitlines():
        message = json.loads(line)
        which = sum(b <= message["line"] for b in begins) - 1
        found[which].add(REASONS.get(message["code"], message["code"]))
    return found


def main():
    opt, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    plans = [Plan(rng) for _ in range(count)]
    failed, seen = 0, {}
    for i, (plan, said) in enumerate(zip(plans, verdicts(opt, plans))):
        true = World(plan).reasons()
        if "hazard" in true and "hazard" in said:
            said = {"hazard"}
        kind = ", ".join(sorted(true)) or "legal"
        seen[kind] = seen.get(kind, 0) + 1
        # Uses that read what nobody wrote have no first one: an overlap may go untold, as they are told already.
        if said != true and not ("unwritten" in true and said == true - {"overlap"}):
            failed += 1
            print("plan %d of seed %d: the verifier says %s, and what can happen is %s" % (i, seed, sorted(said), sorted(true)))
            print("\n".join(plan.text("p%d" % i)))
    for kind in ("legal", "deadlock", "hazard", "unwritten", "overlap"):
        if seen.get(kind, 0) < count // 100:
            failed += 1
            print("only %d of %d plans are %s" % (seen.get(kind, 0), count, kind))
    print(", ".join("%d %s" % (n, kind) for kind, n in sorted(seen.items())))
    print("%d passed, %d failed" % (count - failed, failed))
    return failed > 0


sys.exit(main())

#!/usr/bin/env python3
"""Distributed programs in an executor of its own, and broken ones as the measure of both.

    distributed.py BP-OPT N[:SEED] FILE...      changes programs at random in N places, one at a time; those that verify
                                                must have one verdict from both executors: right, wrong or refused

Parts are arrays of what a rank holds, in the order of its memory, and the place where they begin in the whole.
"""
import itertools
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from reference import Array, OPERATIONS, generate, limits, make, run, shifted, word, fnv1a  # noqa: E402


class Refused(Exception):
    """A rank can't compute what the program says."""


# ---- The mesh ----


class Mesh:
    def __init__(self, axes):
        self.axes = [(a["axis"], a["size"]) for a in axes]
        self.ranks = [dict(zip((n for n, _ in self.axes), c)) for c in itertools.product(*(range(s) for _, s in self.axes))]

    def size(self, axes):
        return math.prod(s for n, s in self.axes if n in axes)

    def place(self, rank, axes):
        """Position along axes, major to minor."""
        position = 0
        for axis in axes:
            position = position * dict(self.axes)[axis] + self.ranks[rank][axis]
        return position

    def group(self, rank, axes):
        """Ranks that differ from this one along the axes only, in order."""
        same = lambda other: all(self.ranks[other][n] == self.ranks[rank][n] for n, _ in self.axes if n not in axes)
        return [r for r in range(len(self.ranks)) if same(r)]


class Value:
    def __init__(self, mesh, statement, sizes):
        sharding = statement.get("sharding", {"dimensions": [], "partial": []})
        self.mesh, self.sizes = mesh, sizes
        self.split = sharding["dimensions"] or [[] for _ in sizes]
        partial = [p for p in sharding["partial"] if mesh.size(p["axes"]) > 1]
        if len(partial) > 1:
            raise Refused("two reductions")
        self.partial = [n for n, _ in mesh.axes if partial and n in partial[0]["axes"]]
        self.reduction = partial[0]["reduction"] if partial else None
        self.owners = statement.get("owners")
        self.parts = {}

    def owns(self, rank):
        return self.owners is None or any(a <= rank <= b for a, b in self.owners)

    def box(self, rank):
        """(begin, size) in each dimension."""
        result = []
        for size, axes in zip(self.sizes, self.split):
            share = size // self.mesh.size(axes)
            result.append((self.mesh.place(rank, axes) * share, share))
        return result

    def shape(self, rank):
        return tuple(s for _, s in self.box(rank))

    def of_whole(self, rank):
        """What the rank has, by place in the whole."""
        begin = [b for b, _ in self.box(rank)]
        return {tuple(map(sum, zip(p, begin))): v for p, v in self.parts[rank].at.items()}

    def keep(self, rank, array):
        if array.sizes != self.shape(rank) or any(v != v or v == math.inf for v in array.at.values()):
            raise Refused("sizes or numbers")
        if self.owns(rank):
            self.parts[rank] = array

    def take(self, rank, found):
        """From elements by place in the whole."""
        begin = [b for b, _ in self.box(rank)]
        try:
            self.keep(rank, make(self.shape(rank), lambda p: found[tuple(map(sum, zip(p, begin)))]))
        except KeyError:
            raise Refused("elements that nobody holds")


REDUCE = {"sum": math.fsum, "max": max, "min": min, "product": math.prod}

# ---- Local tasks: as the model's, but for those that count places of the whole ----


def part_of(values, task, rank):
    try:
        return [values[name].parts[rank] for name in task["operands"]]
    except KeyError:
        raise Refused("a part that the rank does not hold")


def local(values, task, rank):
    kind, clauses = task["operation"].split(".")[1], dict(task.get("attributes", {}))
    operands, names = part_of(values, task, rank), task["operands"]
    results = [values[r["name"]] for r in task["results"]]
    shapes = [r.shape(rank) for r in results]
    begin = [[b for b, _ in values[n].box(rank)] for n in names]
    x = operands[0]
    if kind in ("mask", "rope"):
        fits(kind, operands, shapes, clauses)
        clauses["offset"] = clauses.get("offset", 0) + begin[0][-2] - (begin[0][-1] if kind == "mask" else 0)
    if kind == "rope" and (begin[0][-1] or x.sizes[-1] != values[names[0]].sizes[-1]):
        made = [rope_part(x, begin[0][-1], values[names[0]].sizes[-1], clauses["offset"])]
    elif kind == "embedding":
        if x.sizes + operands[1].sizes[1:] != shapes[0]:
            raise Refused("sizes")
        row = lambda p: (x.at[p[:-1]] - begin[1][0], p[-1])
        made = [make(shapes[0], lambda p: operands[1].at.get(row(p), 0.0))]
    elif kind == "cross_entropy":
        if x.sizes[:-1] != operands[1].sizes or x.sizes[-1] != values[names[0]].sizes[-1]:
            raise Refused("sizes")
        mean = OPERATIONS[kind](operands, shapes, clauses)[0].at[()]
        made = [Array((), {(): mean * len(operands[1].at) / math.prod(values[names[1]].sizes)})]
    elif kind == "write":
        axis = clauses["axis"]
        if values[names[1]].sizes[axis] + clauses.get("offset", 0) > values[names[0]].sizes[axis]:
            raise Refused("a state that is too small")
        made = [write_part(operands, begin, clauses)]
    else:
        fits(kind, operands, shapes, clauses)
        made = OPERATIONS[kind](operands, shapes, clauses)
    for value, array in zip(results, made):
        value.keep(rank, array)


def fits(kind, x, shapes, clauses):
    """Sizes in memory: Python's dictionaries would not mind."""
    axis = clauses.get("axis", 0)
    along = lambda sizes: sum(s[axis] for s in sizes)
    others = lambda s: s[:axis] + s[axis + 1 :]
    good = True
    if kind == "split":
        good = along(shapes) == x[0].sizes[axis] and all(others(s) == others(x[0].sizes) for s in shapes)
    elif kind == "concat":
        good = along([a.sizes for a in x]) == shapes[0][axis] and all(others(a.sizes) == others(shapes[0]) for a in x)
    elif kind == "reshape":
        good = math.prod(x[0].sizes) == math.prod(shapes[0])
    elif kind == "transpose":
        good = shapes[0] == tuple(x[0].sizes[i] for i in clauses["permutation"])
    elif kind == "linear":
        good = shapes[0] == x[0].sizes[:-1] + x[1].sizes[1:] and x[0].sizes[-1] == x[1].sizes[0]
        good = good and (len(x) < 3 or x[2].sizes == x[1].sizes[1:])
    elif kind == "matmul":
        good = x[0].sizes[:-2] == x[1].sizes[:-2] and x[0].sizes[-1] == x[1].sizes[-2]
        good = good and shapes[0] == x[0].sizes[:-1] + x[1].sizes[-1:]
    elif kind in ("layer_norm", "rms_norm"):
        good = x[0].sizes == shapes[0] and all(v.sizes == x[0].sizes[-1:] for v in x[1:])
    else:
        good = all(a.sizes == shapes[0] for a in x)
    if not good:
        raise Refused("sizes")


def rope_part(x, begin, d, offset):
    if begin % 2 or x.sizes[-1] % 2:
        raise Refused("half a pair")

    def of(p):
        even = p[-1] // 2 * 2
        angle = (p[-2] + offset) * 10000.0 ** (-(even + begin) / d)
        a, b = x.at[p[:-1] + (even,)], x.at[p[:-1] + (even + 1,)]
        return a * math.sin(angle) + b * math.cos(angle) if p[-1] % 2 else a * math.cos(angle) - b * math.sin(angle)

    return make(x.sizes, of)


def write_part(operands, begin, clauses):
    result = Array(operands[0].sizes, dict(operands[0].at))
    for p, v in operands[1].at.items():
        at = shifted(p, clauses["axis"], clauses.get("offset", 0))
        at = tuple(a + mine - state for a, mine, state in zip(at, begin[1], begin[0]))
        if at in result.at:
            result.at[at] = v
    return result


# ---- Exchanges ----


def collective(mesh, values, task):
    over = task.get("over", [n for n, _ in mesh.axes])
    kind = task["operation"]
    for name, result in zip(task["operands"], task["results"]):
        value, to = values[name], values[result["name"]]
        for rank in ranks_of(mesh, task):
            group = mesh.group(rank, over)
            if kind == "broadcast":
                group = [group[task["root"]]]
            if any(r not in value.parts for r in group):
                raise Refused("a part of the group")
            found = {}
            for r in group:
                for place, v in value.of_whole(r).items():
                    found.setdefault(place, []).append(v)
            if kind in ("all_reduce", "reduce_scatter"):
                found = {p: REDUCE[task["reduction"]](v) for p, v in found.items()}
            else:
                found = {p: v[-1] for p, v in found.items()}
            to.take(rank, found)


def transfer(mesh, values, task):
    for name, result in zip(task["operands"], task["results"]):
        value, to = values[name], values[result["name"]]
        if task["source"] not in value.parts:
            raise Refused("the source has no part")
        to.keep(task["destination"], value.parts[task["source"]])


def gathered(mesh, value, kept, like):
    """By place in the whole: elements of ranks that are as LIKE along KEPT, terms along other partial axes reduced."""
    terms = {}
    for rank in sorted(value.parts, reverse=True):
        if all(mesh.ranks[rank][a] == mesh.ranks[like][a] for a in kept):
            position = mesh.place(rank, [a for a in value.partial if a not in kept])
            terms.setdefault(position, {}).update(value.of_whole(rank))
    count = mesh.size([a for a in value.partial if a not in kept])
    places = set(itertools.chain.from_iterable(terms.values()))
    every = [p for p in places if all(p in terms.get(i, {}) for i in range(count))]
    if count == 1:
        return terms.get(0, {})
    return {p: REDUCE[value.reduction]([terms[i][p] for i in range(count)]) for p in every}


def reshard(mesh, values, task):
    for name, result in zip(task["operands"], task["results"]):
        value, to = values[name], values[result["name"]]
        for rank in range(len(mesh.ranks)):
            if to.owns(rank):
                to.take(rank, gathered(mesh, value, to.partial, rank))


def ranks_of(mesh, task):
    chosen = task.get("ranks")
    return [r for r in range(len(mesh.ranks)) if chosen is None or any(a <= r <= b for a, b in chosen)]


# ---- Programs ----


def sizes_of(text):
    return [int(n) for n in re.findall(r"(\d+)x", text)]


def element_of(text):
    return re.search(r"(\w+)>", text.rsplit("x", 1)[-1])[1]


def share(value, rank, whole, seed):
    """A term of a partial input: all but the first are generated, the first is what is left."""
    position, count = value.mesh.place(rank, value.partial), value.mesh.size(value.partial)
    begin = [b for b, _ in value.box(rank)]
    state = fnv1a("partial") ^ word(seed, 0)

    def of(p):
        place, index = tuple(map(sum, zip(p, begin))), 0
        for at, size in zip(place, value.sizes):
            index = index * size + at
        drawn = [(word(state, index * count + i) >> 43) / 2**20 - 1 for i in range(1, count)]
        mine = drawn[position - 1] if position else None
        if value.reduction == "sum":
            return whole.at[place] - sum(drawn) if mine is None else mine
        if value.reduction == "product":
            return whole.at[place] if mine is None else 1.0
        sign = -1 if value.reduction == "max" else 1
        return whole.at[place] + sign * abs(mine or 0)

    return make(value.shape(rank), of)


def source_of(name, task, index, model, ops):
    """The value of the model that a value is."""
    sources = (task or {}).get("from", {}).get("sources", [])
    written = [s[1:] for s in sources if s[0] == "%"]
    if written and len(written) == (len(task["results"]) if "results" in task else 1):
        return written[index]
    if name in model:
        return name
    if len(sources) == 1 and task["from"]["kind"] in ("lowered", "cloned", "preserved") and sources[0][1:] in ops:
        results = ops[sources[0][1:]]
        if len(results) == len(task["results"]):
            return results[index]
    return None


def agrees(value, want, tolerance):
    for rank in value.parts:
        group = value.mesh.group(rank, value.partial)
        if value.partial and (rank != group[0] or any(r not in value.parts for r in group)):
            continue
        parts = [value.of_whole(r) for r in group] if value.partial else [value.of_whole(rank)]
        for place in parts[0]:
            found = REDUCE[value.reduction](p[place] for p in parts) if value.partial else parts[0][place]
            if place not in want:
                want[place] = found
            elif not (found == want[place] or abs(found - want[place]) <= tolerance):
                return False
    return True


def execute(item, source, model, seed):
    """right, wrong or refused."""
    statements = item["statements"]
    mesh = Mesh(next(s for s in statements if s["entity"] == "mesh")["axes"])
    ops = {s["name"]: [r["name"] for r in s["results"]] for s in source["statements"] if s["entity"] == "op"}
    values, is_of, wrong = {}, {}, False
    for s in statements:
        for i, v in enumerate(s.get("results", [s] if s["entity"] == "value" else [])):
            values[v["name"]] = Value(mesh, v, sizes_of(v["type"]))
            is_of[v["name"]] = of = source_of(v["name"], s, i, model, ops)
            if of and list(model[of].sizes) != values[v["name"]].sizes:
                raise Refused("another shape")
            if s["entity"] == "value" and not of:
                raise Refused("no source")
    for s in statements:
        if s["entity"] == "value":
            value, whole = values[s["name"]], model[is_of[s["name"]]]
            for rank in range(len(mesh.ranks)):
                if value.owns(rank) and value.partial:
                    value.keep(rank, share(value, rank, whole, seed))
                elif value.owns(rank):
                    value.take(rank, whole.at)
        elif s["entity"] == "task":
            if s["body"] == "local":
                for rank in ranks_of(mesh, s):
                    try:
                        local(values, s, rank)
                    except (KeyError, IndexError, ArithmeticError, ValueError):
                        raise Refused("an element that an operand does not have, or that is no number")
            elif s["body"] != "control":
                {"collective": collective, "transfer": transfer, "reshard": reshard}[s["body"]](mesh, values, s)
            for r in s.get("results", []):
                of = is_of[r["name"]]
                want = dict(model[of].at) if of else {}
                finite = [abs(v) for v in want.values() if math.isfinite(v)]
                wrong = wrong or not agrees(values[r["name"]], want, 1e-9 * max(finite + [1]))
    outputs = {s["value"][1:] for s in statements if s["entity"] == "output"}
    for s in source["statements"]:
        if s["entity"] == "output" and s["value"][1:] not in {is_of[o] for o in outputs}:
            raise Refused("an output is missing")
    for o in outputs:
        if len(gathered(mesh, values[o], [], 0)) != math.prod(values[o].sizes):
            raise Refused("an output is not whole")
    return "wrong" if wrong else "right"


def verdict(items, name, seed):
    item = items[name]
    source = items[item["parent"]["item"]]
    sizes, elements = {}, {}
    for s in source["statements"]:
        for v in s.get("results", [s] if "type" in s else []):
            sizes[v["name"]], elements[v["name"]] = sizes_of(v["type"]), element_of(v["type"])
    try:
        return execute(item, source, run(source, sizes, elements, seed), seed)
    except Refused:
        return "refused"


# ---- Broken programs ----


def other_axes(rng, line, axes):
    places = [m.span() for m in re.finditer(r"\{[\w, ]*\}", line)]
    if not places:
        return line
    a, b = rng.choice(places)
    return line[:a] + "{" + ", ".join(rng.sample(axes, rng.randrange(0, min(len(axes), 2) + 1))) + "}" + line[b:]


def swapped_sets(rng, line, axes):
    match = re.search(r"sharding \[([^\]]*)\]", line)
    if not match:
        return line
    sets = re.findall(r"\{[^}]*\}", match[1])
    rng.shuffle(sets)
    return line[: match.start(1)] + ", ".join(sets) + line[match.end(1) :]


def no_partial(rng, line, axes):
    return re.sub(r" partial \w+ \{[^}]*\}", "", line, count=1)


def partial(rng, line, axes):
    return re.sub(r"(-> %[\w.]+ : tensor<[^>]*>(?: sharding \[[^\]]*\])?)", r"\1 partial sum {%s}" % rng.choice(axes), line, count=1)


def swapped_operands(rng, line, axes):
    return re.sub(r"\((%[\w.]+), (%[\w.]+)", r"(\2, \1", line, count=1)


def other_number(rng, line, axes):
    return re.sub(r"\b(offset|axis|root|source|destination) \d+", lambda m: f"{m[1]} {rng.randrange(4)}", line, count=1)


def other_permutation(rng, line, axes):
    def shuffled(match):
        numbers = match[1].split(", ")
        rng.shuffle(numbers)
        return f"permutation [{', '.join(numbers)}]"

    return re.sub(r"permutation \[([\d, ]*)\]", shuffled, line)


def other_operation(rng, line, axes):
    like = ["model.gelu", "model.silu", "model.dropout", "model.softmax", "model.rope", "model.mask", "model.cast"]
    return re.sub("|".join(map(re.escape, like)), lambda m: rng.choice(like), line, count=1)


def other_collective(rng, line, axes):
    kinds = ["local model.dropout", "local model.cast", "reshard"]
    line = re.sub(r"collective (all_reduce|all_gather|reduce_scatter|all_to_all)", rng.choice(kinds), line, count=1)
    return re.sub(r" (over \{[^}]*\}|reduction \w+)", "", line) if "collective" not in line else line


CHANGES = [other_axes, swapped_sets, no_partial, partial, swapped_operands, other_number, other_permutation,
           other_operation, other_collective]


def other_operand(rng, lines, i):
    """Another value of the program for an operand."""
    names = [m[1] for line in lines[:i] for m in re.finditer(r"(?:->|input|parameter|kv_cache) (%[\w.]+)", line)]
    return re.sub(r"\((%[\w.]+)", lambda m: f"({rng.choice(names)}", lines[i], count=1) if names else lines[i]


def change(rng, lines, begin, end):
    axes = re.findall(r"(\w+) = ", next(line for line in lines[begin:end] if "mesh @" in line))
    i, how = rng.randrange(begin + 1, end), rng.choice(CHANGES + [None])
    if "mesh @" in lines[i] or lines[i].lstrip().startswith("//"):
        return None
    line = how(rng, lines[i], axes) if how else begin_at(rng, lines, begin, i)
    return None if line == lines[i] else lines[:i] + [line] + lines[i + 1 :]


def begin_at(rng, lines, begin, i):
    return other_operand(rng, [""] * begin + lines[begin:], i)


def changes(rng, paths, path):
    """Without end: a program of the files is changed in a line, and its file written to PATH. That file, the program's
    name, the lines before and after."""
    texts = {p: open(p).read().splitlines() for p in paths}
    chosen = [(p, q) for p in paths for q in programs(texts[p])]
    while True:
        file, (name, begin, end) = rng.choice(chosen)
        lines = change(rng, texts[file], begin, end)
        if not lines:
            continue
        with open(path, "w") as out:
            out.write("\n".join(lines) + "\n")
        yield file, name, texts[file], lines


def programs(lines):
    """(name, first line, last line) of each distributed program that is from a model program of the file."""
    models = {m[1] for m in re.finditer(r"^model\.program @(\S+)", "\n".join(lines), re.M)}
    for i, line in enumerate(lines):
        match = re.match(r"dist\.program @(\S+) .*from @(\S+)", line)
        if match and match[2] in models:
            yield match[1], i, lines.index("}", i)


def judge(tool, path, name, seed):
    """What bp-opt says: refused by the verifier, or a verdict."""
    if subprocess.run([tool, "--verify-only", path], capture_output=True).returncode:
        return "invalid", ""
    done = subprocess.run([tool, f"--execute=seed={seed}", f"--item=@{name}", path], capture_output=True, text=True)
    codes = re.findall(r"error: \[(execute\.\w+)", done.stderr)
    if done.returncode not in (0, 1) or (done.returncode == 1) != bool(codes):
        sys.exit(f"{path}: bp-opt ended with {done.returncode}\n{done.stderr}")
    if not codes:
        return "right", ""
    return "refused" if set(codes) - {"execute.differs", "execute.replica"} else "wrong", done.stderr


def main(tool, n, *paths):
    n, seed = (int(i) for i in (n + ":1").split(":")[:2])
    rng, counts = random.Random(seed), {}
    path = os.path.join(tempfile.mkdtemp(), "changed.bpir")
    changed = changes(rng, paths, path)
    while sum(counts.values()) < n:
        file, name, _, _ = next(changed)
        seed = rng.randrange(1000)
        said, messages = judge(tool, path, name, seed)
        counts[said] = counts.get(said, 0) + 1
        if said == "invalid":
            continue
        items = {i["name"]: i for i in json.loads(subprocess.check_output([tool, "--emit=json", path], stderr=subprocess.DEVNULL))["items"]}
        found = verdict(items, name, seed)
        if found != said:
            kept = os.path.join(tempfile.gettempdir(), "changed.bpir")
            os.replace(path, kept)
            sys.exit(f"@{name} of {file}, changed as in {kept}, seed {seed}: {said} by bp-opt, and {found} here\n{messages}")
    print(f"{n} changes: " + ", ".join(f"{v} {k}" for k, v in sorted(counts.items())))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
"""An executor of its own: model programs, read as `bp-opt --emit=json` prints them, run on the inputs that
docs/execution.md defines, in exact sums (math.fsum) and Python's own functions. Compares with what `bp-opt --execute`
says of every value, and its distributed programs' parts with slices of the whole.

    reference.py BP-OPT FILE [WORD...]      words of --execute: seed=N $s=N
"""
import itertools
import json
import math
import re
import subprocess
import sys

MASK = (1 << 64) - 1


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


def word(state, i):
    z = (state + (i + 1) * 0x9E3779B97F4A7C15) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


class Array:
    """Sizes, and elements in row-major order by their place."""

    def __init__(self, sizes, at=None):
        self.sizes = tuple(sizes)
        self.at = at if at is not None else {}

    def places(self):
        return itertools.product(*map(range, self.sizes))


def make(sizes, function):
    array = Array(sizes)
    for place in array.places():
        array.at[place] = function(place)
    return array


def generate(name, sizes, element, seed, limit):
    state = fnv1a(name) ^ word(seed, 0)
    array = Array(sizes)
    for i, place in enumerate(array.places()):
        draw = word(state, i)
        array.at[place] = draw % limit if element[0] in "iu" else (draw >> 43) / 2**20 - 1
    return array


# ---- Operations: operands, sizes of the results, clauses -> results ----


def product(a, b, sizes, row, column):
    return make(sizes, lambda p: math.fsum(a.at[row(p, k)] * b.at[column(p, k)] for k in range(a.sizes[-1])))


def linear(x, sizes, clauses):
    y = product(x[0], x[1], sizes[0], lambda p, k: p[:-1] + (k,), lambda p, k: (k, p[-1]))
    return [y if len(x) < 3 else make(sizes[0], lambda p: y.at[p] + x[2].at[p[-1:]])]


def matmul(x, sizes, clauses):
    return [product(x[0], x[1], sizes[0], lambda p, k: p[:-1] + (k,), lambda p, k: p[:-2] + (k, p[-1]))]


def row(x, p):
    return [x.at[p[:-1] + (k,)] for k in range(x.sizes[-1])]


def layer_norm(x, sizes, clauses):
    def of(p):
        values = row(x[0], p)
        mean = math.fsum(values) / len(values)
        variance = math.fsum((v - mean) ** 2 for v in values) / len(values)
        shift = x[2].at[p[-1:]] if len(x) > 2 else 0
        return (x[0].at[p] - mean) / math.sqrt(variance + 1e-5) * x[1].at[p[-1:]] + shift

    return [make(sizes[0], of)]


def rms_norm(x, sizes, clauses):
    def of(p):
        values = row(x[0], p)
        return x[0].at[p] / math.sqrt(math.fsum(v * v for v in values) / len(values) + 1e-5) * x[1].at[p[-1:]]

    return [make(sizes[0], of)]


def softmax(x, sizes, clauses):
    def of(p):
        values = row(x[0], p)
        return math.exp(x[0].at[p] - max(values)) / math.fsum(math.exp(v - max(values)) for v in values)

    return [make(sizes[0], of)]


def cross_entropy(x, sizes, clauses):
    losses = []
    for token in x[1].places():
        values = [x[0].at[token + (k,)] for k in range(x[0].sizes[-1])]
        largest = max(values)
        losses.append(largest + math.log(math.fsum(math.exp(v - largest) for v in values)) - values[x[1].at[token]])
    return [make((), lambda p: math.fsum(losses) / len(losses))]


def rope(x, sizes, clauses):
    d = sizes[0][-1]

    def of(p):
        angle = (p[-2] + clauses.get("offset", 0)) * 10000.0 ** (-(p[-1] // 2 * 2) / d)
        even, odd = x[0].at[p[:-1] + (p[-1] // 2 * 2,)], x[0].at[p[:-1] + (p[-1] // 2 * 2 + 1,)]
        if p[-1] % 2:
            return even * math.sin(angle) + odd * math.cos(angle)
        return even * math.cos(angle) - odd * math.sin(angle)

    return [make(sizes[0], of)]


def mask(x, sizes, clauses):
    hidden = lambda p: p[-1] > p[-2] + clauses.get("offset", 0)
    return [make(sizes[0], lambda p: -math.inf if hidden(p) else x[0].at[p])]


def each(function):
    return lambda x, sizes, clauses: [make(sizes[0], lambda p: function(*(a.at[p] for a in x)))]


def embedding(x, sizes, clauses):
    return [make(sizes[0], lambda p: x[1].at[(x[0].at[p[:-1]], p[-1])])]


def reshape(x, sizes, clauses):
    values = [x[0].at[p] for p in x[0].places()]
    return [Array(sizes[0], dict(zip(Array(sizes[0]).places(), values)))]


def transpose(x, sizes, clauses):
    order = clauses["permutation"]
    return [make(sizes[0], lambda p: x[0].at[tuple(p[order.index(k)] for k in range(len(p)))])]


def shifted(p, axis, by):
    return p[:axis] + (p[axis] + by,) + p[axis + 1 :]


def split(x, sizes, clauses):
    axis, at, results = clauses["axis"], 0, []
    for size in sizes:
        results.append(make(size, lambda p: x[0].at[shifted(p, axis, at)]))
        at += size[axis]
    return results


def concat(x, sizes, clauses):
    axis, at, result = clauses["axis"], 0, Array(sizes[0])
    for piece in x:
        for p in piece.places():
            result.at[shifted(p, axis, at)] = piece.at[p]
        at += piece.sizes[axis]
    return [result]


def write(x, sizes, clauses):
    result = Array(sizes[0], dict(x[0].at))
    for p in x[1].places():
        result.at[shifted(p, clauses["axis"], clauses.get("offset", 0))] = x[1].at[p]
    return [result]


OPERATIONS = {
    "linear": linear, "matmul": matmul, "layer_norm": layer_norm, "rms_norm": rms_norm, "softmax": softmax,
    "cross_entropy": cross_entropy, "rope": rope, "mask": mask, "embedding": embedding, "reshape": reshape,
    "transpose": transpose, "split": split, "concat": concat, "write": write,
    "dropout": each(lambda a: a), "cast": each(lambda a: a), "add": each(lambda a, b: a + b), "mul": each(lambda a, b: a * b),
    "gelu": each(lambda a: a * (1 + math.erf(a / math.sqrt(2))) / 2), "silu": each(lambda a: a / (1 + math.exp(-a))),
}
MOVES = {"reshape", "transpose", "split", "concat", "write", "dropout", "cast"}

# ---- Programs ----


def limits(program, sizes):
    """Below what the integers of a value are, from what is done with them."""
    found = {}

    def note(name, n):
        if n:
            found[name] = min(n, found.get(name, n))

    for op in reversed([s for s in program if s["entity"] == "op"]):
        kind = op["operation"].split(".")[1]
        results = [r["name"] for r in op["results"]]
        if kind == "embedding":
            note(op["operands"][0], sizes[op["operands"][1]][0])
        elif kind == "cross_entropy":
            note(op["operands"][1], sizes[op["operands"][0]][-1])
        elif kind in MOVES:
            for operand, result in itertools.product(op["operands"], results):
                note(operand, found.get(result))
    return found


def run(item, sizes, elements, seed):
    program, values = item["statements"], {}
    below = limits(program, sizes)
    for s in program:
        if s["entity"] == "op":
            shapes = [sizes[r["name"]] for r in s["results"]]
            operands = [values[name] for name in s["operands"]]
            results = OPERATIONS[s["operation"].split(".")[1]](operands, shapes, s.get("attributes", {}))
            values.update(zip((r["name"] for r in s["results"]), results))
        elif "type" in s:
            name, element = s["name"], elements[s["name"]]
            most = {"i1": 2, "i4": 8}.get(element)
            limit = min(below.get(name) or most or 100, most or MASK)
            values[name] = generate(name, sizes[name], element, seed, limit)
    return values


def number(value):
    return float(value)


def check(parts, whole, allowed, what):
    n = 0
    for part in parts:
        places = itertools.product(*(range(f, f + s) for f, s in zip(part["from"], part["size"])))
        for place, value in zip(places, map(number, part["elements"])):
            want = whole.at[place]
            if not (value == want or abs(value - want) <= allowed):
                sys.exit(f"{what}{list(place)} is {value!r}, and should be {want!r}, by {allowed!r}")
            n += 1
    return n


def main(tool, path, *words):
    items = {i["name"]: i for i in json.loads(subprocess.check_output([tool, "--emit=json", path]))["items"]}
    execute = "--execute=" + " ".join(("values", "json") + words)
    done = json.loads(subprocess.check_output([tool, execute, path]))["executions"]
    values, bounds, n = {}, {}, 0
    for e in done:
        seed, name = int(e["seed"]), e["item"].lstrip("@")
        if e["kind"] == "model.program":
            sizes = {v["value"][1:]: v["size"] for v in e["values"]}
            elements = {v["value"][1:]: re.search(r"(\w+)>", v["type"].rsplit("x", 1)[-1])[1] for v in e["values"]}
            values[e["item"]] = run(items[name], sizes, elements, seed)
        for v in e["values"]:
            model = values.get(e["item"] if e["kind"] == "model.program" else e["source"])
            source = v["value"] if e["kind"] == "model.program" else v.get("source")
            if not model or not source:
                continue
            whole = model[source[1:]]
            if sum(math.prod(p["size"]) for p in v["parts"]) > math.prod(v["size"]):
                v["parts"] = add(v["parts"])
            if e["kind"] == "model.program":
                bounds[e["item"], v["value"]] = max(p["bound"] for p in v["parts"])
            bound = bounds[e["item"] if e["kind"] == "model.program" else e["source"], source]
            n += check(v["parts"], whole, 4 * bound + v.get("tolerance", 0), f"{path}: {e['item']} {v['value']}")
    print(f"{path}: {n} elements")
    return n


# A value of the model is within its bound of the exact one, and so is Python's; twice, since bounds are to first order.
# One of a distributed program is within its tolerance of the model's.


def add(parts):
    """Terms of a sum that lie at one place, added up."""
    sums = {}
    for p in parts:
        sums.setdefault((tuple(p["from"]), tuple(p["size"])), []).append(p)
    terms = lambda ps: [math.fsum(x) for x in zip(*([number(e) for e in p["elements"]] for p in ps))]
    return [{"from": k[0], "size": k[1], "elements": terms(ps)} for k, ps in sums.items()]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) == 0)

"""Kinds of bugs that text IR tools have had in public, each turned on bp-opt: `text_bugs.py [NUMBER...]`.

The rule for all: exit status 1 and a located message, or 0 and output that prints to the same bytes when read again. Never
a signal, never more than ten times the input as output, never slow. A case is a function; its name says the kind."""

import json
import os
import subprocess
import sys
import tempfile
import time

SLOW = 20.0     # seconds; an ordinary build takes less than one, a sanitizer's on a busy machine more
folder = tempfile.mkdtemp()


class Run:
    def __init__(self, text, *options, name="t.bpir", pipe=False):
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data)
        begin = time.time()
        done = subprocess.run(["bp-opt", *options, "-" if pipe else path], input=data if pipe else None, stdin=None if pipe else subprocess.DEVNULL,
                              capture_output=True, timeout=120)
        self.seconds, self.status = time.time() - begin, done.returncode
        self.out, self.err = done.stdout, done.stderr.decode("utf-8", "replace")
        assert self.status in (0, 1, 2), f"status {self.status}: {self.err[:300]}"
        assert self.seconds < SLOW, f"{self.seconds} s"
        assert len(self.out) <= 10 * len(data) + 100000, f"{len(self.out)} bytes of {len(data)}"
        assert len(self.err) < 1 << 20, f"{len(self.err)} bytes of messages"


def accept(text, *options):
    """Accepted, and printed so that it prints the same again. Returns the text."""
    first = Run(text, *options)
    assert first.status == 0, first.err[:600]
    again = Run(first.out)
    assert again.status == 0 and again.out == first.out, again.err[:300]
    return first.out.decode()


def refuse(text, *parts, options=(), status=1, located=True):
    """Refused with messages that hold PARTS, and nothing printed. Returns the messages."""
    run = Run(text, *options)
    assert run.status == status and not run.out, (run.status, run.out[:100], run.err[:300])
    assert not located or "t.bpir:" in run.err, run.err[:300]
    for part in parts:
        assert part in run.err, f"{part!r} is not in {run.err[:800]}"
    return run.err


def either(text, *options):
    run = Run(text, *options)
    if run.status == 0:
        accept(text, *options)
    else:
        assert run.err and not run.out
    return run


def model(body, head=""):
    return f"model.program @m schema 1.0 {{\n{head}  input %x : tensor<4x8xf16>\n{body}  op @a model.gelu(%x) -> %y : tensor<4x8xf16>\n  output %y\n}}\n"


def dist(body):
    return f"dist.program @p schema 1.0 {{\n  mesh @ranks [dp = 2, tp = 4]\n{body}  task @t control()\n}}\n"


def note(value):
    return dist(f"  task @n control() note {{v = {value}}}\n")


def strategy(body):
    return f"session.strategy @s {{\n{body}\n}}\n"


def value_of(text):
    """What `v` of note() prints as."""
    return text.split("v = ")[1].split("}\n")[0]


# ---- A. Size, depth, arithmetic ----

def case_1_deep_nesting_of_regions():
    for n in (1000, 100000):
        refuse("model.program @m schema 1.0 {" + "{" * n + "}" * n + "}")
        refuse("model.program @m schema 1.0 {" * n)


def case_2_deep_nesting_of_lists_and_dictionaries():
    for open_, close in (("[", "]"), ("{a = ", "}"), ("(", ")")):
        for n in (10000, 1000000 // len(open_)):
            assert "nest" in refuse(note(open_ * n + "1" + close * n)) or open_ == "("
            refuse(note(open_ * n))
    accept(note("[" * 200 + "1" + "]" * 200))


def case_5_literals_beyond_their_width():
    for n in (9223372036854775807, 9223372036854775808, 18446744073709551615, 2 ** 128 - 1):
        assert value_of(accept(note(n))) == str(n)
    for n in (2 ** 128, 10 ** 30 * 10 ** 30):
        refuse(note(n), "syntax.number.range", "128 bits")
    refuse(strategy("  tensor = 18446744073709551615"), "quantity.range", "18446744073709551614")
    accept(strategy(f"  note = {{v = {2 ** 127}}}\n  tensor = 18446744073709551614"))


def case_6_literals_beyond_a_narrow_field():
    refuse(dist("  task @n control() ranks [4294967296]\n"), "quantity.range")
    refuse("dist.program @p schema 1.0 {\n  mesh @ranks [tp = 4294967296]\n}", "dist.mesh.size")
    refuse("model.program @m schema 1.0 from @q xxh128:" + "0" * 32 + " by f revision 4294967296 {\n}", "ir.header.revision")


def case_7_wide_numbers_print_as_they_are_read():
    for bits in (64, 65, 96, 127, 128):
        assert value_of(accept(note(2 ** bits - 1))) == str(2 ** bits - 1)


def case_8_products_of_dimensions():
    for dims in ("4611686018427387904x" * 3, "4294967296x" * 5, "340282366920938463463374607431768211455x2x", "".join(f"{i}x" for i in range(1000, 1016))):
        refuse(f"model.program @m schema 1.0 {{\n  input %x : tensor<{dims}f16>\n  output %x\n}}", "type.overflow")
    refuse(f"model.program @m schema 1.0 {{\n  input %x : tensor<{'2x' * 154}f16>\n  output %x\n}}", "type.rank")


def case_9_arithmetic_of_expressions():
    big = 2 ** 128 - 1
    for text, part in ((f"{big} + 1", "overflows"), (f"{big} * 2", "overflows"), ("4 floordiv 0", "zero"), ("4 ceildiv (1 - 1)", "zero"),
                       (f"0 - {big} - 1", "overflows")):
        refuse(dist(f"  scale (blocks {text}, batch 1, microbatch 1)\n"), "quantity.arithmetic", part)
    accept(note(f"{big - 1} + 1"))


def case_11_negative_and_unknown_dimensions():
    for dim in ("-1", "-9223372036854775808", "?", "4x?"):
        refuse(f"model.program @m schema 1.0 {{\n  input %x : tensor<{dim}xf16>\n  output %x\n}}", "type.form")
    refuse("model.program @m schema 1.0 {\n  symbol $s : integer\n  input %x : tensor<($s - $s - 1)xf16>\n  output %x\n}", "type.dimension")


def case_12_sizes_of_zero():
    refuse("model.program @m schema 1.0 {\n  input %x : tensor<0xf16>\n  output %x\n}", "type.dimension", "at least 1")
    refuse("dist.program @p schema 1.0 {\n  mesh @ranks [tp = 0]\n  input %x : tensor<4xf16> sharding [{tp}]\n}", "dist.mesh.size")
    refuse(strategy("  tensor = 0"), "positive")


def case_13_huge_counts_are_not_allocated():
    refuse("dist.program @p schema 1.0 {\n  mesh @ranks [a = 4294967295, b = 4294967295]\n  task @t control() ranks [0..4294967294]\n}", "dist.mesh.size")
    either("dist.program @p schema 1.0 {\n  mesh @ranks [a = 4294967294]\n  task @t control() ranks [0..4294967293]\n}")


# ---- B. Numbers and strings ----

def case_15_floats_round_right_or_are_refused():
    for n in ("1e309", "1e400", "1.7976931348623159e308"):
        refuse(note(n), "syntax.number.range", "floating")
    assert float(value_of(accept(note("1.7976931348623157e308")))) == 1.7976931348623157e308


def case_16_no_infinity_and_no_nan():
    for word in ("inf", "nan"):
        assert value_of(accept(note(word))) == word      # a word like any other
    refuse("system.profile @a {\n  matrix_flops = inf\n}", "syntax.value.kind")


def case_17_a_list_keeps_the_kind_of_its_numbers():
    assert value_of(accept(note("[2139095040, 1.5, 3.0]"))) == "[2139095040, 1.5, 3.0]"


def case_18_shortest_digits_that_read_back():
    for n in (1e-8, 0.899999976, 4.9e-324, 1e-45, 2.0 ** 53 + 1, 0.1 + 0.2, 1e22, 123456789.125):
        assert float(value_of(accept(note(repr(n) if "." in repr(n) or "e" in repr(n) else repr(n) + ".0")))) == n


def case_19_the_grammar_of_floats():
    for good in ("1.5", "1e5", "1.0e5", "1.0E+05"):
        accept(note(good))
    for bad in (".5", "1.", "3.9e", "4.5e+", "1.e+", "1.0.0", "1__0.0", "1_.0", "1_000.5"):
        refuse(note(bad))


def case_20_strings_are_escaped_when_printed():
    for text in (r'"a\"b"', r'"a\\b"', r'"a\nb"', r'"a\tb"', r'"a\rb"', r'"\x00"', r'"\x7f"'):
        assert value_of(accept(note(text))) in (text, text.replace(r"\x7f", "\x7f"), text.upper().replace("X", "x"))
    quoted = 'op @"a\\"b\\n" model.silu(%x) -> %"q\\\\" : tensor<4x8xf16>\n  output %"q\\\\"\n'
    assert '@"a\\"b\\n"' in accept(model("  " + quoted))


def case_21_escapes_of_other_tools():
    for bad in (r'"\0A"', r'"\22"', r'"\q"', r'"\0"', r'"\xZZ"', r'"\u0041"'):
        refuse(note(bad), "syntax.string.form")


def case_22_escapes_that_are_cut_short():
    for bad in ('"a\\', '"a\\"', '"\\', '"\\x', '"\\x4'):
        refuse("model.program @m schema 1.0 {\n  input %" + bad, "syntax.string.form")
        refuse("model.program @m schema 1.0 {\n  input %" + bad + "\n}", "syntax.string.form")


def case_23_text_beyond_ascii():
    for text in ("\u200b", "\u202e", "e\u0301", "\u4e2d", "\U0001f600", "\ufeff"):
        assert text in accept(note(f'"{text}"')) and text in accept(model(f"  // {text}\n"))
        accept(model(f'  op @"{text}" model.silu(%x) -> %z : tensor<4x8xf16>\n  output %z\n'))
        refuse(model(f"  {text}\n"), "syntax.byte")
    for bad in (b"\xc0\x80", b"\xed\xa0\x80", b"\xff", b"\xf4\x90\x80\x80", b"\xe4\xb8"):
        refuse(note("@@").encode().replace(b"@@", b'"' + bad + b'"'), "syntax.string.form")
        refuse(model("  // @@\n").encode().replace(b"@@", bad), "syntax.utf8")
        refuse(model("  @@\n").encode().replace(b"@@", bad))


def case_25_no_byte_behind_the_text_is_read():
    for size in (4096, 8192, 65536):
        text = model("")
        for tail in ("", "\n"):
            data = (text.rstrip("\n") + " //").encode()
            data += b"x" * (size - len(data) - len(tail)) + tail.encode()
            assert len(data) == size
            for pipe in (False, True):
                assert Run(data, "--verify-only", pipe=pipe).status == 0
            assert Run(data[:-1] + b'"', "--verify-only", pipe=True).status == 0
            refuse(data.replace(b" //x", b"\n%\"xx", 1))


def case_27_files_that_end_too_early():
    accept("")
    for tail in ("", " ", "\n", "\t", "//", "// x", "\r\n"):
        accept(tail)
    for text in ('model.program @m schema 1.0 {\n  input %"a', "model.program @m schema 1.0 {\n  // x", "model.program @m schema 1.0 {\n  input %x :",
                 "session.strategy @s {\n  tensor =", "model.program @m schema", "model.program", "model.program @"):
        refuse(text)


# ---- C. Names ----

def case_29_names_that_need_quotes_everywhere():
    for name in ("a,b", "a b", "a\\tb", "\u4e2d", "a)b", "", "//"):
        if not name:
            refuse('dist.program @p schema 1.0 {\n  mesh @"" [tp = 2]\n}', "syntax.name.empty")
            continue
        quoted = f'"{name}"'
        text = (f"dist.program @{quoted} schema 1.0 {{\n  mesh @{quoted} [{quoted} = 2]\n  input %{quoted} : tensor<4xf16> sharding [{{{quoted}}}]\n"
                f"  task @{'t' + name and quoted[:-1] + '2' + chr(34)} local model.gelu(%{quoted}) -> %y : tensor<4xf16> sharding [{{{quoted}}}]\n    note {{{quoted} = {quoted}}}\n}}\n")
        assert quoted in accept(text)


def case_30_names_that_are_keywords():
    words = ("task", "input", "mesh", "from", "tensor", "schema", "true", "all", "order", "max", "floordiv", "x", "f16", "sharding", "loc")
    for word in words:
        accept(f"dist.program @{word} schema 1.0 {{\n  mesh @{word} [{word} = 2]\n  input %{word} : tensor<4xf16> sharding [{{{word}}}]\n"
               f"  task @{word}2 local model.gelu(%{word}) -> %y : tensor<4xf16> sharding [{{{word}}}] after () note {{{word} = {word}}}\n}}\n"
               .replace(" after ()", ""))


def case_32_names_do_not_grow():
    text = model('  op @a_0 model.silu(%x) -> %y_1 : tensor<4x8xf16>\n  output %y_1\n')
    first = accept(text)
    for _ in range(5):
        text = accept(text)
    assert text == first


def case_33_names_of_digits_and_dots():
    for name in ("x1", "0a", "99999999999999999999", "a.b", "_", "_.0", '"a-b"'):
        assert f"%{name} :" in accept(model(f"  input %{name} : tensor<4xf16>\n  output %{name}\n") if name != "x" else model(""))
    for bad in ("a-b", ".a", "a.", "a..b", "$a", "a$b"):
        refuse(model(f"  input %{bad} : tensor<4xf16>\n"))


def case_37_unknown_fields_are_refused_with_the_nearest():
    refuse(strategy("  tensr = 8"), "syntax.clause.unknown", "did you mean `tensor`?")
    refuse(dist("  task @n control() rank [0]\n"), "did you mean `ranks`?")
    refuse(dist("  task @n control() frobnicate 5\n"), "syntax.clause.unknown")


def case_38_duplicates_clash_only_in_one_scope():
    for bad in (model("  input %x : tensor<4xf16>\n"), model("  op @a model.silu(%x) -> %z : tensor<4x8xf16>\n"), model("") + model("")):
        refuse(bad, "declared twice", "first declared here")
    accept(model("") + model("").replace("@m", "@n"))
    accept(model("  op @x model.silu(%x) -> %a : tensor<4x8xf16>\n  output %a\n"))


def case_39_names_as_documented():
    for good in ("@42", "@_", '@"a-b"', "@a.b"):
        accept(model("").replace("@a", good))
    for bad in ("@a$b", "@a-b", "@.a", "@a.", "@"):
        refuse(model("").replace("@a", bad))


# ---- D. Structure and references ----

def case_40_a_result_is_not_seen_by_its_own_maker():
    refuse("model.program @m schema 1.0 {\n  input %x : tensor<4xf16>\n  op @a model.add(%x, %y) -> %y : tensor<4xf16>\n  output %y\n}",
           "model.ssa.use_before_definition")


def case_41_uses_before_the_definition():
    refuse("model.program @m schema 1.0 {\n  input %x : tensor<4xf16>\n  op @a model.gelu(%z) -> %y : tensor<4xf16>\n"
           "  op @b model.gelu(%x) -> %z : tensor<8xf16>\n  output %y\n}", "use_before_definition", "model.shape.result")
    refuse(model("  output %never\n"), "ir.reference.unknown")


def case_42_errors_in_the_middle_leave_nothing_behind():
    for line in range(2, 7):
        lines = model("  op @b model.silu(%x) -> %z : tensor<4x8xf16>\n  output %z\n").split("\n")
        lines.insert(line, "  ) (")
        if line < 7:
            refuse("\n".join(lines))


def every_cut():
    text = ("dist.program @p schema 1.0 from @m {\n  mesh @r [tp = 2]\n  input %x : tensor<(2*3)x8xf16, layout [1, 0]> sharding [{}, {tp}]\n"
            "  task @t local model.linear(%x, %\"w w\") -> %y : tensor<6x8xf16> partial sum {tp}\n    work (operations max(1, 2)) note {a = [1.5, \"s\"]}\n}\n"
            "session.strategy @s { tensor = 2 }\n")
    return text.encode()


def case_44_every_valid_text_cut_doubled_and_swapped():
    text = every_cut()
    parts = text.split(b" ")
    variants = [text[:i] for i in range(0, len(text), 3)]
    variants += [b" ".join(parts[:i] + [parts[i]] + parts[i:]) for i in range(len(parts))]
    variants += [b" ".join(parts[:i] + parts[i + 1:]) for i in range(len(parts))]
    variants += [b" ".join(parts[:i] + parts[i:i + 2][::-1] + parts[i + 2:]) for i in range(len(parts) - 1)]
    for v in variants:
        assert Run(v, "--verify-only").status in (0, 1)


def case_45_operations_that_there_are_not():
    for op in ("test", ".", "a.", ".b", "model", "model.", "model.gel", "x" * 65536 + ".y", "nccl.all_reduce"):
        refuse(model("").replace("model.gelu", op))


def case_47_each_subset_of_the_optional_parts():
    parts = ["phase forward", "layer mlp.up", "ranks [0..1]", "after @s", "work (operations 5, read 2)", "note {a = 1}", "effects (read %x)"]
    for mask in range(1 << len(parts)):
        clauses = " ".join(p for i, p in enumerate(parts) if mask >> i & 1)
        text = dist("  input %x : tensor<4xf16>\n  task @s control()\n  task @u local model.gelu(%x) -> %y : tensor<4xf16> " + clauses + "\n")
        out = accept(text) if mask % 16 == 15 else Run(text).out.decode()
        for i, p in enumerate(parts):
            assert (p.split()[0] + " " in out.split("@u")[1].split("@t")[0]) == bool(mask >> i & 1), (p, out)


def case_48_a_default_that_is_written():
    assert accept(strategy("  tensor = 1\n  data = 2")) == accept(strategy("  data = 2"))


def case_53_nothing_unexpected_is_dropped():
    refuse(model("").replace("tensor<4x8xf16>\n  output", "tensor<4x8xf16> axis 3\n  output"), "syntax.clause.unknown")
    refuse(strategy("  tensor = 1 2"), "found `2`")


def case_54_optional_parts_do_not_swallow_what_follows():
    refuse(dist("  task control()\n"), "@symbol")
    refuse(dist("  task @n control() after\n  task @o control()\n"), "syntax.value.missing")


def case_55_dotted_and_nested_references():
    for bad in ("@a::b", "@a::@b", "@a:@b", '@"a"::b'):
        refuse(dist(f"  task @n control() after {bad}\n"))


# ---- E. Pipelines ----

def case_56_white_space_in_pipelines():
    for text in ("\n distribute-transformer-training { strategy.tensor=1 } \t\n", "distribute-transformer-training,"):
        run = Run(model(""), "--pass-pipeline=" + text)
        assert "pass.pipeline.syntax" not in run.err, run.err


def case_57_a_dumped_pipeline_reads_back():
    for value in ("a b", "{}", "a,b", "a=b", 'q"q', "'", "{a b}"):
        text = 'distribute-transformer-training{strategy="' + value.replace('"', '\\"') + '"}'
        first = Run("", "--pass-pipeline=" + text, "--dump-pass-pipeline")
        dumped = first.err.split("\n")[0]
        again = Run("", "--pass-pipeline=" + dumped, "--dump-pass-pipeline")
        assert again.err.split("\n")[0] == dumped, (value, dumped, again.err)


def case_59_quotes_and_braces_of_values():
    for bad in ('{strategy="a', "{strategy={a", "{strategy=@s"):
        refuse("", "pass.pipeline.syntax", options=("--pass-pipeline=distribute-transformer-training" + bad,), status=2, located=False)


def case_61_a_pass_that_has_nothing_to_do_says_so():
    refuse(strategy("  tensor = 2"), "pass.input", options=("--plan-transformer-training",), located=False)


def case_64_outputs_that_can_not_be_written():
    for path in ("/", "/dev/full", folder + "/none/x"):
        run = Run(model(""), "-o", path)
        assert run.status in (1, 2) and "driver.output" in run.err, (path, run.status, run.err)


def case_66_values_of_options():
    for bad in ("--max-errors=", "--max-errors=-1", "--max-errors=99999999999", "--max-errors=x", "--split-input-file=", "--color=", "--color=blue"):
        run = Run("", bad)
        assert run.status == 2 and "bp-opt: error" in run.err, (bad, run.status)


def case_67_timing_of_failing_runs():
    run = Run(model(""), "--timing=json", "--plan-transformer-training")
    assert run.status == 1
    for line in run.err.split("\n"):
        if line.startswith("{"):
            json.loads(line)


# ---- F. Diagnostics ----

def case_68_expectations_without_a_place():
    run = Run("// expected-error@unknown {{never}}\n", "--verify-diagnostics")
    assert run.status == 1 and run.err.count("never") <= 3 and run.err.count("error:") == 1
    assert Run("// expected-error@unknown {{never}}\n").status == 0


def case_70_lines_of_split_files():
    text = model("") + "// -----\n" + model("") + "// -----\n" + model("  output %none\n")
    assert ":15:" in refuse(text, options=("--split-input-file",))
    run = Run("// expected-error@+3 {{none}}\n// -----\n" + model("  output %none\n"), "--split-input-file", "--verify-diagnostics")
    assert run.status == 1 and "driver.expectation.place" in run.err


def case_72_misspelt_expectations_fail():
    for bad in ("expected-eror {{x}}", "expected-error {x}", "expected-error@ {{x}}"):
        run = Run(f"// {bad}\n", "--verify-diagnostics")
        assert run.status == 1 and "driver.expectation" in run.err, (bad, run.err)


def case_74_printing_what_does_not_verify():
    run = Run(model("  output %none\n"), "--print-ir-after-failure", "--print-ir-before-all", "--distribute-transformer-training")
    assert run.status == 1 and "ir.reference.unknown" in run.err


def case_75_each_flag_of_messages_on_each_invalid_file():
    bad = (model("  output %none\n"), "model.program", strategy("  tensr = 1"), '"', "\0", "}")
    for flags in ((), ("--diagnostics=json",), ("--color=always",), ("--max-errors=1",), ("--print-locations",), ("--verify-roundtrip",), ("--fix",)):
        for text in bad:
            run = Run(text, *flags)
            assert run.err and (run.status == 1 or "--fix" in flags), (flags, text, run.status)


def case_79_messages_say_what_was_expected_and_found():
    refuse(strategy('  tensor = "two"'), "syntax.value.kind", "`tensor` takes a whole number", "found")
    refuse(strategy("  recompute = 5"), "none, attention, full")
    refuse(dist("  task @n control() ranks (x)\n"), "`ranks` takes")


# ---- G. Tools ----

def case_86_the_help_is_bounded():
    run = subprocess.run(["bp-opt", "--help"], capture_output=True, text=True)
    assert run.returncode == 0 and len(run.stdout) < 10000 and all(len(l) <= 100 for l in run.stdout.split("\n"))


def slope(make, small, large):
    """How much longer a large text takes than in proportion."""
    times = []
    for n in (small, large):
        text = make(n)
        best = min(Run(text, "--verify-only").seconds for _ in range(3))
        times.append(max(best, 0.02))
    return times[1] / times[0] / (large / small)


def case_87_time_grows_with_the_text():
    kinds = {
        "tasks": lambda n: dist("".join(f"  task @n{i} control() after @n{i - 1}\n" if i else "  task @n0 control()\n" for i in range(n))),
        "items": lambda n: "".join(f"session.strategy @s{i} {{\n  tensor = {i + 1}\n}}\n" for i in range(n)),
        "a list": lambda n: note("[" + ", ".join(map(str, range(n))) + "]"),
        "comments": lambda n: model("  // x\n" * n),
        "errors": lambda n: dist("".join(f"  task @n{i} control() after @none{i}\n" for i in range(n))),
    }
    for kind, make in kinds.items():
        assert slope(make, 4000, 40000) < 3, kind


def case_88_messages_of_a_large_file_cost_no_second_verification():
    text = dist("".join(f"  task @n{i} control()\n" for i in range(100000)) + "  task @z control() after @none\n")
    assert Run(text).seconds < 5


cases = {int(name.split("_")[1]): case for name, case in sorted(globals().items()) if name.startswith("case_")}
failed = 0
for number in [int(n) for n in sys.argv[1:]] or sorted(cases):
    try:
        cases[number]()
    except AssertionError as fault:
        failed += 1
        print(f"{cases[number].__name__}: {fault}")
print(f"{len(cases)} kinds, {failed} failed")
sys.exit(failed != 0)

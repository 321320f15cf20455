# awk -v tasks=N -v form=bpir|generic -v step=S -f plan.awk block.bpir: a dist program of N tasks, from the one block
# that distribute-transformer-training wrote to block.bpir. Block after block, names get the prefix `block17.`, and a
# block's input is the output of the block before it. Work facts grow by S from block to block, as in a model whose
# blocks differ in size; with S = 0 all blocks are equal. All else of a line is as the pass printed it.
#
# bpir: the file itself, longer. generic: the same operations and facts in MLIR's generic form, as mlir-opt prints it
# (attributes sorted, values numbered); the items that the program is derived from are left out. What the file leaves to
# names and to the program's origin (phase, layer, from) is an attribute of each operation there, the layer without the
# block's prefix: fewer different strings. With -v layers=1 tasks of the file say such a layer, too.

BEGIN {
    n = n_entries = 0
    BLOCK = "\1"; IN = "\2"; OUT = "\3"        # in a template: what differs from block to block,
    NUMBER = "\4"                              # and on both sides of a fact
    PHASES = "^(forward|recompute|recommunication|activation_gradient|weight_gradient|optimizer)$"
}

function begin_program(header) {
    program = 1
    if (form == "bpir") {
        print header
        return
    }
    print "\"builtin.module\"() ({"
    print "  \"dist.program\"() ({"
}

# `(a 1, b 2)` -> entries `a = 1 : i64`.
function facts(text,    list, pair, n, i) {
    n = split(text, list, ", ")
    for (i = 1; i <= n; i++) {
        split(list[i], pair, " ")
        entry(pair[1], marked(pair[2]) " : i64")
    }
}

function marked(number) {
    return program_facts ? number : NUMBER number NUMBER
}

function entry(name, value) {
    entries[n_entries++] = name " = " value
}

function clear_entries() {
    split("", entries)
    n_entries = 0
}

function quoted(word) {
    return "\"" word "\""
}

# `{tp}` or `[{}, {tp}, {}]` -> arrays of strings.
function axes(text) {
    gsub(/[A-Za-z_0-9]+/, "\"&\"", text)
    gsub(/{/, "[", text)
    gsub(/}/, "]", text)
    return text
}

# The entries as a sorted dictionary.
function dictionary(    i, k, spare, text) {
    for (i = 1; i < n_entries; i++)
        for (k = i; k && entries[k - 1] > entries[k]; k--) {
            spare = entries[k]; entries[k] = entries[k - 1]; entries[k - 1] = spare
        }
    text = "{"
    for (i = 0; i < n_entries; i++)
        text = text (i ? ", " : "") entries[i]
    clear_entries()
    return text "}"
}

# The text between FROM and TO in LINE, or "".
function between(line, from, to,    at, rest) {
    at = index(line, from)
    if (!at)
        return ""
    rest = substr(line, at + length(from))
    at = to == "" ? 0 : index(rest, to)
    return at ? substr(rest, 1, at - 1) : rest
}

function word_after(line, word) {
    return between(line, " " word " ", " ")
}

# `layer.phase` or `layer.phase.word`: sets PHASE and LAYER.
function read_name(name,    part, n, at, i) {
    n = split(name, part, ".")
    at = part[n] ~ PHASES ? n : n - 1
    phase = part[at]
    layer = part[1]
    for (i = 2; i < at; i++)
        layer = layer "." part[i]
}

function generic_task(line,    name, operands, results, type, sharding, f) {
    split(line, f, " ")
    operands = index(line, "(%") > 0
    results = index(line, "->") > 0
    type = between(line, " : ", " sharding")
    sharding = between(line, "sharding [", "]")
    entry("sym_name", quoted(BLOCK substr(f[2], 2)))
    entry("body", quoted(f[3]))
    sub(/\(.*/, "", f[4])
    entry("operation", quoted(f[4]))
    if (index(line, " over {"))
        entry("over", axes("[" between(line, " over {", "}") "]"))
    if (word_after(line, "reduction") != "")
        entry("reduction", quoted(word_after(line, "reduction")))
    if (sharding != "")
        entry("sharding", axes("[" sharding "]"))
    read_name(substr(f[2], 2))
    entry("phase", quoted(phase))
    entry("layer", quoted(layer))
    entry("from", origin)
    facts(between(line, " work (", ")"))
    value_type = type != "" ? type : value_type
    return "    " (results ? OUT " = " : "") "\"dist.task\"(" (operands ? IN : "") ") " dictionary() \
           " : (" (operands ? value_type : "") ") -> " (results ? value_type : "()")
}

function bpir_task(line,    work, from, list, n, i, pair, text) {
    work = between(line, " work (", ")")
    n = split(work, list, ", ")
    for (i = 1; i <= n; i++) {
        split(list[i], pair, " ")
        text = text (i > 1 ? ", " : "") pair[1] " " marked(pair[2])
    }
    from = index(line, " work (") + 7
    line = substr(line, 1, from - 1) text substr(line, from + length(work))
    if (layers) {
        split(line, list, " ")
        read_name(substr(list[2], 2))
        sub(/ work/, " layer " layer " work", line)
    }
    sub(/task @/, "task @" BLOCK, line)
    sub(/%hidden_in/, IN, line)
    sub(/%hidden_out/, OUT, line)
    return line
}

# A template as pieces: text, number, text, …; PLAIN when the block's name is all else that differs, in the first.
function add_task(line,    piece, i, at) {
    line = form == "bpir" ? bpir_task(line) : generic_task(line)
    pieces[n] = split(line, piece, NUMBER)
    for (i = 1; i <= pieces[n]; i++)
        text[n, i] = piece[i]
    plain[n] = !index(line, IN) && !index(line, OUT)
    for (at = 1; !index(text[n, at], BLOCK); at += 2)
        ;
    named[n] = at
    split(text[n, at], piece, BLOCK)
    head[n] = piece[1]
    tail[n] = piece[2]
    n++
}

function value(block) {
    if (form == "bpir")
        return block < 0 ? "%hidden_in" : "%block" block ".hidden_out"
    return "%" (block + 1)
}

function print_block(block, limit,    i, k, prefix, line) {
    prefix = "block" block "."
    for (i = 0; i < limit; i++) {
        line = ""
        for (k = 1; k <= pieces[i]; k++)
            line = line (k % 2 == 0 ? sprintf("%.0f", text[i, k] + step * block) \
                         : k == named[i] ? head[i] prefix tail[i] : text[i, k])
        if (!plain[i]) {
            if (sub(OUT, value(block), line))
                last = block
            sub(IN, value(block - 1), line)
        }
        print line
    }
}

function print_tasks(    block, left) {
    last = -1
    for (left = tasks; left > 0; left -= n)
        print_block(block++, left < n ? left : n)
}

/^dist.program/ { begin_program($0); next }
!program { if (form == "bpir") print; next }

/^  task/ {
    getline second
    add_task($0 (form == "bpir" ? "\n" : "") second)
    next
}
/^  output/ {
    print_tasks()
    print form == "bpir" ? "  output " value(last) : "    \"dist.output\"(" value(last) ") : (" value_type ") -> ()"
    next
}
form == "bpir" { print; next }

# The program's own facts, in generic form.
/^  from/ { parent = $2 }
/^  by/ { by = quoted($2) }
/^  mesh/ {
    entry(between($0, "[", " ="), between($0, "= ", "]") " : i64")
    entry("sym_name", quoted(substr($2, 2)))
    print "    \"dist.mesh\"() " dictionary() " : () -> ()"
}
/^  origin/ { origin = $2 }
/^  order/ { print "    \"dist.order\"() {kind = " quoted($2) "} : () -> ()" }
/^  (scale|memory)/ {
    program_facts = 1
    facts(between($0, "(", ")"))
    if ($1 == "memory")
        entry("from", origin)
    print "    \"dist." $1 "\"() " dictionary() " : () -> ()"
    program_facts = 0
}
/^  input/ {
    value_type = between($0, " : ", " sharding")
    print "    %0 = \"dist.input\"() {sharding = " axes("[" between($0, "sharding [", "]") "]") "} : () -> " value_type
}
/^}/ { print "  }) {by = " by ", parent = " parent "} : () -> ()"; print "}) : () -> ()"; exit }

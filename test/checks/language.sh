#!/bin/bash
# docs/language.md can't lag behind the program: every example in it verifies, round-trips and prints as it stands, every
# row of the dialects' tables and every keyword of the grammar stands in it, and its digests are those of xxhsum.
# With `rows DIALECT` it prints the rows that the document should have, ready to be pasted.
set -u

# The rows of one table, under a `# heading` each: `| word | kind | default | meaning |` for what statements have,
# `| word | meaning |` for enumerations, `| operation | operands | results |` and a meaning for operations.
rows() {
    awk -v layer="$1" '
        function texts(line, list,   n) {
            n = 0
            while (match(line, /"([^"\\]|\\.)*"/)) {
                list[++n] = substr(line, RSTART + 1, RLENGTH - 2)
                gsub(/\\"/, "\"", list[n])
                line = substr(line, RSTART + RLENGTH)
            }
            return n
        }
        function enum_name(text) {
            sub(/^.*&/, "", text)
            sub(/_enum.*/, "", text)
            sub("^" layer "_", "", text)
            gsub(/_/, " ", text)
            return text
        }
        function kind_text(line,   kind) {
            if (line ~ /^(INTEGER_)?FACT\(/)
                return line ~ /^FACT/ ? "quantity" : "integer"
            match(line, /FIELD_[A-Z_]+,/)
            if (line ~ /^FIELD_ROW/) {
                kind = substr(line, 10)
                match(kind, /FIELD_[A-Z_]+,/)
                line = kind
            }
            kind = substr(line, RSTART + 6, RLENGTH - 7)
            return kind == "ENUM" ? "one of " enum_name(line) : tolower(kind)
        }
        function default_text(line, kind) {
            if (line ~ /REQUIRED/ || line ~ /^HEAD/)
                return "required"
            if (line ~ /0x3ff0000000000000u/)
                return "1.0"
            if (kind == "ranks")
                return "all"
            if (kind ~ /^one of/)
                return first[substr(kind, 8)]
            if (kind == "bool")
                return line ~ /OPTIONAL, 1/ ? "true" : "false"
            if (kind == "quantity" && line ~ /FACT/)
                return "0"
            return line ~ /OPTIONAL, 1,/ ? "1" : line ~ /OPTIONAL, 16,/ ? "16" : "none"
        }
        BEGIN { first["reduction"] = "none" }
        {
            sub(/^ +(FIELDS\()?/, "")
            while (/^(FIELD_ROW|MORE_ROW|IMPLIED_LINE|HEAD|CLAUSE|LINE|ATTRIBUTE(_ROW)?|FACT|WORD)\(/ && /[,"]$/ && !/\)\),$/ && (getline more) > 0) {
                sub(/^ +/, "", more)
                $0 = $0 " " more
            }
        }
        /^ENUMERATION\(/ { group = $0; sub(/^ENUMERATION\(/, "", group); sub(/,.*/, "", group)
                           group = enum_name(group); print "# one of " group }
        /^WORD\(/ { texts($0, t); if (!(group in first)) first[group] = t[1]; if (t[1] != "") printf "| `%s` | %s |\n", t[1], t[2] }
        /^GROUP\(/ { sub(/^GROUP\(/, ""); sub(/,.*/, ""); sub("^" layer "_", ""); gsub(/_/, " "); print "# " $0 }
        /^ENTITY\(/ { texts($0, t); print "# statement " (t[1] == "" ? "value" : t[1]) }
        /^OPERATION\(/ { if (!operations++) print "# operations"
                         texts($0, t); split($0, part, /, */); at = 3
                         while (part[at] !~ /^([0-9]+|MANY)$/) at++
                         low = part[at]; high = part[at + 1]; from = part[at + 2]; to = part[at + 3]
                         sub("MANY", "any", high); sub("MANY", "any", to)
                         printf "| `%s` | %s | %s |\n", t[1], low == high ? low : low " to " high, from == to ? from : from " to " to }
        /^(FIELD_ROW|MORE_ROW|IMPLIED_LINE|HEAD|CLAUSE|LINE|ATTRIBUTE(_ROW)?|FACT|INTEGER_FACT)\(/ {
            n = texts($0, t)
            kind = kind_text($0)
            if (kind == "attributes" || (layer != "session" && /^(HEAD|FIELD_ROW\(PLACE_HEAD)/))
                next
            printf "| `%s` | %s | %s | %s |\n", t[1], kind, default_text($0, kind), t[n]
            next
        }
        /^[A-Z_]+\(/ && !/^(ENUMERATION|WORD|GROUP|ENTITY|OPERATION|EXAMPLE|RULE|ATTRIBUTES?|FIELDS)\(/ {
            print "| a row that test/checks/language.sh does not know: " $0 " |"
        }' "$BP_SOURCE/src/dialects/$1/$1.def"
}
if [ "${1-}" = rows ]; then
    rows "$2"
    exit
fi

page=$BP_SOURCE/docs/language.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$BP_OPT" "$work/bp-opt"
PATH=$work:$PATH
passed=0 failed=0

verdict() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "docs/language.md: $2"
    fi
}

# ---- Examples: `bpir` is printed as it stands, `bpir loose` is only valid, `bpir broken` is refused ----

# Each block goes to a file of the name that it is marked with, or of the line that it begins on; so does each command.
awk -v work="$work" '
    /^```$/ { file = "" }
    file { print > file }
    /^```bpir/ { mark = $2 == "loose" || $2 == "broken" ? $2 : "exact"
                 name = $NF ~ /\.bpir$/ ? $NF : "line" NR ".bpir"
                 file = work "/" name; printf "" > file; print mark, name > (work "/blocks") }
    /^```console$/ { file = work "/console" NR; print "console" NR > (work "/consoles") }' "$page"

cd "$work" || exit
while read -r mark name; do
    bp-opt --verify-roundtrip "$name" >printed 2>messages
    status=$?
    if [ "$mark" = broken ]; then
        [ $status = 1 ]
        verdict $? "$name is not refused"
        continue
    fi
    [ $status = 0 ] && [ ! -s messages ]
    verdict $? "$name does not verify: $(cat messages)"
    if [ "$mark" = exact ]; then
        difference=$(diff -u "$name" printed)
        verdict $? "$name prints otherwise: $difference"
    fi
done <blocks
while read -r name; do
    command=$(sed -n '1s/^\$ //p' "$name")
    difference=$(diff -u <(tail -n +2 "$name") <(eval "$command" 2>&1))
    verdict $? "\`$command\` prints otherwise: $difference"
done <consoles
[ "$(wc -l <blocks)" -ge 20 ] && [ "$(wc -l <consoles)" -ge 5 ]
verdict $? "it has lost its examples"

# ---- Tables: what the program has stands in the section of its layer, what a statement has below its heading ----

# section HEADING: the text below `## HEADING`
section() {
    awk -v heading="## $1" '/^## / { take = $0 == heading } take' "$page"
}

# heading LAYER WORD: the text below a `###` heading that names the word
heading() {
    awk -v word="$2" '/^### / { take = word == "value" ? /^### Values/ : index($0, "`" word "`") } take' <<<"$1"
}

checked=0
kinds=$(section "Kinds of values")
for layer in session model dist portable concrete; do
    text=$(section $layer)
    while read -r row; do
        case $row in
        "# statement "*)
            part=$(heading "$text" "${row#"# statement "}")
            [ -n "$part" ]
            verdict $? "$layer has no heading for the ${row#"# "}"
            continue
            ;;
        "# "*)
            part=$text
            continue
            ;;
        esac
        [[ $row == *" |" && $row == *\`.* ]] || row=${row% |} row="${row%|*}|"
        [[ $part == *"$row"* ]]
        verdict $? "$layer lacks $row"
        checked=$((checked + 1))
        kind=$(cut -d'|' -f3 <<<"$row")
        case $row in
        *"| one of "*) ;;
        "|"*"|"*"|"*"|")
            [[ $kind == *[0-9]* || $kinds == *"|$kind|"* ]]
            verdict $? "no kind of value is called$kind: $row"
            ;;
        esac
    done < <(rows $layer)
done
[ $checked -ge 200 ]
verdict $? "only $checked rows were checked"

# ---- Words: lists on standard input, each in quotes of its own ----

# stands TEXT QUOTE WHERE LEAST
stands() {
    local word n=0
    while read -r word; do
        [[ $1 == *"$2$word$2"* ]]
        verdict $? "$3 lacks $word"
        n=$((n + 1))
    done
    [ $n -ge "$4" ]
    verdict $? "$3: only $n words were looked for"
}

# between FROM TO FILE: the strings on the lines from one pattern to another
between() {
    awk -v from="$1" -v to="$2" '
        $0 ~ from { take = 1 }
        take { line = $0; while (match(line, /"[^"]+"/)) { print substr(line, RSTART + 1, RLENGTH - 2); line = substr(line, RSTART + RLENGTH) } }
        $0 ~ to { take = 0 }' "$3"
}

stands "$(section Grammar)" '"' "the grammar" 40 < <(between 'keywords\[\] = [{]' '^[}];' "$BP_SOURCE/src/lexer/lexer.re")
stands "$(section Grammar)" '"' "the grammar" 9 < <(bp-opt --show-dialects 2>&1 | sed -n 's/^ \+\([a-z.]*\): .*/\1/p')
stands "$(section Notes)" '`' "the list of reserved names" 75 < <(
    for layer in session model dist portable concrete; do
        between '^static const char .const reserved' '[}];' "$BP_SOURCE/src/dialects/$layer/$layer.c"
    done | sort -u)
for enumeration in effect resource scope reduction symbol_kind lineage; do
    stands "$(<"$page")" '`' "the enumeration $enumeration" 1 < <(
        awk -v name="$enumeration" 'index($0, "WORD_TABLE(" name ",") { take = 1 } take { print } /\)$/ { take = 0 }' "$BP_SOURCE/src/ir/item.c" |
            grep -o '{ "[a-z_]\+"' | tr -dc 'a-z_\n')
done

long=$(awk 'length($0) > 120 { print FILENAME ":" FNR }' "$page")
[ -z "$long" ]
verdict $? "lines of more than 120 columns: $long"

echo "$passed passed, $failed failed"
[ $failed = 0 ]

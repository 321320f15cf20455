#!/bin/bash
# A folder of --checkpoint-dir replays wherever it is, and whatever is done to any of its files is found.
set -u
bp_opt=$(realpath "$BP_BUILD/bp-opt")
example=$(realpath "$BP_SOURCE/examples/gpt3-175b.bpir")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

verdict() # TEXT STATUS
{
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "$1"; fi
}

sed -n '/^session.strategy/,$p' "$example" >"$work/session.bpir"
sed '/^session.strategy/,$d' "$example" >"$work/model.bpir"
(cd "$work" && "$bp_opt" model.bpir --session=session.bpir --emit=none --checkpoint-dir=made \
    --distribute-transformer-training --plan-transformer-training --bind-reference-queue)
verdict 'the folder is made' $?
rm "$work/session.bpir" "$work/model.bpir"

# Elsewhere, with nothing of where it was made: another folder, no environment, only for reading.
mkdir "$work/far" "$work/far/away"
mv "$work/made" "$work/far/away/run"
chmod -R a-w "$work/far/away/run"
(cd / && env -i "$bp_opt" --replay "$work/far/away/run") >/dev/null
verdict 'it replays from another folder' $?
(cd "$work/far/away/run" && "$bp_opt" --replay .) | grep -q '^\.: 3 checkpoints replayed'
verdict 'it replays from inside' $?
chmod -R u+w "$work/far/away/run"

# broken HOW: the folder, after HOW was done in it, is refused with a message of a replay, and a located one at that.
broken() # TEXT COMMAND
{
    rm -rf "$work/broken"
    cp -r "$work/far/away/run" "$work/broken"
    (cd "$work/broken" && eval "$2")
    output=$("$bp_opt" --replay "$work/broken" 2>&1)
    status=$?
    [ $status != 0 ] && [ $status -lt 3 ] && grep -qE "error: \[driver\.(replay\.|input)" <<<"$output" && ! grep -q 'every digest is the same' <<<"$output"
    verdict "$1: exit status $status"$'\n'"$output" $?
}

for file in $(ls "$work/far/away/run"); do
    size=$(stat -c %s "$work/far/away/run/$file")
    for at in 0 $((size / 3)) $((size / 2)) $((size - 1)); do
        broken "byte $at of $file changed" "printf '\\001' | dd of=$file bs=1 seek=$at conv=notrunc status=none"
    done
    broken "$file cut short" "truncate -s $((size - 1)) $file"
    broken "$file emptied" ": >$file"
    broken "$file longer" "echo >>$file"
    broken "$file missing" "rm $file"
    broken "$file a folder" "rm $file; mkdir $file"
done
files=($(ls "$work/far/away/run"))
for ((i = 1; i < ${#files[@]}; i++)); do
    a=${files[i - 1]} b=${files[i]}
    broken "$a and $b swapped" "mv $a x; mv $b $a; mv x $b"
done
broken 'a file too many' 'touch stray'

# One who edits the manifest to fit: what follows from the input is derived anew, so a fact that was changed is found.
reseal='sed -i /^digest/d manifest; echo "digest xxh128:$(xxhsum -q -H2 <manifest | cut -c1-32)" >>manifest'
fit() # FILE: the manifest takes its digest
{
    echo "sed -i \"s/^file $1 .*/file $1 \$(stat -c %s $1) xxh128:\$(xxhsum -q -H2 <$1 | cut -c1-32)/\" manifest; $reseal"
}
for file in "${files[@]}"; do
    case $file in
    *.host | manifest) continue ;;      # no facts
    input.bpir) change='s/hidden 12288/hidden 6144/' ;;
    session.*) change='s/tensor = 8/tensor = 4/' ;;
    *.record) change='s/^revision 1/revision 2/' ;;
    *) change='0,/ 8192\| 16/s// 24/' ;;
    esac
    broken "$file changed, the manifest made to fit" "sed -i '$change' $file; $(fit "$file")"
done
broken 'another pipeline' "sed -i 's/bind-reference-queue/bind-reference-slot/' manifest; $reseal"
broken 'a shorter pipeline' "sed -i 's/,bind-reference-queue//' manifest; $reseal"
broken 'a pipeline with an option' "sed -i 's/^pipeline distribute-transformer-training/&{strategy.data=2}/' manifest; $reseal"
broken 'sources kept' "sed -i 's/^input /keep-sources 1\\n&/' manifest; $reseal"
broken 'fewer checkpoints' "sed -i 's/^checkpoints 3/checkpoints 2/' manifest; $reseal"
broken 'no session file' "sed -i 's/^sessions 1/sessions 0/' manifest; $reseal"
broken 'another result' "sed -i '0,/^result.*/s/xxh128:./xxh128:0/' manifest; $reseal"
broken 'very many session files' "sed -i 's/^sessions 1/sessions 4294967295/' manifest; $reseal"
broken 'very many checkpoints' "sed -i 's/^checkpoints 3/checkpoints 4294967295/' manifest; $reseal"
broken 'a pipe' 'rm input.bpir; mkfifo input.bpir'
broken 'a file of another folder' "sed -i 's/^file input.bpir/file ..\\/input.bpir/' manifest; $reseal"
broken 'a line that is not known' "sed -i 's/^sessions/seasons/' manifest; $reseal"

echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -ge 100 ]

#include "rules.h"

#include "conformance/checker.h"
#include "dialects/registry.h"
#include "execute/execute.h"
#include "ir/verify.h"
#include "passes/pass.h"
#include "transformer/contract.h"

static const struct rule rules[] = {
    { "driver.input", "A file can't be read. Check its name and its permissions." },
    { "driver.output", "The output can't be written. Check the folder, its permissions and the free space; a file that was there is unchanged." },
    { "driver.fix", "Fixes were applied, and the text read again until none was left. What is still wrong has no fix, or several." },
    { "driver.item.unknown", "The file has no item of the name that --item gives. Write one that it has." },
    { "driver.summary.none", "There is nothing to sum up: no program that is distributed, planned or bound. Name passes that make one, or another item." },
    { "driver.why.unknown", "No item of the file declares the name that --why gives. Write one that it declares, with its sigil." },
    { "driver.session.layer", "A file of --session holds session items only. Put programs into the input." },
    { "driver.pass.options", "The text behind a pass's flag is one list of options: `--PASS='strategy=@x strategy.tensor=4'`. Close what it opens." },
    { "driver.reproducer.form", "--run-reproducer takes a file that --crash-reproducer wrote: its first lines say what to run. Give passes by their flags for other files." },
    { "driver.replay.manifest", "The manifest of the folder is not what --checkpoint-dir wrote. Take the folder from where it was made." },
    { "driver.replay.version", "Another bp-opt wrote the folder. The digests are compared all the same." },
    { "driver.replay.file", "A file of the folder is missing, was changed or swapped, or does not belong there. Take the folder from where it was made." },
    { "driver.replay.differs", "This bp-opt derives something else than was recorded; what is told is the first difference. Compare the passes' revisions." },
    { "driver.split.near_miss", "Only a line that is the marker, `// -----`, splits a file. Write it with five dashes, or take it away." },
    { "driver.expectation.unexpected", "A message came that no expectation allows. Add one, or mend the input." },
    { "driver.expectation.missing", "No message came that this expectation asks for. A note says so when it came on another line." },
    { "driver.expectation.form", "A comment that begins like an expectation must be one: `expected-error@+1 {{text}}`." },
    { "driver.expectation.place", "An expectation names a line of its own file, and of its own part where the file is split." },
    { "driver.expectation.empty", "An expectation without text would match any message. Write a part of the message." },
    { "driver.expectation.regex", "What stands in {{…}} inside an `-re` expectation is a POSIX extended regular expression." },
};

void rules_visit(void (*visit)(void *state, const struct rule *r), void *state)
{
    for (const struct dialect *const *d = all_dialects; *d; d++)
        for (u32 i = 0; i < (*d)->n_rules; i++)
            if ((*d)->rules[i].code)
                visit(state, &(*d)->rules[i]);
    for (u32 i = 0; i < n_ir_rules; i++)
        visit(state, &ir_rules[i]);
    for (size_t i = 0; i < contract_rule_count; i++)
        visit(state, &contract_rules[i]);
    for (u32 i = 0; i < n_pass_rules; i++)
        visit(state, &pass_rules[i]);
    for (u32 i = 0; i < n_check_rules; i++)
        visit(state, &check_rules[i]);
    for (u32 i = 0; i < n_execute_rules; i++)
        visit(state, &execute_rules[i]);
    for (u32 i = 0; i < COUNT(rules); i++)
        visit(state, &rules[i]);
}

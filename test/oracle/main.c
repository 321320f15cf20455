/*
 * Compares the training algebra with the oracles in a folder of their tables and ends with `N passed, N failed`, rows.
 *
 *     oracle-gate DIRECTORY
 */
#include "gate.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    struct arena arena;
    struct interner names;
    arena_init(&arena);
    interner_init(&names, &arena);
    struct oracle o = { .arena = &arena, .exprs = exprs_new(&arena, &names), .directory = argv[1] };
    o.totals = tsv_read(&arena, arena_format(&arena, "%s/calculon-totals.tsv", argv[1]));
    o.layers = tsv_read(&arena, arena_format(&arena, "%s/calculon-blocks.tsv", argv[1]));
    struct verdict block = block_gate(&o), seqsel = seqsel_gate(&o);
    unsigned passed = block.passed + seqsel.passed, failed = block.failed + seqsel.failed;
    interner_free(&names);
    arena_free(&arena);
    printf("%u passed, %u failed\n", passed, failed);
    return failed || !block.passed || !seqsel.passed;
}

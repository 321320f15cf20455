/* Tables of tab-separated values with a header line, as the oracles come. For test harnesses. */
#ifndef TEST_ORACLE_TSV_H
#define TEST_ORACLE_TSV_H

#include "support/arena.h"

struct tsv {
    const char *const *columns;
    const char *const *cells;       /* row after row */
    size_t n_columns, n_rows;
};

/* Reads PATH into ARENA. Ends the process with a message when it can't be read or a row is ragged. */
struct tsv tsv_read(struct arena *arena, const char *path);

/* The cell of ROW under COLUMN; ends the process when there is no such column. */
const char *tsv_cell(const struct tsv *t, size_t row, const char *column);

/* A signed fraction in lowest terms; the oracles write `num/den` where a number is not whole. */
struct fraction {
    i128 over, under;       /* under > 0 */
};

struct fraction fraction_of(i128 over, i128 under);
struct fraction fraction_read(const char *text);        /* `-12`, `1/3`; ends the process on anything else */
struct fraction fraction_add(struct fraction a, struct fraction b);
struct fraction fraction_mul(struct fraction a, struct fraction b);
bool fraction_equal(struct fraction a, struct fraction b);
const char *fraction_text(struct arena *arena, struct fraction f);

#endif

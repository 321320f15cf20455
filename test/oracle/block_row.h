/* One configuration under comparison: our block beside Calculon's, and what of a difference is declared. */
#ifndef TEST_ORACLE_BLOCK_ROW_H
#define TEST_ORACLE_BLOCK_ROW_H

#include "gate.h"

enum deviation { NO_DEVIATION, STORED_INPUTS, SPLIT_CHECKPOINT, SHARES_ROUNDED_UP, IN_FLIGHT_CAPPED, DEVIATIONS };

struct tally {
    u32 compared, equal, declared, other;
};

struct row {
    struct configuration c;
    struct tally *tally;
    size_t layer;                       /* its first row of calculon-blocks.tsv */
    bool on_stage;                      /* the stage is comparable */
    bool seen[DEVIATIONS];
    struct block block;
    /* predictions, from the oracle's columns only */
    struct fraction unstored;           /* bytes that Calculon drops and nothing rebuilds */
    struct fraction checkpoint;         /* bytes that a split checkpoint has more: none or fewer */
    struct fraction share_gap;          /* weights that rounding up adds to a block's shares */
    struct fraction held, calculon_held;    /* microbatch-blocks in flight: L*k, ours and Calculon's */
};

void row_predict(struct row *r);
bool row_drops_attention_input(const struct row *r);
bool row_drops_mlp_input(const struct row *r);
struct fraction row_share_gap(const struct row *r, i128 weights);
i128 row_optimizer_bytes(const struct row *r);      /* a weight */

enum { CALCULON_LAYERS = 24 };      /* of a block */

const char *row_layer_cell(const struct row *r, size_t layer, const char *column);
struct fraction row_exact(const struct row *r, qty q);
struct fraction row_moved(const struct row *r, const struct block_work *w);     /* bytes read and written */

/* Ours must be Calculon's plus EXCESS, which is declared as WHY where it isn't zero. */
void row_compare(struct row *r, const char *where, const char *column, const char *expected, struct fraction ours,
                 struct fraction excess, enum deviation why);
void row_compare_word(struct row *r, const char *where, const char *column, const char *expected, const char *ours);

void row_compare_block(struct row *r);
void row_compare_layers(struct row *r);
void row_compare_stage(struct row *r);

#endif

/* The checker message-volume, in parts: each message (message_volume.c), and what rings move in all (message_rings.c). */
#ifndef CONFORMANCE_MESSAGE_VOLUME_H
#define CONFORMANCE_MESSAGE_VOLUME_H

#include "conformance/checker.h"
#include "conformance/view.h"

#include "dialects/dist/dist.h"

enum kind { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL, BROADCAST, KINDS };

extern const char *const volume_kind_words[KINDS];

enum phase { FORWARD, BACKWARD, AGAIN, OTHER, PHASES };

extern const char *const volume_phase_words[PHASES];

/* One collective. */
struct exchange {
    const struct step *step;
    enum kind kind;
    enum phase phase;
    bool typed;                 /* values are written */
    qty message;
};

enum { MOST_INPUTS = 16 };

struct volume {
    struct check *c;
    const struct item *it, *program;    /* the item, and the dist program that it is or is from, or NULL */
    struct view view;
    struct exchange *at;
    u32 n;
    u32 axes;                           /* of the program's mesh */
    const struct dist_value *inputs[MOST_INPUTS];       /* of the program, those of one type and sharding once */
    u32 n_inputs;                       /* 0, too, where there are more: then nothing says which the boundary is */
    u32 blocks;                         /* as often as one layer exchanges in the forward pass at most */
    u32 n_typed, n_boundary, n_paired, n_repeated;
    u32 unsized, unplaced, silent;      /* collectives of which nothing says the size; that say none */
};

/* Axes of a group: a list of an item; none is all of them. */
struct group {
    const struct item *of;
    u32 over;
};

/* Every input of the program, which are of one size in such a group. False: there is none, they differ, or it is not whole. */
bool volume_boundary(const struct volume *v, const struct group *g, const struct dist_value **value, qty *bytes);

enum kind volume_kind(const struct item *it, atom operation);           /* KINDS: no collective */
const struct step *volume_first(const struct volume *v, enum phase phase);      /* the first step of a phase, or NULL */

bool volume_check_sums(struct volume *v);       /* forward and backward, and of a decoder's block */
bool volume_check_images(struct volume *v);     /* of a plan, against the collectives of its program */

#endif

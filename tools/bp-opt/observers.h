/* Watching passes: --print-ir-* and the item that --item has become. */
#ifndef BP_OPT_OBSERVERS_H
#define BP_OPT_OBSERVERS_H

#include "options.h"
#include "passes/pass.h"

/* True when some option asks for print_observer. */
bool printer_prints(const struct options *o);

struct printer {
    const struct options *options;
    struct arena *arena;
    u32 n;                      /* files of --print-ir-tree-dir */
};

/* Prints what the options ask for, to standard error under mlir-opt's banner, or into a tree of files. STATE is a struct printer. */
struct observer print_observer(struct printer *p);

/* The item that --item names, and what passes made of it. */
struct follower {
    struct followed {
        atom name;
        bool taken;             /* a pass has made something of it: that counts, then */
    } *list;
    u32 n, cap;
};

void follower_begin(struct follower *f, atom name);     /* 0: there is none, and all items count */
void follower_free(struct follower *f);
bool follower_holds(const struct follower *f, atom name);
atom follower_first(const struct follower *f);          /* of those that count; 0: there is none */

/* STATE is a struct follower: when a pass takes an item that counts, what the pass makes does instead. */
struct observer follow_observer(struct follower *f);

/* The passes that --print-ir-before and --print-ir-after name exist. False: reported, exit status 2. */
bool printer_check(const struct options *o, struct arena *arena);

#endif

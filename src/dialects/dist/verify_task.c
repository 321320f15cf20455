/* Tasks: the body is a closed sum and each form has its own fields; ranks are whole groups; a transfer has two ends. */
#include "dialects/dist/verify.h"

#include <inttypes.h>

/* ---- Forms and their fields ---- */

enum part {
    PART_OPERATION = 1, PART_OPERANDS = 2, PART_RESULTS = 4, PART_OVER = 8, PART_REDUCTION = 16, PART_ROOT = 32,
    PART_SOURCE = 64, PART_DESTINATION = 128, PART_CHANNEL = 256, PART_WORK = 512, PART_MESSAGE = 1024,
};

enum { VALUES = PART_OPERANDS | PART_RESULTS, EXCHANGE = VALUES | PART_OVER | PART_WORK | PART_MESSAGE };

static const struct {
    const char *what;
    u16 must, may;
} forms[DIST_FORMS] = {
    [DIST_FORM_ALL_REDUCE] = { "an all_reduce", PART_OPERATION | PART_REDUCTION, EXCHANGE },
    [DIST_FORM_REDUCE_SCATTER] = { "a reduce_scatter", PART_OPERATION | PART_REDUCTION, EXCHANGE },
    [DIST_FORM_ALL_GATHER] = { "an all_gather", PART_OPERATION, EXCHANGE },
    [DIST_FORM_ALL_TO_ALL] = { "an all_to_all", PART_OPERATION, EXCHANGE },
    [DIST_FORM_BROADCAST] = { "a broadcast", PART_OPERATION | PART_ROOT, EXCHANGE },
    [DIST_FORM_LOCAL] = { "a local task", PART_OPERATION, VALUES | PART_WORK },
    [DIST_FORM_TRANSFER] = { "a transfer", PART_SOURCE | PART_DESTINATION | PART_MESSAGE,
                             VALUES | PART_CHANNEL | PART_WORK },
    [DIST_FORM_RESHARD] = { "a reshard", 0, VALUES | PART_WORK | PART_MESSAGE },
    [DIST_FORM_CONTROL] = { "a control task", 0, 0 },
};

static const struct {
    u16 bit;
    const char *field, *text, *called;     /* where it is written; how messages call it */
} parts[] = {
    { PART_OPERATION, NULL, NULL, "an operation" },
    { PART_OPERANDS, NULL, "(", "operands" },
    { PART_RESULTS, NULL, "->", "results" },
    { PART_OVER, "over", NULL, "`over`" },
    { PART_REDUCTION, "reduction", NULL, "a `reduction`" },
    { PART_ROOT, "root", NULL, "a `root`" },
    { PART_SOURCE, "source", NULL, "a `source`" },
    { PART_DESTINATION, "destination", NULL, "a `destination`" },
    { PART_CHANNEL, "channel", NULL, "a `channel`" },
    { PART_WORK, "work", NULL, "`work`" },
    { PART_MESSAGE, "work", "message", "a `message`" },
};

static u32 parts_of(const struct dist_task *t)
{
    const struct dist_more *m = t->more;
    return (t->operation ? PART_OPERATION : 0) | (t->operands ? PART_OPERANDS : 0) | (t->results ? PART_RESULTS : 0) |
           (t->over ? PART_OVER : 0) | (t->reduction ? PART_REDUCTION : 0) | (m->root != UINT64_MAX ? PART_ROOT : 0) |
           (m->source != UINT64_MAX ? PART_SOURCE : 0) | (m->destination != UINT64_MAX ? PART_DESTINATION : 0) |
           (m->channel ? PART_CHANNEL : 0) |
           (t->work[DIST_OPERATIONS] || t->work[DIST_READ] || t->work[DIST_WRITE] ? PART_WORK : 0) |
           (t->work[DIST_MESSAGE] ? PART_MESSAGE : 0);
}

static int collective_of(const struct dist_checker *c, atom operation)
{
    for (int i = 0; i < DIST_FORM_LOCAL; i++)
        if (operation && c->collectives[i] == operation)
            return i;
    return -1;
}

enum dist_form dist_form_of(const struct dist_checker *c, const struct dist_task *t)
{
    static const u8 form[] = { [DIST_LOCAL] = DIST_FORM_LOCAL, [DIST_TRANSFER] = DIST_FORM_TRANSFER,
                               [DIST_RESHARD] = DIST_FORM_RESHARD, [DIST_CONTROL] = DIST_FORM_CONTROL };
    if (t->body != DIST_COLLECTIVE)
        return (enum dist_form)form[t->body];
    int collective = collective_of(c, t->operation);
    return collective < 0 ? DIST_FORMS : (enum dist_form)collective;
}

static void note_forms_with(struct dist_checker *c, u32 bit)
{
    const char *text = "";
    u32 n = 0;
    for (u32 i = 0; i < DIST_FORMS; i++)
        if ((forms[i].must | forms[i].may) & bit)
            text = arena_format(&c->v->scratch, "%s%s%s", text, n++ ? ", " : "", forms[i].what);
    verify_note_legal(c->v, "what has it: %s", text);
}

static void report_extra(struct dist_checker *c, const struct dist_task *t, enum dist_form form, u32 i)
{
    const char *text = parts[i].bit == PART_OPERATION ? context_text(c->ctx, t->operation) : parts[i].text;
    verify_error(c->v, &t->s, parts[i].field, text, "dist.body.field", "%s has no place for %s", forms[form].what,
                 parts[i].called);
    note_forms_with(c, parts[i].bit);
}

static void report_missing(struct dist_checker *c, const struct dist_task *t, enum dist_form form, u32 i)
{
    verify_error(c->v, &t->s, NULL, NULL, "dist.body.missing", "%s needs %s", forms[form].what, parts[i].called);
    if (parts[i].bit == PART_REDUCTION)
        verify_note_legal(c->v, "legal are sum, max, min and product");
    if (parts[i].bit == PART_MESSAGE)
        verify_note_legal(c->v, "write the bytes sent: `work (message N)`");
}

static void check_parts(struct dist_checker *c, const struct dist_task *t, enum dist_form form)
{
    u32 has = parts_of(t), extra = has & ~(u32)(forms[form].must | forms[form].may), missing = forms[form].must & ~has;
    for (u32 i = 0; (extra | missing) && i < COUNT(parts); i++)
        if (extra & parts[i].bit)
            report_extra(c, t, form, i);
        else if (missing & parts[i].bit)
            report_missing(c, t, form, i);
}

/* `local` names an operation of a dialect, `collective` one of its five words. */
static bool check_operation(struct dist_checker *c, const struct dist_task *t)
{
    const struct interned *word = &c->ctx->names.atoms[t->operation];
    bool local = t->body == DIST_LOCAL && t->operation;
    if (t->body == DIST_COLLECTIVE ? collective_of(c, t->operation) >= 0 : !local || memchr(word->text, '.', word->length))
        return true;
    if (!t->operation)
        return verify_error(c->v, &t->s, NULL, NULL, "dist.body.missing", "a collective says which it is");
    const char *name = context_text(c->ctx, t->operation), *near, *names[DIST_FORM_LOCAL];
    if (t->body == DIST_LOCAL) {
        verify_error(c->v, &t->s, NULL, name, "dist.body.operation",
                     "a local task computes an operation of a dialect, and `%s` is none", name);
        if (collective_of(c, t->operation) >= 0)
            verify_note_legal(c->v, "it is a collective: write `collective %s`", name);
        else
            verify_note_legal(c->v, "such as `model.linear`; `bp-opt --show-ops` lists them");
        return false;
    }
    verify_error(c->v, &t->s, NULL, name, "dist.body.operation", "no collective is called `%s`", name);
    for (u32 i = 0; i < DIST_FORM_LOCAL; i++)
        names[i] = dist_collective_enum.words[i].text;
    near = nearest_name(name, names, DIST_FORM_LOCAL);
    if (near)
        verify_near(c->v, 0, name, near);
    verify_note_legal(c->v, "legal are all_reduce, reduce_scatter, all_gather, all_to_all and broadcast");
    return false;
}

/* ---- Groups ---- */

bool dist_over_mask(const struct dist_checker *c, const struct dist_task *t, u64 *out)
{
    *out = UINT64_MAX;
    if (t->over) {
        *out = 0;
        for (u32 i = 0; i < list_n(c->it, t->over); i++) {
            int axis = dist_axis_find(c, list_at(c->it, t->over)[i]);
            if (axis < 0)
                return false;
            *out |= (u64)1 << axis;
        }
    } else if (c->n_axes < 64) {
        *out = ((u64)1 << c->n_axes) - 1;
    }
    return *out != 0;
}

static bool check_over(struct dist_checker *c, const struct dist_task *t)
{
    bool good = true;
    if (!t->over)
        return true;
    if (!list_n(c->it, t->over))
        return verify_error(c->v, &t->s, "over", NULL, "dist.collective.axis_none",
                            "a collective over no axis has no group");
    for (u32 i = 0; i < list_n(c->it, t->over); i++) {
        atom axis = list_at(c->it, t->over)[i];
        if (dist_axis_find(c, axis) >= 0)
            continue;
        const char *name = context_text(c->ctx, axis), *near = dist_axis_nearest(c, axis);
        good =
            verify_error(c->v, &t->s, "over", name, "dist.collective.axis_unknown", "the mesh has no axis `%s`", name);
        if (near)
            verify_near(c->v, 0, name, near);
        verify_note(c->v, &c->mesh->s, NULL, NULL, "it has the axes %s", dist_axes_text(c, UINT64_MAX));
    }
    return good;
}

static void check_groups(struct dist_checker *c, const struct dist_task *t, u64 over)
{
    u64 in, out;
    if (!t->ranks || dist_ranks_grouped(c, rank_set_of(&c->sets, t->ranks), over, &in, &out))
        return;
    verify_error(c->v, &t->s, "ranks", NULL, "dist.collective.groups",
                 "the ranks are no whole groups over %s: rank %" PRIu64 " takes part, and rank %" PRIu64
                 " of its group does not",
                 dist_axes_text(c, over), in, out);
    verify_note_legal(c->v, "the group of rank %" PRIu64 " is %s", in, dist_group_text(c, in, over));
}

static void check_root(struct dist_checker *c, const struct dist_task *t, u64 over)
{
    u64 size = dist_axes_size(c, over);
    if (t->more->root == UINT64_MAX || t->more->root < size)
        return;
    verify_error(c->v, &t->s, "root", NULL, "dist.collective.root",
                 "position %" PRIu64 " is not in a group of %" PRIu64 " ranks", t->more->root, size);
    verify_note_legal(c->v, "a root is a position in its group over %s, from 0 to %" PRIu64, dist_axes_text(c, over),
                      size - 1);
}

/* ---- Transfers ---- */

static bool check_end(struct dist_checker *c, const struct dist_task *t, const char *field, u64 rank)
{
    if (rank < c->size)
        return true;
    verify_error(c->v, &t->s, field, NULL, "dist.ranks.unknown", "%s has no rank %" PRIu64,
                 stmt_text(c->it, &c->mesh->s), rank);
    verify_note(c->v, &c->mesh->s, NULL, NULL, "it has the ranks 0 to %" PRIu64, c->size - 1);
    return false;
}

static u64 count_ranks(const struct dist_checker *c, u32 handle)
{
    u64 count = 0;
    for (u32 i = 0; i + 1 < list_n(c->it, handle); i += 2)
        count += list_at(c->it, handle)[i + 1] - list_at(c->it, handle)[i] + (u64)1;
    return count;
}

static void check_transfer(struct dist_checker *c, const struct dist_task *t)
{
    u64 source = t->more->source, destination = t->more->destination;
    if (source == UINT64_MAX || destination == UINT64_MAX)
        return;
    if (source == destination)
        verify_error(c->v, &t->s, "destination", NULL, "dist.transfer.self", "rank %" PRIu64 " can't send to itself", source);
    if (!c->mesh || !t->ranks || source == destination)
        return;
    u64 low = source < destination ? source : destination, high = source ^ destination ^ low;
    if (count_ranks(c, t->ranks) == 2 && rank_set_has(&c->sets, rank_set_of(&c->sets, t->ranks), (u32)low) &&
        rank_set_has(&c->sets, rank_set_of(&c->sets, t->ranks), (u32)high))
        return;
    verify_error(c->v, &t->s, "ranks", NULL, "dist.transfer.ranks",
                 "the ranks of a transfer are its two ends, and these are others");
    verify_note_legal(c->v, "write [%" PRIu64 ", %" PRIu64 "], or leave `ranks` out", low, high);
}

/* ---- Who holds what ---- */

static void report_holder(struct dist_checker *c, const struct dist_task *t, const struct dist_value *value, bool reads,
                          u64 rank)
{
    const char *name = value_text(c->it, value->s.name);
    verify_error(c->v, &t->s, NULL, name, reads ? "dist.owners.reader" : "dist.owners.maker",
                 reads ? "rank %" PRIu64 " reads %s, which it does not hold"
                       : "rank %" PRIu64 " is to hold %s, but takes no part in making it",
                 rank, name);
    verify_note(c->v, &value->s, "owners", NULL, "these ranks hold it");
}

/* The ranks that read a value hold it; those that are to hold a result take part. RANKS: the set concerned. */
static void check_holders(struct dist_checker *c, const struct dist_task *t, u32 list, bool reads, u32 ranks)
{
    u32 missing;
    for (u32 i = 0; i < list_n(c->it, list); i++) {
        const struct dist_value *value = dist_value_named(c, list_at(c->it, list)[i]);
        if (!value || !value->owners || dist_value_check(c, value)->disowned)
            continue;
        u32 owners = rank_set_of(&c->sets, value->owners);
        if (rank_sets_differ(&c->sets, reads ? ranks : owners, reads ? owners : ranks, &missing))
            report_holder(c, t, value, reads, missing);
    }
}

static void check_owners(struct dist_checker *c, const struct dist_task *t, enum dist_form form)
{
    if (form == DIST_FORM_TRANSFER) {
        if (t->more->source >= c->size || t->more->destination >= c->size)
            return;
        check_holders(c, t, t->operands, true, rank_set_one(&c->sets, (u32)t->more->source));
        check_holders(c, t, t->results, false, rank_set_one(&c->sets, (u32)t->more->destination));
        return;
    }
    if (form == DIST_FORM_RESHARD || form == DIST_FORM_CONTROL)
        return;
    u32 ranks = rank_set_of(&c->sets, t->ranks);
    if (form != DIST_FORM_BROADCAST)
        check_holders(c, t, t->operands, true, ranks);
    check_holders(c, t, t->results, false, ranks);
}

void dist_task_check(struct dist_checker *c, const struct dist_task *t)
{
    u64 over;
    bool known = check_operation(c, t), ranks = dist_ranks_check(c, &t->s, "ranks", t->ranks);
    enum dist_form form = dist_form_of(c, t);
    if (known && form != DIST_FORMS)
        check_parts(c, t, form);
    if (t->more->effects)
        dist_effects_check(c, t);
    bool ends = form == DIST_FORM_TRANSFER && c->mesh;
    if (ends && t->more->source != UINT64_MAX)
        ranks = check_end(c, t, "source", t->more->source) && ranks;
    if (ends && t->more->destination != UINT64_MAX)
        ranks = check_end(c, t, "destination", t->more->destination) && ranks;
    if (form == DIST_FORM_TRANSFER && ranks)
        check_transfer(c, t);
    if (!c->mesh || form == DIST_FORMS)
        return;
    if (form < DIST_FORM_LOCAL && (!check_over(c, t) || !dist_over_mask(c, t, &over)))
        return;
    if (form < DIST_FORM_LOCAL && ranks)
        check_groups(c, t, over);
    if (form == DIST_FORM_BROADCAST)
        check_root(c, t, over);
    if (ranks && (t->operands || t->results))
        check_owners(c, t, form);
    if (form == DIST_FORM_LOCAL)
        dist_local_check(c, t);
    else if (form != DIST_FORM_CONTROL)
        dist_collective_check(c, t, form);
}

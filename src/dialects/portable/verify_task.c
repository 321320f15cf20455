/* Rules of one task: what its body may say, its ranks, its facts, its effects. */
#include "dialects/portable/verify.h"
#include "support/quantity.h"

#define BODY(t) portable_body_enum.words[(t)->body].text

static const char *const collectives[] = { "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast" };

bool portable_is_collective(const struct plan *p, atom operation)
{
    for (u32 i = 0; i < COUNT(collectives); i++)
        if (intern_is(&p->v->ctx->names, operation, collectives[i]))
            return true;
    return false;
}

/* ---- Operation ---- */

static void check_collective_name(struct plan *p, const struct portable_task *t)
{
    if (portable_is_collective(p, t->operation))
        return;
    const char *word = context_text(p->v->ctx, t->operation), *near = nearest_name(word, collectives, COUNT(collectives));
    verify_error(p->v, &t->s, NULL, word, "portable.operation.collective", "`%s` is no collective", word);
    if (near)
        verify_near(p->v, 0, word, near);
    else
        verify_note_legal(p->v, "collectives are all_reduce, reduce_scatter, all_gather, all_to_all and broadcast");
}

static void check_compute_name(struct plan *p, const struct portable_task *t)
{
    const struct interned *text = &p->v->ctx->names.atoms[t->operation];
    if (memchr(text->text, '.', text->length))
        return;
    const char *word = context_text(p->v->ctx, t->operation);
    verify_error(p->v, &t->s, NULL, word, "portable.operation.compute", "`%s` is no operation that a rank computes", word);
    verify_note_legal(p->v, portable_is_collective(p, t->operation) ? "the body of `%s` is `collective`"
                                                           : "operations have a dialect, as `model.%s`", word);
}

static void check_operation(struct plan *p, const struct portable_task *t)
{
    bool wants = t->body == PORTABLE_COMPUTE || t->body == PORTABLE_COLLECTIVE || t->body == PORTABLE_HOST;
    if (!t->operation && wants) {
        verify_error(p->v, &t->s, NULL, BODY(t), "portable.operation.missing", "%s does not say what it computes", stmt_text(p->it, &t->s));
        verify_note_legal(p->v, t->body == PORTABLE_COLLECTIVE ? "write the collective behind the body, as `collective all_reduce(…)`"
                                                               : "write the operation behind the body, as `%s model.linear(…)`", BODY(t));
    } else if (t->operation && !wants) {
        const char *word = context_text(p->v->ctx, t->operation);
        verify_error(p->v, &t->s, NULL, word, "portable.operation.unexpected", "a %s task has no operation, found `%s`", BODY(t), word);
    } else if (t->operation && t->body == PORTABLE_COLLECTIVE) {
        check_collective_name(p, t);
    } else if (t->operation && t->body == PORTABLE_COMPUTE) {
        check_compute_name(p, t);
    }
}

/* ---- Ranks ---- */

static void unknown_rank(struct plan *p, const struct portable_task *t, const char *field, u64 rank)
{
    char text[24];
    size_t n = u128_digits(rank, text);
    text[n] = '\0';
    verify_error(p->v, &t->s, field, text, "portable.rank.unknown", "%s names rank %s, and the mesh has ranks 0 to %llu", stmt_text(p->it, &t->s),
                 text, (unsigned long long)(p->n_ranks - 1));
    verify_note(p->v, &p->mesh->s, NULL, NULL, "the mesh is here");
}

static void check_ranks(struct plan *p, const struct portable_task *t)
{
    u32 rank;
    if (!t->ranks)
        return;
    if (list_n(p->it, t->ranks) == 0) {
        verify_error(p->v, &t->s, "ranks", NULL, "portable.rank.empty", "%s runs on no rank", stmt_text(p->it, &t->s));
        verify_note_legal(p->v, "leave `ranks` out to mean all, or name at least one");
        return;
    }
    if (ranks_repeat(p->it, t->ranks, &p->v->scratch, &rank))
        verify_error(p->v, &t->s, "ranks", NULL, "portable.rank.twice", "rank %u stands twice in `ranks`", rank);
    if (p->n_ranks && rank_sets_differ(&p->ranks, rank_set_of(&p->ranks, t->ranks), ALL_RANKS, &rank))
        unknown_rank(p, t, "ranks", rank);
}

static const char *nearest_axis(const struct plan *p, const char *word)
{
    const char *names[64];
    size_t n = 0;
    for (u32 k = 0; p->mesh && k + 2 < list_n(p->it, p->mesh->axes) && n < COUNT(names); k += 3)
        names[n++] = context_text(p->v->ctx, list_at(p->it, p->mesh->axes)[k]);
    return nearest_name(word, names, n);
}

static bool is_axis(const struct plan *p, atom axis)
{
    for (u32 k = 0; p->mesh && k + 2 < list_n(p->it, p->mesh->axes); k += 3)
        if (list_at(p->it, p->mesh->axes)[k] == axis)
            return true;
    return false;
}

static void check_over(struct plan *p, const struct portable_task *t)
{
    if (!t->over)
        return;
    if (t->body != PORTABLE_COLLECTIVE) {
        verify_error(p->v, &t->s, "over", NULL, "portable.over.body", "a %s task has no `over`", BODY(t));
        verify_note_legal(p->v, "only a collective has groups of ranks; say who takes part with `ranks`");
        return;
    }
    if (!list_n(p->it, t->over)) {
        verify_error(p->v, &t->s, "over", NULL, "portable.over.axis", "a collective over no axis has no group");
        verify_note_legal(p->v, "leave `over` out for one group of all");
    }
    for (u32 i = 0; i < list_n(p->it, t->over); i++) {
        const char *word = context_text(p->v->ctx, list_at(p->it, t->over)[i]);
        if (is_axis(p, list_at(p->it, t->over)[i]))
            continue;
        verify_error(p->v, &t->s, "over", word, "portable.over.axis", "%s has no axis `%s`", p->mesh ? stmt_text(p->it, &p->mesh->s) : "a plan without a mesh",
                     word);
        const char *near = nearest_axis(p, word);
        if (near)
            verify_near(p->v, 0, word, near);
        else if (p->mesh)
            verify_note(p->v, &p->mesh->s, NULL, NULL, "the mesh is here");
    }
}

static bool is_pair(const struct plan *p, u32 ranks, u64 a, u64 b)
{
    u64 n = 0;
    for (u32 i = 0; i + 1 < list_n(p->it, ranks); i += 2)
        n += (u64)list_at(p->it, ranks)[i + 1] - list_at(p->it, ranks)[i] + 1;
    return n == 2 && ranks_contain(p->it, ranks, (u32)a) && ranks_contain(p->it, ranks, (u32)b);
}

static void check_endpoints(struct plan *p, const struct portable_task *t)
{
    u64 from = t->more->source, to = t->more->destination;
    bool source = from != UINT64_MAX, destination = to != UINT64_MAX;
    if (t->body != PORTABLE_TRANSFER) {
        if (!source && !destination)
            return;
        const char *field = source ? "source" : "destination";
        verify_error(p->v, &t->s, field, NULL, "portable.endpoint.unexpected", "a %s task has no `%s`", BODY(t), field);
        verify_note_legal(p->v, "only a transfer goes from one rank to another; say who takes part with `ranks`");
        return;
    }
    if (!source || !destination) {
        verify_error(p->v, &t->s, NULL, BODY(t), "portable.endpoint.missing", "%s does not say %s rank", stmt_text(p->it, &t->s),
                     source ? "its receiving" : destination ? "its sending" : "its sending and receiving");
        verify_note_legal(p->v, "add `%s`", source ? "destination R" : destination ? "source R" : "source R destination R");
        return;
    }
    if (from == to)
        verify_error(p->v, &t->s, "destination", NULL, "portable.endpoint.same", "%s sends from rank %llu to itself",
                     stmt_text(p->it, &t->s), (unsigned long long)from);
    else if (t->ranks && list_n(p->it, t->ranks) && !is_pair(p, t->ranks, from, to)) {
        verify_error(p->v, &t->s, "ranks", NULL, "portable.endpoint.ranks", "%s goes from rank %llu to rank %llu, and `ranks` are not these two",
                     stmt_text(p->it, &t->s), (unsigned long long)from, (unsigned long long)to);
        verify_note_legal(p->v, "leave `ranks` out: a transfer's ranks are its endpoints");
    }
    if (p->n_ranks && from >= p->n_ranks)
        unknown_rank(p, t, "source", from);
    if (p->n_ranks && to >= p->n_ranks)
        unknown_rank(p, t, "destination", to);
}

/* ---- Facts ---- */

static const char *const work_words[] = { "operations", "read", "write", "message", "temporary", "persistent" };

static void check_barrier(struct plan *p, const struct portable_task *t)
{
    const char *name = stmt_text(p->it, &t->s);
    for (u32 i = 0; i < PORTABLE_WORK; i++)
        if (t->work[i]) {
            verify_error(p->v, &t->s, "work", work_words[i], "portable.barrier.work", "%s is a barrier, which only orders, and can't have `%s`",
                         name, work_words[i]);
            break;
        }
    if (list_n(p->it, t->operands) || list_n(p->it, t->results)) {
        const u32 *at = list_at(p->it, list_n(p->it, t->operands) ? t->operands : t->results);
        verify_error(p->v, &t->s, NULL, value_text(p->it, at[0]), "portable.barrier.work",
                     "%s is a barrier, which only orders, and can't touch %s", name, value_text(p->it, at[0]));
    }
}

static void check_message(struct plan *p, const struct portable_task *t)
{
    bool sends = t->body == PORTABLE_COLLECTIVE || t->body == PORTABLE_TRANSFER;
    qty message = t->work[PORTABLE_MESSAGE];
    if (sends && !message) {
        verify_error(p->v, &t->s, "work", NULL, "portable.message.missing", "%s is a %s task, and says nothing about its message",
                     stmt_text(p->it, &t->s), BODY(t));
        verify_note_legal(p->v, "add `message N` to its work: %s", t->body == PORTABLE_TRANSFER ? "the bytes sent"
                                                                                                 : "the logical payload of one group, in bytes");
    } else if (!sends && message && t->body != PORTABLE_BARRIER) {
        verify_error(p->v, &t->s, "work", "message", "portable.message.unexpected", "%s is a %s task, and has a message of %s bytes",
                     stmt_text(p->it, &t->s), BODY(t), qty_text(p->v->ctx, message));
        verify_note_legal(p->v, "only collectives and transfers send; a %s task reads and writes", BODY(t));
    }
}

/* Bytes of the only buffer in a list, where it is a number. */
static bool only_size(const struct plan *p, u32 list, u128 *out, atom *name)
{
    u32 buffer;
    if (list_n(p->it, list) != 1 || !plan_buffer(p, *name = list_at(p->it, list)[0], &buffer))
        return false;
    return qty_value(p->v->ctx->exprs, p->buffers[buffer]->size, out) && *out;
}

static void wrong_size(struct plan *p, const struct portable_task *t, atom buffer, const char *is, u128 found, u128 other)
{
    char a[U128_DIGITS], b[U128_DIGITS];
    const struct stmt *s = item_value(p->it, buffer);
    verify_error(p->v, &t->s, "work", "message", "portable.message.size", "%s %s sends a message of %s bytes, and %s%s has %s",
                 t->operation ? context_text(p->v->ctx, t->operation) : BODY(t), stmt_text(p->it, &t->s), u128_text(found, a), is,
                 stmt_text(p->it, s), u128_text(other, b));
    verify_note(p->v, s, "size", NULL, "its bytes on one rank");
}

/* The message is the value once consistent: the larger side of a gather or scatter. */
static void check_collective_sizes(struct plan *p, const struct portable_task *t)
{
    const struct interner *names = &p->v->ctx->names;
    u128 in = 0, out = 0, message = 0;
    atom operand = 0, result = 0;
    bool has_in = only_size(p, t->operands, &in, &operand), has_out = only_size(p, t->results, &out, &result);
    bool gathers = intern_is(names, t->operation, "all_gather"), scatters = intern_is(names, t->operation, "reduce_scatter");
    u128 large = gathers ? out : in, small = gathers ? in : out;
    if (has_in && has_out && (gathers || scatters ? large < small || large % small : in != out)) {
        char a[U128_DIGITS], b[U128_DIGITS];
        verify_error(p->v, &t->s, "results", value_text(p->it, result), "portable.collective.size", "%s of %s makes %s of %s bytes out of %s of %s",
                     context_text(p->v->ctx, t->operation), stmt_text(p->it, &t->s), value_text(p->it, result), u128_text(out, a),
                     value_text(p->it, operand), u128_text(in, b));
        verify_note_legal(p->v, gathers ? "a gathered buffer is a whole number of its parts"
                                        : scatters ? "a scattered buffer is cut into equal parts" : "both have one size");
        return;
    }
    if (!qty_value(p->v->ctx->exprs, t->work[PORTABLE_MESSAGE], &message) || !message || intern_is(names, t->operation, "all_to_all"))
        return;
    if (gathers ? has_out && message != out : has_in && message != in)
        wrong_size(p, t, gathers ? result : operand, gathers ? "its result " : "its operand ", message, gathers ? out : in);
}

static void check_sizes(struct plan *p, const struct portable_task *t)
{
    u128 in, message;
    atom operand;
    if (t->body == PORTABLE_COLLECTIVE && t->operation && portable_is_collective(p, t->operation))
        check_collective_sizes(p, t);
    if (t->body == PORTABLE_TRANSFER && only_size(p, t->operands, &in, &operand) &&
        qty_value(p->v->ctx->exprs, t->work[PORTABLE_MESSAGE], &message) && message > in)
        wrong_size(p, t, operand, "its operand ", message, in);
}

static void check_phase(struct plan *p, const struct portable_task *t)
{
    bool sends = t->body == PORTABLE_COLLECTIVE || t->body == PORTABLE_TRANSFER;
    bool wrong = sends ? t->phase == PORTABLE_RECOMPUTE : t->phase == PORTABLE_RECOMMUNICATION;
    if (!wrong)
        return;
    verify_error(p->v, &t->s, "phase", NULL, "portable.task.phase", "%s is a %s task, and `%s` repeats %s", stmt_text(p->it, &t->s), BODY(t),
                 portable_phase_enum.words[t->phase].text, sends ? "computation" : "communication");
    verify_note_legal(p->v, "what a %s task repeats is `%s`", BODY(t), sends ? "recommunication" : "recompute");
}

/* ---- Effects ---- */

static void check_effect(struct plan *p, const struct portable_task *t, u32 kind, u32 ref)
{
    u32 buffer;
    const char *word = effect_enum.words[kind].text;
    if (!ref_is_value(ref)) {
        if (item_symbol(p->it, ref_atom(ref))) {
            const char *name = symbol_text(p->it, ref_atom(ref));
            verify_error(p->v, &t->s, "effects", name, "portable.effect.place", "`%s` acts on a buffer, and %s is a %s", word, name,
                         stmt_entity(p->it, item_symbol(p->it, ref_atom(ref)))->keyword);
        }
        return;
    }
    if (!plan_buffer(p, ref_atom(ref), &buffer))
        return;
    const struct portable_buffer *b = p->buffers[buffer];
    bool writes = kind == EFFECT_WRITE || kind == EFFECT_UPDATE || kind == EFFECT_RANDOM;
    if (!writes || is_reusable(b))
        return;
    const char *name = stmt_text(p->it, &b->s), *role = portable_role_enum.words[b->role].text;
    verify_error(p->v, &t->s, "effects", name, "portable.effect.role", "`%s` changes %s, which is %s %s", word, name,
                 b->role == PORTABLE_INPUT || b->role == PORTABLE_OUTPUT ? "an" : "a", role);
    verify_note(p->v, &b->s, NULL, role, "only a state, workspace or communication buffer changes in place");
}

static void check_effects(struct plan *p, const struct portable_task *t)
{
    u32 n = list_n(p->it, t->more->effects);
    const u32 *at = list_at(p->it, t->more->effects);
    for (u32 i = 0; i + 1 < n; i += 2) {
        check_effect(p, t, at[i], at[i + 1]);
        for (u32 k = 0; k < i; k += 2)
            if (at[k] == at[i] && at[k + 1] == at[i + 1]) {
                const char *name = ref_is_value(at[i + 1]) ? value_text(p->it, ref_atom(at[i + 1])) : symbol_text(p->it, ref_atom(at[i + 1]));
                verify_error(p->v, &t->s, "effects", name, "portable.effect.duplicate", "`%s %s` stands twice", effect_enum.words[at[i]].text, name);
                break;
            }
    }
}

void portable_verify_tasks(struct plan *p)
{
    for (u32 i = 0; i < p->n_tasks; i++) {
        const struct portable_task *t = p->tasks[i];
        check_operation(p, t);
        check_over(p, t);
        check_ranks(p, t);
        check_endpoints(p, t);
        if (t->body == PORTABLE_BARRIER)
            check_barrier(p, t);
        check_message(p, t);
        check_sizes(p, t);
        check_phase(p, t);
        check_effects(p, t);
    }
}

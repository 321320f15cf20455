/*
 * Rules of commands against the tasks of the portable plan that they are from: each is done, on all of its ranks and on
 * no others, reads and writes what it does, and a transfer goes between its ends.
 */
#include "dialects/concrete/parent.h"

static const struct stmt *task_of(const struct plan *p, u32 command)
{
    const struct stmt *s = &p->commands[command]->s;
    const struct stmt *task = list_n(p->it, s->lineage) == 1 ? item_ref(p->parent, list_at(p->it, s->lineage)[0]) : NULL;
    return task && is_keyword(p->parent, task, "task") ? task : NULL;
}

/* A route's end is the device of the rank that the plan's transfer names. */
static void check_end(struct plan *p, u32 command, const struct stmt *task, const char *field, atom device)
{
    u64 rank = get(p->parent, task, field);
    u32 number;
    if (rank >= UINT32_MAX || !plan_find(p, CONCRETE_DEVICE, device, &number) || p->devices[number]->rank == rank)
        return;
    verify_error(p->v, &p->routes[p->route[command] - 1]->s, field, NULL, "concrete.route.parent",
                 "%s has rank %llu, and the transfer of %s has the %s %llu", stmt_text(p->it, &p->devices[number]->s),
                 (unsigned long long)p->devices[number]->rank, symbol_text(p->it, p->parent->name), field, (unsigned long long)rank);
    note_parent(p, task, field, "the transfer");
}

static void check_ends(struct plan *p)
{
    for (u32 i = 0; i < p->n_commands; i++) {
        const struct concrete_route *r = p->route[i] ? p->routes[p->route[i] - 1] : NULL;
        const struct stmt *task = r ? task_of(p, i) : NULL;
        if (!task)
            continue;
        check_end(p, i, task, "source", r->source);
        check_end(p, i, task, "destination", r->destination);
    }
}

/* ---- Ranks ---- */

/* Ranks of a task; of a transfer its ends. False: some have no device, which is told elsewhere. */
static bool ranks_of(struct plan *p, const struct stmt *task, u32 *set)
{
    u64 ends[] = { get(p->parent, task, "source"), get(p->parent, task, "destination") };
    u32 handle = (u32)get(p->parent, task, "ranks"), n = list_n(p->parent, handle) / 2, rank;
    struct rank_range *ranges = ARENA_ARRAY(&p->v->scratch, struct rank_range, n + (size_t)2);
    bool transfer = !strcmp(get_word(p->parent, task, "body"), "transfer") && ends[0] < UINT32_MAX && ends[1] < UINT32_MAX;
    if (!transfer && !handle) {
        *set = ALL_RANKS;
        return true;
    }
    for (u32 i = 0; i < n; i++)
        ranges[i] = (struct rank_range){ list_at(p->parent, handle)[2 * i], list_at(p->parent, handle)[2 * i + 1] };
    for (n = transfer ? 0 : n; transfer && n < 2; n++)
        ranges[n] = (struct rank_range){ (u32)ends[n], (u32)ends[n] };
    *set = rank_set_ranges(&p->ranks, ranges, n);
    return n && !rank_sets_differ(&p->ranks, *set, ALL_RANKS, &rank);
}

static bool works(const struct concrete_command *c)
{
    return c->body == CONCRETE_LAUNCH || c->body == CONCRETE_COLLECTIVE || c->body == CONCRETE_TRANSFER || c->body == CONCRETE_HOST_CALL;
}

/* A command that does one task, and the task's ranks. */
static void check_spare(struct plan *p, u32 command, const struct stmt *task, u32 set)
{
    const struct concrete_command *c = p->commands[command];
    const char *name = command_text(p, command), *source = stmt_text(p->parent, task);
    u32 rank;
    if (rank_sets_differ(&p->ranks, p->set[command], ALL_RANKS, &rank))
        return;
    if (rank_sets_differ(&p->ranks, p->set[command], set, &rank)) {
        verify_error(p->v, &c->s, "on", NULL, "concrete.rank.spare", "%s runs on rank %u, and %s of %s does not", name, rank, source,
                     symbol_text(p->it, p->parent->name));
        note_parent(p, task, "ranks", "the task");
    } else if (c->body == CONCRETE_COLLECTIVE && rank_sets_differ(&p->ranks, set, p->set[command], &rank)) {
        verify_error(p->v, &c->s, "on", NULL, "concrete.rank.apart", "%s is a collective without rank %u, with which %s of %s exchanges", name, rank,
                     source, symbol_text(p->it, p->parent->name));
        note_parent(p, task, "ranks", "the task");
    }
}

struct work {
    u32 *first, *commands;      /* by the atom of a task: its commands are commands[first[a]] to commands[first[a + 1] - 1] */
};

static void each_source(struct plan *p, void (*visit)(struct work *w, u32 atom, u32 command), struct work *w)
{
    for (u32 i = 0; i < p->n_commands; i++)
        for (u32 k = 0; works(p->commands[i]) && k < list_n(p->it, p->commands[i]->s.lineage); k++)
            if (!ref_is_value(list_at(p->it, p->commands[i]->s.lineage)[k]))
                visit(w, ref_atom(list_at(p->it, p->commands[i]->s.lineage)[k]), i);
}

static void count_command(struct work *w, u32 atom, u32 command)
{
    (void)command;
    w->first[atom + 2]++;
}

static void put_command(struct work *w, u32 atom, u32 command)
{
    w->commands[w->first[atom + 1]++] = command;
}

static void list_work(struct plan *p, struct work *w)
{
    u32 n = p->it->ctx->names.n;
    w->first = ARENA_ARRAY(&p->v->scratch, u32, n + (size_t)3);
    each_source(p, count_command, w);
    for (u32 i = 2; i < n + 2; i++)
        w->first[i] += w->first[i - 1];
    w->commands = ARENA_ARRAY(&p->v->scratch, u32, w->first[n + 1] + (size_t)1);
    each_source(p, put_command, w);
}

/* The ranks of N commands together. */
static u32 union_of(struct plan *p, const u32 *commands, u32 n)
{
    u32 ranges = 0;
    bool same = true;
    for (u32 i = 0; i < n; i++) {
        same = same && p->set[commands[i]] == p->set[commands[0]];
        ranges += p->ranks.sets[p->set[commands[i]]].n;
    }
    if (same)
        return p->set[commands[0]];
    struct rank_range *all = ARENA_ARRAY(&p->v->scratch, struct rank_range, ranges + (size_t)1);
    ranges = 0;
    for (u32 i = 0; i < n; i++)
        for (u32 k = 0; k < p->ranks.sets[p->set[commands[i]]].n; k++)
            all[ranges++] = p->ranks.sets[p->set[commands[i]]].ranges[k];
    return rank_set_ranges(&p->ranks, all, ranges);
}

static void check_ranks(struct plan *p, const struct stmt *task, const u32 *commands, u32 n, bool whole)
{
    u32 set, rank;
    bool apart = false;
    if (!ranks_of(p, task, &set))
        return;
    for (u32 i = 0; i < n; i++) {
        const struct concrete_command *c = p->commands[commands[i]];
        if (list_n(p->it, c->s.lineage) == 1)
            check_spare(p, commands[i], task, set);
        apart = apart || c->body == CONCRETE_COLLECTIVE;
    }
    if (!whole || apart || !rank_sets_differ(&p->ranks, set, union_of(p, commands, n), &rank))
        return;
    verify_error(p->v, &p->commands[commands[0]]->s, "on", NULL, "concrete.rank.lost", "%s of %s runs on rank %u, and no command here does it there",
                 stmt_text(p->parent, task), symbol_text(p->it, p->parent->name), rank);
    note_parent(p, task, "ranks", "the task");
}

/* ---- Accesses: a task's commands read and write what it reads and writes ---- */

struct holders {
    u32 *first, *next;      /* by the atom of a buffer, and by binding: number + 1 of a binding that holds it, or 0 */
    u8 *kind;               /* by binding: what the commands in work do to it */
};

static void list_holders(struct plan *p, struct holders *h)
{
    h->first = ARENA_ARRAY(&p->v->scratch, u32, p->it->ctx->names.n);
    h->next = ARENA_ARRAY(&p->v->scratch, u32, p->n_binds + (size_t)1);
    h->kind = ARENA_ARRAY(&p->v->scratch, u8, p->n_binds + (size_t)1);
    for (u32 i = 0; i < p->n_binds; i++) {
        const struct stmt *buffer = parent_buffer(p, i);
        if (!buffer)
            continue;
        h->next[i] = h->first[buffer->name];
        h->first[buffer->name] = i + 1;
    }
}

static void mark(struct plan *p, struct holders *h, atom name, u8 kind, bool on)
{
    u32 bind = p->bind_of[name];
    if (bind)
        h->kind[bind - 1] = on ? h->kind[bind - 1] | kind : 0;
}

/* What the commands do to each binding; or, with ON false, nothing again. */
static void mark_commands(struct plan *p, struct holders *h, const u32 *commands, u32 n, bool on)
{
    for (u32 i = 0; i < n; i++) {
        const struct concrete_command *c = p->commands[commands[i]];
        for (u32 k = 0; k < list_n(p->it, c->operands); k++)
            mark(p, h, list_at(p->it, c->operands)[k], ACCESS_READ, on);
        for (u32 k = 0; k < list_n(p->it, c->results); k++)
            mark(p, h, list_at(p->it, c->results)[k], ACCESS_WRITE, on);
        for (u32 k = 0; k + 1 < list_n(p->it, c->more->effects); k += 2)
            if (ref_is_value(list_at(p->it, c->more->effects)[k + 1]))
                mark(p, h, ref_atom(list_at(p->it, c->more->effects)[k + 1]), access_of_effect(list_at(p->it, c->more->effects)[k]), on);
    }
}

static void check_access(struct plan *p, const struct holders *h, const struct stmt *task, u32 command, atom buffer, u8 kind)
{
    u8 found = 0;
    for (u32 b = h->first[buffer]; b; b = h->next[b - 1])
        found |= h->kind[b - 1];
    if (!h->first[buffer] || !(kind & ~found))
        return;             /* one without a place is told elsewhere */
    verify_error(p->v, &p->commands[command]->s, NULL, NULL, "concrete.command.access", "%s of %s %s %s, and no command that does it does so",
                 stmt_text(p->parent, task), symbol_text(p->it, p->parent->name), kind & ~found & ACCESS_WRITE ? "writes" : "reads",
                 value_text(p->parent, buffer));
    note_parent(p, task, NULL, "the task");
    verify_note_legal(p->v, "name its binding among the operands, results or effects of %s", command_text(p, command));
}

/* What a command does for several tasks may stay inside it: of these nothing is asked. */
static void check_accesses(struct plan *p, struct holders *h, const struct stmt *task, const u32 *commands, u32 n)
{
    u32 operands = (u32)get(p->parent, task, "operands"), results = (u32)get(p->parent, task, "results"), effects = (u32)get(p->parent, task, "effects");
    for (u32 i = 0; i < n; i++)
        if (list_n(p->it, p->commands[commands[i]]->s.lineage) != 1)
            return;
    mark_commands(p, h, commands, n, true);
    for (u32 i = 0; i < list_n(p->parent, operands); i++)
        check_access(p, h, task, commands[0], list_at(p->parent, operands)[i], ACCESS_READ);
    for (u32 i = 0; i < list_n(p->parent, results); i++)
        check_access(p, h, task, commands[0], list_at(p->parent, results)[i], ACCESS_WRITE);
    for (u32 i = 0; i + 1 < list_n(p->parent, effects); i += 2)
        if (ref_is_value(list_at(p->parent, effects)[i + 1]))
            check_access(p, h, task, commands[0], ref_atom(list_at(p->parent, effects)[i + 1]), access_of_effect(list_at(p->parent, effects)[i]));
    mark_commands(p, h, commands, n, false);
}

/* ---- Coverage ---- */

static void tell_lost(struct plan *p, const struct stmt *task)
{
    const char *parent = symbol_text(p->it, p->parent->name), *name = stmt_text(p->parent, task);
    verify_error(p->v, NULL, NULL, parent, "concrete.command.lost", "%s has a task %s, which no command here does", parent, name);
    note_parent(p, task, NULL, "the task");
    verify_note_legal(p->v, "add a `command` that is `from %s`", name);
}

/* Every command says what it does: what no command does is lost. */
static bool all_say(const struct plan *p)
{
    for (u32 i = 0; i < p->n_commands; i++)
        if (p->commands[i]->s.lineage_kind == LINEAGE_NONE)
            return false;
    return true;
}

/* A barrier only orders: it needs no command. */
void concrete_verify_tasks(struct plan *p)
{
    struct work w;
    struct holders h;
    bool whole = all_say(p);
    check_ends(p);
    list_work(p, &w);
    list_holders(p, &h);
    for (u32 i = 0; i < p->parent->n_stmts; i++) {
        const struct stmt *s = p->parent->stmts[i];
        if (!is_keyword(p->parent, s, "task") || !strcmp(get_word(p->parent, s, "body"), "barrier"))
            continue;
        u32 first = w.first[s->name], n = w.first[s->name + 1] - first;
        if (n)
            check_ranks(p, s, w.commands + first, n, whole);
        else if (whole)
            tell_lost(p, s);
        if (n && whole)
            check_accesses(p, &h, s, w.commands + first, n);
    }
}

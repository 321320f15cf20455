/*
 * resource-projection: what is required is the work seen as resources, and nothing of it is lost:
 *     compute = F, memory = R + W, network = M
 * for the work (F, R, W, M) of each task. Where a `require` of a portable plan says otherwise, it is held against that; in a
 * concrete plan each of the resources that a source task has is used by a command that is from it.
 */
#include "conformance/checker.h"
#include "conformance/mesh.h"

#include "dialects/concrete/concrete.h"
#include "dialects/portable/portable.h"

enum { COMPUTE, MEMORY, NETWORK, CAPACITY, PROJECTIONS };

static const struct {
    const char *word, *formula, *code;
} projections[PROJECTIONS] = {
    { "compute", "operations", "check.resource_projection.compute" },
    { "memory_bandwidth", "read + write", "check.resource_projection.memory" },
    { "network", "message", "check.resource_projection.network" },
    { "memory_capacity", "temporary + persistent", "check.resource_projection.capacity" },
};

static int projection_of(u32 resource)
{
    switch (resource) {
    case RESOURCE_COMPUTE: return COMPUTE;
    case RESOURCE_MEMORY_BANDWIDTH: return MEMORY;
    case RESOURCE_NETWORK: return NETWORK;
    case RESOURCE_MEMORY_CAPACITY: return CAPACITY;
    default: return -1;         /* storage, host and synchronization are no projections of the work */
    }
}

static bool overflows(struct check *c, const struct stmt *s, enum expr_status status)
{
    return verify_error(&c->v, s, s ? "work" : NULL, NULL, "check.quantity", "a sum %s", expr_status_text(status));
}

/* Of one rank: both summands are facts of the work; the second is 0 where there is one. */
static bool project(struct check *c, const struct portable_task *t, int which, qty *out)
{
    static const u8 facts[PROJECTIONS][2] = {
        { PORTABLE_OPERATIONS, PORTABLE_WORK }, { PORTABLE_READ, PORTABLE_WRITE },
        { PORTABLE_MESSAGE, PORTABLE_WORK }, { PORTABLE_TEMPORARY, PORTABLE_PERSISTENT_BYTES },
    };
    qty b = facts[which][1] < PORTABLE_WORK ? t->work[facts[which][1]] : 0;
    enum expr_status status = qty_add(c->v.ctx->exprs, t->work[facts[which][0]], b, out);
    return status == EXPR_OK || overflows(c, &t->s, status);
}

/* ---- Portable ---- */

struct portable_run {
    struct check *check;
    const struct item *it;
    u32 axes;                   /* of the mesh, 0: it has none */
    u64 mesh;                   /* its ranks; 0: not known */
    qty sums[PROJECTIONS];
    u32 tasks, written, shared, ungrouped;
};

static u32 plan_axes(const struct item *it)
{
    for (u32 i = 0; i < it->n_stmts; i++)
        if (it->stmts[i]->entity == PORTABLE_MESH)
            return ((const struct portable_mesh *)it->stmts[i])->axes;
    return 0;
}

/*
 * What the task needs once, of all ranks together: each rank its share. A transfer's message is its own, a collective's one for
 * each group. 0: not known.
 */
static u64 per_task(const struct portable_run *r, const struct portable_task *t, int which)
{
    u64 ranks = ranks_count(r->it, t->ranks, r->mesh);
    if (t->body == PORTABLE_TRANSFER)
        return 1;
    if (t->body != PORTABLE_COLLECTIVE || which != NETWORK)
        return ranks;
    return !t->over ? 1 : r->mesh ? ranks / mesh_group(r->it, r->axes, t->over) : 0;
}

static bool refuse_require(struct portable_run *r, const struct portable_task *t, int which, u8 scope, qty have, qty want)
{
    struct check *c = r->check;
    const struct context *ctx = c->v.ctx;
    const char *word = projections[which].word;
    verify_error(&c->v, &t->s, "require", word, projections[which].code, "%s requires %s of `%s`%s%s, and its work is %s = %s",
                 stmt_text(r->it, &t->s), qty_text(ctx, have), word, scope == SCOPE_PER_RANK ? "" : " ",
                 scope == SCOPE_PER_RANK ? "" : scope_enum.words[scope].text, projections[which].formula, qty_text(ctx, want));
    verify_note_legal(&c->v, which == CAPACITY ? "at least that much is taken" : "leave it out: the work says it");
    return false;
}

static bool check_requirement(struct portable_run *r, const struct portable_task *t, const u32 *at)
{
    int which = projection_of(at[0]);
    struct exprs *x = r->check->v.ctx->exprs;
    qty have = pair_get(at + 2), want;
    u64 times = 1;
    u128 a, b;
    if (which < 0 || !project(r->check, t, which, &want))
        return which < 0;
    if (at[1] == SCOPE_SHARED) {
        r->shared++;
        return true;
    }
    if (at[1] == SCOPE_PER_TASK)
        times = per_task(r, t, which);
    if (!times) {
        r->ungrouped++;
        return true;
    }
    enum expr_status status = qty_mul(x, want, times, &want);
    if (status != EXPR_OK)
        return overflows(r->check, &t->s, status);
    r->written++;
    bool more = which == CAPACITY && qty_value(x, have, &a) && qty_value(x, want, &b) && a >= b;
    bool open = which == CAPACITY && !(qty_is_small(have) && qty_is_small(want));       /* symbols: not comparable */
    return have == want || more || open || refuse_require(r, t, which, (u8)at[1], have, want);
}

static bool check_task(struct portable_run *r, const struct portable_task *t)
{
    bool good = true;
    for (int i = 0; i < PROJECTIONS; i++) {
        qty q;
        if (!project(r->check, t, i, &q))
            return false;
        enum expr_status status = qty_add(r->check->v.ctx->exprs, r->sums[i], q, &r->sums[i]);
        if (status != EXPR_OK)
            return overflows(r->check, &t->s, status);
    }
    for (u32 i = 0; i + 3 < list_n(r->it, t->more->require); i += 4)
        good = check_requirement(r, t, list_at(r->it, t->more->require) + i) && good;
    r->tasks++;
    return good;
}

static bool run_portable(struct check *c)
{
    const struct context *ctx = c->v.ctx;
    struct portable_run r = { .check = c, .it = c->v.item, .axes = plan_axes(c->v.item) };
    r.mesh = r.axes ? mesh_ranks(r.it, r.axes) : 0;
    bool good = true;
    for (u32 i = 0; i < r.it->n_stmts; i++)
        if (r.it->stmts[i]->entity == PORTABLE_TASK)
            good = check_task(&r, (const struct portable_task *)r.it->stmts[i]) && good;
    if (!good)
        return false;
    check_proved(c, "%u tasks, %u requirements written, of a rank: compute = operations = %s, memory = read + write = %s, network = message = %s",
                 r.tasks, r.written, qty_text(ctx, r.sums[COMPUTE]), qty_text(ctx, r.sums[MEMORY]), qty_text(ctx, r.sums[NETWORK]));
    if (r.shared)
        check_skipped(c, "requirements that are shared: %u; of a pool that several tasks draw on, no task's work says the size", r.shared);
    if (r.ungrouped)
        check_skipped(c, "requirements that are per_task: %u; the plan has no mesh, and does not say how many ranks or groups take part", r.ungrouped);
    return true;
}

/* ---- Concrete ---- */

enum { RUNS = 1, MOVES = 2 };       /* what commands from a task do */

static u8 ability(u8 body)
{
    switch (body) {
    case CONCRETE_LAUNCH:
    case CONCRETE_HOST_CALL: return RUNS;
    case CONCRETE_COLLECTIVE: return RUNS | MOVES;
    case CONCRETE_TRANSFER: return MOVES;
    default: return 0;
    }
}

/* By atom of the source: what the commands that are from it do. */
static u8 *abilities(struct check *c)
{
    const struct item *it = c->v.item;
    u8 *of = ARENA_ARRAY(&c->v.scratch, u8, c->v.ctx->names.n);
    for (u32 i = 0; i < it->n_stmts; i++) {
        const struct concrete_command *command = (const struct concrete_command *)it->stmts[i];
        if (command->s.entity != CONCRETE_COMMAND)
            continue;
        for (u32 k = 0; k < list_n(it, command->s.lineage); k++)
            of[ref_atom(list_at(it, command->s.lineage)[k])] |= ability(command->body);
    }
    return of;
}

static bool refuse_source(struct check *c, const struct item *plan, const struct portable_task *t, qty amount, const char *fact, const char *need)
{
    verify_error(&c->v, NULL, NULL, NULL, "check.resource_projection.command", "%s of %s has %s %s, and no %s is from it", stmt_text(plan, &t->s),
                 symbol_text(plan, plan->name), fact, qty_text(c->v.ctx, amount), need);
    if (c->v.ctx->locate)
        diag_note(c->v.ctx->diags, c->v.ctx->locate(plan, &t->s, NULL, NULL), "the task is here");
    return false;
}

static bool refuse_command(struct check *c, const struct concrete_command *command)
{
    return verify_error(&c->v, &command->s, NULL, NULL, "check.resource_projection.command", "%s moves a message, and none of its sources has one",
                        stmt_text(c->v.item, &command->s));
}

/* A collective or transfer is from a task with a message. */
static bool check_command(struct check *c, const struct item *plan, const struct concrete_command *command)
{
    const struct item *it = c->v.item;
    if (!(ability(command->body) & MOVES) || !list_n(it, command->s.lineage))
        return true;
    for (u32 k = 0; k < list_n(it, command->s.lineage); k++) {
        const struct stmt *s = item_ref(plan, list_at(it, command->s.lineage)[k]);
        if (s && s->entity == PORTABLE_TASK && ((const struct portable_task *)s)->work[PORTABLE_MESSAGE])
            return true;
    }
    return refuse_command(c, command);
}

static bool check_source_task(struct check *c, const struct item *plan, const struct portable_task *t, u8 have)
{
    qty message = t->work[PORTABLE_MESSAGE], operations = t->work[PORTABLE_OPERATIONS];
    bool good = true;
    if (message && !(have & MOVES))
        good = refuse_source(c, plan, t, message, "message", "collective or transfer");
    if (operations && !(have & RUNS))
        good = refuse_source(c, plan, t, operations, "operations", "launch, collective or host_call");
    return good;
}

static bool run_concrete(struct check *c)
{
    const struct item *it = c->v.item, *plan = check_source(c, it, LAYER_PORTABLE);
    u32 tasks = 0, commands = 0;
    bool good = true;
    if (!plan || plan->name != it->header.parent.item) {
        check_skipped(c, "its portable plan is not in the file, and commands have no work of their own");
        return true;
    }
    const u8 *have = abilities(c);
    for (u32 i = 0; i < plan->n_stmts; i++)
        if (plan->stmts[i]->entity == PORTABLE_TASK) {
            good = check_source_task(c, plan, (const struct portable_task *)plan->stmts[i], have[plan->stmts[i]->name]) && good;
            tasks++;
        }
    for (u32 i = 0; i < it->n_stmts; i++)
        if (it->stmts[i]->entity == CONCRETE_COMMAND) {
            good = check_command(c, plan, (const struct concrete_command *)it->stmts[i]) && good;
            commands++;
        }
    if (good)
        check_proved(c, "%u tasks of %s, %u commands: each message has a collective or transfer, all operations a launch, collective or host_call",
                     tasks, symbol_text(plan, plan->name), commands);
    return good;
}

static bool run(struct check *c)
{
    return c->v.item->kind->layer == LAYER_PORTABLE ? run_portable(c) : run_concrete(c);
}

const struct checker resource_projection = {
    .name = "resource-projection",
    .layers = IN(LAYER_PORTABLE) | IN(LAYER_CONCRETE),
    .run = run,
    .doc = "Compute is operations, memory is read + write, network is message, in what tasks require and commands use.",
};

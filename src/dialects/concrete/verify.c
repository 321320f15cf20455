/* Rules of concrete that the schema can't say: of the plan as a whole. The others are in verify_<theme>.c. */
#include "dialects/concrete/verify.h"
#include "support/quantity.h"

static void allot(struct plan *p)
{
    struct arena *a = &p->v->scratch;
    size_t n[CONCRETE_ENTITIES] = { 0 }, atoms = p->it->ctx->names.n;
    for (u32 i = 0; i < p->it->n_stmts; i++)
        n[p->it->stmts[i]->entity]++;
    p->devices = ARENA_ARRAY(a, const struct concrete_device *, n[CONCRETE_DEVICE]);
    p->memories = ARENA_ARRAY(a, const struct concrete_memory *, n[CONCRETE_MEMORY]);
    p->queues = ARENA_ARRAY(a, const struct concrete_queue *, n[CONCRETE_QUEUE]);
    p->binds = ARENA_ARRAY(a, const struct concrete_bind *, n[CONCRETE_BIND]);
    p->commands = ARENA_ARRAY(a, const struct concrete_command *, n[CONCRETE_COMMAND]);
    p->issues = ARENA_ARRAY(a, const struct concrete_issue *, n[CONCRETE_ISSUE]);
    p->routes = ARENA_ARRAY(a, const struct concrete_route *, n[CONCRETE_ROUTE]);
    p->number = ARENA_ARRAY(a, u32, atoms);
    p->bind_of = ARENA_ARRAY(a, u32, atoms);
    p->signaller = ARENA_ARRAY(a, u32, atoms);
    p->set = ARENA_ARRAY(a, u32, n[CONCRETE_COMMAND]);
    p->route = ARENA_ARRAY(a, u32, n[CONCRETE_COMMAND]);
    p->previous = ARENA_ARRAY(a, u32, n[CONCRETE_COMMAND]);
}

static void gather_stmt(struct plan *p, const struct stmt *s)
{
    switch ((enum concrete_entity)s->entity) {
    case CONCRETE_DEVICE: p->devices[p->number[s->name] = p->n_devices++] = (const void *)s; break;
    case CONCRETE_MEMORY: p->memories[p->number[s->name] = p->n_memories++] = (const void *)s; break;
    case CONCRETE_QUEUE: p->queues[p->number[s->name] = p->n_queues++] = (const void *)s; break;
    case CONCRETE_COMMAND: p->commands[p->number[s->name] = p->n_commands++] = (const void *)s; break;
    case CONCRETE_ISSUE: p->issues[p->n_issues++] = (const void *)s; break;
    case CONCRETE_ROUTE: p->routes[p->n_routes++] = (const void *)s; break;
    case CONCRETE_MESH: p->mesh = p->mesh ? p->mesh : (const void *)s; break;
    case CONCRETE_ORDER: p->serial = true; break;
    case CONCRETE_BIND:
        p->binds[p->n_binds++] = (const void *)s;
        p->bind_of[s->name] = p->n_binds;
        break;
    case CONCRETE_SYMBOL:
    case CONCRETE_LIBRARY:
    case CONCRETE_ENTITIES: break;
    }
}

static void gather_ranks(struct plan *p)
{
    struct rank_range *all = ARENA_ARRAY(&p->v->scratch, struct rank_range, p->n_devices + 1);
    for (u32 i = 0; i < p->n_devices; i++)
        all[i].first = all[i].last = p->devices[i]->rank < UINT32_MAX ? (u32)p->devices[i]->rank : UINT32_MAX - 1;
    rank_sets_init(&p->ranks, &p->v->scratch, p->it, all, p->n_devices);
    for (u32 i = 0; i < p->n_commands; i++)
        p->set[i] = rank_set_of(&p->ranks, p->commands[i]->on);
}

static void gather(struct plan *p)
{
    const struct item *parent = p->v->module && p->it->header.parent.item ? module_find(p->v->module, p->it->header.parent.item) : NULL;
    p->parent = parent && parent->kind->layer == LAYER_PORTABLE && !parent->damaged ? parent : NULL;
    allot(p);
    for (u32 i = 0; i < p->it->n_stmts; i++)
        gather_stmt(p, p->it->stmts[i]);
    gather_ranks(p);
    for (u32 i = 0; i < p->n_commands && !p->slots; i++)
        p->slots = p->commands[i]->cycle != UINT64_MAX || p->commands[i]->slot != UINT64_MAX;
}

static bool check_empty(struct plan *p)
{
    if (p->n_devices && p->n_commands)
        return false;
    verify_error(p->v, NULL, NULL, NULL, "concrete.plan.empty", "%s has no %s", symbol_text(p->it, p->it->name),
                 p->n_devices ? "command" : p->n_commands ? "device" : "device and no command");
    verify_note_legal(p->v, "a plan runs commands on devices: add %s", p->n_devices ? "a `command`" : p->n_commands ? "a `device`" : "both");
    return true;
}

void concrete_verify_ranks(struct plan *p, const struct stmt *s, u32 on)
{
    u32 rank;
    char text[24];
    if (!on)
        return;
    if (list_n(p->it, on) == 0) {
        p->disorder = true;
        verify_error(p->v, s, "on", NULL, "concrete.rank.empty", "%s is on no rank", stmt_text(p->it, s));
        verify_note_legal(p->v, "leave `on` out to mean all ranks, or name at least one");
        return;
    }
    if (ranks_repeat(p->it, on, &p->v->scratch, &rank))
        verify_error(p->v, s, "on", NULL, "concrete.rank.twice", "rank %u stands twice in `on`", rank);
    if (!p->n_devices || !rank_sets_differ(&p->ranks, rank_set_of(&p->ranks, on), ALL_RANKS, &rank))
        return;
    p->disorder = true;
    text[u128_digits(rank, text)] = '\0';
    verify_error(p->v, s, "on", text, "concrete.rank.unknown", "%s is on rank %u, which has no device", stmt_text(p->it, s), rank);
    verify_note_legal(p->v, "add `device @d%u rank %u name \"…\"`, or name ranks that have one", rank, rank);
}

void concrete_verify(struct verifier *v)
{
    struct plan p = { .v = v, .it = v->item };
    gather(&p);
    if (check_empty(&p))
        return;
    concrete_verify_place(&p);
    concrete_verify_mesh(&p);
    concrete_verify_routes(&p);
    concrete_verify_chain(&p);
    concrete_verify_commands(&p);
    concrete_verify_tokens(&p);
    concrete_verify_queues(&p);
    if (!concrete_verify_order(&p) || p.disorder)
        return;
    concrete_verify_hazards(&p);
    concrete_verify_overlap(&p);
}

/* Rules of routes: the way of each transfer. A plan with slots routes every transfer; another may. */
#include "dialects/concrete/verify.h"

u32 plan_end(struct plan *p, u32 command, bool source)
{
    const struct concrete_route *r = p->route[command] ? p->routes[p->route[command] - 1] : NULL;
    u32 device;
    if (!r || !plan_find(p, CONCRETE_DEVICE, source ? r->source : r->destination, &device) || p->devices[device]->rank >= UINT32_MAX)
        return p->set[command];
    return rank_set_one(&p->ranks, (u32)p->devices[device]->rank);
}

static void check_endpoint(struct plan *p, const struct concrete_route *r, atom name, const char *field, u32 command, u32 *device)
{
    const struct stmt *to = item_symbol(p->it, name);
    if (!plan_find(p, CONCRETE_DEVICE, name, device)) {
        if (to)
            verify_error(p->v, &r->s, field, NULL, "concrete.route.endpoint", "%s is a %s, and no device", stmt_text(p->it, to),
                         stmt_entity(p->it, to)->keyword);
        *device = UINT32_MAX;
        return;
    }
    u64 rank = p->devices[*device]->rank;
    if (rank >= UINT32_MAX || rank_set_has(&p->ranks, p->set[command], (u32)rank))
        return;
    verify_error(p->v, &r->s, field, NULL, "concrete.route.rank", "%s has rank %llu, and %s does not run there", stmt_text(p->it, to),
                 (unsigned long long)rank, command_text(p, command));
    verify_note(p->v, &p->commands[command]->s, "on", NULL, "the transfer's ranks are here");
}

static void check_route(struct plan *p, u32 route)
{
    const struct concrete_route *r = p->routes[route];
    const struct stmt *to = item_symbol(p->it, r->command);
    u32 command, source, destination;
    if (!to)
        return;
    const char *name = stmt_text(p->it, to);
    if (!plan_find(p, CONCRETE_COMMAND, r->command, &command) || p->commands[command]->body != CONCRETE_TRANSFER) {
        const char *is = to->entity == CONCRETE_COMMAND ? concrete_body_enum.words[((const struct concrete_command *)to)->body].text
                                                        : stmt_entity(p->it, to)->keyword;
        verify_error(p->v, &r->s, NULL, name, "concrete.route.command", "%s is a %s, and only transfers are routed", name, is);
        return;
    }
    if (p->route[command]) {
        verify_error(p->v, &r->s, NULL, name, "concrete.route.twice", "%s is routed twice", name);
        verify_note(p->v, &p->routes[p->route[command] - 1]->s, NULL, name, "the first route is here");
        return;
    }
    p->route[command] = route + 1;
    check_endpoint(p, r, r->source, "source", command, &source);
    check_endpoint(p, r, r->destination, "destination", command, &destination);
    if (source != destination || source == UINT32_MAX)
        return;
    verify_error(p->v, &r->s, "destination", NULL, "concrete.route.same", "%s goes from %s to itself", name, stmt_text(p->it, &p->devices[source]->s));
}

void concrete_verify_routes(struct plan *p)
{
    for (u32 i = 0; i < p->n_routes; i++)
        check_route(p, i);
    for (u32 i = 0; i < p->n_commands && p->slots; i++) {
        if (p->commands[i]->body != CONCRETE_TRANSFER || p->route[i])
            continue;
        verify_error(p->v, &p->commands[i]->s, NULL, NULL, "concrete.route.missing", "%s is a transfer with a slot, and has no route", command_text(p, i));
        verify_note_legal(p->v, "add `route %s source @… destination @… channel …`", command_text(p, i));
    }
}

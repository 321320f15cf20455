/*
 * Random concrete plans: what the verifier says of hazards and of bindings that share bytes is compared with what is found
 * by looking at every pair of commands and of bindings, on every rank.
 */
#include "attempt.h"

#include "support/out.h"

#include <check.h>
#include <stdlib.h>

enum { COMMANDS = 9, BINDS = 6, RANKS = 3, SLOTS = 4 };

struct random {
    u64 state;
};

static u32 next(struct random *r, u32 below)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (u32)(r->state >> 33) % below;
}

struct plan {
    u32 offset[BINDS], size[BINDS];                 /* in units of 16 bytes */
    u32 lives[BINDS];                               /* 0 inferred, 1 used, 2 always */
    bool reads[COMMANDS][BINDS], writes[COMMANDS][BINDS], on[COMMANDS][RANKS];
    bool edge[COMMANDS][COMMANDS], before[COMMANDS][COMMANDS];
    bool serial;
};

static void make(struct plan *p, struct random *r)
{
    memset(p, 0, sizeof *p);
    p->serial = next(r, 4) == 0;
    bool split = next(r, 2);
    for (u32 b = 0; b < BINDS; b++) {
        p->offset[b] = next(r, SLOTS) + (next(r, 2) ? 0 : SLOTS * b);
        p->size[b] = 1 + next(r, 2);
        p->lives[b] = next(r, 6) < 4 ? 0 : 1 + next(r, 2);
    }
    for (u32 c = 0; c < COMMANDS; c++) {
        p->writes[c][next(r, BINDS)] = true;
        for (u32 n = next(r, 3); n; n--)
            p->reads[c][next(r, BINDS)] = true;
        u32 ranks = split ? 1 + next(r, (1 << RANKS) - 1) : (1 << RANKS) - 1;
        for (u32 k = 0; k < RANKS; k++)
            p->on[c][k] = ranks >> k & 1;
        for (u32 a = 0; a < c; a++)
            p->edge[a][c] = next(r, 3) == 0 || (a + 1 == c && next(r, 3) > 0);
    }
}

static void out_list(struct out *o, const char *lead, const bool *in, u32 n, const char *each, const char *end)
{
    bool any = false;
    for (u32 i = 0; i < n; i++)
        if (in[i]) {
            out_printf(o, "%s%s%u", any ? ", " : lead, each, i);
            any = true;
        }
    out_string(o, any ? end : "");
}

static void out_plan(struct out *o, const struct plan *p)
{
    static const char *const lives[] = { "", " lives used", " lives always" };
    out_string(o, "concrete.plan @p schema 1.0 {\n");
    for (u32 k = 0; k < RANKS; k++)
        out_printf(o, "  device @d%u rank %u name \"%u\"\n", k, k, k);
    out_printf(o, "  memory @m space local capacity 4096\n%s", p->serial ? "  order serial\n" : "");
    for (u32 b = 0; b < BINDS; b++)
        out_printf(o, "  bind %%b%u in @m offset %u size %u%s\n", b, 16 * p->offset[b], 16 * p->size[b], lives[p->lives[b]]);
    for (u32 c = 0; c < COMMANDS; c++) {
        bool after[COMMANDS];
        for (u32 a = 0; a < COMMANDS; a++)
            after[a] = p->edge[a][c];
        out_printf(o, "  command @c%u launch anything", c);
        out_list(o, "(", p->reads[c], BINDS, "%b", ")");
        bool none = true;
        for (u32 b = 0; b < BINDS; b++)
            none = none && !p->reads[c][b];
        out_string(o, none ? "()" : "");
        out_list(o, " -> (", p->writes[c], BINDS, "%b", ")");
        out_list(o, " on [", p->on[c], RANKS, "", "]");
        out_list(o, " after (", after, COMMANDS, "@c", ")");
        out_char(o, '\n');
    }
    out_string(o, "}\n");
}

static void close_order(struct plan *p)
{
    for (u32 a = 0; a < COMMANDS; a++)
        for (u32 b = 0; b < COMMANDS; b++)
            p->before[a][b] = p->edge[a][b] || (p->serial && a < b);
    for (u32 k = 0; k < COMMANDS; k++)
        for (u32 a = 0; a < COMMANDS; a++)
            for (u32 b = 0; b < COMMANDS; b++)
                p->before[a][b] = p->before[a][b] || (p->before[a][k] && p->before[k][b]);
}

static bool touches(const struct plan *p, u32 c, u32 b, u32 rank)
{
    return p->on[c][rank] && (p->reads[c][b] || p->writes[c][b]);
}

static bool has_hazard(const struct plan *p)
{
    for (u32 a = 0; a < COMMANDS; a++)
        for (u32 c = a + 1; c < COMMANDS; c++)
            for (u32 b = 0; b < BINDS; b++)
                for (u32 k = 0; k < RANKS; k++)
                    if (touches(p, a, b, k) && touches(p, c, b, k) && (p->writes[a][b] || p->writes[c][b]) && !p->before[a][c])
                        return true;
    return false;
}

static bool is_written(const struct plan *p, u32 b)
{
    for (u32 c = 0; c < COMMANDS; c++)
        if (p->writes[c][b])
            return true;
    return false;
}

/* There are no hazards, so that all writes on a rank are in order. The first one, or COMMANDS. */
static u32 first_writer(const struct plan *p, u32 b, u32 rank)
{
    u32 first = COMMANDS;
    for (u32 c = 0; c < COMMANDS; c++)
        if (p->on[c][rank] && p->writes[c][b] && (first == COMMANDS || p->before[c][first]))
            first = c;
    return first;
}

/* Held from the start: said so, or never written, or changed in place by the first who writes it. */
static bool is_full(const struct plan *p, u32 b, u32 rank)
{
    u32 writer = first_writer(p, b, rank);
    if (p->lives[b])
        return p->lives[b] == 2;
    return !is_written(p, b) || (writer < COMMANDS && p->reads[writer][b]);
}

static bool has_unwritten(const struct plan *p)
{
    for (u32 b = 0; b < BINDS; b++)
        for (u32 k = 0; k < RANKS; k++) {
            u32 writer = first_writer(p, b, k);
            for (u32 c = 0; c < COMMANDS; c++)
                if (p->on[c][k] && p->reads[c][b] && !is_full(p, b, k) && (writer == COMMANDS || !p->before[writer][c]))
                    return true;
        }
    return false;
}

/* A use of X on a rank: every command that touches it. All of X's come before all of Y's. */
static bool is_over(const struct plan *p, u32 x, u32 y, u32 rank)
{
    for (u32 a = 0; a < COMMANDS; a++)
        for (u32 c = 0; c < COMMANDS; c++)
            if (touches(p, a, x, rank) && touches(p, c, y, rank) && !p->before[a][c])
                return false;
    return true;
}

static bool is_used(const struct plan *p, u32 b, u32 rank)
{
    bool anywhere = false;
    for (u32 c = 0; c < COMMANDS; c++)
        for (u32 k = 0; k < RANKS; k++) {
            anywhere = anywhere || touches(p, c, b, k);
            if (k == rank && touches(p, c, b, k))
                return true;
        }
    return !anywhere || p->lives[b] == 2;
}

static bool from_start(const struct plan *p, u32 b, u32 rank)
{
    bool named = false;
    for (u32 c = 0; c < COMMANDS; c++)
        named = named || touches(p, c, b, rank);
    return !named || is_full(p, b, rank);
}

/* Something writes it after everything else: then its bytes are wanted at the end. */
static bool to_end(const struct plan *p, u32 b, u32 rank)
{
    bool named = false;
    if (p->lives[b] == 2)
        return true;
    for (u32 c = 0; c < COMMANDS; c++) {
        bool last = p->on[c][rank] && p->writes[c][b];
        named = named || touches(p, c, b, rank);
        for (u32 d = 0; d < COMMANDS && last; d++)
            last = c == d || !touches(p, d, b, rank) || p->before[d][c];
        if (last)
            return p->lives[b] != 1;
    }
    return !named;
}

static bool has_overlap(const struct plan *p)
{
    for (u32 x = 0; x < BINDS; x++)
        for (u32 y = x + 1; y < BINDS; y++)
            for (u32 k = 0; k < RANKS; k++) {
                if (p->offset[x] + p->size[x] <= p->offset[y] || p->offset[y] + p->size[y] <= p->offset[x])
                    continue;
                if (!is_used(p, x, k) || !is_used(p, y, k))
                    continue;
                bool x_first = !to_end(p, x, k) && !from_start(p, y, k) && is_over(p, x, y, k);
                bool y_first = !to_end(p, y, k) && !from_start(p, x, k) && is_over(p, y, x, k);
                if (!x_first && !y_first)
                    return true;
            }
    return false;
}

static u32 count(const struct attempt *a, const char *code)
{
    u32 n = 0;
    for (const struct diag *d = a->diags.first; d; d = d->next)
        n += !strncmp(d->code, code, strlen(code));
    return n;
}

/* Plans with hazards are common, legal ones are not: many are tried, and each kind must occur. */
START_TEST(hazards_and_overlaps_are_found_where_they_are)
{
    struct random r = { 0xc0ffee + (u64)_i };
    u32 hazards = 0, unwritten = 0, overlaps = 0, legal = 0;
    for (int i = 0; i < 4000; i++) {
        struct plan p;
        struct attempt a;
        struct out o;
        out_memory(&o);
        make(&p, &r);
        out_plan(&o, &p);
        close_order(&p);
        attempt_begin(&a, o.data, o.n);
        ck_assert_msg(a.parsed, "%.*s", (int)o.n, o.data);
        bool hazard = has_hazard(&p), stale = !hazard && has_unwritten(&p), overlap = !hazard && !stale && has_overlap(&p);
        ck_assert_msg(hazard == (count(&a, "concrete.hazard.") > 0), "hazard %d:\n%.*s", hazard, (int)o.n, o.data);
        if (!hazard)
            ck_assert_msg(stale == (count(&a, "concrete.use.unwritten") > 0), "unwritten %d:\n%.*s", stale, (int)o.n, o.data);
        if (!hazard && !stale) {
            ck_assert_msg(overlap == (count(&a, "concrete.bind.overlap") > 0), "overlap %d:\n%.*s", overlap, (int)o.n, o.data);
            ck_assert_msg(a.verified == !overlap, "overlap %d, verified %d:\n%.*s", overlap, a.verified, (int)o.n, o.data);
        }
        hazards += hazard;
        unwritten += stale;
        overlaps += overlap;
        legal += !hazard && !stale && !overlap;
        attempt_end(&a);
        out_free(&o);
    }
    ck_assert_uint_gt(hazards, 10);
    ck_assert_uint_gt(unwritten, 10);
    ck_assert_uint_gt(overlaps, 10);
    ck_assert_uint_gt(legal, 10);
}
END_TEST

Suite *concrete_suite(void)
{
    Suite *s = suite_create("concrete");
    TCase *t = tcase_create("concrete");
    tcase_add_loop_test(t, hazards_and_overlaps_are_found_where_they_are, 0, 4);
    suite_add_tcase(s, t);
    return s;
}

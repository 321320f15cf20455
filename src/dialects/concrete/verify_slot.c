/* Rules of slots: every command has one, behind what it depends on, and no rank is given one twice. */
#include "dialects/concrete/verify.h"

#include <stdlib.h>

struct slot {
    u64 cycle, slot;
    u32 command;
};

static int by_slot(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;
    if (x->cycle != y->cycle)
        return x->cycle < y->cycle ? -1 : 1;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    return x->command < y->command ? -1 : x->command > y->command;
}

static struct slot slot_of(const struct plan *p, u32 command)
{
    return (struct slot){ p->commands[command]->cycle, p->commands[command]->slot, command };
}

static bool same_slot(struct slot a, struct slot b)
{
    return a.cycle == b.cycle && a.slot == b.slot;
}

static bool check_coverage(struct plan *p)
{
    u32 missing = 0, first = 0;
    bool good = true;
    for (u32 i = 0; i < p->n_commands; i++) {
        const struct concrete_command *c = p->commands[i];
        bool cycle = c->cycle != UINT64_MAX, slot = c->slot != UINT64_MAX;
        if (cycle != slot) {
            good = verify_error(p->v, &c->s, "at", NULL, "concrete.slot.incomplete", "%s has a %s and no %s", command_text(p, i), cycle ? "cycle" : "slot",
                                cycle ? "slot" : "cycle");
            verify_note_legal(p->v, "write both, as `at (cycle 0, slot 0)`");
        } else if (!cycle && !missing++) {
            first = i;
        }
    }
    if (!missing)
        return good;
    verify_error(p->v, &p->commands[first]->s, NULL, NULL, "concrete.slot.coverage", "%s has no slot, and %u of %u commands have one", command_text(p, first),
                 p->n_commands - missing, p->n_commands);
    verify_note_legal(p->v, "give a slot to every command, or to none");
    return false;
}

static void check_dependency(struct plan *p, u32 c, u32 before, void *state)
{
    const struct concrete_command *a = p->commands[before], *b = p->commands[c];
    bool *whole = state;
    if (a->cycle < b->cycle || (a->cycle == b->cycle && a->slot < b->slot))
        return;
    *whole = false;
    verify_error(p->v, &b->s, "at", NULL, "concrete.slot.order", "%s is at (%llu, %llu) and must come after %s, which is at (%llu, %llu)", command_text(p, c),
                 (unsigned long long)b->cycle, (unsigned long long)b->slot, command_text(p, before), (unsigned long long)a->cycle, (unsigned long long)a->slot);
    verify_note(p->v, &a->s, "at", NULL, "its slot is here");
    verify_note_legal(p->v, "give %s a cycle from %llu on", command_text(p, c), (unsigned long long)a->cycle + 1);
}

/* Commands of one slot: each rank takes one of them. */
static void check_group(struct plan *p, const struct slot *group, u32 n)
{
    for (u32 i = 1; i < n; i++)
        for (u32 k = 0; k < i; k++) {
            u32 rank, a = group[k].command, b = group[i].command;
            if (!access_share(&p->ranks, p->set[a], p->set[b], &rank))
                continue;
            verify_error(p->v, &p->commands[b]->s, "at", NULL, "concrete.slot.twice", "%s and %s both have slot (%llu, %llu) on rank %u",
                         command_text(p, a), command_text(p, b), (unsigned long long)group[i].cycle, (unsigned long long)group[i].slot, rank);
            verify_note(p->v, &p->commands[a]->s, "at", NULL, "the first is here");
            break;
        }
}

static struct slot *sorted_slots(struct plan *p)
{
    struct slot *slots = ARENA_ARRAY(&p->v->scratch, struct slot, p->n_commands);
    bool sorted = true;
    for (u32 i = 0; i < p->n_commands; i++) {
        slots[i] = slot_of(p, i);
        sorted = sorted && (i == 0 || by_slot(&slots[i - 1], &slots[i]) < 0);
    }
    if (!sorted)
        qsort(slots, p->n_commands, sizeof *slots, by_slot);
    return slots;
}

/* LEVEL gets the order of the slots; *whole tells whether there is one. */
void concrete_verify_slots(struct plan *p, u32 *level, bool *whole)
{
    *whole = check_coverage(p);
    if (!*whole)
        return;
    const struct slot *slots = sorted_slots(p);
    for (u32 i = 0, n = 0; i < p->n_commands; i += n) {
        for (n = 1; i + n < p->n_commands && same_slot(slots[i], slots[i + n]); n++)
            ;
        for (u32 k = i; k < i + n; k++)
            level[slots[k].command] = i;
        check_group(p, slots + i, n);
    }
    for (u32 i = 0; i < p->n_commands; i++)
        plan_dependencies(p, i, check_dependency, whole);
}

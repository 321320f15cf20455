#include "parser/repeat.h"

#include "ir/implied.h"
#include "parser/build.h"

enum { LONGEST_TEXT = 1024, QUEUE = 16 /* a power of 2 */ };

struct repeats {
    struct patterns patterns;
    /* What was found of a run and is not built yet: so what is known of its names comes from memory meanwhile. */
    struct found queue[QUEUE];
    u32 n_found, n_built;       /* since the run began */
    struct pattern *fresh;      /* of the statement being built: it waits to see it settled; or NULL */
};

struct repeats *repeats_new(struct arena *arena)
{
    struct repeats *r = ARENA_NEW(arena, struct repeats);
    arena_init(&r->patterns.arena);
    return r;
}

void repeats_free(struct repeats *r)
{
    arena_free(&r->patterns.arena);
}

void repeats_forget(struct repeats *r)
{
    if (r->patterns.n)
        patterns_forget(&r->patterns);
}

/* ---- Learning ---- */

void repeat_begin(struct parser *p)
{
    struct repeatable *s = &p->repeatable;
    s->name = (struct span){ 0, 0 };
    s->n_slots = s->n_results = 0;
    s->reported = p->ctx->diags->last;
    s->never = false;
}

/* Text that may differ as a whole: digits only, or a name without quotes. */
static bool is_plain(const char *text, u32 n, enum slot_kind kind)
{
    return kind == SLOT_NUMBER ? strspn(text, "0123456789") == n : text[1] != '"';
}

void repeat_slot(struct parser *p, enum slot_kind kind, struct span at, const struct field *f, u32 word)
{
    struct repeatable *s = &p->repeatable;
    u32 sigil = kind != SLOT_NUMBER;
    if (p->result || s->n_slots == MOST_SLOTS || !is_plain(p->src->text + at.begin, at.end - at.begin, kind))
        return;
    s->slots[s->n_slots++] = (struct slot){ { at.begin + sigil, at.end }, word, f, (u8)kind };
}

void repeat_result(struct parser *p, struct stmt *s)
{
    struct repeatable *of = &p->repeatable;
    if (of->n_results == MOST_RESULTS)
        of->never = true;
    else
        of->results[of->n_results++] = s;
}

static bool has_trivia(const struct module *m, struct span at)
{
    for (u32 i = m->n_trivia; i-- && m->trivia[i].begin >= at.begin;)
        if (m->trivia[i].begin < at.end)
            return true;
    return false;
}

static bool are_in_order(const struct repeatable *s)
{
    u32 end = s->name.end;
    for (u32 i = 0; i < s->n_slots; end = s->slots[i++].at.end)
        if (s->slots[i].at.begin < end)
            return false;
    return true;
}

static bool can_repeat(const struct parser *p, struct span at)
{
    const struct repeatable *s = &p->repeatable;
    const char *text = p->src->text;
    return at.begin == p->stmt->begin && s->name.end && pattern_name(text + at.begin) == text + s->name.begin + 1 &&
           text[s->name.begin + 1] != '"' && !s->never && s->reported == p->ctx->diags->last && at.end - at.begin <= LONGEST_TEXT &&
           patterns_want(&p->repeats->patterns) && are_in_order(s) && !has_trivia(p->module, at);
}

static void learn_slots(struct pattern *t, const struct repeatable *s)
{
    for (t->n = 0; t->n < s->n_slots; t->n++) {
        struct slot *slot = &t->slots[t->n];
        *slot = s->slots[t->n];
        slot->at.begin += t->tail - s->name.end;
        slot->at.end += t->tail - s->name.end;
    }
}

/* The two share what S says apart. */
static struct stmt *copy(struct parser *p, struct stmt *s)
{
    s->owns_more = false;
    size_t size = stmt_entity(p->item, s)->size;
    return memcpy(arena_alloc(&p->repeats->patterns.arena, size), s, size);
}

/* False when the name of a result is in no slot: it can't be another one. */
static bool learn_results(struct parser *p, struct pattern *t)
{
    const struct repeatable *s = &p->repeatable;
    for (t->n_results = 0; t->n_results < s->n_results; t->n_results++) {
        struct stmt *result = s->results[t->n_results];
        struct pattern_result *learnt = &t->results[t->n_results];
        while (learnt->slot < s->n_slots && s->slots[learnt->slot].at.begin != result->begin + 1)
            learnt->slot++;
        if (learnt->slot == s->n_slots)
            return false;
        learnt->size = stmt_entity(p->item, result)->size;
        learnt->like = copy(p, result);
    }
    return true;
}

/* What the statement being built is before it is settled. */
static void learn_unsettled(struct parser *p, struct pattern *t)
{
    t->size = stmt_entity(p->item, p->stmt)->size;
    t->like = copy(p, p->stmt);
    p->repeats->fresh = t;
}

void repeat_learn(struct parser *p, struct span at)
{
    const struct repeatable *s = &p->repeatable;
    struct patterns *ps = &p->repeats->patterns;
    const char *text = p->src->text;
    if (!can_repeat(p, at))
        return;
    struct pattern *t = pattern_new(ps, text + at.begin, text + s->name.begin + 1, text + s->name.end, text + at.end);
    learn_slots(t, s);
    if (!learn_results(p, t))
        return;
    learn_unsettled(p, t);
    pattern_add(ps, t);
}

void repeat_learn_settled(struct parser *p)
{
    struct pattern *t = p->repeats->fresh;
    if (t && is_settled_by_rest(p->item, p->stmt)) {
        t->settled = copy(p, p->stmt);
        t->origin = p->item->origin;
        t->namesake = t->like->lineage_kind == LINEAGE_NONE && t->settled->lineage_kind != LINEAGE_NONE && !t->origin;
    }
    p->repeats->fresh = NULL;
}

/* ---- Finding ---- */

static bool find(struct parser *p, u32 from)
{
    struct repeats *r = p->repeats;
    if (!pattern_find(&r->patterns, p->src, from, &p->ctx->names, &r->queue[r->n_found % QUEUE]))
        return false;
    r->n_found++;
    return true;
}

static struct span keyword_of(const struct found *f)
{
    return (struct span){ f->begin, f->begin + f->like->head - INDENT - 2 };
}

bool repeat_ahead(struct parser *p, struct span *at)
{
    struct lexer *l = &p->lexer;
    struct repeats *r = p->repeats;
    r->n_found = r->n_built = 0;
    if (*l->cursor != '\n' || p->pushed != l->last_end || l->nesting != 1 || !find(p, l->last_end))
        return false;
    *at = keyword_of(&r->queue[0]);
    lexer_moved(l, *at);
    return true;
}

/* Looks for the statement behind the last one found. */
static bool find_next(struct parser *p)
{
    struct repeats *r = p->repeats;
    struct found *last = &r->queue[(r->n_found - 1) % QUEUE];
    pattern_follow(&r->patterns, last);
    return find(p, last->end);
}

/* ---- Building ---- */

static atom name_of(struct parser *p, const struct interned *name)
{
    return intern_now(&p->ctx->names, name, p->src->is_file);
}

static void fill_word(struct parser *p, const struct slot *s, const struct filling *f)
{
    atom a = name_of(p, &f->name);
    p->scratch[s->word] = s->kind == SLOT_ATOM ? a : s->kind == SLOT_VALUE ? REF_VALUE(a) : REF_SYMBOL(a);
}

/* The list that slot FROM is of, as it is here. Returns the slot behind its own. */
static u32 fill_list(struct parser *p, const struct found *f, u32 from)
{
    const struct slot *slots = f->like->slots;
    u32 handle = (u32)field_get(p->stmt, slots[from].field), n = list_n(p->item, handle), i = from;
    bool same = true;
    p->n_scratch = 0;
    for (u32 word = 0; word < n; word++)
        *VEC_PUSH(p->scratch, p->n_scratch, p->cap_scratch) = list_at(p->item, handle)[word];
    for (; i < f->like->n && slots[i].kind >= SLOT_ATOM && slots[i].field == slots[from].field; i++)
        if (!f->fillings[i].same) {
            fill_word(p, &slots[i], &f->fillings[i]);
            same = false;
        }
    if (!same)
        *(u32 *)field_place(p->item, p->stmt, slots[from].field) = item_list(p->item, p->scratch, n);
    return i;
}

static void fill(struct parser *p, const struct found *f)
{
    for (u32 i = 0; i < f->like->n;) {
        const struct slot *s = &f->like->slots[i];
        if (s->kind >= SLOT_ATOM) {
            i = fill_list(p, f, i);
            continue;
        }
        if (s->kind == SLOT_NUMBER)
            memcpy(field_place(p->item, p->stmt, s->field), &f->fillings[i].number, sizeof f->fillings[i].number);
        else if (!f->fillings[i].same)
            *(atom *)field_place(p->item, p->stmt, s->field) = name_of(p, &f->fillings[i].name);
        i++;
    }
}

static void build_results(struct parser *p, const struct found *f)
{
    for (u32 i = 0; i < f->like->n_results; i++) {
        const struct pattern_result *r = &f->like->results[i];
        const struct interned *name = &f->fillings[r->slot].name;
        struct stmt *s = item_add_result(p->item, r->like->entity);
        memcpy(s, r->like, r->size);
        s->name = name_of(p, name);
        s->begin = (u32)(name->text - p->src->text) - 1;
        build_result_enter(p, s, s->begin + 1 + name->length);
    }
}

/* Whether the pattern's statement, settled, is this one. */
static bool is_settled(const struct parser *p, const struct found *f)
{
    const struct pattern *t = f->like;
    return t->settled && t->origin == p->item->origin && f->same_tail && (f->same || (f->same_names && !p->item->kind->settle));
}

static void build(struct parser *p, const struct found *f)
{
    bool settled = is_settled(p, f);
    p->stmt = item_add_copy(p->item, settled ? f->like->settled : f->like->like, f->like->size);
    p->stmt->name = name_of(p, &f->name);
    p->stmt->begin = f->begin;
    if (settled && f->like->namesake)
        p->stmt->lineage = item_list(p->item, &(u32){ REF_SYMBOL(p->stmt->name) }, 1);
    if (!f->same) {
        fill(p, f);
        build_results(p, f);
    }
    struct pattern *variant = settled && !f->same ? NULL : pattern_variant(&p->repeats->patterns, p->src, f);
    if (variant)
        learn_unsettled(p, variant);
    build_stmt_enter(p, f->begin, settled);
}

/* As if each token of F had been read. */
static void move_behind(struct parser *p, const struct found *f)
{
    struct span before = { f->begin - INDENT, f->begin - INDENT }, end = { f->end, f->end };
    p->stmt_at = keyword_of(f);
    lexer_moved(&p->lexer, before);
    lexer_moved(&p->lexer, p->stmt_at);
    lexer_moved(&p->lexer, end);
    p->pushed = f->end;
}

void repeat_build(struct parser *p)
{
    struct repeats *r = p->repeats;
    bool more = true;
    do {
        while (more && r->n_found - r->n_built < QUEUE)
            more = find_next(p);
        build(p, &r->queue[r->n_built % QUEUE]);
    } while (++r->n_built < r->n_found);
    move_behind(p, &r->queue[(r->n_built - 1) % QUEUE]);
}

#define _GNU_SOURCE
#include "ir/implied.h"

/* ---- Names ---- */

/* The word of PHASES that the text from AT to END is; 0: none. Word 0 is "none", which no name says. */
static u32 phase_in(const struct enumeration *phases, const char *at, const char *end)
{
    size_t n = (size_t)(end - at);
    for (u32 i = 1; i < phases->n; i++) {
        const char *word = phases->words[i].text;
        if (*word == *at && !strncmp(word, at, n) && !word[n])
            return i;
    }
    return 0;
}

/* TEXT: there is none behind the first byte. */
static const char *last_dot(const char *text, const char *end)
{
    const char *dot = memrchr(text, '.', (size_t)(end - text));
    return dot ? dot : text;
}

u32 phase_said(const struct interned *name, const struct enumeration *phases, u32 *layer)
{
    const char *text = name->text, *end = text + name->length, *dot = last_dot(text, end);
    for (int part = 0; part < 2 && dot > text; part++, end = dot, dot = last_dot(text, end)) {
        u32 phase = phase_in(phases, dot + 1, end);
        *layer = (u32)(dot - text);
        if (phase)
            return phase;
    }
    return 0;
}

bool phase_is_said(const struct interned *name, const struct enumeration *phases, u32 phase)
{
    const char *word = phases->words[phase].text;
    size_t n = strlen(word);
    u32 layer;
    if (phase && name->length > n + 1 && name->text[name->length - n - 1] == '.' && !memcmp(name->text + name->length - n, word, n))
        return true;        /* nearly always */
    return phase_said(name, phases, &layer) == phase;
}

atom layer_said(const struct item *it, const struct stmt *s, atom layer, const struct enumeration *phases)
{
    struct interner *names = &it->ctx->names;
    u32 length;
    if (layer || !s->name || !phase_said(&names->atoms[s->name], phases, &length))
        return layer;
    return intern_borrowed(names, names->atoms[s->name].text, length);
}

u64 field_said(const struct item *it, const struct stmt *s, const struct field *f)
{
    u64 value = field_get(s, f);
    return f->implied == IMPLIED_LAYER ? layer_said(it, s, (atom)value, f->aux) : value;
}

bool field_is_unsaid(const struct item *it, const struct stmt *s, const struct field *f)
{
    return f->implied ? !field_said(it, s, f) : field_is_default(it, s, f);
}

/* A phase that a text doesn't write is the name's, and a pass sets what it means; a layer that is the name's is dropped. */
static void settle_name(struct item *it, struct stmt *s, const struct entity *e)
{
    const struct interned *name = &it->ctx->names.atoms[s->name];
    bool parsed = s->begin != NO_PLACE;
    u32 length;
    for (const struct field *f = e->fields; f->kind != FIELD_END; f++) {
        u64 value = f->implied ? field_get(s, f) : 0;
        if (f->implied == IMPLIED_PHASE && parsed && !value && !field_is_written(it, s, f))
            field_set(it, s, f, phase_said(name, f->aux, &length));
        if (f->implied != IMPLIED_LAYER)
            continue;
        const struct interned *layer = &it->ctx->names.atoms[value];
        if (value && phase_said(name, f->aux, &length) && length == layer->length && !memcmp(name->text, layer->text, length))
            field_set(it, s, f, 0);
        return;
    }
}

/* ---- Lineage ---- */

static bool is_one(const struct item *it, u32 list, u32 ref)
{
    return list_n(it, list) == 1 && list_at(it, list)[0] == ref;
}

static bool is_namesake(const struct item *it, u8 flags)
{
    return flags & ENTITY_NAMESAKE && it->header.pass;
}

static void settle_lineage(struct item *it, struct stmt *s, u8 flags)
{
    u32 namesake = REF_SYMBOL(s->name);
    if (s->lineage_kind == LINEAGE_NONE && (it->origin || is_namesake(it, flags))) {
        s->lineage_kind = LINEAGE_LOWERED;
        s->lineage = it->origin ? it->origin : item_list(it, &namesake, 1);
    } else if (s->lineage_kind == LINEAGE_LOWERED && it->origin && is_one(it, s->lineage, list_at(it, it->origin)[0])) {
        s->lineage = it->origin;
    }
}

bool lineage_is_implied(const struct item *it, const struct stmt *s)
{
    u8 flags = stmt_entity(it, s)->flags;
    if (s->lineage_kind != LINEAGE_LOWERED || flags & ENTITY_VALUE)
        return s->lineage_kind == LINEAGE_NONE;
    return it->origin ? s->lineage == it->origin : is_namesake(it, flags) && is_one(it, s->lineage, REF_SYMBOL(s->name));
}

/* The phase that a name says stands behind a dot, but its layer begins where the name does. */
static bool says_layer(const struct item *it, const struct stmt *s)
{
    for (const struct field *f = stmt_entity(it, s)->fields; f->kind != FIELD_END; f++)
        if (f->implied == IMPLIED_LAYER && field_is_written(it, s, f))
            return true;
    return false;
}

bool is_settled_by_rest(const struct item *it, const struct stmt *s)
{
    return !(stmt_entity(it, s)->flags & ENTITY_ORIGIN) && !says_layer(it, s);
}

/* The origin may stand behind what is from it. */
static void set_origin(struct item *it, struct stmt *s, const struct entity *e)
{
    u32 source = REF_SYMBOL(field_get(s, e->fields));
    if (it->origin)
        return;
    it->origin = item_list(it, &source, 1);
    for (u32 i = 0; i < it->n_stmts; i++)
        item_settle(it, it->stmts[i]);
}

void item_settle(struct item *it, struct stmt *s)
{
    const struct entity *e = stmt_entity(it, s);
    if (e->flags & ENTITY_ORIGIN)
        set_origin(it, s, e);
    if (e->flags & ENTITY_LINEAGE && !(e->flags & ENTITY_VALUE))
        settle_lineage(it, s, e->flags);
    if (e->flags & ENTITY_TASK)
        settle_name(it, s, e);
    if (it->kind->settle)
        it->kind->settle(it, s);
}

def sub(path, a, b, n=1):
    s=open(path).read()
    assert a in s, (path, a)
    s=s.replace(a,b,n)
    open(path,'w').write(s)
p='src/parser/build.c'
sub(p,'''static void finish_attributes(''','''/* A row with words of its own isn't written where it says the first of them, or false. */
static bool is_default(const struct parser *p, const struct field *a, u32 value)
{
    if (a->presence == REQUIRED || (a->kind != FIELD_ENUM && a->kind != FIELD_BOOL))
        return false;
    const char *word = a->kind == FIELD_BOOL ? "false" : ((const struct enumeration *)a->aux)->words[0].text;
    return intern_is(&p->ctx->names, attr_get(p->item, value).text, word);
}

static void finish_attributes(''')
sub(p,'''            if (intern_is(&p->ctx->names, p->attributes[i], a->name)) {
                words[n++]''','''            if (intern_is(&p->ctx->names, p->attributes[i], a->name)) {
                found++;
                if (is_default(p, a, p->attributes[i + 1]))
                    continue;
                words[n++]''')
sub(p,'''                words[n++] = p->attributes[i + 1];
                found++;
''','''                words[n++] = p->attributes[i + 1];
''')
p='src/parser/decode_attr.c'
sub(p,'''    const struct tagged *v = *at;
    u128 n;
    bool number''','''    const struct tagged *v = *at;
    u128 n;
    if (f->kind == FIELD_ENUM)
        return decode_word(p, f->aux, v) < 0 ? 0 : decode_attr(p, at);
    bool number''')
sub(p,'''                : f->kind == FIELD_BOOL || f->kind == FIELD_WORD || f->kind == FIELD_ENUM ? v->tag == TAG_WORD
''','''                : f->kind == FIELD_BOOL ? is_truth(p, v)
                : f->kind == FIELD_WORD ? v->tag == TAG_WORD
''')
sub(p,'''    const struct enumeration *words = f->kind == FIELD_ENUM ? f->aux : NULL;
    if (good && words)
        good = enumeration_find(words, p->ctx->names.atoms[v->value].text, p->ctx->names.atoms[v->value].length) >= 0;
''','')
sub(p,'''f->kind == FIELD_INTEGER ? "a whole number" : f->doc,
''','''f->kind == FIELD_INTEGER ? "a whole number"
                    : f->kind == FIELD_BOOL ? "true or false" : f->doc,
''')
sub(p,'''/* What an operation's row may ask for;''','''static bool is_truth(const struct parser *p, const struct tagged *v)
{
    return v->tag == TAG_WORD && (intern_is(&p->ctx->names, (atom)v->value, "true") || intern_is(&p->ctx->names, (atom)v->value, "false"));
}

/* What an operation's row may ask for;''')
p='src/dialects/model/model.c'
sub(p,'''static const struct item_kind kinds[]''','''void model_settle(struct item *it, struct stmt *s)
{
    struct model_op *op = (struct model_op *)s;
    struct interner *names = &it->ctx->names;
    if (s->entity != MODEL_OP || !op->attributes)
        return;
    u32 all = item_attribute(it, op->attributes, intern_find(names, "heads", 5)), words[64], n = 0;
    for (u32 i = 0; i + 1 < list_n(it, op->attributes) && n + 1 < COUNT(words); i += 2) {
        const u32 *pair = list_at(it, op->attributes) + i;
        if (all && intern_is(names, pair[0], "kv_heads") && attr_equal(it, pair[1], it, all))
            continue;
        words[n++] = pair[0];
        words[n++] = pair[1];
    }
    if (n < list_n(it, op->attributes))
        op->attributes = item_list(it, words, n);
}

static const struct item_kind kinds[]''')
sub(p,'''.verify = model_verify,
''','''.verify = model_verify, .settle = model_settle,
''')
sub(p,'''#define DEF''','''#include "ir/attr.h"

#define DEF''')
sub('src/dialects/model/model.h','''struct verifier;
''','''/* Drops an operation's `kv_heads` that is its `heads`: what it would be if it were absent. */
void model_settle(struct item *it, struct stmt *s);

struct verifier;
''')
p='src/ir/schema.h'
sub(p,'''    const struct field *attributes;     /* own clauses; offsets are not used */''','''    const struct field *attributes;     /* own clauses; offsets are not used. Absent words are the first, flags false */''')

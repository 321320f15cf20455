#include "ir/schema.h"

int enumeration_find(const struct enumeration *e, const char *text, size_t length)
{
    for (u32 i = 0; i < e->n; i++)
        if (strlen(e->words[i].text) == length && !memcmp(e->words[i].text, text, length))
            return (int)i;
    return -1;
}

const struct field *field_find(const struct field *fields, const char *name, size_t length)
{
    for (const struct field *f = fields; f->kind != FIELD_END; f++)
        if (f->length == length && !memcmp(f->name, name, length))
            return f;
    return NULL;
}

bool is_clause(const struct entity *e, const char *word, size_t length)
{
    const struct field *f = field_find(e->fields, word, length);
    return f && f->place != PLACE_HEAD;
}

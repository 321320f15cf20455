/*
 * Second of a .def's two expansions: the const tables `enumerations`, `entities`, `samples`, `operations` and `rules` of one
 * dialect. Define DEF (the file) before the include; no guard on purpose. See ir/schema.h for the rows.
 */
#define WORD(id, text, doc) { text, doc },
#define ENUMERATION(name, ...) \
    static const struct word name##_words[] = { __VA_ARGS__ }; \
    const struct enumeration name##_enum = { #name, name##_words, COUNT(name##_words) };
#include DEF
#define FACT(word_, tag, member, doc_) FIELD_ROW(PLACE_HEAD, word_, FIELD_QUANTITY, tag, member, NULL, OPTIONAL, 0, doc_)
#define INTEGER_FACT(word_, tag, member, doc_) \
    FIELD_ROW(PLACE_HEAD, word_, FIELD_INTEGER, tag, member, NULL, OPTIONAL, UINT64_MAX, doc_)
#define GROUP(name, ...) static const struct field name[] = { __VA_ARGS__ { .kind = FIELD_END } };
#include DEF
static const struct enumeration *const enumerations[] = {
#define ENUMERATION(name, ...) &name##_enum,
#include DEF
};
static const struct entity entities[] = {
#define ENTITY(id, keyword_, tag, flags_, example_, doc_, ...) \
    { .keyword = keyword_, .size = sizeof(struct tag), .flags = flags_, .fields = FIELDS(__VA_ARGS__), \
      .example = example_, .doc = doc_ },
#include DEF
};
static const struct sample samples[] = {
#define EXAMPLE(text_, doc_) { .text = text_, .doc = doc_ },
#include DEF
    { .text = NULL },
};
static const struct operation operations[] = {
#define OPERATION(name_, layers_, min_in, max_in, min_out, max_out, shape_, attributes_, sample_, doc_) \
    { .name = name_, .layers = layers_, .min_operands = min_in, .max_operands = max_in, .min_results = min_out, \
      .max_results = max_out, .shape = shape_, .attributes = attributes_, .sample = sample_, .doc = doc_ },
#include DEF
    { .name = NULL },
};
static const struct rule rules[] = {
#define RULE(code_, explanation_) { .code = code_, .explanation = explanation_ },
#include DEF
    { .code = NULL },
};
#undef WORD
#undef FACT
#undef INTEGER_FACT

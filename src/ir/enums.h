/* First of a .def's two expansions: C enumerations. Define DEF (the file) before the include; no guard on purpose. */
#define WORD(id, text, doc) id,
#define ENUMERATION(name, ...) enum name { __VA_ARGS__ }; extern const struct enumeration name##_enum;
#include DEF
#undef WORD

/* The canonical text of items and files, from the dialects' tables. */
#ifndef IR_PRINT_H
#define IR_PRINT_H

#include "ir/item.h"

/* Header, body and one final newline: exactly what the digest hashes. */
void print_item(struct out *o, const struct item *it);

/* The first lines of an item, up to and with its `{`. */
void print_header(struct out *o, const struct item *it);

/* All items, a blank line between two. With trivia, comments and blank lines of the source are kept. */
void print_module(struct out *o, const struct module *m, bool trivia);

/* One statement as print_item prints it, without indentation or final newline. */
void print_stmt(struct out *o, const struct item *it, const struct stmt *s);

/* The value of a field, without its word; of a layer that the name says, too. */
void print_field(struct out *o, const struct item *it, const struct stmt *s, const struct field *f);

/* One line of a session item: `  field = value`, without the newline. */
void print_session_field(struct out *o, const struct item *it, const struct stmt *s, const struct field *f);

/* A word as the lexer reads it back: quoted when it is not one. */
void out_word(struct out *o, const struct interner *names, atom word);

/* A name behind its sigil, quoted where it has to be. */
void out_name(struct out *o, const struct interner *names, char sigil, atom name);

#endif

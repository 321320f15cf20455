/*
 * The language of all layers, one automaton. This file holds the tokens and items; each dialect's syntax.y adds its
 * statements; tail.y holds the productions that all share. The build splices them in that order.
 *
 * Every clause has one shape, a word and a value, and is resolved through the dialect's table by the actions in
 * build.c. So a new field, enumeration value or operation needs no grammar at all.
 */
%define api.pure full
%define api.prefix {bp_}
%define api.token.raw
%define api.value.type {u64}
%define api.location.type {struct span}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {struct parser *p}

%code requires {
#include "parser/build.h"
}
%code {
#include "lexer/lexer.h"
#define YYLLOC_DEFAULT(current, rhs, n) \
    ((current) = (n) ? (struct span){ YYRHSLOC(rhs, 1).begin, YYRHSLOC(rhs, n).end } \
                     : (struct span){ YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end })
#define YYMAXDEPTH 100000
static int bp_lex(u64 *value, struct span *at, struct parser *p)
{
    return repeat_ahead(p, at) ? REPEATED : lexer_next(&p->lexer, value, at);
}
static void bp_error(const struct span *at, struct parser *p, const char *message) { build_exhausted(p, *at, message); }
}

%token END 0 "the end of the file" SYNC "the next statement"
%token VALUE "a %value" SYMBOL "a @symbol" DOLLAR "a $symbol" WORD "a word" DOTTED "a dotted name"
%token INTEGER "a number" FLOAT "a decimal number" STRING "a string" DIGEST "a digest" BAD "an invalid token"
%token REPEATED "a repeated statement"
%token ITEM "a layer, as `model.program`" SESSION "a session item, as `session.workload`"
%token KW_SCHEMA "'schema'" KW_BY "'by'" KW_USING "'using'" KW_REVISION "'revision'" KW_FROM "'from'"
%token LINEAGE "a lineage, as `generated`"
%token KW_SHARDING "'sharding'" KW_PARTIAL "'partial'" KW_OWNERS "'owners'" KW_UPDATES "'updates'"
%token KW_IMPLEMENT "'implement'" KW_LAYOUT "'layout'" KW_MAX "'max'" KW_MIN "'min'"
%token KW_FLOORDIV "'floordiv'" KW_CEILDIV "'ceildiv'"
%token TENSOR "a type, as `tensor<4x8xf16>`" DIM "a dimension" CROSS "'x'" ELEMENT "an element type"
%token ARROW "'->'" DOTS "'..'" LPAREN "'('" RPAREN "')'" LBRACKET "'['" RBRACKET "']'" LBRACE "'{'" RBRACE "'}'"
%token RANGLE "'>'" COMMA "','" COLON "':'" EQUAL "'='" PLUS "'+'" MINUS "'-'" STAR "'*'"
%left "'+'" "'-'"
%left "'*'" "'floordiv'" "'ceildiv'"
%precedence NEGATE

%%
file: %empty | file item | file error SYNC { yyerrok; } ;

item: session open fields "'}'"         { build_item_end(p, @4.end); }
    | layer header open stmts "'}'"     { build_item_end(p, @5.end); }
    | session bad_head open fields "'}'"    { build_item_end(p, @5.end); }
    | layer bad_head open stmts "'}'"       { build_item_end(p, @5.end); } ;
open: "'{'"                             { p->item->body = @1.end; } ;
bad_head: error SYNC                    { yyerrok; p->n_pins = 0; } ;
session: SESSION SYMBOL                 { build_item(p, $1, $2, @1, @2); build_session(p, @1); } ;
layer: ITEM SYMBOL                      { build_item(p, $1, $2, @1, @2); } ;

header: schema parent made              { build_header(p); } ;
schema: %empty | "'schema'" FLOAT       { build_schema(p, @2); } ;
parent: %empty | "'from'" pin           { build_parent(p); } ;
made: %empty
    | "'by'" WORD "'revision'" INTEGER using    { build_by(p, $2, $4, @4); } ;
using: %empty | "'using'" "'('" pins "')'" ;
pins: pin                               { build_using(p); }
    | pins "','" pin                    { build_using(p); } ;
pin: SYMBOL                             { build_pin(p, $1, @1, (struct span){ 0, 0 }); }
   | SYMBOL DIGEST                      { build_pin(p, $1, @1, @2); } ;

fields: %empty | fields field | fields error SYNC { yyerrok; build_stmt_drop(p); } ;
field: field_name "'='" value           { build_clause_end(p, @$); } ;
field_name: WORD                        { build_clause(p, $1, @1); }
          | keyword                     { build_clause(p, $1, @1); } ;

stmts: %empty | stmts stmt              { build_stmt_end(p, @2); }
     | stmts REPEATED                   { repeat_build(p); }
     | stmts error SYNC                 { yyerrok; build_stmt_drop(p); } ;

/* ---- Heads of statements: each pushes what the table's head fields take, in order ---- */
head_symbol: SYMBOL                     { build_push(p, TAG_SYMBOL, $1, @1); } ;
head_word: WORD                         { build_push(p, TAG_WORD, $1, @1); }
         | other                        { build_push(p, TAG_WORD, $1, @1); } ;
head_refs: refs ;
operation: WORD                         { build_push(p, TAG_WORD, $1, @1); }
         | DOTTED                       { build_push(p, TAG_WORD, $1, @1); } ;
no_operation: %empty                    { build_push(p, TAG_NONE, 0, @$); } ;
operands_opt: %empty                    { if (!build_no_operands(p)) YYERROR; }
            | operands ;
operands: "'('" "')'"                   { build_push(p, TAG_OPEN, '(', @1); build_push(p, TAG_CLOSE, ')', @2); }
        | operands_open value_list "')'" { build_push(p, TAG_CLOSE, ')', @3); } ;
operands_open: "'('"                    { build_push(p, TAG_OPEN, '(', @1); } ;
value_list: VALUE                       { build_push(p, TAG_VALUE, $1, @1); }
          | value_list "','" VALUE      { build_push(p, TAG_VALUE, $3, @3); } ;
results: %empty | "'->'" { build_push(p, TAG_ARROW, 0, @1); } result_list { build_push(p, TAG_CLOSE, 0, @3); } ;
result_list: result | "'('" result_items "')'" ;
result_items: result | result_items "','" result ;
result: VALUE                           { build_push(p, TAG_VALUE, $1, @1); }
      | VALUE "':'" { build_result(p, $1, @1); } type result_clauses { build_result_end(p, @$); } ;
result_clauses: %empty | result_clauses value_clause ;
declared: VALUE "':'" { build_push(p, TAG_VALUE, $1, @1); } type ;

/*
 * ---- Clauses ----
 * A word and a value. The shortest values have productions of their own, which say nothing new but spare the parser
 * most of its steps: nearly every clause of a long program is one of them.
 */
clauses: %empty
       | clauses WORD WORD              { build_clause(p, $2, @2); build_push(p, TAG_WORD, $3, @3); build_clause_end(p, @3); }
       | clauses WORD DOTTED            { build_clause(p, $2, @2); build_push(p, TAG_WORD, $3, @3); build_clause_end(p, @3); }
       | clauses "'from'" SYMBOL        { build_clause(p, $2, @2); build_push(p, TAG_SYMBOL, $3, @3); build_clause_end(p, @3); }
       | clauses clause_name group      { build_clause_end(p, @3); }
       | clauses clause ;
value_clauses: clauses | value_clauses value_clause clauses ;
clause: clause_name longer_value        { build_clause_end(p, @$); }
      | from sources                    { build_clause_end(p, @$); }
      | implement capability            { build_clause_end(p, @$); } ;
clause_name: WORD                       { build_clause(p, $1, @1); } ;
from: "'from'"                          { build_clause(p, $1, @1); } ;
sources: VALUE                          { build_push(p, TAG_VALUE, $1, @1); }
      | group ;
clause: lineage refs                    { build_clause_end(p, @$); } ;
lineage: LINEAGE "'from'"               { build_clause(p, $2, @1); build_push(p, TAG_WORD, $1, @1); } ;
implement: "'implement'"                { build_clause(p, $1, @1); } ;
capability: capability_word alternatives constraints ;
capability_word: WORD                   { build_push(p, TAG_WORD, $1, @1); }
               | quoted ;
alternatives: %empty | bracketed ;
constraints: %empty | braced ;
value_clause: sharding bracketed        { build_clause_end(p, @$); }
            | partial head_word braced  { build_clause_end(p, @$); }
            | owners value              { build_clause_end(p, @$); }
            | updates VALUE             { build_push(p, TAG_VALUE, $2, @2); build_clause_end(p, @$); } ;
sharding: "'sharding'"                  { build_clause(p, $1, @1); } ;
partial: "'partial'"                    { build_clause(p, $1, @1); } ;
owners: "'owners'"                      { build_clause(p, $1, @1); } ;
updates: "'updates'"                    { build_clause(p, $1, @1); } ;

/* ---- Values: pushed in the order of the text, brackets and commas included; decode.c reads them back ---- */
value: WORD                             { build_push(p, TAG_WORD, $1, @1); }
     | DOTTED                           { build_push(p, TAG_WORD, $1, @1); }
     | group
     | longer_value ;
longer_value: expr                      { build_push(p, TAG_QUANTITY, $1, @1); }
     | FLOAT                            { build_push(p, TAG_FLOAT, $1, @1); }
     | "'-'" FLOAT                      { build_push(p, TAG_FLOAT, $2 ^ (u64)1 << 63, @$); }    /* the sign bit */
     | STRING                           { build_push(p, TAG_STRING, $1, @1); }
     | other                            { build_push(p, TAG_WORD, $1, @1); }
     | SYMBOL                           { build_push(p, TAG_SYMBOL, $1, @1); }
     | VALUE                            { build_push(p, TAG_VALUE, $1, @1); }
     | type
     | bracketed
     | braced ;
refs: ref | group ;
ref: SYMBOL                             { build_push(p, TAG_SYMBOL, $1, @1); }
   | VALUE                              { build_push(p, TAG_VALUE, $1, @1); } ;

group: group_open entries "')'"         { build_push(p, TAG_CLOSE, ')', @3); }
     | group_open "')'"                 { build_push(p, TAG_CLOSE, ')', @2); } ;
group_open: "'('"                       { build_push(p, TAG_OPEN, '(', @1); } ;
entries: entry | entries "','" entry ;
entry: SYMBOL                           { build_entry(p, TAG_SYMBOL, $1, @1); }
     | VALUE                            { build_entry(p, TAG_VALUE, $1, @1); }
     | WORD                             { build_entry(p, TAG_WORD, $1, @1); }
     | WORD SYMBOL                      { build_push(p, TAG_WORD, $1, @1); build_entry(p, TAG_SYMBOL, $2, @2); }
     | WORD VALUE                       { build_push(p, TAG_WORD, $1, @1); build_entry(p, TAG_VALUE, $2, @2); }
     | WORD expr                        { build_push(p, TAG_WORD, $1, @1); build_entry(p, TAG_QUANTITY, $2, @2); }
     | WORD expr WORD                   { build_push(p, TAG_WORD, $1, @1); build_push(p, TAG_QUANTITY, $2, @2);
                                          build_entry(p, TAG_WORD, $3, @3); }
     | WORD expr keyword                { build_push(p, TAG_WORD, $1, @1); build_push(p, TAG_QUANTITY, $2, @2);
                                          build_entry(p, TAG_WORD, $3, @3); }
     | WORD FLOAT                       { build_push(p, TAG_WORD, $1, @1); build_entry(p, TAG_FLOAT, $2, @2); }
     | keyword                          { build_entry(p, TAG_WORD, $1, @1); }
     | keyword VALUE                    { build_push(p, TAG_WORD, $1, @1); build_entry(p, TAG_VALUE, $2, @2); }
     | keyword expr                     { build_push(p, TAG_WORD, $1, @1); build_entry(p, TAG_QUANTITY, $2, @2); } ;
comma: "','"                            { build_push(p, TAG_COMMA, 0, @1); } ;

bracketed: bracket_open elements "']'"  { build_push(p, TAG_CLOSE, ']', @3); }
         | bracket_open "']'"           { build_push(p, TAG_CLOSE, ']', @2); } ;
bracket_open: "'['"                     { build_push(p, TAG_OPEN, '[', @1); } ;
elements: element | elements comma element ;
element: value
       | element_word "'='" value
       | expr "'..'" INTEGER              { build_push(p, TAG_QUANTITY, $1, @1); build_push(p, TAG_DOTS, 0, @2);
                                          build_push(p, TAG_QUANTITY, $3, @3); } ;
element_word: WORD                      { build_push(p, TAG_WORD, $1, @1); }
            | quoted ;

braced: brace_open entries_in_braces "'}'"  { build_push(p, TAG_CLOSE, '}', @3); }
      | brace_open "'}'"                { build_push(p, TAG_CLOSE, '}', @2); } ;
brace_open: "'{'"                       { build_push(p, TAG_OPEN, '{', @1); } ;
entries_in_braces: brace_entry | entries_in_braces comma brace_entry ;
brace_entry: brace_key
           | brace_key equal value ;
brace_key: WORD                         { build_push(p, TAG_WORD, $1, @1); }
         | quoted ;
equal: "'='"                            { build_push(p, TAG_EQUAL, 0, @1); } ;

type: tensor dims ELEMENT layout "'>'"  { build_type(p, $3, @3, (struct span){ @1.begin, @5.end }); } ;
tensor: TENSOR                          { build_type_begin(p); } ;
dims: %empty | dims dim ;
dim: DIM                                { build_dim(p, $1, @1); }
   | "'('" expr "')'" "'x'"             { build_dim(p, $2, @2); } ;
layout: %empty | "','" "'layout'" "'['" permutation "']'" ;
permutation: INTEGER                    { build_layout(p, $1, @1); }
           | permutation "','" INTEGER  { build_layout(p, $3, @3); } ;

expr: INTEGER
    | DOLLAR                            { $$ = build_dollar(p, $1, @1); }
    | "'('" expr "')'"                  { $$ = $2; }
    | "'-'" expr %prec NEGATE           { $$ = build_expr(p, '-', 0, $2, @$); }
    | expr "'+'" expr                   { $$ = build_expr(p, '+', $1, $3, @$); }
    | expr "'-'" expr                   { $$ = build_expr(p, '-', $1, $3, @$); }
    | expr "'*'" expr                   { $$ = build_expr(p, '*', $1, $3, @$); }
    | expr "'floordiv'" expr            { $$ = build_expr(p, 'f', $1, $3, @$); }
    | expr "'ceildiv'" expr             { $$ = build_expr(p, 'c', $1, $3, @$); }
    | "'max'" "'('" max_terms "')'"     { $$ = $3; }
    | "'min'" "'('" min_terms "')'"     { $$ = $3; } ;
max_terms: expr | max_terms "','" expr  { $$ = build_expr(p, '>', $1, $3, @$); } ;
min_terms: expr | min_terms "','" expr  { $$ = build_expr(p, '<', $1, $3, @$); } ;

/* ---- Words: every keyword is contextual. WORD stands apart from `other` everywhere, since it is nearly all of them. ---- */
quoted: other                           { build_push(p, TAG_WORD, $1, @1); }
      | DOTTED                          { build_push(p, TAG_WORD, $1, @1); }
      | STRING                          { build_push(p, TAG_WORD, $1, @1); } ;
other: keyword | "'floordiv'" | "'ceildiv'" | "'max'" | "'min'" ;
keyword: ROLE | LINEAGE | "'from'" | "'schema'" | "'by'" | "'using'" | "'revision'" | "'sharding'" | "'partial'" | "'owners'"
       | "'updates'" | "'implement'" | "'layout'" | "'symbol'" | "'op'" | "'output'" | "'mesh'" | "'order'" | "'origin'" | "'attention'"
       | "'scale'" | "'memory'" | "'task'" | "'buffer'" | "'objective'" | "'library'" | "'device'" | "'queue'" | "'bind'" | "'command'"
       | "'issue'" | "'route'" ;
%%
static int yyreport_syntax_error(const yypcontext_t *context, struct parser *p)
{
    yysymbol_kind_t expected[YYNTOKENS];
    const char *names[YYNTOKENS];
    int n = yypcontext_expected_tokens(context, expected, YYNTOKENS);
    for (int i = 0; i < n; i++)
        names[i] = yysymbol_name(expected[i]);
    report_syntax_error(p, *yypcontext_location(context), yypcontext_token(context) == YYSYMBOL_BAD, names, n > 0 ? n : 0);
    return 0;
}

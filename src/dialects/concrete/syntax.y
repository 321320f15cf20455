%token KW_LIBRARY "'library'" KW_DEVICE "'device'" KW_QUEUE "'queue'" KW_BIND "'bind'" KW_COMMAND "'command'" ;
%token KW_ISSUE "'issue'" KW_ROUTE "'route'" ;
stmt: "'library'" { build_stmt(p, $1, @1); } head_symbol clauses
    | "'device'" { build_stmt(p, $1, @1); } head_symbol clauses
    | "'queue'" { build_stmt(p, $1, @1); } head_symbol head_word clauses
    | "'bind'" { build_stmt(p, $1, @1); } VALUE { build_push(p, TAG_VALUE, $3, @3); } clauses
    | command operation operands_opt results clauses
    | command no_operation operands results clauses
    | "'issue'" { build_stmt(p, $1, @1); } head_symbol head_refs
    | "'route'" { build_stmt(p, $1, @1); } head_symbol clauses ;
command: "'command'" SYMBOL WORD { build_stmt(p, $1, @1); build_push(p, TAG_SYMBOL, $2, @2); build_push(p, TAG_WORD, $3, @3); }
       | "'command'" SYMBOL other { build_stmt(p, $1, @1); build_push(p, TAG_SYMBOL, $2, @2); build_push(p, TAG_WORD, $3, @3); } ;

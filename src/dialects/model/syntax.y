%token KW_SYMBOL "'symbol'" ROLE "a role, as `input`" KW_OP "'op'" KW_OUTPUT "'output'" ;
stmt: "'symbol'" { build_stmt(p, $1, @1); } DOLLAR { build_push(p, TAG_DOLLAR, $3, @3); } "':'" head_word clauses
    | role declared value_clauses
    | "'op'" { build_stmt(p, $1, @1); } head_symbol operation operands results clauses
    | "'output'" { build_stmt(p, $1, @1); } VALUE { build_push(p, TAG_VALUE, $3, @3); } ;
role: ROLE { build_stmt(p, $1, @1); build_push(p, TAG_WORD, $1, @1); } ;

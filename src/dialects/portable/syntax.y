%token KW_BUFFER "'buffer'" KW_OBJECTIVE "'objective'" ;
stmt: "'buffer'" { build_stmt(p, $1, @1); } VALUE { build_push(p, TAG_VALUE, $3, @3); } head_word head_word clauses
    | "'objective'" { build_stmt(p, $1, @1); } head_word head_word clauses ;

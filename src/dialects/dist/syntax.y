%token KW_ORIGIN "'origin'" KW_MESH "'mesh'" KW_ORDER "'order'" KW_ATTENTION "'attention'" KW_SCALE "'scale'" KW_MEMORY "'memory'" KW_TASK "'task'" ;
stmt: "'mesh'" { build_stmt(p, $1, @1); } head_symbol bracketed
    | "'order'" { build_stmt(p, $1, @1); } head_word
    | "'origin'" { build_stmt(p, $1, @1); } head_symbol
    | "'attention'" { build_stmt(p, $1, @1); } head_word
    | "'scale'" { build_stmt(p, $1, @1); } group
    | "'memory'" { build_stmt(p, $1, @1); } memory_head clauses
    | task operation operands_opt results clauses
    | task no_operation operands results clauses ;
task: "'task'" SYMBOL WORD { build_stmt(p, $1, @1); build_push(p, TAG_SYMBOL, $2, @2); build_push(p, TAG_WORD, $3, @3); }
    | "'task'" SYMBOL other { build_stmt(p, $1, @1); build_push(p, TAG_SYMBOL, $2, @2); build_push(p, TAG_WORD, $3, @3); } ;
memory_head: group | head_symbol group | head_symbol ;

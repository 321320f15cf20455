%token KW_MESH "'mesh'" KW_ORDER "'order'" KW_SCALE "'scale'" KW_MEMORY "'memory'" KW_TASK "'task'" ;
stmt: "'mesh'" { build_stmt(p, $1, @1); } head_symbol bracketed
    | "'order'" { build_stmt(p, $1, @1); } head_word
    | "'scale'" { build_stmt(p, $1, @1); } group
    | "'memory'" { build_stmt(p, $1, @1); } memory_head clauses
    | "'task'" { build_stmt(p, $1, @1); } head_symbol head_word operation_opt operands results clauses ;
memory_head: group | head_symbol group | head_symbol ;

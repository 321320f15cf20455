def sub(path, a, b, n=1):
    s=open(path).read()
    assert a in s, (path, a)
    s=s.replace(a,b,n)
    open(path,'w').write(s)
p='src/dialects/portable/portable.def'
sub(p,'''    CLAUSE("ranks", FIELD_RANKS, portable_task, ranks, NULL, "the ranks that take part")
''','''    CLAUSE("over", FIELD_AXES, portable_task, over, NULL, "mesh axes whose ranks form a group of a collective; absent: all")
    CLAUSE("ranks", FIELD_RANKS, portable_task, ranks, NULL, "the ranks that take part")
''')
sub(p,'''RULE("portable.buffer.size",''','''RULE("portable.over.axis", "A collective's groups are along axes of the plan's mesh. Name one that it has, or leave `over` out for one group of all.")
RULE("portable.over.body", "Only a collective has groups of ranks. Remove `over`, or change the body.")
RULE("portable.buffer.size",''')
sub('src/dialects/portable/portable.h','u32 operands, results, ranks;','u32 operands, results, over, ranks;')
p='src/dialects/portable/verify_task.c'
sub(p,'''static bool is_pair(''','''static const char *nearest_axis(const struct plan *p, const char *word)
{
    const char *names[64];
    size_t n = 0;
    for (u32 k = 0; p->mesh && k + 2 < list_n(p->it, p->mesh->axes) && n < COUNT(names); k += 3)
        names[n++] = context_text(p->v->ctx, list_at(p->it, p->mesh->axes)[k]);
    return nearest_name(word, names, n);
}

static bool is_axis(const struct plan *p, atom axis)
{
    for (u32 k = 0; p->mesh && k + 2 < list_n(p->it, p->mesh->axes); k += 3)
        if (list_at(p->it, p->mesh->axes)[k] == axis)
            return true;
    return false;
}

static void check_over(struct plan *p, const struct portable_task *t)
{
    if (!t->over)
        return;
    if (t->body != PORTABLE_COLLECTIVE) {
        verify_error(p->v, &t->s, "over", NULL, "portable.over.body", "a %s task has no `over`", BODY(t));
        verify_note_legal(p->v, "only a collective has groups of ranks; say who takes part with `ranks`");
        return;
    }
    for (u32 i = 0; i < list_n(p->it, t->over); i++) {
        const char *word = context_text(p->v->ctx, list_at(p->it, t->over)[i]);
        if (is_axis(p, list_at(p->it, t->over)[i]))
            continue;
        verify_error(p->v, &t->s, "over", word, "portable.over.axis", "%s has no axis `%s`", p->mesh ? stmt_text(p->it, &p->mesh->s) : "a plan without a mesh",
                     word);
        const char *near = nearest_axis(p, word);
        if (near)
            verify_near(p->v, 0, word, near);
        else if (p->mesh)
            verify_note(p->v, &p->mesh->s, NULL, NULL, "the mesh is here");
    }
}

static bool is_pair(''')
sub(p,'''        check_ranks(p, t);
        check_endpoints''','''        check_over(p, t);
        check_ranks(p, t);
        check_endpoints''')
p='src/passes/plan_transformer_training.c'
sub(p,'''    p->ranks = copy_list(d, t->ranks);
''','''    if (list_n(in, t->over) < list_n(in, d->mesh->axes) / 3)       /* else the group is all ranks */
        p->over = copy_list(d, t->over);
    p->ranks = copy_list(d, t->ranks);
''')
sub(p,'''static bool emit_task(struct derivation *d, const struct dist_task *t)
{
    struct item *out = d->r->output;
''','''static bool emit_task(struct derivation *d, const struct dist_task *t)
{
    const struct item *in = d->r->input;
    struct item *out = d->r->output;
''')
p='src/passes/plan_transformer_training_gate.c'
sub(p,'" name body operation operands results ranks phase','" name body operation operands results over ranks phase')
sub(p,'''static bool prove_task(''','''/* The group of a collective is that of its source: along fewer axes than the mesh has, or all ranks. */
static bool prove_group(const struct pass_run *r, const struct portable_task *p, const struct dist_task *t)
{
    const struct dist_mesh *mesh = NULL;
    for (u32 i = 0; i < r->input->n_stmts; i++)
        mesh = r->input->stmts[i]->entity == DIST_MESH ? (const struct dist_mesh *)r->input->stmts[i] : mesh;
    bool all = 3 * list_n(r->input, t->over) == list_n(r->input, mesh->axes);
    return (all ? !p->over : same_list(r->output, p->over, r->input, t->over)) ||
           gate_refuse(r, r->output, &p->s, "it exchanges in other groups than its source");
}

static bool prove_task(''')
sub(p,'''    for (int i = 0; i < DIST_WORK; i++)
        if (p->work[i] != t->work[i])''','''    if (!prove_group(r, p, t))
        return false;
    for (int i = 0; i < DIST_WORK; i++)
        if (p->work[i] != t->work[i])''')
p='docs/language.md'
s=open(p).read()
i=s.index('## portable'); j=s.index('| `ranks` | ranks | all |', i)
s=s[:j]+'| `over` | axes | none | mesh axes whose ranks form a group of a collective; absent: all |\n'+s[j:]
open(p,'w').write(s)

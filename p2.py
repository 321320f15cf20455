def sub(path, a, b, n=1):
    s=open(path).read()
    assert a in s, (path, a)
    s=s.replace(a,b,n)
    open(path,'w').write(s)
p='src/passes/plan.c'
sub(p,'''    task->ranks = plan_copy(p, t->ranks);
''','''    if (list_n(p->r->input, t->over) < list_n(p->r->input, p->mesh->axes) / 3)      /* else a group is all ranks */
        task->over = plan_copy(p, t->over);
    task->ranks = plan_copy(p, t->ranks);
''')
p='src/passes/plan_transformer_training_gate.c'
sub(p,'" name body operation operands results ranks phase','" name body operation operands results over ranks phase')
sub(p,'''static bool prove_task(''','''/* The groups of a collective are those of its source: along fewer axes than the mesh has, or all ranks. */
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

/*
 * A statement that repeats another is copied from it (parser/repeat.c), and must mean and be refused as if it had been
 * parsed. Each text is parsed twice: as it stands, and with a different number of blanks behind each statement's keyword,
 * so that none repeats another.
 */
#define _GNU_SOURCE
#include "attempt.h"
#include "ir/json.h"

#include <check.h>
#include <stdlib.h>

/* Each stands three times in a program; `#` is another number each time, and `@a` another name. */
static const char *const cases[] = {
    "  task @a local f()",
    "  task @a.forward local model.gelu\n    work (operations #)",
    "  task @a.forward local model.gelu\n  task @a.decode local model.gelu\n  task @a.y local model.gelu\n  task @a.forward.z local model.gelu",
    "  task @a.forward local model.gelu layer a\n  task @b.forward local model.gelu layer a\n  task @a local model.gelu layer a",
    "  task @a.forward local model.gelu phase none\n  task @b.decode local model.gelu phase none",
    "  task @a local model.gelu\n  origin @m\n  task @b local model.gelu from @m\n  task @c local model.gelu from @n",
    "  task @a.b.7 local model.gelu()\n    phase forward layer attention.query work (operations #, read 3#, write 0) from @decoder",
    "  task @a collective all_reduce() over {tp} reduction sum",
    "  task @a local f(%x, %y)\n    layer l-2",
    "  task @a local f(%x) -> %y : tensor<4x8xf16>",
    "  task @a control() phase forward layer l",
    "  task @a control()\n    phase forward\n    layer l",
    "  task @a control()\n    work (operations #, read #)",
    "  task @a control()\n    work (operations 99999999999999999#)",
    "  task @a control()\n    work (operations 34028236692093846346337460743176821145#)",
    "  task @a control()\n    work (operations 1_00#)",
    "  task @a control()\n    work (operations 00#)",
    "  task @a control()\n    work (operations 4*$s + #, read $s)",
    "  task @a transfer(%x) source 0 destination 1 channel c",
    "  task @a transfer(%x) source # destination 1#",
    "  task @a control()  // why\n    phase forward",
    "  task @a control()\n    // why\n    phase forward",
    "  task @a control()\n    phase forward  // why",
    "  // why\n  task @a control()\n    phase forward",
    "  task // why\n   @a control()",
    "  task @a control()\n\n    phase forward",
    "\n  task @a control()\n    phase forward\n",
    "  task @a control()\n  phase forward",
    "  task @a control()\r\n    phase forward",
    "  task @a control()\n    after @first\n    phase forward",
    "  task @a control()\n    generated from (@x, @y)\n    note {k = #, l = [1, 2]}",
    "  task @\"quoted a\" control()",
    "  task @a control ( )",
    "  task @a control() layer task",
    "    task @a control()",
    "task @a control()",
    "  task @a control()\n  order serial",
    "  task @a control() task @b# control()",
    /* names that differ */
    "  task @a local f(%x#)",
    "  task @a local f(%x#, %y, %z#)\n    after @first",
    "  task @a local f(%x) -> (%y#, %z)",
    "  task @a control()\n    from @x#",
    "  task @a control()\n    from @a",
    "  task @a control()\n    cloned from @x#",
    "  task @a control()\n    fused from (@x#, %y, @z#)",
    "  task @a control()\n    generated from ()",
    "  task @a control()\n    after (@first, @x#)\n    work (read #)",
    "  task @a control()\n    effects (read %x#, random @s, write %z#)",
    "  task @a control()\n    effects (read %x#)\n    from @x#",
    "  task @a control()\n    after @\"x #\"",
    "  task @a control()\n    after (@\"x y\", @z#)",
    "  task @a control()\n    from @x.#",
    "  task @a control()\n    from @x.y#.z",
    "  task @a control()\n    from @x.y.#z work (read #)",
    "  task @a control()\n    from @x#.",
    "  task @a control()\n    from @x#..y",
    "  task @a control()\n    from @x#-y",
    "  task @a control()\n    from @#x",
    "  task @a control()\n    from @",
    "  task @a control()\n    after (@x#, @y#",
    "  task @a local f(%a#, %b#, %c#, %d#, %e#, %f#, %g#, %h#, %i#, %j#, %k#, %l#, %m#, %n#, %o#, %p#, %q#)",
    "  task @a local f(%a#, %b#, %c#, %d#, %e#, %f#, %g#, %h#, %i#, %j#, %k#, %l#, %m#, %n#) -> (%o#, %p#, %q#, %r#)",
    "  input %v# : tensor<4x8xf16>",
    "  input %v# : tensor<4x8xf16> sharding [{tp}, {}] from %w#",
    "  parameter %v# : tensor<4x8xf16> updates %w#",
    "  task @a transfer(%x#) source # destination 1# channel c",
    "  task @a collective broadcast(%x#) over {tp} root #",
    /* results that are declared where they arise */
    "  task @a local f(%x) -> %y# : tensor<4x8xf16>",
    "  task @a local f(%x#) -> %y# : tensor<4x8xf16>\n    phase forward work (read #)",
    "  task @a local f(%x) -> %y# : tensor<4x8xf16> sharding [{tp}, {}]",
    "  task @a local f(%x) -> %y# : tensor<4x8xf16> partial sum {tp} owners [0]",
    "  task @a local f(%x) -> %y# : tensor<4x8xf16> updates %x",
    "  task @a local f(%x) -> %y# : tensor<4x8xf16> updates %x#",
    "  task @a local f(%x) -> %y# : tensor<#x8xf16>",
    "  task @a local f(%x) -> %y# : tensor<4x8xf16",
    "  task @a local f(%x) -> %y# :",
    "  task @a local f(%x) -> (%y# : tensor<4xf16>, %z# : tensor<8xf16> sharding [{tp}])\n    from @x#",
    "  task @a local f(%x) -> (%y# : tensor<4xf16>, %z#, %u : tensor<8xf16>)",
    "  task @a local f(%x) -> (%y# : tensor<4xf16>, %y# : tensor<8xf16>)",
    "  task @a local f(%x) -> %first : tensor<4xf16>",
    "  task @a local f(%x) -> %\"y #\" : tensor<4xf16>",
    "  task @a local f(%x) -> (%u# : tensor<1xf16>, %v# : tensor<1xf16>, %w# : tensor<1xf16>, %x# : tensor<1xf16>)",
    "  task @a local f(%x) -> (%u# : tensor<1xf16>, %v# : tensor<1xf16>, %w# : tensor<1xf16>, %x# : tensor<1xf16>, %y# : tensor<1xf16>)",
    /* refused */
    "  task @first control()",
    "  task @same control()\n    phase forward",
    "  task @a sideways f()",
    "  task @a control()\n    phase frward",
    "  task @a control()\n    phase forward phase forward",
    "  task @a control()\n    phase",
    "  task @a control()\n    phase forward layer",
    "  task @a control()\n    frase forward",
    "  task @a control()\n    work (operations #, operations #)",
    "  task @a control()\n    work (opperations #)",
    "  task @a control()\n    work (operations #x)",
    "  task @a control()\n    work (operations -#)",
    "  task @a control()\n    work (operations #.5)",
    "  task @a-b control()",
    "  task @a. control()",
    "  task @a#",
    "  task a control()",
    "  task @a control()\n  tsk @b# control()",
    "  task @a control()\n  phase",
    "  task @a control()\n    phase forward }",
    "  task @a control()\n    phase forward ]",
    "  task @a control()\n    phase forward\n}\ndist.program @q# schema 1.0 {\n  mesh @m [tp = 2]",
};

static const char *const sequences[] = {
    /* a statement behind its like that only begins like it */
    "  task @a control()\n  task @b control()\n    after @a\n  task @c control()\n    phase forward\n  task @d control()",
    "  task @a control()\n    phase forward\n  task @b control()\n    phase forward after @a\n  task @c control()\n    phase forward\n   layer l",
    "  task @a control()\n  task @b control() 5\n  task @c control()",
    "  task @a control()\n  task @b control()\n  phase\n  task @c control()",
    "  task @a control()\n  task @b control()}\n",
    "  task @a control()\n  task @b control()\n  tsk @c control()\n  task @d control()",
    "  task @a control()\n  task @b control()\n  implement x\n  task @c control()",
    "  task @a local\n  task @b control()\n  task @c control()\n  task @d control()",
    "  task @a.x local f work (read 2*$s)\n  task @b.x local f work (read 2*$s)\n  task @c.y local f work (read 2*$s)\n  task @d.y local f work (read 2*$s)\n  task @e.y local f work (read 3*$s)\n  task @g.y local f work (read 4*$s)",
    "  task @a.x local f work (read 1_00)\n  task @b.x local f work (read 1_00)\n  task @c.y local f work (read 1_00)\n  task @d.y local f work (read 1_00)\n  task @e.y local f work (read 2_00)\n  task @g.y local f work (read 3_00)",
    "  task @\"a.forward\" local f\n  task @b local f\n  task @c local f\n  task @\"d.decode\" local f\n  task @e local f\n  task @f local f",
    "  task @a control()\n  task @b control()\n  task\n  task @c control()",
    "  task @a control()\n  task @b control()\n  task @c control()\n  // end",
    "  task @a control()\n  task @b control()\n  task @c control(",
    "  task @a control()\n  task @b control()\n  task @",
    "  task @a control()\n  task @b control()\n  task @c-d control()",
    "  task @a control()\n  task @b control()\n  task @c. control()",
    "  task @a control()\n  task @b control()\n  task @\"c\" control()",
    "  task @\"a\" control()\n  task @\"b\" control()\n  task @\"c\" control()",
    "  task @a control()\n  task @a control()\n  task @a control()",
    "  task @a control() work (read 1)\n  task @b control() work (read 2)\n  task @c control() work (read 18446744073709551616)",
    "  task @a control() work (read 1)\n  task @b control() work (read 2)\n"
    "  task @c control() work (read 999999999999999999999999999999999999999999)",
    "  task @a control() work (read 1)\n  task @b control() work (read 2)\n  task @c control() work (read 1_0)",
    "  task @a control() work (read 5 + 3)\n  task @b control() work (read 2)\n  task @c control() work (read 7 + 3)",
    "  task @a control() work (read $s)\n  task @b control() work (read 2)\n  task @c control() work (read $t)",
    "  task @a control() frase forward\n  task @b control()\n  task @c control() frase forward\n  task @d control() frase forward",
    "  task @a control() note {k = [x\n  task @b control()\n  task @c control()",
    "  task @a control() note {k = [x,\n  task @b control()\n  task @c control()",
    "  task @a control()\n  task @b control()\n//task @c control()\n  task @d control()",
    "  task @a control()\n  task @b control()\n//task @c\n    phase forward\n  task @d control()",
    "  task @a control() work (read 1)\n  task @b control() work (read 2)\n  task @c control() work (read )",
    "  symbol $a : integer\n  symbol $b : integer\n  symbol $c : integer\n  symbol $d.e : integer",
    "  input %a : tensor<4xf16>\n  input %b : tensor<4xf16>\n  parameter %c : tensor<4xf16>\n  parameter %d : tensor<4xf16>\n"
    "  input %e : tensor<4xf16>\n  task %f : tensor<4xf16>\n  input @g : tensor<4xf16>",
    "  input %a : tensor<4xf16> sharding [{tp}]\n  input %b : tensor<4xf16> sharding [{tp}] owners [0]\n  input %c : tensor<4xf16> sharding [{tp}]",
    "  input %a : tensor<4xf16>\n  input %b : tensor<4xf16>\n  updates %a\n  input %c : tensor<4xf16>",
    "  memory @a (weights 5)\n  memory @b (weights 6)\n  memory @c",
    "  task @a control() phase prefill\n  task @b control() phase prefill\n from @x\n  task @c control() phase prefill",
    "  task @a control()\n  task @b control()\n  output %x\n  task @c control()\n  output %y",
    /* the same words in another item, where they mean other lists */
    "  task @a collective all_gather() over {tp}\n  task @b collective all_gather() over {tp}\n}\n"
    "dist.program @q schema 1.0 {\n  mesh @m [x = 2, tp = 2]\n  task @y control() over {x}\n"
    "  task @a collective all_gather() over {tp}\n  task @b collective all_gather() over {tp}",
    "  task @a local f(%x)\n    after @x\n  task @b local f(%xy)\n    after @xy\n  task @c local f(%y)\n    after @y\n  task @d local f(%x)\n    after @y\n"
    "  task @e local f(%xyz)\n    after @xyz\n  task @f local f(%xx)\n    after @xx\n  task @g local f(%)\n    after @xx",
    /* names that end alike, or not, and what they say of themselves */
    "  task @a.x control()\n  task @b.x control()\n  task @c.x control()\n  task @d.y control()\n  task @e.x.y control()\n"
    "  task @f.xx control()\n  task @g.h.x control()\n  task @.x control()\n  task @h control()\n  task @i..x control()\n  task @j.x control()",
    "  task @a.x control()\n  task @b.x control()\n  task @c.x control()\n  task @d.x- control()\n  task @e.x. control()\n  task @f.x@ control()",
    "  task @a control()\n  task @b control()\n  task @c control()\n  task @d.e control()\n  task @f.g.h control()\n  task @i.e control()",
    "  task @7a.b control()\n  task @b.b control()\n  task @c.b control()\n  task @e.b control()\n  task @f.b control()\n  task @8a.b control()\n  task @d.b control()\n"
    "  task @z control()\n    layer \"8a.b\"\n  task @y control()\n    layer d.b\n  task @x control()\n    layer \"7a.b\"",
    "  task @a.7b control()\n  task @b.7b control()\n  task @c.7b control()\n  task @e.7b control()\n  task @f.7b control()\n  task @d.7b control()\n  task @z control()\n    layer \"d.7b\"",
    "  task @\"a b\" control()\n  task @c control()\n  task @d control()\n  task @e control()\n  task @f.x control()",
    "  task @\"a.x\" control()\n  task @c.x control()\n  task @d.x control()\n  task @e.x control()\n  task @f.x control()",
    "  task @a.q.forward local f\n  task @b.q.forward local f\n  task @c.q.forward local f\n  task @d.q.forward local f\n"
    "  task @e.q.forward.up local f\n  task @f.q.recompute local f\n  task @forward local f\n  task @g.forward local f\n"
    "  task @h.forward local f\n  task @i.forward local f\n  task @j.forward.q local f",
    "  task @a.q.forward local f\n    phase recompute\n  task @b.q.forward local f\n    phase recompute\n"
    "  task @c.q.forward local f\n    phase recompute\n  task @d.q.recompute local f\n    phase recompute\n"
    "  task @e.q.forward local f\n    phase forward\n  task @f.q.forward local f\n    phase forward\n  task @g.q.forward local f\n    phase none\n"
    "  task @h.q.forward local f\n    phase none\n  task @i.q.forward local f\n    phase none\n  task @j.q.forward local f\n    phase none",
    "  task @a.q.forward local f\n    layer c.q\n  task @b.q.forward local f\n    layer c.q\n  task @c.q.forward local f\n    layer c.q\n"
    "  task @d.q.forward local f\n    layer c.q\n  task @e.q.forward local f\n    layer e.q\n  task @f.q.forward local f\n    layer f.q",
    "  task @c.q.forward local f\n    layer c.q\n  task @b.q.forward local f\n    layer c.q\n  task @a.q.forward local f\n    layer c.q\n"
    "  task @d.q.forward local f\n    layer c.q",
    "  task @a.q.forward local f\n    work (read 1)\n  task @b.q.forward local f\n    work (read 2)\n  task @c.q.forward local f\n    work (read 3)\n"
    "  task @d.q.recompute local f\n    work (read 3)\n  task @e.q.recompute local f\n    work (read 5)\n  task @f.q.recompute local f\n    work (read 3)",
    "  task @a.x control()\n  task @b.x control()\n  task @c.x control()\n  task @d.x control()\n  task @e.x control()\n"
    "  origin @o\n  task @f.x control()\n  task @g.x control()\n  task @h.x control()",
    "  origin @o\n  task @a control()\n  task @b control()\n  task @c control()\n    from @o\n  task @d control()\n    from @p\n"
    "  task @e control()\n    from @p\n  task @f control()\n    from @o\n  task @g control()\n  task @h control()",
    "  task @a control()\n  task @b control()\n  task @c control()\n  origin @o\n  task @d control()\n  task @e control()\n  task @f control()",
    "  task @a control()\n    from @o\n  task @b control()\n    from @o\n  task @c control()\n    from @p\n  origin @p\n"
    "  task @d control()\n    from @o\n  task @e control()\n    from @p\n  task @f control()\n    from @p\n  task @g control()\n    from @o",
    "  task @z control()\n}\nportable.plan @q schema 1.0 from @p xxh128:00000000000000000000000000000001 by x revision 1 {\n"
    "  task @a.x compute f\n  task @b.x compute f\n  task @c.x compute f\n  task @d.x compute f\n    from @d.x\n"
    "  task @e.x compute f\n    from @e.x\n  task @f.x compute f\n    from @f.x\n  task @g.x compute f\n    from @f.x\n"
    "  task @h.x compute f\n    from @f.x\n  task @i.x compute f\n    from @i.x\n  task @j.x compute f\n  task @k.x compute f",
    "  task @z control()\n}\nportable.plan @q schema 1.0 {\n  task @a.x compute f\n    work (operations 5) require (compute 5)\n"
    "  task @b.x compute f\n    work (operations 6) require (compute 6)\n  task @c.x compute f\n    work (operations 6) require (compute 6)\n"
    "  task @d.x compute f\n    work (operations 5) require (compute 6)\n  task @e.x compute f\n    work (operations 5) require (compute 5)\n"
    "  task @f.x compute f\n    work (operations 6) require (compute 5)\n  task @g.x compute f\n    work (operations 5) require (compute 5)",
    /* other layers */
    "  task @z control()\n}\nmodel.program @q schema 1.0 {\n  input %x : tensor<4x8xf16>\n  op @a model.gelu(%x) -> %a : tensor<4x8xf16>\n"
    "  op @b model.gelu(%a) -> %b : tensor<4x8xf16>\n  op @c model.gelu(%b) -> %c : tensor<4x8xf16> from @k\n"
    "  op @d model.gelu(%c) -> %d : tensor<4x8xf16>\n  op @e model.gelu(%d) -> %b : tensor<4x8xf16>\n"
    "  op @b model.gelu(%d) -> %f : tensor<4x8xf16>\n  output %d",
    "  task @z control()\n}\nportable.plan @q schema 1.0 {\n  buffer %a activation stored size 64\n  buffer %b activation stored size 8 from %x\n"
    "  buffer %c activation stored size 9 from %y\n  buffer %d activation stored size 99 align 4 from %y\n"
    "  buffer %e activation stored size 99 align 8 from %z\n"
    "  task @a compute f(%a) -> %b\n    require (compute 5) from @x\n  task @b compute f(%b) -> %c\n    require (compute 5) from @y\n"
    "  task @c compute f(%c) -> %d : tensor<4xf16>\n    require (compute 5) from @y\n  task @d compute f(%d) -> %e\n    require (compute 6) from @y",
    "  task @z control()\n}\nconcrete.plan @q schema 1.0 {\n  bind %a in @l offset 0 size 64\n  bind %b in @m offset 64 size 8\n"
    "  bind %c in @m offset 99999999999999999999 size 8\n  command @a kernel l.f(%a) -> %b on [0] via @q implementation @l at (cycle 1) wait @s\n"
    "  command @b kernel l.f(%b) -> %c on [0] via @r implementation @m at (cycle 2) wait @t\n"
    "  command @c kernel l.f(%b) -> %c on [0] via @r implementation @m at (cycle 18446744073709551615) wait @t\n"
    "  command @d kernel l.f(%b) -> %c on [0] via %r implementation @m at (cycle 3) wait @t\n"
    "  issue @a (@b, @c)\n  issue @d (@e, @f)\n  route @a source @d0 destination @d1 channel c\n  route @b source @d1 destination @d0 channel c",
    /* a kind that drops what is said by default */
    "  task @z control()\n}\nportable.plan @q schema 1.0 {\n  task @a control()\n    effects ()\n  task @b control()\n    effects ()",
};

/* What stands in place of a statement in a run, or behind it. NULL: the file ends there. */
static const char *const breaks[] = {
    NULL,
    "",
    "  task @r0 control() work (read 5)",
    "  task @r1 control()\n    phase forward",
    "  task @last control() work (read 5)",
    "  task @x control() work (read 1234567890123456789)",
    "  task @x control() work (read 99999999999999999999999999999999999999999)",
    "  task @\"x y\" control() work (read 5)",
    "  task @\"x\" control() work (read 5)",
    "  task @x control() work (read 5) // why",
    "  // why\n  task @x control() work (read 5)",
    "\n  task @x control() work (read 5)",
    "  order serial",
    "  origin @o",
    "  task @x control() // \n    phase forward",
    "  task @x control()\n    phase frward",
    "  task @x sideways f()",
    "  task @x control() work (read 5",
    "  task @x control() work (read 5))",
    "  task @x control() work (read 5) x",
    "  task @x control() work (read 5x)",
    "  task @x control() work (read)",
    "  task @x control() work (red 5)",
    "  task @x.control() work (read 5)",
    "  task @x$ control() work (read 5)",
    "  task @ control() work (read 5)",
    "  task",
    "  tsk @x control() work (read 5)",
    "  task @x",
    "  phase forward",
    "    task @x control() work (read 5)",
    "}",
    "}\ndist.program @q schema 1.0 {\n  mesh @m [tp = 2]",
    "  task @x control() work (read 5)\n}\ndist.program @q schema 1.0 {\n  mesh @m [tp = 2]\n  task @r0 control() work (read 5)",
};

static void out_case(struct out *o, const char *text, u32 k)
{
    static const u32 numbers[] = { 7, 0, 4 };
    for (const char *at = text; *at; at++)
        if (*at == '#')
            out_u64(o, numbers[k]);
        else if (at[0] == '@' && at[1] == 'a')
            out_printf(o, "@a%u", k), at++;
        else
            out_char(o, *at);
}

static char *finish(struct out *o)
{
    char *text = strndup(o->data, o->n);
    out_free(o);
    return text;
}

static char *program_of(const char *body, u32 times)
{
    struct out o;
    out_memory(&o);
    out_string(&o, "dist.program @p schema 1.0 {\n  mesh @m [tp = 2]\n  task @first control()\n");
    for (u32 k = 0; k < times; k++) {
        if (times == 1)
            out_string(&o, body);
        else
            out_case(&o, body, k);
        out_char(&o, '\n');
    }
    out_string(&o, "  task @last control()\n}\n");
    return finish(&o);
}

/* TEXT with one blank more ahead of each name than ahead of the one before. */
static char *spread(const char *text)
{
    struct out o;
    u32 n = 0;
    bool comment = false;
    out_memory(&o);
    for (const char *at = text; *at; at++) {
        out_char(&o, *at);
        comment = (comment && *at != '\n') || (at[0] == '/' && at[1] == '/');
        if (!comment && *at == ' ' && at[1] && strchr("@%$", at[1]) && at[-1] >= 'a' && at[-1] <= 'z' && ++n)
            for (u32 i = 0; i < n; i++)
                out_char(&o, ' ');
    }
    return finish(&o);
}

static char *found_in(const char *text)
{
    struct attempt a;
    struct out o;
    attempt_parse(&a, text, strlen(text));
    char *printed = attempt_print(&a, true);
    out_memory(&o);
    out_printf(&o, "%s\n%s", a.parsed ? "accepted" : "refused", printed);
    for (u32 i = 0; i < a.module.n && a.parsed; i++) {
        json_item(&o, a.module.items[i]);       /* says all, what is implied too */
        out_char(&o, '\n');
    }
    for (const struct diag *d = a.diags.first; d; d = d->next) {
        out_printf(&o, "%u: `%.*s` [%s] %s\n", source_position(&a.source, d->loc.begin).line, (int)(d->loc.end - d->loc.begin),
                   a.source.text + d->loc.begin, d->code, d->message);
        for (const struct diag *n = d->notes; n; n = n->next)
            out_printf(&o, "    %s\n", n->message);
    }
    free(printed);
    attempt_end(&a);
    return finish(&o);
}

static void assert_same(char *text)
{
    char *other = spread(text), *found = found_in(text), *expected = found_in(other);
    ck_assert_str_ne(text, other);
    ck_assert_msg(!strcmp(found, expected), "of\n%s\ncopying makes\n%s\nand parsing\n%s", text, found, expected);
    free(expected);
    free(found);
    free(other);
    free(text);
}

/* LENGTH statements, the one at PLACE replaced by WHAT. */
static char *run_of(u32 length, u32 place, const char *what)
{
    static const char *const forms[] = { "work (read %u)", "\n    phase forward", "work (read 1%u, write 7)\n    layer l" };
    struct out o;
    out_memory(&o);
    out_string(&o, "dist.program @p schema 1.0 {\n  mesh @m [tp = 2]\n");
    for (u32 k = 0; k < length && (k != place || what); k++)
        if (k == place)
            out_printf(&o, "%s\n", what);
        else {
            out_printf(&o, k % 3 == 1 ? "  task @r%u control()" : "  task @r%u control() ", k);
            out_printf(&o, forms[k % 3], k);
            out_char(&o, '\n');
        }
    if (what)
        out_string(&o, "  task @last control() work (read 5)\n}\n");
    return finish(&o);
}

START_TEST(a_run_that_is_broken_goes_on_as_if_each_statement_had_been_parsed)
{
    static const u32 lengths[] = { 2, 4, 5, 6, 7, 18, 19, 20, 21, 22, 23, 36, 37, 38, 39 };     /* three are learned */
    for (u32 i = 0; i < COUNT(lengths); i++)
        for (u32 place = 0; place <= lengths[i]; place += place < 3 ? 1 : 8)
            assert_same(run_of(lengths[i], place, breaks[_i]));
    for (u32 i = 0; i < COUNT(lengths); i++)
        assert_same(run_of(lengths[i], lengths[i] - 1, breaks[_i]));
    assert_same(run_of(80, 40, breaks[_i]));
}
END_TEST

/* Blocks of statements that stand more than once in a block, with what differs from block to block. */
START_TEST(blocks_are_what_parsing_them_makes)
{
    struct out o;
    out_memory(&o);
    out_string(&o, "dist.program @p schema 1.0 {\n  mesh @m [tp = 2]\n");
    for (u32 b = 0; b < 12; b++) {
        for (u32 k = 0; k < 4 + (u32)_i; k++) {
            out_printf(&o, "  task @b%u.l%u.forward local f\n    work (read %u)\n", b, k, k % 3);
            out_printf(&o, "  task @b%u.m%u.forward local f(%%v%u.%u) -> %%v%u.%u : tensor<4xf16>\n", b, k, b, k, b, k + 1);
            out_printf(&o, "  task @b%u.n%u.forward local g\n    work (read %u) from %%v%u.%u\n", b, k, b * k, b, k);
        }
        if (b % 5 == 4)
            out_printf(&o, "  task @b%u.other control()\n", b);
    }
    out_string(&o, "  task @last control()\n}\n");
    assert_same(finish(&o));
}
END_TEST

/* A name is quoted as a word if a part of it begins with a digit: what is known of it tells by its word. */
START_TEST(names_of_repeated_statements_are_known_by_their_form)
{
    static const char *const names[] = { "a%u.b", "%u.b", "a%u.7b", "a%u", "%u", "a%u.b.c", "a%u.b.7", "a.b%u" };
    for (u32 i = 0; i < COUNT(names); i++) {
        struct out o;
        out_memory(&o);
        out_string(&o, "dist.program @p schema 1.0 {\n  mesh @m [tp = 2]\n");
        for (u32 k = 0; k < 60; k++) {
            out_string(&o, "  task @");
            out_printf(&o, names[(i + k / 20) % COUNT(names)], k);
            out_string(&o, " control()\n");
        }
        for (u32 k = 0; k < 60; k++) {
            out_printf(&o, "  task @last%u control()\n    layer \"", k);
            out_printf(&o, names[(i + k / 20) % COUNT(names)], k);
            out_string(&o, "\"\n");
        }
        out_string(&o, "}\n");
        assert_same(finish(&o));
    }
}
END_TEST

START_TEST(runs_of_all_lengths_are_what_parsing_them_makes)
{
    for (u32 length = 0; length < 70; length++)
        assert_same(run_of(length, length, ""));
}
END_TEST

START_TEST(a_repeated_statement_is_what_parsing_it_makes)
{
    assert_same(program_of(cases[_i], 3));
}
END_TEST

START_TEST(a_statement_that_only_begins_as_another_is_parsed)
{
    assert_same(program_of(sequences[_i], 1));
}
END_TEST

START_TEST(repeated_statements_print_as_they_were_read)
{
    char *text = program_of("  task @a local model.gelu\n    phase forward layer l work (operations 3#) from @decoder", 3);
    assert_prints(text, text);
    free(text);
}
END_TEST

Suite *repeat_suite(void);

Suite *repeat_suite(void)
{
    Suite *s = suite_create("repeat");
    TCase *c = tcase_create("repeat");
    tcase_add_loop_test(c, a_repeated_statement_is_what_parsing_it_makes, 0, COUNT(cases));
    tcase_add_loop_test(c, a_statement_that_only_begins_as_another_is_parsed, 0, COUNT(sequences));
    tcase_add_loop_test(c, a_run_that_is_broken_goes_on_as_if_each_statement_had_been_parsed, 0, COUNT(breaks));
    tcase_add_loop_test(c, blocks_are_what_parsing_them_makes, 0, 8);
    tcase_add_test(c, names_of_repeated_statements_are_known_by_their_form);
    tcase_add_test(c, runs_of_all_lengths_are_what_parsing_them_makes);
    tcase_add_test(c, repeated_statements_print_as_they_were_read);
    suite_add_tcase(s, c);
    return s;
}

#include "execute/execute.h"

const struct rule execute_rules[] = {
    { "execute.nothing", "--execute runs model and dist programs, and there is none. Give it a file that has one." },
    { "execute.layer", "Plans say what runs where, and not what is computed. Choose a model or dist program with --item=@name." },
    { "execute.symbol.unbound", "Tensors have sizes in numbers when they are run. Give each symbol one: --execute='$b=2 $s=8'." },
    { "execute.symbol.multiple", "A symbol's `multiple_of` holds of what it is given. Give it a multiple." },
    { "execute.symbol.unknown", "A value is given to a symbol that no program of the file declares. Write one that it declares." },
    { "execute.size", "The executor is for small tensors, and refuses what would take long. Bind symbols to less, or make the program smaller." },
    { "execute.shape", "What an operation gets on a rank does not fit together. Mend the shardings or types that the message names." },
    { "execute.partial", "A sum of maxima is no maximum of sums: a value that is partial by two reductions has no one meaning. Reduce one first." },
    { "execute.operation.coarse", "A coarse operation has no formula. Write it out in operations of the model." },
    { "execute.operation.gradient", "In a gradient phase a nonlinear operation stands for its gradient. Write that out in products and sums." },
    { "execute.operands", "The executor follows values from task to task. Write the operands and results of each." },
    { "execute.part", "A rank computes with what it holds. Let the value be made there, or be sent or gathered there first." },
    { "execute.number", "An element became infinite or no number, as in the softmax of a row that is masked all over. Mend the program." },
    { "execute.index", "A token is a row of its table, and a label one of the classes. Mend what makes it." },
    { "execute.source.missing", "Inputs of a distributed program are those of its source, so that results can be compared. Say `from %x`, or name it alike." },
    { "execute.source.shape", "A value and its source have one whole type. Mend the type, or give a value of another meaning another name." },
    { "execute.output", "Each output of the source is an output of what is derived from it. Add `output %y`, or say what it is `from`." },
    { "execute.differs", "The distributed program computes something else than its source. The value named is the first: mend its task or sharding." },
    { "execute.bound", "A bound of a thousandth of a value or more would let wrong values pass. Compare the steps between: name their sources." },
    { "execute.replica", "Ranks that should hold one value hold different ones. Mend the task or the sharding, or reduce the value first." },
};

const u32 n_execute_rules = COUNT(execute_rules);

/* Codes of passes and pipelines; the contract's stand in transformer/contract.def. */
#include "passes/pass.h"

const struct rule pass_rules[] = {
    { "pass.pipeline.syntax", "A pipeline is `pass,pass{option=value option=\"a b\"}`. Write it so; the caret shows where it breaks." },
    { "pass.pipeline.pass", "No pass has this name. `bp-opt --list-passes` lists them." },
    { "pass.pipeline.option", "The pass has no such option, or it is given twice. Options choose an item (`strategy=@x`) or change one of its facts (`strategy.tensor=4`)." },
    { "pass.pipeline.order", "Each pass takes the layer that the one before it makes: model, dist, portable, concrete. Put them in that order." },
    { "pass.pipeline.comma", "A comma at the end of a pipeline separates nothing. Remove it." },
    { "pass.input.none", "The file has no item of the layer that the pass takes. Add one, or choose another pass." },
    { "pass.input.operation", "The pass takes programs of one coarse operation. Choose the program with --item, or another pass." },
    { "pass.input.program", "The pass takes programs as the pass before it makes them. Add the statements that the message names." },
    { "pass.input.scale", "The plan needs the model's blocks and the workload as numbers. Mend `scale`, or specialize the program first." },
    { "pass.input.task", "The pass plans chains of local and collective tasks, with messages, between the values of a block's boundary." },
    { "pass.workload.mode", "The workload's mode does not fit the pass. Choose a workload of the mode that the message names." },
    { "pass.boundary.shape", "The block's boundary is [microbatch, sequence, hidden]. A symbol takes the session's number; a number must be it." },
    { "pass.boundary.dtype", "The model's element type and the workload's dtype are one fact. Make them agree." },
    { "pass.binding.missing", "The pass uses a session item that is not there. Add it to the file, or give a file with --session." },
    { "pass.binding.ambiguous", "There are several session items of a kind. Choose one with an option: `{strategy=@x}`." },
    { "pass.binding.unknown", "No session item of the kind has this name. The notes list those there are." },
    { "pass.option.value", "The changed facts do not make a legal item. Mend the option's value." },
    { "pass.option.symbolic", "`symbolic` keeps the model's own symbols in the derived facts. Name microbatch, sequence or both, where the model has symbols." },
    { "pass.option.symbol", "specialize takes the symbols of its input, each with a positive number that keeps the symbol's facts." },
    { "pass.strategy.other", "A plan is made with the strategy that its program was distributed with." },
    { "pass.strategy.mesh", "The mesh of a distributed program has as many ranks as the strategy's tensor." },
    { "pass.bind.ranks", "A reference binding writes a statement for each rank, up to 2^20 of them. Bind a smaller mesh." },
    { "pass.bind.devices", "A plan is bound to as many devices as it has ranks. Deploy more, or lower the strategy's tensor." },
    { "pass.bind.engine", "The target lacks an engine that the plan's tasks need. Add it to `engines`, or choose another target." },
    { "pass.bind.capacity", "The plan's buffers do not fit into a device. Lower what the notes list, or give more memory." },
    { "pass.bind.symbolic", "A binding needs numbers. Replace the symbols first." },
    { "pass.quantity", "A quantity leaves 128 bits or is not whole; it is refused, never rounded." },
    { "pass.sum", "A sum leaves 128 bits; it is refused, never rounded." },
    { "pass.name.clash", "An item that a pass derives or takes from a session file has the name of one that the file has already. Rename one." },
    { "pass.gate", "The commit gate can't prove the output of a pass. It is a fault of the pass; nothing was published." },
    { "pass.internal", "A pass broke its contract. It is a fault of bp-opt; nothing was published." },
};

const u32 n_pass_rules = COUNT(pass_rules);

#include "conformance/checker.h"

/* In the order of the checkers. Each has `proved` and `skipped`, the codes of its remarks, and what it refuses. */
const struct rule check_rules[] = {
    { "check.quantity", "A sum or product that a checker forms leaves 128 bits; it is refused, never rounded. Correct the facts, or name smaller sizes." },

    { "check.lineage_coverage.proved", "What a program was derived from is all there again. Nothing is to mend." },
    { "check.lineage_coverage.skipped", "Coverage that could not be proved, and why. Put the parent into the file, or write `from` where it is missing." },
    { "check.lineage_coverage.lost", "Everything that a program is derived from is the source of something in it. Add what is missing, or name the source at what "
      "is made of it." },
    { "check.lineage_coverage.sort", "Steps are from steps, and places (values, buffers, bindings) from places. Name the right source, or write `generated from`." },
    { "check.lineage_coverage.output", "What leaves the parent leaves the program derived from it. Make it an output." },
    { "check.lowering.proved", "Tasks, values and order of the parent are those of the plan. Nothing is to mend." },
    { "check.lowering.skipped", "What could not be held against the parent, and why. Add what the message misses." },
    { "check.lowering.source", "Computation, collectives and transfers come from the parent's tasks. Name the source, or remove the task." },
    { "check.lowering.task", "A task that comes from one task is what that task is. Write the parent's value, or mend the parent." },
    { "check.lowering.value", "A task reads and makes what stands for its source's operands and results, in their order. Name that buffer." },
    { "check.lowering.work", "Fused or decomposed tasks have the operations and messages of their sources in all. Mend the sum." },
    { "check.lowering.order", "What must happen first in the parent must happen first here. Add `after`, a token, or `order serial`." },
    { "check.lowering.role", "A value that exists before the program has the role that it has in the model. Write that role." },
    { "check.lowering.output", "What leaves a program stands for what leaves its model. Remove the output, or add it to the model." },
    { "check.lowering.mesh", "A plan is for the ranks of its program: its mesh has the same axes. Write those." },
    { "check.lowering.attention", "A plan counts attention as its program does. Write the program's `attention`." },
    { "check.lowering.buffer", "A buffer holds its value's bytes on one rank, and lives as long as the value's role says. Write what the message says." },
    { "check.lowering.stage", "The buffers of a stage follow from the block's memory, the program's scale and the strategy. Write what the message says." },
    { "check.lowering.bind", "A binding is as large as its buffer and lives as long. Write what the message says." },

    { "check.message_volume.proved", "Messages have the bytes that they must have. Nothing is to mend." },
    { "check.message_volume.skipped", "Messages whose size could not be told, and why. Write their values, or add what the message misses." },
    { "check.message_volume.boundary", "Where no values are written, an exchange of activations is of the block's boundary. Write its bytes." },
    { "check.message_volume.pair", "What is gathered in the forward pass is scattered in its gradient, and the other way round, with one message. Make the two alike." },
    { "check.message_volume.repeat", "A repeated collective sends what the one in the forward pass of its layer sent. Make the two alike." },
    { "check.message_volume.images", "However a plan does a collective, rings move as much for it: an all_reduce is a reduce_scatter and an all_gather. Correct the "
      "messages, or the lineage." },
    { "check.message_volume.ring", "Rings move as much for gradients as forward, four messages of the boundary for a block: an all_reduce counts for two. Correct "
      "the messages, or add the missing collective." },

    { "check.collective_matching.proved", "Ranks meet their collectives in one order, and sends meet receives. Nothing is to mend." },
    { "check.collective_matching.skipped", "What could not be matched, and why. Add what the message misses." },
    { "check.collective_matching.order", "Of two collectives that share a rank one comes first, or ranks may enter them in different orders and wait "
      "for ever; above a concrete plan that is a warning. Order them with `after`, a queue, or `order serial`." },
    { "check.collective_matching.group", "A collective over some axes needs each rank of a group that takes part, or those that do wait for ever. Name whole "
      "groups." },
    { "check.collective_matching.send", "What a rank sends, another receives: a transfer with operands alone needs one with results alone, between the "
      "same ranks on the same channel. Write the receive, or both ends in one transfer." },
    { "check.collective_matching.receive", "What a rank receives, another sends: a transfer with results alone needs one with operands alone, between "
      "the same ranks on the same channel. Write the send, or both ends in one transfer." },
    { "check.collective_matching.message", "A receive takes what is sent: the same bytes, of the same value. Make the two alike, or the order of one side that of the other." },
    { "check.collective_matching.hang", "A send ends when it is received: ranks that wait for one another in a circle never go on. Move a send or a "
      "receive up, or write both ends in one transfer." },

    { "check.cross_rank_closure.proved", "Every rank holds what it uses. Nothing is to mend." },
    { "check.cross_rank_closure.skipped", "Uses that could not be followed, and why. Add what the message misses." },
    { "check.cross_rank_closure.absent", "A rank uses what it made, held from the start, or was brought. Bring it there by a communication, or let the "
      "rank take part in making it." },

    { "check.reshard_completeness.proved", "Every change of sharding is made by a communication. Nothing is to mend." },
    { "check.reshard_completeness.skipped", "Uses whose sharding could not be followed, and why. Add what the message misses." },
    { "check.reshard_completeness.local", "A local task moves nothing: a rank's part of the result is made of its part of the operand. Put the "
      "communication between that the message names." },
    { "check.reshard_completeness.whole", "The operation needs all elements of the dimension, or both of each pair, on one rank. Gather the operand first." },
    { "check.reshard_completeness.contraction", "A sum over a dimension takes the same part of both operands on each rank, and all terms of its result. Split "
      "both alike, and the result by other axes." },

    { "check.resource_projection.proved", "What tasks require is what their work says. Nothing is to mend." },
    { "check.resource_projection.skipped", "Resources that could not be held against the work, and why. Add what the message misses." },
    { "check.resource_projection.compute", "A task requires as much compute as it has operations. Write that number, or leave `require` out." },
    { "check.resource_projection.memory", "A task requires as much memory bandwidth as it reads and writes. Write the sum, or leave `require` out." },
    { "check.resource_projection.network", "A task requires as much of the network as its message has bytes. Write that number, or leave `require` out." },
    { "check.resource_projection.capacity", "A task requires at least the memory that its work takes, temporary and persistent. Write as much, or more." },
    { "check.resource_projection.command", "A message is moved by a collective or a transfer, and operations are run by a launch, a collective or the host. Add the "
      "command, or name its right source." },

    { "check.shard_reconstruction.proved", "The pieces of the ranks make up the values. Nothing is to mend." },
    { "check.shard_reconstruction.skipped", "Values whose pieces could not be followed, and why. Add what the message misses." },
    { "check.shard_reconstruction.cover", "Every part of a value, and every term of a partial one, is held by a rank. Let ranks with all parts hold it." },
    { "check.shard_reconstruction.partial", "A partial sum stays one until a collective reduces it, and what is whole is no share of a sum. Reduce it, or say "
      "what it is." },
    { "check.shard_reconstruction.pieces", "Where values are cut, joined or reshaped each rank keeps its elements, or it has other ones than the sharding says. "
      "Gather first, or split another dimension." },
    { "check.shard_reconstruction.replicas", "What ranks hold twice is the same on each: of one seed, of one version. Draw from one seed, or make "
      "it on all its holders." },
    { "check.shard_reconstruction.source", "A value has the type of what it is from, whatever its sharding; symbols become one size everywhere. Mend the type." },
    { "check.shard_reconstruction.task", "A task that is an operation of the model computes that operation, of the values that it reads, in whatever parts. "
      "Write what the model says; what is only a part of an operation is `decomposed from` it." },

    { "check.work_conservation.proved", "The work of all ranks is the model's, and what is more has a name. Nothing is to mend." },
    { "check.work_conservation.skipped", "Work that could not be held against the model, and why. Add what the message misses." },
    { "check.work_conservation.term", "A task of a decoder's block does its term of the block's work, over all ranks together. Write what the message says, for one." },
    { "check.work_conservation.extra", "Each task of a decoder's block is a term of its work: of a layer, in a phase where that layer has something to do. Correct the "
      "layer or the phase, or remove the task." },
    { "check.work_conservation.missing", "A phase of a decoder's block has each of its terms once. Add the missing task." },
    { "check.work_conservation.recompute", "What is done again is what the strategy says, and the work of the first time. Correct the work, add or remove the task." },
    { "check.work_conservation.products", "Products do 24bsh^2 + 4bs^2h operations in the forward pass, and what follows in the others. Correct the operation that "
      "is not a product, or is." },
    { "check.work_conservation.product", "A rank does its share of a product's 2MNK operations: those divided by the axes that split M, N or K. Write that number." },
    { "check.work_conservation.model", "What is from an operation of the model does its work once: products 2MNK in all, other operations its elements. Make types or "
      "lineage agree." },
    { "check.work_conservation.scale", "A block's sizes are the model's and the workload's. Write those." },
    { "check.work_conservation.memory", "A block's memory follows from the model's sizes and the strategy. Write what the message says, for one rank." },
};

const u32 n_check_rules = COUNT(check_rules);

# awk -v tasks=N -f shard.awk: N collectives in MLIR's shard dialect, a function for each 64. Its nearest relation to a
# dist program, for the report; it says nothing of names, phases or work.

BEGIN {
    whole = "tensor<1x2048x12288xf16>"
    part = "tensor<1x256x12288xf16>"
    print "shard.grid @tp_group(shape = 8)"
    for (i = 0; i < tasks; i++) {
        if (i % 64 == 0)
            print "func.func @block" i / 64 "(%arg0: " part ") {"
        value = i % 64 ? "%" i % 64 - 1 : "%arg0"
        if (i % 2)
            print "  %" i % 64 " = shard.reduce_scatter " value " on @tp_group grid_axes = [0] scatter_axis = 1 : " whole " -> " part
        else
            print "  %" i % 64 " = shard.all_gather " value " on @tp_group grid_axes = [0] gather_axis = 1 : " part " -> " whole
        if (i % 64 == 63 || i == tasks - 1)
            print "  return\n}"
    }
}

# awk -v tasks=N -f blocks.awk: a dist program of N fine-grained tasks on 16384 ranks, for the conformance checkers: blocks
# of ten tasks with all values written, each on the half of the ranks that is its pipeline stage, sent on by a reshard.

function sharded(name, axes) { return "%" name "." block " : tensor<8192x1024xf16> sharding [" axes "]" }

BEGIN {
    print "dist.program @blocks schema 1.0 {"
    print "  mesh @ranks [pp = 2, dp = 1024, tp = 8]"
    print "  order serial"
    print "  input %x : tensor<8192x1024xf16> sharding [{dp, tp}, {}] owners [0..8191]"
    print "  parameter %gain : tensor<1024xf16>"
    print "  parameter %w1 : tensor<1024x4096xf16> sharding [{}, {tp}]"
    print "  parameter %w2 : tensor<4096x1024xf16> sharding [{tp}, {}]"
    print "  state %seed : tensor<2xi64>"
    last = "%x"
    for (block = 0; block < tasks / 10; block++) {
        on = block % 2 ? " ranks [8192..16383]" : " ranks [0..8191]"
        print "  task @norm." block " local model.rms_norm(" last ", %gain) -> " sharded("n", "{dp, tp}, {}") on
        print "  task @gather." block " collective all_gather(%n." block ") -> " sharded("r", "{dp}, {}") " over {tp}" on
        print "  task @up." block " local model.linear(%r." block ", %w1) -> %h." block " : tensor<8192x4096xf16> sharding [{dp}, {tp}]" on
        print "  task @gelu." block " local model.gelu(%h." block ") -> %g." block " : tensor<8192x4096xf16> sharding [{dp}, {tp}]" on
        print "  task @down." block " local model.linear(%g." block ", %w2) -> " sharded("p", "{dp}, {}") " partial sum {tp}" on
        print "  task @scatter." block " collective reduce_scatter(%p." block ") -> " sharded("s", "{dp, tp}, {}") " over {tp} reduction sum" on
        print "  task @drop." block " local model.dropout(%s." block ") -> " sharded("d", "{dp, tp}, {}") on
        print "    effects (random %seed)"
        print "  task @add." block " local model.add(%d." block ", " last ") -> " sharded("a", "{dp, tp}, {}") on
        print "  task @heads." block " local model.reshape(%a." block ") -> %b." block " : tensor<8192x16x64xf16> sharding [{dp, tp}, {}, {}]" on
        print "  task @send." block " reshard(%a." block ") -> " sharded("y", "{dp, tp}, {}") (block % 2 ? " owners [0..8191]" : " owners [8192..16383]")
        last = "%y." block
    }
    print "  output " last
    print "}"
}

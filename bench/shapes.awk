# awk -v shape=SHAPE -v n=N -f shapes.awk: a legal file with N of one thing, to show that nothing costs more than its
# share. The program around it is small.

function program(name) {
    print "dist.program @" name " schema 1.0 {"
    print "  mesh @ranks [tp = 2]"
}

function task(name, rest) {
    print "  task @" name " control()" rest
}

function list(count, before, after,    i) {
    printf "%s", before
    for (i = 0; i < count; i++)
        printf i ? ", %d" : "%d", i
    print after
}

function items(    i) {
    for (i = 0; i < n; i++) {
        if (i)
            print ""
        program("program" i)
        task("step", "")
        print "}"
    }
}

# Each task reads the value that the one before it made.
function values(    i) {
    print "  input %value0 : tensor<4x8xf16>"
    for (i = 0; i < n; i++)
        print "  task @step" i " local model.gelu(%value" i ") -> %value" i + 1 " : tensor<4x8xf16>"
}

function body(    i) {
    if (shape == "values")
        values()
    else if (shape == "list")
        list(n, "  task @step control()\n    note {list = [", "]}")
    else if (shape == "keys") {
        printf "  task @step control()\n    note {"
        for (i = 0; i < n; i++)
            printf "%skey%07d = 1", i ? ", " : "", i
        print "}"
    } else if (shape == "after") {
        for (i = 0; i < n; i++)
            task("step" i, "")
        printf "  task @last control()\n    after ("
        for (i = 0; i < n; i++)
            printf "%s@step%d", i ? ", " : "", i
        print ")"
    } else if (shape == "chain")
        for (i = 0; i < n; i++)
            task("step" i, i ? "\n    after @step" i - 1 : "")
    else
        for (i = 0; i < n; i++) {
            if (shape == "comments")
                print "  // what step " i " is for"
            task("step" i, shape == "notes" ? "\n    note {owner = \"team " i % 7 "\", rank = " i "}" : "")
        }
}

BEGIN {
    if (shape == "items")
        items()
    else {
        program("program")
        body()
        print "}"
    }
}

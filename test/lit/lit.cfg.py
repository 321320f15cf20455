# The lit suite: `make check-lit [FILTER=regex]`, or `lit test/lit/…` for a build in ./build or in $BP_BUILD.
# RUN lines are run by bash and find bp-opt, FileCheck, not and split-file on the PATH.
import os

import lit.formats

if not hasattr(config, "build"):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    build = os.environ.get("BP_BUILD", os.path.join(root, "build"))
    lit_config.load_config(config, os.path.join(build, "test", "lit.site.cfg.py"))
else:
    config.name = "bp-opt"
    config.test_format = lit.formats.ShTest(execute_external=True)
    config.suffixes = [".bpir", ".test", ".txt"]
    config.excludes = ["Inputs"]
    source = os.path.realpath(config.source)
    config.test_source_root = os.path.join(source, "test", "lit")
    config.test_exec_root = os.path.join(config.build, "test", "lit")

    llvm = os.path.dirname(os.path.realpath(config.filecheck))
    config.environment["PATH"] = os.pathsep.join([config.build, llvm, os.environ["PATH"]])
    config.environment["LC_ALL"] = "C.UTF-8"
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        if name in os.environ:
            config.environment[name] = os.environ[name]

    # %roundtrip FILE [OPTION...]: what test/roundtrip says.
    config.substitutions.append(("%roundtrip", "bash '%s'" % os.path.join(source, "test", "roundtrip")))
    config.substitutions.append(("%{examples}", os.path.join(source, "examples")))

# The lit suite: `make check-lit [FILTER=regex]`, or `lit test/lit/…` for a build in ./build or in $BP_BUILD.
# RUN lines are run by bash and find bp-opt, FileCheck, not and split-file on the PATH.
import os
import shlex
import sys

if not hasattr(config, "build"):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    build = os.environ.get("BP_BUILD", os.path.join(root, "build"))
    lit_config.load_config(config, os.path.join(build, "test", "lit.site.cfg.py"))
else:
    source = os.path.realpath(config.source)
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.join(source, "test", "lit"))
    from quoting import ShTest

    config.name = "bp-opt"
    config.test_format = ShTest(execute_external=True)
    config.suffixes = [".bpir", ".test", ".txt"]
    config.excludes = ["Inputs"]
    config.test_source_root = os.path.join(source, "test", "lit")
    config.test_exec_root = os.path.join(config.build, "test", "lit")

    llvm = os.path.dirname(os.path.realpath(config.filecheck))
    config.environment["PATH"] = os.pathsep.join([config.build, llvm, os.environ["PATH"]])
    config.environment["LC_ALL"] = "C.UTF-8"
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        if name in os.environ:
            config.environment[name] = os.environ[name]

    # %roundtrip FILE [OPTION...]: what test/roundtrip says.
    config.substitutions.append(("%roundtrip", "bash " + shlex.quote(os.path.join(source, "test", "roundtrip"))))
    config.substitutions.append(("%{examples}", shlex.quote(os.path.join(source, "examples"))))

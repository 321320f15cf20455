# `make help` lists the targets. In the source folder or from any other one (`make -f ../bp-opt/Makefile`); all
# products go to B, which is ./build unless given: `make B=/tmp/x CC=clang`.
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += -rR
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

S := $(filter-out ./,$(dir $(lastword $(MAKEFILE_LIST))))
B = build
goals := $(or $(MAKECMDGOALS),all)
run = BP_SOURCE='$(S).' BP_BUILD='$(B)'

all: $(B)/bp-opt $(B)/libbpir.a

# Sources, objects -----------------------------------------------------------------------------------------------

sources := $(foreach d,support ir lexer parser dialects dialects/* transformer passes conformance execute,$(wildcard $(S)src/$d/*.c))
tool    := $(wildcard $(S)tools/bp-opt/*.c)
examples := $(sort $(wildcard $(S)docs/diagnostics/*.bpir))
unit    := $(wildcard $(S)test/unit/*.c)
oracle  := $(wildcard $(S)test/oracle/*.c)
algebra := $(wildcard $(S)tools/algebra/*.c)
reference := $(wildcard $(S)tools/reference/*.c)
mutants := $(wildcard $(S)test/mutation/*.c)

first   := $(foreach d,session model dist portable concrete,$(wildcard $(S)src/dialects/$d/syntax.y))
grammar := $(S)src/parser/head.y $(first) $(filter-out $(first),$(wildcard $(S)src/dialects/*/syntax.y)) \
           $(S)src/parser/tail.y

objects  = $(patsubst $(S)%.c,$(B)/obj/%.o,$(1))
library := $(call objects,$(sources)) $(B)/obj/gen/lexer.o $(B)/obj/gen/grammar.o

# Packages, configuration ----------------------------------------------------------------------------------------
# The targets below install what they lack; the others only say what is missing.

checks   := check check-unit check-lit check-scripts check-oracle check-asan distcheck
installs := $(filter demo bench $(checks),$(goals))
groups   := build $(if $(filter $(checks),$(goals)),test) $(if $(filter bench,$(goals)),bench)

$(groups:%=$(B)/packages.%): $(if $(installs),FORCE)
	@mkdir -p $(B)
	@$(S)build-aux/install-packages $(if $(installs),,--only-check) --stamps $(B) $(groups)
$(filter-out %.build,$(groups:%=$(B)/packages.%)): | $(B)/packages.build

$(B)/configure: $(S)configure.ac | $(B)/packages.build
	@cd $(B) && autoconf -o configure "$$(realpath --relative-to=. "$(abspath $<)")"

$(B)/config.mk: $(B)/configure $(addprefix $(S),config.mk.in test/lit/lit.site.cfg.py.in) $(groups:%=$(B)/packages.%)
	@echo '  CONFIG $@'
	@src=$$(realpath --relative-to=$(B) "$(or $(S),.)") && cd $(B) && \
	if test -x config.status; then ./config.status -q --recheck && ./config.status -q; \
	else ./configure -q --srcdir="$$src"; fi
	@touch $@

ifneq ($(filter-out help layers clean distclean distcheck,$(goals)),)
include $(B)/config.mk
endif

# Compilation ----------------------------------------------------------------------------------------------------
# SANITIZE is set by check-asan.

warnings = -Wall -Wextra -Wpedantic -Werror
compile  = $(CC) -std=c11 $(CFLAGS) $(SANITIZE) $(warnings) -I$(S)src -I$(B)/gen $(defines) $(CPPFLAGS) -MMD -MP -c -o $@ $<
link     = $(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^)

$(B)/obj/%.o: $(S)%.c $(B)/config.mk | $(B)/gen/grammar.h
	@echo '  CC     $<'
	@mkdir -p $(@D)
	@$(compile)

$(B)/obj/gen/%.o: $(B)/gen/%.c $(B)/config.mk | $(B)/gen/grammar.h
	@echo '  CC     $<'
	@mkdir -p $(@D)
	@$(compile)

$(call objects,$(tool)) $(B)/obj/gen/examples.o: defines = -DBP_OPT_VERSION='"$(VERSION)"'

$(B)/libbpir.a: $(library) $(B)/gen/library.list
	@echo '  AR     $@'
	@rm -f $@ && ar rcs $@ $(filter %.o,$^)

$(B)/obj/gen/examples.o: CPPFLAGS += -I$(S)tools/bp-opt
$(B)/bp-opt: $(call objects,$(tool)) $(B)/obj/gen/examples.o $(B)/libbpir.a
	@echo '  LD     $@'
	@$(link) $(LIBS)

$(B)/bp-unit: $(call objects,$(unit)) $(B)/libbpir.a
	@echo '  LD     $@'
	@$(link) $(CHECK_LIBS) $(LIBS)

$(B)/oracle-gate: $(call objects,$(oracle)) $(B)/libbpir.a
	@echo '  LD     $@'
	@$(link) $(LIBS)

$(B)/algebra: $(call objects,$(algebra)) $(B)/libbpir.a
	@echo '  LD     $@'
	@$(link) $(LIBS)

$(B)/reference: $(call objects,$(reference)) $(B)/libbpir.a
	@echo '  LD     $@'
	@$(link) $(LIBS)

$(B)/mutate: $(call objects,$(mutants)) $(B)/libbpir.a
	@echo '  LD     $@'
	@$(link) $(LIBS)

-include $(patsubst %.o,%.d,$(library) $(B)/obj/gen/examples.o $(call objects,$(tool) $(unit) $(oracle) $(algebra) $(mutants) $(reference)))

# Generated sources ----------------------------------------------------------------------------------------------

$(B)/gen/lexer.c: $(S)src/lexer/lexer.re $(B)/config.mk
	@echo '  RE2C   $<'
	@mkdir -p $(@D)
	@$(RE2C) -bc -W -Werror -o $@ $<

# Bison has no include: the fragments are joined, and #line lets its messages point into them.
$(B)/gen/grammar.y: $(grammar) $(B)/gen/grammar.list
	@for f in $(grammar); do echo "#line 1 \"$$f\"" && cat $$f || exit; done >$@

$(B)/gen/%.c $(B)/gen/%.h: $(B)/gen/%.y $(B)/config.mk
	@echo '  BISON  $<'
	@$(BISON) -Wall -Wcounterexamples -Werror -o $(B)/gen/$*.c --header=$(B)/gen/$*.h $<

$(B)/gen/examples.c: $(examples) $(S)build-aux/examples $(B)/gen/examples.list
	@echo '  GEN    $@'
	@$(S)build-aux/examples $(examples) >$@

# A list is rewritten only when it changed, so that what is made of it follows added and removed files.
list = @mkdir -p $(@D); echo '$(strip $(1))' | cmp -s - $@ || echo '$(strip $(1))' >$@

$(B)/gen/library.list: FORCE
	$(call list,$(library))
$(B)/gen/grammar.list: FORCE
	$(call list,$(grammar))
$(B)/gen/examples.list: FORCE
	$(call list,$(examples))
$(B)/gen/suites.h: FORCE
	$(call list,$(patsubst $(S)test/unit/test_%.c,SUITE(%),$(filter $(S)test/unit/test_%,$(unit))))

$(call objects,$(S)test/unit/main.c): $(B)/gen/suites.h

# Checks, demo, bench --------------------------------------------------------------------------------------------
# build-aux/check runs the parts it is given; the last line of each is `N passed, N failed`.

tested = $(run) SANITIZE='$(SANITIZE)' PYTHON='$(PYTHON)' LIT='$(LIT)' $(S)build-aux/check

check: all $(B)/bp-unit $(B)/oracle-gate $(B)/algebra $(B)/reference $(B)/mutate
	@$(tested) layers unit lit scripts
check-unit: $(B)/bp-unit
	@$(tested) unit $(if $(SUITE),'$(SUITE)')
check-lit: all
	@$(tested) lit $(if $(FILTER),'$(FILTER)')
check-scripts: all $(B)/oracle-gate $(B)/algebra $(B)/reference $(B)/mutate
	@$(tested) scripts $(if $(SCRIPT),'$(SCRIPT)')
check-oracle: all $(B)/oracle-gate
	@$(tested) scripts oracle
check-asan:
	@$(MAKE) --no-print-directory -f $(S)Makefile B=$(B)/asan check \
	    SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
distcheck:
	+@$(S)build-aux/distcheck
layers:
	@$(S)build-aux/layers $(S).

algebra: $(B)/algebra
	@$< $(S)docs/algebra.md $(S)examples/gpt3-175b.bpir >$(B)/algebra.md
	@$< $(S)docs/inference.md $(S)examples/serve-llama-3-70b.bpir >$(B)/inference.md
	@for d in algebra inference; do cmp -s $(B)/$$d.md $(S)docs/$$d.md || cp $(B)/$$d.md $(S)docs/$$d.md || exit; done
reference: $(B)/reference
	@mkdir -p $(S)docs/dialects
	@for d in session model dist portable concrete; do $< $$d >$(S)docs/dialects/$$d.md || exit; done
demo: all
	@$(run) $(S)build-aux/demo
mutation: all $(B)/mutate
	@$(run) $(S)test/mutation/run $(if $(LONE),,--known='$(S)test/mutation/survivors.txt') --show
bench: all $(B)/packages.bench
	@$(run) PYTHON='$(PYTHON)' $(S)bench/run

# Installation ---------------------------------------------------------------------------------------------------

DEST = $(DESTDIR)$(PREFIX)
# $(call install_tree,FOLDER,FIND'S CONDITION,TO)
install_tree = @to="$$(realpath -m "$(DEST)/$(3)")" && cd $(1) && find . -type f $(2) -exec install -Dm644 {} "$$to/{}" \;

# $(call install_help,FORM,FILE): made by bp-opt from its table of options.
install_help = @install -d "$(DEST)/$(dir $(2))" && $(B)/bp-opt --help=$(1) >"$(DEST)/$(2)"
man = share/man/man1/bp-opt.1
bash = share/bash-completion/completions/bp-opt
zsh = share/zsh/site-functions/_bp-opt

install: all
	@install -Dm755 $(B)/bp-opt "$(DEST)/bin/bp-opt"
	@install -Dm644 $(B)/libbpir.a "$(DEST)/lib/libbpir.a"
	$(call install_help,man,$(man))
	$(call install_help,bash,$(bash))
	$(call install_help,zsh,$(zsh))
	$(call install_tree,$(S)src,\( -name '*.h' -o -name '*.def' \),include/bpir)
	$(call install_tree,$(S)docs,,share/doc/bp-opt)
	$(call install_tree,$(S)examples,,share/doc/bp-opt/examples)
uninstall:
	rm -f "$(DEST)/bin/bp-opt" "$(DEST)/lib/libbpir.a"
	rm -rf "$(DEST)/include/bpir" "$(DEST)/share/doc/bp-opt"
	rm -f $(foreach form,man bash zsh,"$(DEST)/$($(form))")

clean:
	rm -rf $(addprefix $(B)/,obj gen asan demo bench test/lit bp-opt bp-unit oracle-gate algebra algebra.md inference.md mutate reference libbpir.a)
distclean: clean
	rm -rf $(addprefix $(B)/,configure config.mk config.log config.status autom4te.cache test packages.*)
	! test -d $(B) || rmdir --ignore-fail-on-non-empty $(B)

help:
	@sed -n 's/^#| \?//p' $(S)Makefile
#| make              build/bp-opt and build/libbpir.a
#| make check        all tests; the last line is `N passed, N failed`
#| make check-unit   the unit tests        [SUITE=quantity]
#| make check-lit    the lit tests         [FILTER=regex]
#| make check-scripts  test/checks/*.sh  [SCRIPT=regex]
#| make check-oracle the algebra and the passes against numbers of others
#| make check-asan   all tests, built with ASan and UBSan in build/asan
#| make mutation     plans changed in every field: what the verifiers and checkers refuse, what survives  [EVERY=N]
#| make layers       that no include points up the layers
#| make distcheck    a copy of the source builds, tests and installs from another folder
#| make algebra      the tables of docs/algebra.md and docs/inference.md anew
#| make reference    docs/dialects/*.md anew, from the dialects' tables
#| make demo         GPT-3 175B, from the model to a plan
#| make bench        speed, beside mlir-opt
#| make install      [PREFIX=/usr/local] [DESTDIR=]; make uninstall takes it back
#| make clean        the products; make distclean the configuration too
#|
#| Variables: B=folder of the build, CC CFLAGS CPPFLAGS LDFLAGS RE2C BISON PYTHON LIT FILECHECK.
#| check, demo and bench install what they lack when run by root; the others say what is missing.

FORCE:
.PHONY: all $(checks) layers algebra reference demo mutation bench install uninstall clean distclean help FORCE

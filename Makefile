# Makefile - non-recursive build of pcol; each top-level directory lists its files in its rules.mk
#
# Variants share no build results: objects are in build/VARIANT/obj, results in build/VARIANT (variant `release`: build/).
# Include paths enforce the layers:
#
#     format                      format
#     lib, tests/unit             format and lib
#     tools, bench, lib/examples  build/include, which has only copies of pcol.h and pcol_perun.h
#
# Variables: CC, CFLAGS, CPPFLAGS, LDFLAGS, LDLIBS (appended to the flags below), PREFIX, DESTDIR, V=1 (print commands),
# BUNDLE=0 (link the command with shared libraries), WERROR=1 (warnings are errors),
# VARIANT=release|test|clang|portable|asan|tsan|msan|coverage|fuzz|swift,
# NO_THREADS=1 (no threads, no locks), NO_MMAP=1 (files are read into memory): for systems without them,
# NO_VIEW=1 (no command view, without libmicrohttpd).

MAKEFLAGS += --no-builtin-rules --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:

.PHONY: all
all: ## build build/pcol, libpcol.a, libpcol.so and pcol.pc

VARIANT ?= release
# NO_THREADS=1 and NO_MMAP=1 build the variant `portable`, which by itself is both.
ifneq ($(NO_THREADS)$(NO_MMAP),)
override VARIANT := $(VARIANT:release=portable)
else ifeq ($(VARIANT),portable)
NO_THREADS := 1
NO_MMAP := 1
endif
BUILD := build
OBJ := $(BUILD)/$(VARIANT)/obj
OUT := $(if $(filter release,$(VARIANT)),$(BUILD),$(BUILD)/$(VARIANT))
PUBLIC := pcol.h pcol_perun.h
STAGED := $(PUBLIC:%=$(BUILD)/include/%)
GEN := $(BUILD)/gen

PREFIX ?= /usr/local
bindir ?= $(PREFIX)/bin
libdir ?= $(PREFIX)/lib
includedir ?= $(PREFIX)/include
datadir ?= $(PREFIX)/share
mandir ?= $(datadir)/man
pkgconfigdir ?= $(libdir)/pkgconfig
INSTALL ?= install

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

# ---- version: defined in pcol.h only; pcol.map has the number of the ABI

version_part = $(shell awk '$$2 == "PCOL_VERSION_$(1)" { print $$3; exit }' lib/pcol.h 2>/dev/null)
VERSION := $(call version_part,MAJOR).$(call version_part,MINOR).$(call version_part,PATCH)
ABI := $(shell sed -n 's/^PCOL_\([0-9][0-9]*\) .*/\1/p' lib/pcol.map)

# ---- compiler and flags

IS_CLANG := $(shell $(CC) --version 2>/dev/null | grep -c clang)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wpointer-arith \
        -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wundef -Wwrite-strings -Wvla -Walloca \
        -Wformat=2 -Wswitch-enum -Wimplicit-fallthrough -Wnull-dereference -Wdouble-promotion
ifeq ($(IS_CLANG),0)
WARN += -Wcast-align=strict -Wduplicated-cond -Wlogical-op
else
WARN += -Wcast-align
endif
ifeq ($(WERROR),1)
WARN += -Werror
endif

OPT := -O2 -g
ifeq ($(VARIANT),asan)
OPT := -O1 -g
SANITIZE := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=undefined,float-cast-overflow -fno-omit-frame-pointer
ifeq ($(IS_CLANG),0)
# gcc registers the data of each check of UBSan as a global variable, which takes half of the time of a start; clang (`fuzz`) does not.
SANITIZE += --param asan-globals=0
endif
endif
ifeq ($(VARIANT),tsan)
OPT := -O1 -g
# The instrumentation causes false positives of this warning in gcc 12.
SANITIZE := -fsanitize=thread -fno-omit-frame-pointer -Wno-maybe-uninitialized
endif
ifeq ($(VARIANT),coverage)
# Counters are in a mapped file, so the coverage of killed processes is recorded, too.
OPT := -O1 -g -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation=true -Wno-unused-command-line-argument
endif
ifeq ($(VARIANT),msan)
OPT := -O1 -g
SANITIZE := -fsanitize=memory -fsanitize-memory-track-origins -fno-omit-frame-pointer
endif
ifneq ($(filter fuzz,$(VARIANT)),)
OPT := -O1 -g
SANITIZE := -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=undefined,float-cast-overflow -fno-omit-frame-pointer
endif
# Like `fuzz`, without AddressSanitizer and tracing of comparisons, with traps instead of reports: several times as many executions.
ifeq ($(VARIANT),swift)
SANITIZE := -fsanitize=undefined -fsanitize-trap=undefined -fsanitize-coverage=inline-8bit-counters,pc-table,indirect-calls
endif

# Flags of pkg-config; the plain library name without them.
pc_libs = $(shell pkg-config --libs $(1) 2>/dev/null || echo $(2))
pc_cflags = $(shell pkg-config --cflags $(1) 2>/dev/null)
LIBS := $(call pc_libs,libxxhash,-lxxhash) $(call pc_libs,zlib,-lz) $(call pc_libs,liblz4,-llz4) $(call pc_libs,libzstd,-lzstd) $(call pc_libs,libprotobuf-c,-lprotobuf-c) -lm $(if $(NO_THREADS),,-pthread)
LIBS_CFLAGS := $(call pc_cflags,libxxhash) $(call pc_cflags,zlib) $(call pc_cflags,liblz4) $(call pc_cflags,libzstd) $(call pc_cflags,libprotobuf-c)
BUNDLE ?= $(if $(SANITIZE),0,1)
TEST_LIBS := $(call pc_libs,criterion,-lcriterion)

BASE := -std=c17 -D_POSIX_C_SOURCE=200809L $(if $(NO_THREADS),-DPCOL_NO_THREADS) $(if $(NO_MMAP),-DPCOL_NO_MMAP) $(if $(NO_VIEW),-DPCOL_NO_VIEW) $(OPT) $(SANITIZE) $(WARN)
LINK = $(CC) $(OPT) $(SANITIZE) $(CFLAGS) -Wl,--as-needed $(LDFLAGS)

FLAGS_format := -I. -fPIC -fvisibility=hidden
FLAGS_lib := -I. -Ilib -isystem $(GEN) -fPIC -fvisibility=hidden $(LIBS_CFLAGS)
FLAGS_user := -I$(BUILD)/include
FLAGS_unit := -I. -Ilib -isystem $(GEN) $(LIBS_CFLAGS)

# Sets of scripts/deps that the goals of this make need; rules.mk files add to it: PACKAGES += $(call needs,SET,GOALS).
PACKAGES :=
needs = $(if $(filter $(2),$(MAKECMDGOALS)),$(1))

# Objects depend on this stamp: other flags or another compiler rebuild them, after a probe of the libraries.
STAMP := $(OBJ)/flags
$(STAMP): FORCE
	@$(PACKAGES:%=scripts/deps % &&) :
	@mkdir -p $(@D); \
	{ $(CC) --version 2>/dev/null | head -n 1; \
	  echo "$(CC) $(BASE) $(LIBS_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)"; } >$@.new; \
	if cmp -s $@.new $@; then rm $@.new; else NO_VIEW=$(NO_VIEW) scripts/libraries $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) && mv $@.new $@; fi
.PHONY: FORCE

define compile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(BASE) $(1) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
endef

$(STAGED): $(BUILD)/include/%: lib/%
	@mkdir -p $(@D)
	@cp $< $@

include format/rules.mk
include lib/rules.mk
include web/page.mk
include tools/rules.mk
include bench/rules.mk
include tests/rules.mk
include web/rules.mk

.SECONDARY: $(BENCH_OBJ) $(EXAMPLE_OBJ)

-include $(patsubst %.o,%.d,$(FORMAT_OBJ) $(LIB_OBJ) $(TOOLS_OBJ) $(BENCH_OBJ) $(EXAMPLE_OBJ) $(UNIT_OBJ))

all: $(OUT)/pcol $(OUT)/libpcol.a $(OUT)/pcol.pc
ifndef SANITIZE
all: $(OUT)/libpcol.so
endif

.PHONY: examples
examples: $(EXAMPLE_BIN) ## build the example programs of lib/examples

# ---- demo

DEMO_FILE := tests/data/rprof/demo.Rprof
DEMO_OUT := $(BUILD)/demo.pcol

.PHONY: demo
demo: ## install dependencies, build, pack a real profile and query it
	@scripts/deps build
	@echo "building pcol (about a minute of CPU time)"
	@$(MAKE) $(if $(findstring j,$(MAKEFLAGS)),,-j$$(nproc 2>/dev/null || echo 2)) all
	@scripts/demo $(BUILD)/pcol $(DEMO_FILE) $(DEMO_OUT)

# ---- tests and checks

.PHONY: abi docs test test-all test-quick test-languages asan check check-abi check-format check-headers check-layers check-tidy check-werror format
test: ## run all tests of the engine with gcc, clang, ASan+UBSan and without threads; the last line is "N passed, N failed, N skipped"
	@scripts/deps test
	@MAKEFLAGS= tests/run

# Suites other than the engine's: the rules of each directory in bindings/ add theirs to TEST_ALL.
TEST_ALL := test
-include $(wildcard bindings/*/rules.mk) $(wildcard sql/rules.mk)
-include tests/web/rules.mk

test-all: ## run `test` and the tests of all bindings; the last line is the sum
	@MAKEFLAGS= scripts/test-all $(TEST_ALL)

test-quick: ## run the unit and command line tests in one variant, within a minute
	@scripts/deps test
	@MAKEFLAGS= tests/run --suite unit --suite cli

test-languages: ## compile and run the example programs in Go and Rust
	@scripts/deps languages
	@MAKEFLAGS= tests/run --suite languages

asan: ## run the tests under ASan+UBSan only (also with CC=clang)
	@scripts/deps test
	@MAKEFLAGS= tests/run --only asan

# Pass a compiler on make's command line to tests/run by the environment.
ifneq ($(origin CC),default)
export CC
endif

C_FILES = $(sort $(wildcard $(foreach d,format lib lib/* lib/*/* tools bench sql/* web tests/* tests/*/*,$(d)/*.c $(d)/*.h)))

check: check-format check-headers check-abi check-layers check-tidy check-werror check-web ## check format, headers, ABI, layers, clang-tidy and -Werror builds

check-format:
	@scripts/deps check
	$(call say,FORMAT,$(words $(C_FILES)) files)
	$(Q)clang-format --dry-run -Werror $(C_FILES)

check-headers:
	@scripts/deps check
	$(call say,HEADERS,public headers as C99 and C11 and as C++11 and C++20)
	$(Q)for header in lib/pcol*.h; do \
	  for std in c99 c11; do $(CC) -std=$$std -Ilib -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c $$header || exit 1; done; \
	  for std in c++11 c++20; do c++ -std=$$std -Ilib -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ $$header || exit 1; done; \
	done

# The binary interface of libpcol.so, compared with the dump of the last commit that changed it on purpose. Until the tag 1.0.0 a
# commit may replace the dump (`make abi`) and its message states what changed.
ABI_DUMP := lib/libpcol.abi
ABI_WRITE = abidw $(PUBLIC:%=--header-file lib/%) --drop-private-types --exported-interfaces-only --type-id-style hash --no-architecture --no-show-locs --no-corpus-path --no-comp-dir-path $(1) --out-file $(2)

abi: $(OUT)/libpcol.so ## store the binary interface of the library in lib/libpcol.abi
	@scripts/deps check
	$(Q)$(call ABI_WRITE,$(OUT)/libpcol.so,$(ABI_DUMP))

check-abi: $(OUT)/libpcol.so
	@scripts/deps check
	$(call say,ABI,$(OUT)/libpcol.so against $(ABI_DUMP))
	$(Q)$(call ABI_WRITE,$(OUT)/libpcol.so,$(OUT)/libpcol.abi)
	$(Q)abidiff $(ABI_DUMP) $(OUT)/libpcol.abi

docs: ## write the reference of pcol.h as HTML and as man pages to build/docs
	@scripts/deps docs
	$(Q)mkdir -p build/docs
	$(call say,DOXYGEN,lib/pcol.h)
	$(Q)doxygen docs/Doxyfile

check-layers: all
	$(call say,LAYERS,symbols and includes of $(OBJ))
	$(Q)scripts/layers $(OBJ)

check-tidy: $(STAGED) $(GEN)/pprof/profile.pb-c.h
	@scripts/deps check
	$(call say,TIDY,format lib tools bench)
	$(Q)CPP='-std=c17 -D_POSIX_C_SOURCE=200809L' scripts/tidy \
	  '$(FLAGS_format)' $(FORMAT_SRC) -- '$(FLAGS_lib)' $(LIB_SRC) -- \
	  '$(FLAGS_user) -Iweb' $(TOOLS_SRC) -- '$(FLAGS_user)' $(BENCH_SRC) $(EXAMPLE_SRC)

check-werror:
	@scripts/deps check
	@$(MAKE) VARIANT=test WERROR=1 all examples bench-programs
	@$(MAKE) VARIANT=clang CC=clang WERROR=1 all examples bench-programs

format: ## format the C files with clang-format
	@scripts/deps check
	$(Q)clang-format -i $(C_FILES)

ifneq ($(wildcard tests/hostile/fuzz/run),)
.PHONY: fuzz fuzz-afl
fuzz: ## fuzz the readers with libFuzzer; FUZZ_ARGS: arguments of tests/hostile/fuzz/run
	@tests/hostile/fuzz/run $(FUZZ_ARGS)

fuzz-afl: ## fuzz the readers with AFL++
	@tests/hostile/fuzz/run --afl $(FUZZ_ARGS)
endif

ifneq ($(wildcard tests/hostile/faults/run),)
.PHONY: faults
faults: all fault-programs ## run the fault injection tests; FAULTS_ARGS: arguments of tests/hostile/faults/run
	@PCOL=$(CURDIR)/$(OUT)/pcol OUT=$(CURDIR)/$(OUT) tests/hostile/faults/run $(FAULTS_ARGS)

.PHONY: faults-long
faults-long: faults ## also search for uninitialised bytes and superlinear time
	@PCOL=$(CURDIR)/$(OUT)/pcol tests/system/reproducible/run --long
	@PCOL=$(CURDIR)/$(OUT)/pcol tests/system/scaling/run --long
endif

.PHONY: coverage
coverage: ## measure test coverage against its gates; COVERAGE_ARGS: arguments of scripts/coverage
	@scripts/deps check
	@scripts/coverage $(COVERAGE_ARGS)

.PHONY: bench
bench: all bench-programs ## measure speed and size against other programs; BENCH_ARGS: arguments of bench/run
	@$(PYTHON) bench/run --json $(OUT)/bench/results.jsonl $(BENCH_ARGS)

.PHONY: bench-page
bench-page: ## write docs/benchmarks.md and its chart from the results of the last `make bench`
	@bench/page.py $(OUT)/bench/results.jsonl docs

.PHONY: bench-report
bench-report: ## install the peers (R, Go, packages of R and Python), run `make bench`, then `make bench-page`
	@for set in data r python sql web browser; do scripts/deps $$set || exit; done
	@$(MAKE) r python sqlite duckdb
	@$(MAKE) bench; code=$$?; $(MAKE) bench-page && exit $$code

.PHONY: bench-quick
bench-quick: all bench-programs ## run the benchmarks with small inputs, within a minute
	@$(PYTHON) bench/run --quick $(BENCH_ARGS)

# ---- installation

.PHONY: install uninstall pages
# Pages and scripts that the command itself writes. `help` is described in pcol.1.
COMMANDS := $(filter-out help,$(shell sed -n 's/^    {"[A-Z][a-z]*", "\([a-z]*\)".*/\1/p' tools/cmd.c))
PAGES := $(OUT)/share/pcol.1 $(COMMANDS:%=$(OUT)/share/pcol-%.1)
COMPLETIONS := $(addprefix $(OUT)/share/completion.,bash zsh fish)

$(PAGES): $(OUT)/pcol scripts/man-page tools/man/pcol.1
	@mkdir -p $(@D)
	$(Q)scripts/man-page $(OUT)/pcol $(subst pcol-,,$(filter-out pcol,$(basename $(@F)))) >$@

$(COMPLETIONS): $(OUT)/share/completion.%: $(OUT)/pcol
	@mkdir -p $(@D)
	$(Q)$(OUT)/pcol completion $* >$@

pages: $(PAGES) $(COMPLETIONS) ## write the man pages and the completion scripts

# Installed files: MODE SOURCE=DESTINATION
INSTALLED = \
  755:$(OUT)/pcol=$(bindir)/pcol \
  $(foreach name,$(PUBLIC),644:lib/$(name)=$(includedir)/$(name)) \
  644:$(OUT)/libpcol.a=$(libdir)/libpcol.a \
  755:$(OUT)/libpcol.so.$(ABI)=$(libdir)/libpcol.so.$(ABI) \
  644:$(OUT)/pcol.pc=$(pkgconfigdir)/pcol.pc \
  644:$(OUT)/share/pcol.1=$(mandir)/man1/pcol.1 \
  $(foreach name,$(COMMANDS),644:$(OUT)/share/pcol-$(name).1=$(mandir)/man1/pcol-$(name).1) \
  644:tools/man/pcol.5=$(mandir)/man5/pcol.5 \
  644:$(OUT)/share/completion.bash=$(datadir)/bash-completion/completions/pcol \
  644:$(OUT)/share/completion.zsh=$(datadir)/zsh/site-functions/_pcol \
  644:$(OUT)/share/completion.fish=$(datadir)/fish/vendor_completions.d/pcol.fish \
  644:tools/share/magic=$(datadir)/pcol/magic \
  644:tools/share/pcol.xml=$(datadir)/mime/packages/pcol.xml

install: all pages ## install; honours DESTDIR, PREFIX, bindir, libdir, includedir, datadir, mandir, pkgconfigdir
	$(Q)set -e; for file in $(INSTALLED); do \
	  mode=$${file%%:*}; file=$${file#*:}; \
	  $(INSTALL) -d "$(DESTDIR)$$(dirname "$${file#*=}")"; \
	  $(INSTALL) -m "$$mode" "$${file%%=*}" "$(DESTDIR)$${file#*=}"; \
	done
	$(Q)ln -sf libpcol.so.$(ABI) $(DESTDIR)$(libdir)/libpcol.so
	$(Q)$(if $(DESTDIR),:,$(LOADER_CACHE))

# glibc finds libraries in these directories by a cache only, which just root can write.
LOADER_CACHE = case $(libdir) in /usr/local/lib | /usr/lib | /usr/lib/*) PATH="$$PATH:/usr/sbin:/sbin" ldconfig 2>/dev/null || : ;; esac

uninstall: ## remove the installed files
	$(Q)rm -f $(foreach file,$(INSTALLED),$(DESTDIR)$(lastword $(subst =, ,$(file)))) $(DESTDIR)$(libdir)/libpcol.so

# The command for musl, static, with the libraries of third_party: Debian has none for musl. Without `view`, which
# needs libmicrohttpd. PCOL=build/musl/pcol tests/run tests it.
MUSL_CC ?= musl-gcc
MUSL := $(BUILD)/musl
MUSL_LIB_SRC := $(wildcard $(foreach d,zlib lz4 xxhash protobuf-c/* zstd/*,third_party/$(d)/*.c))
MUSL_LIB_OBJ := $(MUSL_LIB_SRC:%.c=$(MUSL)/obj/%.o)
MUSL_FLAGS := -O2 -w -DHAVE_UNISTD_H -DZSTD_DISABLE_ASM $(addprefix -Ithird_party/,zlib lz4 xxhash protobuf-c zstd)

$(MUSL)/obj/third_party/zstd/%.o: MUSL_FLAGS += -DXXH_NAMESPACE=ZSTD_
$(MUSL)/obj/third_party/%.o: third_party/%.c
	@mkdir -p $(@D)
	$(call say,MUSLCC,$<)
	$(Q)$(MUSL_CC) $(MUSL_FLAGS) -c $< -o $@

$(MUSL)/libraries.a: $(MUSL_LIB_OBJ)
	@rm -f $@
	$(Q)ar rcs $@ $^

.PHONY: musl
musl: ## build build/musl/pcol with musl-gcc, static, without `view`, with the libraries of third_party
	@scripts/deps musl
	@$(MAKE) $(MUSL)/libraries.a
	@for name in xxhash z lz4 zstd protobuf-c; do ln -sf libraries.a $(MUSL)/lib$$name.a; done
	@$(MAKE) VARIANT=musl CC=$(MUSL_CC) BUNDLE=0 NO_VIEW=1 LIBS='$(CURDIR)/$(MUSL)/libraries.a -lm -pthread' LIBS_CFLAGS= \
	  CPPFLAGS='$(addprefix -isystem $(CURDIR)/third_party/,zlib lz4 xxhash protobuf-c zstd)' \
	  LDFLAGS='-static -L$(CURDIR)/$(MUSL)' $(MUSL)/pcol examples

.PHONY: deb test-deb
deb: ## build the Debian packages in build/deb
	@MAKEFLAGS= scripts/deb build

test-deb: ## install the Debian packages into an empty Debian 12 and use them there; needs root
	@MAKEFLAGS= scripts/deb test

.PHONY: clean help
clean: ## remove build/
	rm -rf $(BUILD)

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(filter Makefile %rules.mk,$(MAKEFILE_LIST))

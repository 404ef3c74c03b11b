# tests: all Criterion tests of tests/unit in one program, linked with the static library for access to internal functions.

UNIT_SRC := $(wildcard tests/unit/*.c)
SEAL_OBJ := $(OBJ)/tests/hostile/faults/seal.o
UNIT_OBJ := $(UNIT_SRC:%.c=$(OBJ)/%.o) $(SEAL_OBJ)

# Criterion does not run under ThreadSanitizer, and starts a test slowly under AddressSanitizer: tests/sanitized has what replaces it.
ifneq ($(filter tsan asan,$(VARIANT)),)
SANITIZED_OBJ := $(OBJ)/tests/sanitized/unit.o
SANITIZED_FLAGS := -isystem tests/sanitized
TEST_LIBS :=
$(SANITIZED_OBJ): tests/sanitized/unit.c $(STAMP)
	$(call compile,-Itests/sanitized)
endif

# Criterion's macros expand to code that causes these warnings.
$(OBJ)/tests/unit/%.o: tests/unit/%.c $(STAMP)
	$(call compile,$(SANITIZED_FLAGS) $(FLAGS_unit) -Wno-missing-prototypes -Wno-pedantic -Wno-null-dereference \
	  $(if $(filter 0,$(IS_CLANG)),,-Wno-sign-compare))

$(UNIT_OBJ): | $(GEN)/pprof/profile.pb-c.h

$(OUT)/unit-tests: $(UNIT_OBJ) $(SANITIZED_OBJ) $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $(UNIT_OBJ) $(SANITIZED_OBJ) $(OUT)/libpcol.a $(LIBS) $(TEST_LIBS) $(LDLIBS)

.PHONY: unit-tests
unit-tests: $(if $(UNIT_SRC),$(OUT)/unit-tests)

# ---- fuzzing: one program per target for libFuzzer; one with all targets for AFL++ and for replays

FUZZ_SRC := $(filter-out $(addprefix tests/hostile/fuzz/,entry.c replay.c mutate.c),$(wildcard tests/hostile/fuzz/*.c))
# The command is a target, too: its main() has another name, and its output is intercepted.
FUZZ_TOOLS := $(OBJ)/tests/hostile/fuzz/pcol.o $(filter-out $(OBJ)/tools/main.o,$(TOOLS_OBJ))
FUZZ_OBJ := $(FUZZ_SRC:%.c=$(OBJ)/%.o) $(SEAL_OBJ) $(FUZZ_TOOLS)
FUZZ_LIBS := -Wl,--wrap=write -ldl
$(OUT)/fuzz/%: FUZZ_LIBS := -ldl
$(OUT)/fuzz/command $(OUT)/fuzz/escape: FUZZ_LIBS := -Wl,--wrap=write -ldl
FORMAT_NAMES := $(subst _,-,$(shell sed -n 's/^    X(\([a-z0-9_]*\)).*/\1/p' lib/registry/registry.c))
FUZZ_TARGETS := $(shell sed -n 's/^    {"\([a-z0-9_]*\)", fuzz_.*/\1/p' tests/hostile/fuzz/table.c) \
  $(FORMAT_NAMES:%=import_%) $(FORMAT_NAMES:%=unpack_%)
# What is compared to what guides a fuzzer through the bytes that an importer reads, and costs a third of the time: not where those
# bytes have become numbers.
ifneq ($(filter fuzz,$(VARIANT)),)
$(OBJ)/lib/util/%.o $(OBJ)/lib/reader/%.o $(OBJ)/lib/encode/%.o $(OBJ)/lib/builder/%.o $(OBJ)/lib/model/%.o $(OBJ)/lib/query/%.o: CFLAGS += -fno-sanitize-coverage=trace-cmp
endif
FUZZ_BIN := $(FUZZ_TARGETS:%=$(OUT)/fuzz/%)

$(OBJ)/tests/hostile/fuzz/%.o: tests/hostile/fuzz/%.c $(STAMP)
	$(call compile,$(FLAGS_unit))

$(OBJ)/tests/hostile/fuzz/pcol.o: tools/main.c $(STAMP) | $(STAGED)
	$(call compile,$(FLAGS_user) -Wno-missing-prototypes -Dmain=fuzz_pcol -Dclose=fuzz_pcol_close -Dcli_signals=fuzz_pcol_signals)

# import_NAME and unpack_NAME take the format as an argument; all other targets, and import_any, are functions of their own.
fuzz_entry = $(if $(and $(filter import unpack,$(firstword $1)),$(filter $(FORMAT_NAMES),$(lastword $1))),\
  -DFUZZ_TARGET=$(firstword $1) -DFUZZ_FORMAT=_$(lastword $1),-DFUZZ_TARGET=$*)

$(OBJ)/tests/hostile/fuzz/entry-%.o: tests/hostile/fuzz/entry.c $(STAMP)
	$(call compile,$(FLAGS_unit) $(call fuzz_entry,$(subst _, ,$*)))

# A library, so that a target's program has only the code that the target reaches: libFuzzer scans all counters after each input.
$(OUT)/fuzz.a: $(FUZZ_OBJ)
	@mkdir -p $(@D)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(OUT)/fuzz/%: $(OBJ)/tests/hostile/fuzz/entry-%.o $(OBJ)/tests/hostile/fuzz/mutate.o $(OUT)/fuzz.a $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $< $(OBJ)/tests/hostile/fuzz/mutate.o $(OUT)/fuzz.a $(OUT)/libpcol.a $(FUZZ_LIBS) $(LIBS) $(LDLIBS)

$(OUT)/fuzz-replay: $(OBJ)/tests/hostile/fuzz/replay.o $(FUZZ_OBJ) $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(FUZZ_LIBS) $(LIBS) $(LDLIBS)

.PHONY: fuzz-programs fuzz-replay
fuzz-programs: $(FUZZ_BIN)
fuzz-replay: $(OUT)/fuzz-replay

# ---- fault injection: damaged files, failing allocations and system calls

$(OBJ)/tests/hostile/faults/%.o: tests/hostile/faults/%.c $(STAMP)
	$(call compile,$(FLAGS_unit) $(if $(SANITIZE),-DFAULTS_WRAP) -fPIC)

$(OUT)/faults/flip: $(OBJ)/tests/hostile/faults/flip.o $(FUZZ_OBJ) $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(FUZZ_LIBS) $(LIBS) $(LDLIBS)

MEMORY_WRAPS := pcf_get pcf_read pcf_get_bytes pcol_file_open pcol_file_open_memory pcol_file_close
$(OUT)/faults/memory: $(OBJ)/tests/hostile/faults/memory.o $(OBJ)/tests/hostile/faults/tasks.o $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) $(MEMORY_WRAPS:%=-Wl,--wrap=%) -o $@ $^ $(LIBS) $(LDLIBS)

$(OUT)/faults/%.so: $(OBJ)/tests/hostile/faults/%.o
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -shared -o $@ $^ $(LDLIBS)

$(OUT)/faults/pcol: $(OBJ)/tests/hostile/faults/malloc.o $(TOOLS_OBJ) $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc -o $@ $^ $(LIBS) -ldl $(LDLIBS)

# Sanitizers have their own allocator, so under them the program is wrapped at link time instead.
.PHONY: fault-programs
fault-programs: $(OUT)/faults/flip $(OUT)/faults/memory $(OUT)/faults/$(if $(SANITIZE),pcol,malloc.so) $(if $(SANITIZE),,$(OUT)/faults/short.so $(OUT)/faults/bad.so)

# ---- threads: eight concurrent readers of one file, and of its strings

$(OBJ)/tests/system/threads/%.o: tests/system/threads/%.c $(STAMP) | $(STAGED)
	$(call compile,$(FLAGS_user))

$(OUT)/threads/%: $(OBJ)/tests/system/threads/%.o $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS) $(LDLIBS)

.PHONY: thread-programs
thread-programs: $(OUT)/threads/readers $(OUT)/threads/strings

-include $(wildcard $(OBJ)/tests/hostile/fuzz/*.d $(OBJ)/tests/hostile/faults/*.d)

# bench: each source is a program of its own: generators of input, small measurements. Sees pcol.h only.

BENCH_SRC := $(wildcard bench/*.c)
BENCH_OBJ := $(BENCH_SRC:%.c=$(OBJ)/%.o)
BENCH_BIN := $(BENCH_SRC:bench/%.c=$(OUT)/bench/%)

$(OBJ)/bench/%.o: bench/%.c $(STAMP) | $(STAGED)
	$(call compile,$(FLAGS_user))

$(OUT)/bench/%: $(OBJ)/bench/%.o $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $< $(OUT)/libpcol.a $(LIBS) $(LDLIBS)

.PHONY: bench-programs
bench-programs: $(BENCH_BIN)

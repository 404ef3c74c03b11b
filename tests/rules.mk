# tests: one program of all the Criterion tests in tests/unit, linked with the static library so that it reaches inside.

UNIT_SRC := $(wildcard tests/unit/*.c)
UNIT_OBJ := $(UNIT_SRC:%.c=$(OBJ)/%.o)

# Criterion's macros expand to code that these warnings do not like.
$(OBJ)/tests/unit/%.o: tests/unit/%.c $(STAMP)
	$(call compile,$(FLAGS_unit) -Wno-missing-prototypes -Wno-pedantic -Wno-null-dereference \
	  $(if $(filter 0,$(IS_CLANG)),,-Wno-sign-compare))

$(OUT)/unit-tests: $(UNIT_OBJ) $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $(UNIT_OBJ) $(OUT)/libpcol.a $(LIBS) $(TEST_LIBS) $(LDLIBS)

.PHONY: unit-tests
unit-tests: $(if $(UNIT_SRC),$(OUT)/unit-tests)

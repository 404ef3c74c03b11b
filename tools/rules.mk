# tools: the command pcol. Uses pcol.h only, and links the static library. `view` shares the answers of the page's engine (web/).

TOOLS_SRC := $(wildcard tools/*.c)
VIEW_SRC := $(wildcard web/answer*.c)
TOOLS_OBJ := $(TOOLS_SRC:%.c=$(OBJ)/%.o) $(VIEW_SRC:%.c=$(OBJ)/%.o) $(OBJ)/page.o

$(OBJ)/tools/%.o: tools/%.c $(STAMP) | $(STAGED)
	$(call compile,$(FLAGS_user) -Iweb)
$(OBJ)/web/%.o: web/%.c $(STAMP) | $(STAGED)
	$(call compile,$(FLAGS_user))

# Static archives if available; a changed list relinks the command.
$(OBJ)/libraries: FORCE
	@mkdir -p $(@D); \
	BUNDLE=$(BUNDLE) scripts/archives "$(CC) $(CFLAGS) $(LDFLAGS)" $(LIBS) >$@.new; \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# Under ASan and UBSan most tests are starts of this program, which take 20 ms with their shared libraries and relocated addresses
# of a PIE, and 13 ms without.
SANITIZE_STATIC := $(if $(filter asan,$(VARIANT)),-no-pie $(if $(filter 0,$(IS_CLANG)),-static-libasan -static-libubsan))

$(OUT)/pcol: $(TOOLS_OBJ) $(OUT)/libpcol.a $(OBJ)/libraries
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) $(SANITIZE_STATIC) -o $@ $(TOOLS_OBJ) $(OUT)/libpcol.a $$(cat $(OBJ)/libraries) -ldl $(LDLIBS)

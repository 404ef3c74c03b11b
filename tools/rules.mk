# tools: the command pcol. Sees pcol.h only, and carries the library inside.

TOOLS_SRC := $(wildcard tools/*.c)
TOOLS_OBJ := $(TOOLS_SRC:%.c=$(OBJ)/%.o)

$(OBJ)/tools/%.o: tools/%.c $(STAMP) | $(STAGED)
	$(call compile,$(FLAGS_user))

# Archives where there are such; linked anew when they are others than last time.
$(OBJ)/libraries: FORCE
	@mkdir -p $(@D); \
	BUNDLE=$(BUNDLE) scripts/archives "$(CC) $(CFLAGS) $(LDFLAGS)" $(LIBS) >$@.new; \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(OUT)/pcol: $(TOOLS_OBJ) $(OUT)/libpcol.a $(OBJ)/libraries
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $(TOOLS_OBJ) $(OUT)/libpcol.a $$(cat $(OBJ)/libraries) -ldl $(LDLIBS)

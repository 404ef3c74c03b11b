# tools: the command pcol. Sees pcol.h only, and carries the library inside.

TOOLS_SRC := $(wildcard tools/*.c)
TOOLS_OBJ := $(TOOLS_SRC:%.c=$(OBJ)/%.o)

$(OBJ)/tools/%.o: tools/%.c $(STAMP) | $(STAGED)
	$(call compile,$(FLAGS_user))

$(OUT)/pcol: $(TOOLS_OBJ) $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $(TOOLS_OBJ) $(OUT)/libpcol.a $(LIBS) -ldl $(LDLIBS)

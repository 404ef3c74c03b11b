# format: the layout of the file, pure functions over memory. Sees itself only.

FORMAT_SRC := $(wildcard format/*.c)
FORMAT_OBJ := $(FORMAT_SRC:%.c=$(OBJ)/%.o)

$(OBJ)/format/%.o: format/%.c $(STAMP)
	$(call compile,$(FLAGS_format))

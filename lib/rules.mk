# lib: the library, one directory a component (architecture: CONTRIBUTING.md); lib/examples: programs that use pcol.h only.

LIB_SRC := $(filter-out lib/examples/%,$(wildcard lib/*/*.c lib/*/*/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(OBJ)/%.o) $(OBJ)/gen/pprof/profile.pb-c.o
EXAMPLE_SRC := $(wildcard lib/examples/*.c)
EXAMPLE_OBJ := $(EXAMPLE_SRC:%.c=$(OBJ)/%.o)
EXAMPLE_BIN := $(EXAMPLE_SRC:lib/examples/%.c=$(OUT)/examples/%)

$(OBJ)/lib/%.o: lib/%.c $(STAMP)
	$(call compile,$(FLAGS_lib))

# Loops that are to become vector code, where code is made fast at all.
ifeq ($(OPT),-O2 -g)
$(OBJ)/lib/util/simd_kernels.o: FLAGS_lib += -O3 -fno-trapping-math
endif

# Messages of profile.proto: made once for all variants, and not ours to warn about.
$(GEN)/pprof/profile.pb-c.c: lib/formats/pprof/profile.proto | $(STAMP)
	@mkdir -p $(GEN)
	$(call say,PROTO,$<)
	$(Q)protoc-c --proto_path=lib/formats --c_out=$(GEN) $<

$(GEN)/pprof/profile.pb-c.h: $(GEN)/pprof/profile.pb-c.c ;

$(OBJ)/gen/%.o: $(GEN)/%.c $(STAMP)
	$(call compile,-w $(FLAGS_lib))

# All objects that may include the made header, whether their .d files exist yet or not.
$(filter $(OBJ)/lib/formats/pprof/%,$(LIB_OBJ)): | $(GEN)/pprof/profile.pb-c.h

$(OBJ)/lib/examples/%.o: lib/examples/%.c $(STAMP) | $(STAGED)
	$(call compile,$(FLAGS_user))

# The list of members is part of the archive: the object of a removed source is removed, too.
$(OUT)/libpcol.a: $(FORMAT_OBJ) $(LIB_OBJ) $(STAMP)
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)ar rcs $@ $(FORMAT_OBJ) $(LIB_OBJ)

$(OUT)/libpcol.so.$(ABI): $(FORMAT_OBJ) $(LIB_OBJ) lib/pcol.map $(STAMP)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -shared -Wl,-soname,$(@F) -Wl,--version-script=lib/pcol.map -Wl,--no-undefined \
	  -o $@ $(FORMAT_OBJ) $(LIB_OBJ) $(LIBS) $(LDLIBS)

$(OUT)/libpcol.so: $(OUT)/libpcol.so.$(ABI)
	@ln -sf $(<F) $@

# The folders change with every PREFIX, so the file is rebuilt each time it is requested.
$(OUT)/pcol.pc: lib/pcol.pc.in lib/pcol.h FORCE
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(libdir)|' -e 's|@INCLUDEDIR@|$(includedir)|' \
	  -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS@|$(LIBS)|' $< >$@

$(OUT)/examples/%: $(OBJ)/lib/examples/%.o $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $< $(OUT)/libpcol.a $(LIBS) $(LDLIBS)

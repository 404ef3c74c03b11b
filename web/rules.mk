# web: the library as WebAssembly, built by clang, lld and wasi-libc: the engine of the report page and the toolkit of
# bindings/js. Without threads and maps; third_party has the sources of the libraries that it needs.

WEB := $(BUILD)/web
WEB_CC ?= clang-14
WEB_TARGET := --target=wasm32-wasi --sysroot=/usr
THIRD := third_party
THIRD_SRC := $(filter-out $(THIRD)/zlib/gz%,$(wildcard $(THIRD)/zlib/*.c $(THIRD)/lz4/*.c $(THIRD)/xxhash/*.c $(THIRD)/protobuf-c/*/*.c $(THIRD)/zstd/*/*.c))
THIRD_FLAGS := $(addprefix -isystem $(THIRD)/,zlib lz4 xxhash protobuf-c zstd)

# The order of functions and of data follows that of the sources, and no path is recorded: equal bytes on every machine.
WEB_BASE := $(WEB_TARGET) -std=c17 -D_POSIX_C_SOURCE=200809L -DPCOL_NO_THREADS -DPCOL_NO_MMAP -DNDEBUG -Oz \
  -mbulk-memory -ftls-model=local-exec -fvisibility=hidden -ffunction-sections -fdata-sections -include web/wasi.h
WEB_WARN := $(filter-out -Wcast-align=strict -Wduplicated-cond -Wlogical-op -Wmissing-prototypes,$(WARN)) -Wno-gnu-statement-expression \
  -Wno-tautological-constant-out-of-range-compare
WEB_FLAGS := $(WEB_BASE) $(WEB_WARN) -I. -Ilib -isystem $(GEN) $(THIRD_FLAGS)
# The libraries' own warnings are not ours to fix. ZSTD_DISABLE_ASM: there is no assembler source for this target.
WEB_THIRD_FLAGS := $(WEB_BASE) -w -DZSTD_DISABLE_ASM -DHAVE_UNISTD_H $(THIRD_FLAGS)
# The linker is called directly: the driver of clang would run wasm-opt where that is installed, with other results.
WEB_LD ?= wasm-ld-14
WEB_LIBC := /usr/lib/wasm32-wasi
WEB_BUILTINS := /usr/lib/llvm-14/lib/clang/14.0.6/lib/wasi/libclang_rt.builtins-wasm32.a
WEB_LINK := --entry _initialize -O2 --gc-sections --strip-all -z stack-size=1048576 $(WEB_LIBC)/crt1-reactor.o

WEB_LIB_OBJ := $(patsubst %.c,$(WEB)/obj/%.o,$(FORMAT_SRC) $(LIB_SRC) $(THIRD_SRC)) $(WEB)/obj/gen/pprof/profile.pb-c.o \
  $(WEB)/obj/web/wasi.o
WEB_ENGINE_SRC := $(filter-out web/wasi.c,$(wildcard web/*.c))
WEB_OBJ := $(WEB_LIB_OBJ) $(patsubst %.c,$(WEB)/obj/%.o,$(WEB_ENGINE_SRC))

$(WEB)/flags: FORCE
	@mkdir -p $(@D); { $(WEB_CC) --version 2>/dev/null | head -n 1; echo '$(WEB_FLAGS) $(WEB_THIRD_FLAGS)'; } >$@.new; \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

define compile_web
	@mkdir -p $(@D)
	$(call say,WASMCC,$<)
	$(Q)$(WEB_CC) $(1) -MMD -MP -c $< -o $@
endef

$(WEB)/obj/third_party/zstd/%.o: WEB_THIRD_FLAGS += -DXXH_NAMESPACE=ZSTD_
$(WEB)/obj/third_party/%.o: third_party/%.c $(WEB)/flags
	$(call compile_web,$(WEB_THIRD_FLAGS))
$(WEB)/obj/gen/%.o: $(GEN)/%.c $(WEB)/flags
	$(call compile_web,$(WEB_FLAGS) -w)
$(WEB)/obj/web/%.o: web/%.c $(WEB)/flags | $(STAGED)
	$(call compile_web,$(WEB_BASE) $(WEB_WARN) -I$(BUILD)/include)
$(WEB)/obj/%.o: %.c $(WEB)/flags | $(GEN)/pprof/profile.pb-c.h
	$(call compile_web,$(WEB_FLAGS))

# Tables of zlib that are computed on first use.
$(WEB)/obj/third_party/zlib/crc32.o: WEB_THIRD_FLAGS += -DDYNAMIC_CRC_TABLE
$(WEB)/obj/third_party/zlib/inflate.o: WEB_THIRD_FLAGS += -DBUILDFIXED

# Functions are exported by attributes in the sources. $(1): objects; all others are linked where they are needed.
define link_web
	$(call say,WASMLD,$@)
	$(Q)$(WEB_LD) $(WEB_LINK) $(1) $(filter-out $(1),$(WEB_LIB_OBJ)) $(WEB_LIBC)/libc.a $(WEB_BUILTINS) -Map=$@.map -o $@
endef

# web/left_out.c replaces these.
ENGINE_LEFT_OUT := lib/model/check_labels lib/model/content_hashes lib/model/limits lib/model/text_rules lib/model/v1 lib/model/v1_maps third_party/zlib/crc32
$(WEB)/engine.linked.wasm: WEB_LIB_OBJ := $(filter-out $(ENGINE_LEFT_OUT:%=$(WEB)/obj/%.o),$(WEB_LIB_OBJ))
$(WEB)/engine.linked.wasm: $(WEB_ENGINE_SRC:%.c=$(WEB)/obj/%.o) $(WEB_LIB_OBJ)
	$(call link_web,$(WEB_ENGINE_SRC:%.c=$(WEB)/obj/%.o))

# The page's size matters more than that of the toolkit. Two passes of -Oz and --low-memory-unused (the linker places data from
# address 1024) are 1.5 % of the packed engine.
$(WEB)/engine.wasm: $(WEB)/engine.linked.wasm
	$(call say,WASMOPT,$@)
	$(Q)wasm-opt -Oz -Oz --one-caller-inline-max-function-size=100 --low-memory-unused --enable-bulk-memory $< -o $@

# The engine is committed, with the hashes of its sources: building the command needs no compiler for WebAssembly.
.PHONY: web check-web
web: ## build the engine of the report page and commit it to web/engine.wasm, with the hashes of its sources
	@scripts/deps web
	@$(MAKE) $(WEB)/engine.wasm
	@cp $(WEB)/engine.wasm web/engine.wasm
	@scripts/engine-sums $(WEB)/engine.linked.wasm.map $(WEB)/obj >web/engine.sums

check-web: ## check that web/engine.wasm is that of its sources; compares bytes where the toolchain is installed
	@scripts/check-web $(WEB)

-include $(WEB_OBJ:.o=.d)

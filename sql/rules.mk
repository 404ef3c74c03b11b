# sql: loadable extensions of SQLite and DuckDB. They use pcol.h only, and contain the static library.

SQL_FLAGS := -Isql -I$(BUILD)/include -fPIC -fvisibility=hidden
SQL_COMMON_SRC := $(wildcard sql/common/*.c)
SQLITE_SRC := $(wildcard sql/sqlite/*.c)
DUCKDB_SRC := $(wildcard sql/duckdb/*.c)
SQL_SRC := $(SQL_COMMON_SRC) $(SQLITE_SRC) $(DUCKDB_SRC)
SQL_OBJ := $(SQL_SRC:%.c=$(OBJ)/%.o)

-include $(SQL_OBJ:%.o=%.d)

# sqlite3ext.h replaces functions by macros of the same names.
$(OBJ)/sql/%.o: sql/%.c $(STAMP) | $(STAGED)
	$(call compile,$(SQL_FLAGS))

# Only the entry point is exported. Symbols bind within the extension: the program may have its own zlib or zstd.
link_extension = $(LINK) -shared -Wl,-Bsymbolic -Wl,--exclude-libs,ALL $(if $(SANITIZE),,-Wl,--no-undefined)

$(OUT)/pcol.so: $(SQL_COMMON_SRC:%.c=$(OBJ)/%.o) $(SQLITE_SRC:%.c=$(OBJ)/%.o) $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link_extension) -o $@ $^ $(LIBS) $(LDLIBS)

# Its platform: the names are DuckDB's.
DUCKDB_PLATFORM ?= $(if $(filter Darwin,$(shell uname -s)),osx,linux)_$(subst aarch64,arm64,$(subst x86_64,amd64,$(shell uname -m)))

$(OBJ)/sql/duckdb/%.o: SQL_FLAGS += -isystem third_party/duckdb
# Its loops over cells are vectorized, as those of simd_kernels.c are.
ifeq ($(OPT),-O2 -g)
$(OBJ)/sql/duckdb/vectors.o: SQL_FLAGS += -O3
endif
# A macro of the header casts const away.
$(OBJ)/sql/duckdb/extension.o: SQL_FLAGS += -Wno-cast-qual

$(OUT)/duckdb.so: $(SQL_COMMON_SRC:%.c=$(OBJ)/%.o) $(DUCKDB_SRC:%.c=$(OBJ)/%.o) $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link_extension) -o $@ $^ $(LIBS) $(LDLIBS)

$(OUT)/pcol.duckdb_extension: $(OUT)/duckdb.so sql/duckdb/footer.py
	$(call say,DUCKDB,$@)
	$(Q)strip -o $(OUT)/duckdb.stripped.so $<
	$(Q)python3 sql/duckdb/footer.py $(OUT)/duckdb.stripped.so $@ v$(VERSION) $(DUCKDB_PLATFORM)

# The parts of the DuckDB extension that read a profile and fill vectors, which the test has itself.
CUT_OBJ := $(SQL_COMMON_SRC:%.c=$(OBJ)/%.o) $(patsubst %,$(OBJ)/sql/duckdb/%.o,relation stacks vectors)
$(OBJ)/sql/tests/%.o: SQL_FLAGS += -isystem third_party/duckdb
$(OUT)/sql/cut: $(OBJ)/sql/tests/cut.o $(CUT_OBJ) $(OUT)/libpcol.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(LIBS) $(LDLIBS)

-include $(OBJ)/sql/tests/cut.d

PACKAGES += $(call needs,extensions,sqlite duckdb)
.PHONY: sqlite duckdb
duckdb: $(OUT)/pcol.duckdb_extension ## build the DuckDB extension build/pcol.duckdb_extension

sqlite: $(OUT)/pcol.so ## build the SQLite extension build/pcol.so

TEST_ALL += test-sql

.PHONY: test-sql
test-sql: ## test the SQL extensions; the last line is "N passed, N failed, N skipped"
	@scripts/deps sql
	@$(MAKE) all sqlite duckdb $(OUT)/sql/cut
	@OUT=$(CURDIR)/$(OUT) /usr/bin/python3 sql/tests/run.py

TEST_ALL += test-fleet

.PHONY: fleet-demo test-fleet
test-fleet: fleet-demo
fleet-demo: ## run docs/fleet.md with two ClickHouse servers and Dask; the last line is "N passed, N failed"
	@scripts/deps fleet
	@$(MAKE) all
	@PCOL=$(CURDIR)/$(OUT)/pcol /usr/bin/python3 sql/fleet/demo.py

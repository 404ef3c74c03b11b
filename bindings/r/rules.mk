# bindings/r: the R package. Sources and sample profiles are staged in build/r/pcol; R_LIBRARY is where `make r` installs it.

R_DIR := $(BUILD)/r
R_LIBRARY ?= $(R_DIR)/library
R_VERSION := $(shell sed -n 's/^Version: //p' bindings/r/DESCRIPTION)
R_DATA := $(addprefix tests/data/rprof/,plain.Rprof gc.Rprof line.Rprof memory.Rprof all.Rprof demo.Rprof crlf.Rprof \
  toplevel.Rprof stackless.Rprof empty.Rprof append.Rprof names.Rprof) tests/data/pprof/cpu.pb.gz

# A copy of the package with sample profiles; $(1): directory.
define stage_r
	@rm -rf $(1)
	@mkdir -p $(dir $(1)) && cp -R bindings/r $(1)
	@rm -f $(1)/rules.mk $(1)/src/*.o $(1)/src/*.so $(1)/src/Makevars
	@mkdir -p $(1)/inst/extdata $(1)/tests/testthat/data
	@cp tests/data/rprof/demo.Rprof $(1)/inst/extdata/
	@cp $(R_DATA) $(1)/tests/testthat/data/
endef

TEST_ALL += test-r test-r-asan

# An R that is there stays in use, whether it is a package or not.
PACKAGES += $(if $(shell command -v R),,$(call needs,r,r r-package))

.PHONY: r r-package test-r test-r-asan
r: all ## install the R package in build/r/library (R_LIBRARY: elsewhere)
	$(call say,R,bindings/r)
	$(call stage_r,$(R_DIR)/pcol)
	@mkdir -p $(R_LIBRARY)
	$(Q)PCOL_BUILD=$(CURDIR)/$(OUT) R CMD INSTALL --no-test-load -l $(R_LIBRARY) $(R_DIR)/pcol >$(R_DIR)/install.log 2>&1 || \
	  { cat $(R_DIR)/install.log; exit 1; }

# The sources of the library are part of this package, so it can be installed without libpcol.
r-package: r $(GEN)/pprof/profile.pb-c.c ## make a source package of R with the library inside, build/r/pcol_VERSION.tar.gz
	$(call say,R,$(R_DIR)/pcol_$(R_VERSION).tar.gz)
	$(call stage_r,$(R_DIR)/vendored/pcol)
	@mkdir -p $(R_DIR)/vendored/pcol/src/libpcol/gen
	@tar cf - $$(find format lib -name '*.[ch]' ! -path 'lib/examples/*') | tar xf - -C $(R_DIR)/vendored/pcol/src/libpcol
	@cp -R $(GEN)/pprof $(R_DIR)/vendored/pcol/src/libpcol/gen/
	$(Q)cd $(R_DIR) && PCOL_BUILD=$(CURDIR)/$(OUT) R CMD build vendored/pcol >build.log 2>&1 || { cat build.log; exit 1; }

test-r: ## test the R package, alone and with the library inside, and run R CMD check
	@scripts/deps r
	@$(MAKE) r-package
	@bindings/r/tests/run $(CURDIR)/$(R_DIR) $(R_VERSION) $(CURDIR)/$(OUT)

# The package and the library with AddressSanitizer, which R has to load first. R itself leaks at its end.
test-r-asan: ## run the tests of the R package under ASan+UBSan
	@scripts/deps r
	@$(MAKE) VARIANT=asan $(BUILD)/asan/libpcol.a $(BUILD)/asan/pcol.pc $(STAGED)
	@rm -rf $(R_DIR)/asan && mkdir -p $(R_DIR)/asan/library
	$(call stage_r,$(R_DIR)/asan/pcol)
	@printf '%s\n' 'CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined' 'LDFLAGS += -fsanitize=address,undefined' \
	  >$(R_DIR)/asan/Makevars
	$(Q)R_MAKEVARS_USER=$(CURDIR)/$(R_DIR)/asan/Makevars PCOL_CFLAGS=-I$(CURDIR)/$(BUILD)/include \
	  PCOL_LIBS="$(CURDIR)/$(BUILD)/asan/libpcol.a $$(sed -n 's/^Libs.private: //p' $(BUILD)/asan/pcol.pc)" R CMD INSTALL --no-test-load --no-docs \
	  -l $(R_DIR)/asan/library $(R_DIR)/asan/pcol >$(R_DIR)/asan/log 2>&1 || { cat $(R_DIR)/asan/log; exit 1; }
	@cd $(R_DIR)/asan && LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 R_LIBS=$(CURDIR)/$(R_DIR)/asan/library \
	  Rscript --vanilla pcol/tests/testthat-all.R pcol/tests/testthat

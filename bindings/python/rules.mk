# bindings/python: the package pcol, an extension for the limited API of Python 3.11 linked with libpcol.a.
# PYTHON: an interpreter with setuptools, wheel, build, numpy, pandas and pytest (scripts/deps python: Debian's).

PYTHON ?= /usr/bin/python3
PY_DIR := bindings/python
PY_OUT := $(CURDIR)/$(OUT)/python
PY_SRC := $(wildcard $(PY_DIR)/src/* $(PY_DIR)/pcol/*) $(PY_DIR)/setup.py $(PY_DIR)/pyproject.toml
PY_ENV := PCOL_OUT=$(CURDIR)/$(OUT) PCOL_LIBS='$(LIBS)' PCOL_FLAGS='$(SANITIZE)' CC='$(CC)'
TEST_ALL += test-python test-python-asan
PY_SO := $(PY_OUT)/lib/pcol/_native.abi3.so
# setuptools writes into the directory of its sources, so it runs in a copy of them.
PY_STAGE := $(PY_OUT)/stage/bindings/python

PACKAGES += $(call needs,python,python python-wheel test-python test-python-asan)

$(PY_SO): $(OUT)/libpcol.a $(PY_SRC)
	$(call say,PYTHON,$(OUT)/python/lib/pcol)
	$(Q)rm -rf $(PY_OUT)/stage && mkdir -p $(PY_OUT)/stage/bindings $(PY_OUT)/stage/lib && \
	  cp -r $(PY_DIR) $(PY_OUT)/stage/bindings/python && cp lib/pcol.h $(PY_OUT)/stage/lib && \
	  cd $(PY_STAGE) && $(PY_ENV) $(PYTHON) setup.py -q build --build-base $(PY_OUT)/obj \
	  --build-lib $(PY_OUT)/lib >$(PY_OUT)/log 2>&1 || { cat $(PY_OUT)/log; exit 1; }
	@touch $@

.PHONY: python python-wheel test-python test-python-asan
python: $(PY_SO) ## build the Python package in build/python/lib

python-wheel: $(PY_SO) ## build a wheel in build/python/dist; checks its symbols against the limited API
	$(call say,WHEEL,$(OUT)/python/dist)
	$(Q)rm -rf $(PY_OUT)/dist && cd $(PY_STAGE) && $(PY_ENV) $(PYTHON) -m build --wheel --no-isolation \
	  --outdir $(PY_OUT)/dist . >$(PY_OUT)/log 2>&1 || { cat $(PY_OUT)/log; exit 1; }
	$(Q)$(PYTHON) $(PY_DIR)/tests/limited_api.py $(PY_OUT)/dist/*.whl

# The wheel in an environment of its own, so that nothing of the checkout is imported.
test-python: python-wheel $(OUT)/pcol ## run the tests of the Python package; the last line is "N passed, N failed"
	@rm -rf $(PY_OUT)/venv && $(PYTHON) -m venv --system-site-packages --without-pip $(PY_OUT)/venv && \
	  $(PYTHON) -m zipfile -e $(PY_OUT)/dist/*.whl $(PY_OUT)/venv/lib/python3*/site-packages
	@PCOL=$(CURDIR)/$(OUT)/pcol $(PY_OUT)/venv/bin/python $(PY_DIR)/tests/run.py

# The extension and the library with AddressSanitizer, which the interpreter has to load first; it leaks at its end.
test-python-asan: $(OUT)/pcol ## run the tests of the Python package under ASan+UBSan
	@$(MAKE) VARIANT=asan python
	@LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" PCOL=$(CURDIR)/$(OUT)/pcol \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 PYTHONPATH=$(CURDIR)/$(BUILD)/asan/python/lib \
	  $(PYTHON) $(PY_DIR)/tests/run.py

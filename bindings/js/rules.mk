# bindings/js: the npm package pcol, all importers and exporters as WebAssembly. `make js` builds it in build/js/pcol.

JS_DIR := $(BUILD)/js/pcol
JS_SRC := $(wildcard bindings/js/src/*.c)
JS_OBJ := $(JS_SRC:%.c=$(WEB)/obj/%.o)
JS_FILES := pcol.js pcol.d.ts package.json README.md
NODE ?= node
TEST_ALL += test-js

$(WEB)/obj/bindings/js/%.o: bindings/js/%.c $(WEB)/flags | $(STAGED)
	$(call compile_web,$(WEB_BASE) $(WEB_WARN) -I$(BUILD)/include)

$(JS_DIR)/pcol.wasm: $(JS_OBJ) $(WEB_LIB_OBJ)
	@mkdir -p $(@D)
	$(call link_web,$(JS_OBJ))
	@mv $@.map $(WEB)/

$(JS_FILES:%=$(JS_DIR)/%): $(JS_DIR)/%: bindings/js/%
	@mkdir -p $(@D)
	@cp $< $@

# The licences of the libraries in pcol.wasm.
$(JS_DIR)/LICENSE: LICENSE $(wildcard third_party/*/LICENSE)
	@mkdir -p $(@D)
	@cat $< >$@; for licence in third_party/*/LICENSE; do \
	  printf '\n---- %s, which pcol.wasm contains\n\n' "$$(basename "$$(dirname "$$licence")")"; cat "$$licence"; done >>$@

$(BUILD)/js/drop.html: web/drop.html bindings/js/pcol.js $(JS_DIR)/pcol.wasm scripts/drop-page
	$(call say,PAGE,$@)
	$(Q)scripts/drop-page web/drop.html bindings/js/pcol.js $(JS_DIR)/pcol.wasm $@

.PHONY: js test-js
js: ## build the npm package in build/js/pcol, and the page build/js/drop.html
	@scripts/deps web
	@$(MAKE) $(JS_FILES:%=$(JS_DIR)/%) $(JS_DIR)/LICENSE $(JS_DIR)/pcol.wasm $(BUILD)/js/drop.html

test-js: js all ## test the npm package; the last line is "N passed, N failed"
	@PCOL=$(CURDIR)/$(OUT)/pcol PCOL_JS=$(CURDIR)/$(BUILD)/js $(NODE) bindings/js/tests/run.js

-include $(JS_OBJ:.o=.d)

# web: the report page. Joined without npm; embedded in the command as an array.

PAGE_PARTS := web/page.html web/static.css web/app.html web/page.css web/js/order $(wildcard web/js/*.js) web/engine.wasm

$(GEN)/page.html: $(PAGE_PARTS) scripts/page-template | $(STAMP)
	@mkdir -p $(@D)
	$(call say,PAGE,$@)
	$(Q)scripts/page-template web/engine.wasm $@ $(GEN)/page.policy

$(GEN)/page.c: $(GEN)/page.html
	$(Q){ echo '#include <stddef.h>'; \
	  echo 'extern const unsigned char page_template[];'; \
	  echo 'extern const size_t page_template_size;'; \
	  echo 'const unsigned char page_template[] = {'; \
	  od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g'; \
	  echo '};'; echo 'const size_t page_template_size = sizeof page_template;'; \
	  echo 'extern const char page_policy[];'; echo 'const char page_policy[] = {'; \
	  od -An -v -tu1 $(GEN)/page.policy | sed 's/[0-9][0-9]*/&,/g'; echo '0};'; } >$@

$(OBJ)/page.o: $(GEN)/page.c $(STAMP)
	$(call compile,)

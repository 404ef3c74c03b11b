# tests/web: the tests of the report page, in a browser

TEST_ALL += test-web

.PHONY: test-web
PACKAGES += $(call needs,browser,test-web)
test-web: all ## test the report page in headless Chromium and Firefox; pictures are in build/web-test/work
	@PCOL=$(CURDIR)/$(OUT)/pcol tests/web/run

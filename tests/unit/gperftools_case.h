/*
 * gperftools_case.h - older profiles converted to profile.proto and printed as text, for the tests
 * of gperftools
 */
#ifndef GPERFTOOLS_CASE_H
#define GPERFTOOLS_CASE_H

#include "pcol.h"

struct printer {
    char text[8192];
    size_t used;
    const uint8_t *strings[64];
    size_t sizes[64];
    size_t string_count;
};

extern struct printer gp_printed;
extern char gp_messages[512];
extern pcol_error gp_failure;
pcol_status gp_translate(const void *data, size_t size, int lenient);
void gp_becomes(const char *text, const char *expected);
void gp_refused(const char *text, uint64_t line, uint64_t column, const char *why);

#endif

/*
 * view_case.h - random profiles as lists of samples and as files, for tests of views and lanes
 */
#ifndef VIEW_CASE_H
#define VIEW_CASE_H

#include <criterion/criterion.h>

#include "pcol.h"

enum { VIEW_SAMPLES = 60, VIEW_DEPTH = 8, VIEW_THREADS = 3 };

#define MUST(call)                                                      \
    do {                                                                \
        pcol_error must_err = {0}, *err = &must_err;                    \
        cr_assert_eq(call, PCOL_OK, "%s: %s", #call, must_err.message); \
    } while (0)

#define FAILS(code, call)                                                                     \
    do {                                                                                      \
        pcol_error fails_err = {0}, *err = &fails_err;                                        \
        cr_assert_eq(call, PCOL_##code, "%s: %s", #call, pcol_status_name(fails_err.status)); \
        cr_assert(fails_err.message[0]);                                                      \
    } while (0)

struct view_sample {
    char stack[VIEW_DEPTH + 1]; /* a letter for each function, outermost first */
    int64_t value;
    int thread; /* -1: none */
    int has_time;
    int64_t time, duration, cpu_delta; /* -1: no duration, no delta */
    int label;                         /* "a" + label as text; -1: none */
};

struct view_case {
    struct view_sample samples[VIEW_SAMPLES];
    int count, is_double;
    pcol_file *file;
};

extern uint64_t view_seed;
uint32_t view_dice(uint32_t sides);

/* What may occur in a profile. */
#define VIEW_NEGATIVE 1u /* values below 0 */
#define VIEW_DOUBLE 2u   /* doubles */
#define VIEW_OTHERS 4u   /* other names than without it, in another order */
#define VIEW_DURATION 8u
#define VIEW_CPU 16u
#define VIEW_DISORDER 32u /* times are not in order */

void view_begin(struct view_case *c, unsigned what);
void view_end(struct view_case *c);
/* The name of a frame of one letter; '0' for "<no stack>". */
char view_letter(pcol_view *view, uint32_t frame);

#endif

/*
 * rprof_case.h - import of texts and inspection of the resulting files, for the tests of Rprof
 */
#ifndef RPROF_CASE_H
#define RPROF_CASE_H

#include "testing.h"

#define H "sample.interval=20000\n"
#define LH "line profiling: sample.interval=20000\n"
#define MH "memory profiling: sample.interval=20000\n"

struct rprof_packed {
    void *data;
    size_t size;
    pcol_file *file;
    struct text messages;
};

pcol_status rprof_pack(const char *format, int lenient, const void *data, size_t size,
                       struct rprof_packed *p, pcol_error *err);
void rprof_drop(struct rprof_packed *p);
const pcol_column *rprof_column(const struct rprof_packed *p, const char *table, const char *name);
uint64_t rprof_rows(const struct rprof_packed *p, const char *table);
/* A cell that may be null or lack its column. */
int rprof_cell(const struct rprof_packed *p, const char *table, const char *name, uint64_t row,
               int64_t *value);
int rprof_text_cell(const struct rprof_packed *p, const char *table, const char *name, uint64_t row,
                    struct text *to);
/* One line a sample: memory, frames innermost first as name@path:line, "-" for no stack, "()" for
 * an empty one, "~" where the verbatim text is kept. */
void rprof_describe(const struct rprof_packed *p, struct text *to);
void rprof_expect_same(const struct rprof_packed *p, const char *format, const void *data,
                       size_t size);

struct rprof_example {
    const char *text;
    size_t size;
    const char *expected; /* samples, or "LINE:COLUMN message" */
};
#define EXAMPLE(text, expected)         \
    {                                   \
        text, sizeof text - 1, expected \
    }
void rprof_expect(const char *format, int lenient, const struct rprof_example *examples,
                  size_t count);
#define EXPECT(format, lenient, examples) \
    rprof_expect(format, lenient, examples, sizeof examples / sizeof *examples)

#endif

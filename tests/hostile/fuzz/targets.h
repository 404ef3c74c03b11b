/*
 * targets.h - what the fuzzers run
 *
 * A target is a function of some bytes. It may not crash, leak, hang or take much memory, and it
 * asserts what must hold of every input (an imported profile passes `check`, a text that was read
 * is written back readable). The same table serves libFuzzer and AFL++ (entry.c: one target a
 * program) and the replay of kept inputs in `make test` (replay.c: all targets in one program).
 */
#ifndef TARGETS_H
#define TARGETS_H

#include "pcol.h"

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
    char name[32]; /* import_NAME and unpack_NAME: of the format NAME */
    void (*run)(const uint8_t *data, size_t size);
    const char *seeds;  /* blank-separated endings of the files that are worth starting from */
    const char *folder; /* of tests/data, all of whose files are; empty: none */
    void (*run_format)(const uint8_t *data, size_t size, const char *format); /* instead of run */
};

/* 0: no such target. */
int fuzz_target_at(size_t index, struct fuzz_target *target);
int fuzz_find(const char *name, struct fuzz_target *target);

/* Copies the input into memory of its exact size, so that a byte too many is seen. */
void fuzz_run(const struct fuzz_target *target, const uint8_t *data, size_t size);

/* Most of what a target could do with an input takes longer than reading it, and finds nothing new.
 * So a fuzzer does each thing with one in so many inputs, which their bytes decide: a target stays
 * a function of its input. A replay does all with each, as does who never calls
 * fuzz_sparingly(). */
void fuzz_sparingly(void);
int fuzz_turn(unsigned ways, unsigned way); /* is it the turn of this way with the input at hand? */

/* Most damaged pcol files are rejected by a checksum, which a fuzzer cannot compute. So each file
 * is run twice: unchanged, and with valid checksums, which reaches the later checks. */
void fuzz_twice(void (*run)(const uint8_t *, size_t), const uint8_t *data, size_t size);

/* Bytes written by a sink; freed by the caller. */
struct fuzz_text {
    uint8_t *data;
    size_t size, capacity;
};
/* A pcol_sink over one. More than 16 MB are E_LIMIT: a few bytes can request any number. */
pcol_status fuzz_gather(void *text, const void *data, size_t size, pcol_error *err);

/* Ends the program, loudly, if a promise is broken. */
#define FUZZ_ASSERT(condition)                           \
    do {                                                 \
        if (!(condition))                                \
            fuzz_broken(#condition, __FILE__, __LINE__); \
    } while (0)
_Noreturn void fuzz_broken(const char *condition, const char *file, int line);

/* read.c: pcol files */
void fuzz_open(const uint8_t *data, size_t size);
void fuzz_check(const uint8_t *data, size_t size);
void fuzz_export(const uint8_t *data, size_t size);
void fuzz_query(const uint8_t *data, size_t size);
/* scan.c: scans under conditions, Arrow streams and bulk frames */
void fuzz_scan(const uint8_t *data, size_t size);
/* derive.c: filters, graphs and answers of pcol files */
/* NULL: rejected, or too large. */
pcol_file *fuzz_open_file(const uint8_t *data, size_t size);
void fuzz_filter(const uint8_t *data, size_t size);
void fuzz_flame(const uint8_t *data, size_t size);
void fuzz_ask(const uint8_t *data, size_t size);
/* import.c: profiles of other formats */
void fuzz_import(const uint8_t *data, size_t size, const char *format);
void fuzz_import_any(const uint8_t *data, size_t size);
/* inside.c: parts of the library */
void fuzz_inflate(const uint8_t *data, size_t size);
void fuzz_json(const uint8_t *data, size_t size);
/* Whether it is JSON from end to end. nonfinite: NaN and infinities may be numbers. */
int fuzz_is_json(const struct fuzz_text *text, int nonfinite);
/* cells.c: cells of a file set to boundary values; so many edits of four bytes, then the file */
#define FUZZ_EDITS 4u
void fuzz_cells(const uint8_t *data, size_t size);
/* reduce.c: sums, rebased files, added frames, symbols */
void fuzz_sums(const uint8_t *data, size_t size);
void fuzz_rebase(const uint8_t *data, size_t size);
void fuzz_roots(const uint8_t *data, size_t size);
void fuzz_symbolize(const uint8_t *data, size_t size);
/* build.c: any calls of a builder; sinks that fail */
void fuzz_build(const uint8_t *data, size_t size);
void fuzz_sinks(const uint8_t *data, size_t size);
/* page.c: requests of the page of `report` and `view` */
void fuzz_page(const uint8_t *data, size_t size);
void fuzz_views(const uint8_t *data, size_t size);
/* archive_read.c: a compressed section */
void fuzz_archive_read(const uint8_t *data, size_t size);
/* column.c: columns of any encodings */
void fuzz_column(const uint8_t *data, size_t size);
/* choose.c: patterns and selections */
void fuzz_match(const uint8_t *data, size_t size);
void fuzz_select(const uint8_t *data, size_t size);
/* shell.c: the command pcol within this process. A file without a name for its input, for as long
 * as the process runs; 0, and what it is called. */
int fuzz_shell_file(const uint8_t *data, size_t size, char *path, size_t capacity);
/* Exit code. Output goes to *out, or nowhere if that is NULL; messages go nowhere. */
int fuzz_shell(int count, char **arguments, struct fuzz_text *out);
/* command.c: any command with any options */
void fuzz_command(const uint8_t *data, size_t size);
/* escape.c: a name on its way out of every sink */
void fuzz_escape(const uint8_t *data, size_t size);
/* pack.c: pcol files packed again, and written in other formats */
void fuzz_archive(const uint8_t *data, size_t size);
void fuzz_merge(const uint8_t *data, size_t size);
void fuzz_unpack(const uint8_t *data, size_t size, const char *format);

#endif

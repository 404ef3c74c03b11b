/*
 * targets.h - fuzz targets: functions of the bytes of an input
 *
 * A target must not crash, leak, hang or take much memory, and asserts the invariants of every
 * input (an imported profile passes `check`, exported text can be read again). The same table
 * serves libFuzzer and AFL++ (entry.c: one target per program) and the replay of committed inputs
 * in `make test` (replay.c: all targets in one program).
 */
#ifndef TARGETS_H
#define TARGETS_H

#include "pcol.h"

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
    char name[32]; /* import_NAME and unpack_NAME: of the format NAME */
    void (*run)(const uint8_t *data, size_t size);
    const char *seeds; /* blank-separated suffixes of files for the initial corpus */
};

/* 0: no such target. */
int fuzz_target_at(size_t index, struct fuzz_target *target);
int fuzz_find(const char *name, struct fuzz_target *target);

/* Run a target on a copy of exact size, so that ASan detects reads beyond the end. */
void fuzz_run(const struct fuzz_target *target, const uint8_t *data, size_t size);

/* Fuzzers run an expensive operation on one of several inputs, chosen by a hash of the input, so a
 * target remains deterministic. Without a call of fuzz_sparingly(), as in a replay, every operation
 * runs on every input. */
void fuzz_sparingly(void);
int fuzz_turn(unsigned ways,
              unsigned way); /* 1: run operation `way` of `ways` on the current input */

/* Run on the input and on a copy with valid checksums: most mutations would be rejected by a
 * checksum, which a fuzzer cannot produce. */
void fuzz_twice(void (*run)(const uint8_t *, size_t), const uint8_t *data, size_t size);

/* A growable buffer of output; the caller frees `data`. */
struct fuzz_text {
    uint8_t *data;
    size_t size, capacity;
};
/* A pcol_sink that appends to a fuzz_text; E_LIMIT beyond 16 MB, since small inputs may have
 * unbounded output. */
pcol_status fuzz_gather(void *text, const void *data, size_t size, pcol_error *err);

/* Abort with a message if a condition is false. */
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
/* derive.c: filters, flame graphs and comparisons of pcol files */
/* NULL: rejected, or too large for a target. */
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
/* 1 if the whole text is valid JSON. nonfinite: NaN and infinities are accepted as numbers. */
int fuzz_is_json(const struct fuzz_text *text, int nonfinite);
/* cells.c: cells of a file set to boundary values. FUZZ_EDITS edits of four bytes, then a file. */
#define FUZZ_EDITS 4u
void fuzz_cells(const uint8_t *data, size_t size);
/* archive_read.c: a compressed section */
void fuzz_archive_read(const uint8_t *data, size_t size);
/* column.c: columns of any encodings */
void fuzz_column(const uint8_t *data, size_t size);
/* choose.c: patterns and selections */
void fuzz_match(const uint8_t *data, size_t size);
void fuzz_select(const uint8_t *data, size_t size);
/* shell.c: the command pcol within this process. Write the input to an anonymous file that exists
 * until the process ends; returns 0 and its path. */
int fuzz_shell_file(const uint8_t *data, size_t size, char *path, size_t room);
/* Returns the exit code. Output goes to *out, NULL: discarded; messages are discarded. */
int fuzz_shell(int count, char **arguments, struct fuzz_text *out);
/* command.c: any command with any options */
void fuzz_command(const uint8_t *data, size_t size);
/* escape.c: escaping of a name in every output format */
void fuzz_escape(const uint8_t *data, size_t size);
/* pack.c: pcol files packed again, merged and exported */
void fuzz_archive(const uint8_t *data, size_t size);
void fuzz_merge(const uint8_t *data, size_t size);
void fuzz_unpack(const uint8_t *data, size_t size, const char *format);

#endif

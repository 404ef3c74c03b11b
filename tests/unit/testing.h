/*
 * testing.h - growing text and temporary directories, for several tests
 */
#ifndef TESTING_H
#define TESTING_H

#include "pcol.h"

/* Steps through many like cases: in one step each, under sanitizers, which make each slow, in n. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STEP(n) (n)
#else
#define STEP(n) 1
#endif

/* Terminated after its size. Starts as {0}; free(data) ends it. */
struct text {
    char *data;
    size_t size, capacity;
};
void text_add(struct text *text, const void *data, size_t size);
void text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A sink, and a function for notices, that add to the struct text that is their context. */
pcol_status text_gather(void *context, const void *data, size_t size, pcol_error *err);
void text_notice(void *context, const pcol_notice *notice);

/* For .init and .fini of a suite: a new folder, and its end with all that is in it. */
extern char folder[];
void folder_begin(void);
void folder_end(void);
/* Path of a name in the folder; good for the next three calls. */
char *folder_path(const char *name);
/* A file of these bytes in the folder. */
const char *folder_file(const char *name, const void *data, size_t size);

/* Pack a pcol file again: 1 if it is rejected; else the result must pass `check --strict`. */
int rejects_or_repairs(const void *data, size_t size);

/* Make the checksums of a file right again, after its sections were changed. */
void reseal(uint8_t *data, size_t size);

#endif

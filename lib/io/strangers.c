/*
 * strangers.c - what people try to read and cannot, and what to do instead
 *
 * Told by marks that the files of other tools have near their beginnings. It only words an error:
 * whatever a format of this library recognises never comes here.
 */
#include "io/strangers.h"

#include <string.h>

static int has(const uint8_t *data, size_t size, const char *text)
{
    size_t length = strlen(text);
    const uint8_t *at = data;

    while (size >= length && (at = memchr(at, text[0], (size_t)(data + size - at))) != NULL) {
        if ((size_t)(data + size - at) < length)
            return 0;
        if (memcmp(at, text, length) == 0)
            return 1;
        at++;
    }
    return 0;
}

const char *pci_stranger(const uint8_t *data, size_t size)
{
    static const struct {
        int at_start;
        const char *marks[2]; /* all of them; NULL: no second one */
        const char *words;
    } strangers[] = {
        {0,
         {"speedscope.app/file-format-schema", NULL},
         "speedscope: a format that is written, not read; the profile it was made from is"},
        {1, {"PERFILE2", NULL}, "a perf.data file: what `perf script` makes of it is read"},
        {0, {"\"traceEvents\"", NULL}, "a Chrome trace, which cannot be read"},
        {0,
         {"\"timeDeltas\"", "\"callFrame\""},
         "a V8 .cpuprofile, which cannot be read; what Node's pprof package writes can"},
        {1, {"# callgrind format", NULL}, "a callgrind file, which cannot be read"},
        {1, {"gmon", NULL}, "a gmon.out file, which cannot be read"},
        {1, {"FLR", NULL}, "a Java Flight Recorder file, which cannot be read"},
        {1, {"PK\003\004", NULL}, "a zip archive: unpack it first"},
        {1,
         {"\x28\xb5\x2f\xfd", NULL},
         "compressed by zstd: unpack it first (gzip is read as it is)"},
        {1, {"\xfd\x37zXZ", NULL}, "compressed by xz: unpack it first (gzip is read as it is)"},
        {1, {"BZh", NULL}, "compressed by bzip2: unpack it first (gzip is read as it is)"},
        {1, {"SQLite format 3", NULL}, "an SQLite database, which cannot be read"},
        {0, {"<html", NULL}, "a web page, not a profile"},
        {0, {"<!DOCTYPE html", NULL}, "a web page, not a profile"},
        {0, {"<svg", NULL}, "a picture: the profile it was made from is wanted"},
    };

    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        const char *first = strangers[i].marks[0], *second = strangers[i].marks[1];
        size_t length = strlen(first);
        int is = strangers[i].at_start ? size >= length && memcmp(data, first, length) == 0
                                       : has(data, size, first);
        if (is && (second == NULL || has(data, size, second)))
            return strangers[i].words;
    }
    return NULL;
}

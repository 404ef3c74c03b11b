/*
 * sniff.c - detection of Perun profiles by their first bytes
 *
 * Keys can have any order, and other formats are JSON objects, too. So the keys of the first levels
 * are examined: some are unique to Perun, others only in combination.
 */
#include "formats/perun/sniff.h"
#include "formats/perun/perun.h"

#include <string.h>

#define MAX_HEADER 256u /* the header of an object ends within so many bytes */

static const char object_word[] = "profile ";

static int begins_object(const uint8_t *data, size_t size)
{
    return size >= sizeof object_word - 1 && !memcmp(data, object_word, sizeof object_word - 1);
}

int pci_perun_is_malformed(const uint8_t *data, size_t size)
{
    if (!begins_object(data, size) || pci_perun_header_size(data, size))
        return 0;
    const uint8_t *end = memchr(data, 0, size < MAX_HEADER ? size : MAX_HEADER);
    return end && end + 1 < data + size && end[1] == '{';
}

size_t pci_perun_header_size(const uint8_t *data, size_t size)
{
    size_t at = sizeof object_word - 1, begin;
    if (!begins_object(data, size))
        return 0;
    while (at < size && data[at] > ' ' && data[at] < 0x7f)
        at++; /* TYPE, which may be empty */
    if (at == size || data[at++] != ' ')
        return 0;
    for (begin = at; at < size && data[at] >= '0' && data[at] <= '9'; at++)
        ;
    return at > begin && at < size && data[at] == 0 ? at + 1 : 0;
}

struct scan {
    const uint8_t *at, *end;
    int depth;
    int expect_key;   /* of the innermost open object */
    uint64_t objects; /* a bit for each open level: whether it is an object */
};

static int is_word(const uint8_t *data, size_t size, const char *word)
{
    return strlen(word) == size && !memcmp(data, word, size);
}

static int is_one(const uint8_t *data, size_t size, const char *const *words)
{
    for (; *words; words++)
        if (is_word(data, size, *words))
            return 1;
    return 0;
}

/* The next key at a depth of at most 5, or NULL at the end of the data. *level: 1 for the
 * document's members. */
static const uint8_t *next_key(struct scan *s, size_t *size, int *level)
{
    while (s->at < s->end) {
        uint8_t c = *s->at++;
        if (c == '{' || c == '[') {
            s->depth++;
            s->objects = s->objects << 1 | (c == '{');
            s->expect_key = c == '{';
        } else if (c == '}' || c == ']') {
            s->depth--;
            s->objects >>= 1;
            s->expect_key = 0;
        } else if (c == ',') {
            s->expect_key = (int)(s->objects & 1);
        } else if (c == '"') {
            const uint8_t *begin = s->at;
            while (s->at < s->end && *s->at != '"')
                s->at += *s->at == '\\' && s->end - s->at > 1 ? 2 : 1;
            if (s->at >= s->end)
                return NULL;
            *size = (size_t)(s->at++ - begin);
            int key = s->expect_key;
            s->expect_key = 0;
            *level = s->depth;
            if (key && s->depth > 0 && s->depth <= 5)
                return begin;
        }
    }
    return NULL;
}

int pci_perun_sniff(const uint8_t *data, size_t size, int all)
{
    static const char *const unique_keys[] = {"resource_type_map", "collector_info",
                                              "postprocessors", NULL},
                             *const top_keys[] = {"resources", "snapshots", "global",
                                                  "header",    "models",    NULL},
                             *const inner_keys[] = {"amount",   "uid",      "units",
                                                    "workload", "r_square", NULL};
    struct scan scan = {data, data + size, 0, 0, 0};
    int candidate = 0, level, wrapped = 0;
    (void)all;
    if (pci_perun_is_malformed(data, size))
        return 2; /* the reader will report the error */
    size_t length = pci_perun_header_size(data, size);
    if (length) {
        scan.at += length;
        wrapped = 1;
    }
    if (scan.end - scan.at >= 3 && !memcmp(scan.at, "\xef\xbb\xbf", 3))
        scan.at += 3;
    while (scan.at < scan.end && *scan.at && strchr(" \t\r\n", *scan.at))
        scan.at++;
    if (scan.at == scan.end || *scan.at != '{')
        return 0;
    for (const uint8_t *key; (key = next_key(&scan, &length, &level));) {
        if (level == 1 && is_one(key, length, unique_keys))
            return 2;
        if (level == 1)
            candidate = is_one(key, length, top_keys);
        if (level > 1 && candidate && is_one(key, length, inner_keys))
            return 2;
        wrapped |= candidate;
    }
    return wrapped ? 1 + (pci_perun_header_size(data, size) > 0) : 0;
}

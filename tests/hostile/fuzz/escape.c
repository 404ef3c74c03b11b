/*
 * escape.c - fuzz target: the input is the name of a function in a small profile
 *
 * The name is written in every output format and read back by independent parsers: terminal output
 * has no control sequences; CSV, TSV and JSON give the name back; with --csv-safe no cell is a
 * formula; markdown has the expected columns and no markup from the name; an SVG has no element,
 * attribute or script that the SVG of a harmless name lacks.
 */
#include "targets.h"

#include "pcol.h"
#include "stream/input.h"
#include "stream/input_open.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 4096u

/* ---- the profile */

static uint32_t add_function(pcol_builder *b, uint32_t parent, const char *name, size_t size)
{
    pcol_function function = PCOL_INIT(pcol_function);
    pcol_group group = PCOL_INIT(pcol_group);
    pcol_line line = {.filename = PCOL_NONE};
    uint32_t row, stack;
    FUZZ_ASSERT(pcol_builder_string(b, name, size, &function.name, NULL) == PCOL_OK);
    function.system_name = PCOL_NONE;
    function.filename = function.name;
    FUZZ_ASSERT(pcol_builder_function(b, &function, &line.function, NULL) == PCOL_OK);
    group.lines = &line;
    group.line_count = 1;
    group.mapping = PCOL_NONE;
    FUZZ_ASSERT(pcol_builder_group(b, &group, &row, NULL) == PCOL_OK);
    FUZZ_ASSERT(pcol_builder_stack(b, parent, row, &stack, NULL) == PCOL_OK);
    return stack;
}

/* A function of this name, called by `root`. 0, and where the file is. */
static int make_file(const char *name, size_t size, char *path, size_t capacity)
{
    pcol_source source = PCOL_INIT(pcol_source);
    pcol_sample sample = PCOL_INIT(pcol_sample);
    pcol_value value = {.as.i64 = 1};
    pcol_builder *b;
    void *file;
    size_t file_size;
    FUZZ_ASSERT(pcol_builder_new(NULL, &b, NULL) == PCOL_OK);
    source.type = "folded";
    FUZZ_ASSERT(pcol_builder_source(b, &source, &sample.source, NULL) == PCOL_OK);
    FUZZ_ASSERT(pcol_builder_sample_type(b, "samples", "count", 0, 0, &value.sample_type, NULL) ==
                PCOL_OK);
    sample.stack = add_function(b, add_function(b, 0, "root", 4), name, size);
    sample.thread = PCOL_NONE;
    sample.values = &value;
    sample.value_count = 1;
    FUZZ_ASSERT(pcol_builder_sample(b, &sample, NULL, NULL) == PCOL_OK);
    FUZZ_ASSERT(pcol_builder_write_memory(b, 0, NULL, &file, &file_size, NULL) == PCOL_OK);
    pcol_builder_free(b);
    int failed = fuzz_shell_file(file, file_size, path, capacity);
    pcol_free(file);
    return failed;
}

/* The output of the command: its words are separated by blanks, and FILE is the profile. */
static struct fuzz_text print(const char *command, const char *path)
{
    struct fuzz_text out = {0};
    char words[256], *arguments[24], *word = words;
    int count = 1;
    static char program[] = "pcol";
    arguments[0] = program;
    for (const char *at = command; *at; at += *at == ' ') {
        size_t size = strcspn(at, " ");
        int is_file = size == 4 && !memcmp(at, "FILE", 4);
        arguments[count++] = word;
        word += snprintf(word, (size_t)(words + sizeof words - word), "%.*s",
                         is_file ? (int)strlen(path) : (int)size, is_file ? path : at) +
                1;
        at += size;
    }
    arguments[count] = NULL;
    FUZZ_ASSERT(fuzz_shell(count, arguments, &out) == 0);
    return out;
}

/* ---- characters */

/* The character at `at` and its bytes; 0 bytes: it is no UTF-8. */
static unsigned decode(const uint8_t *at, size_t left, size_t *bytes)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = *at < 0x80 ? 1 : *at >> 5 == 6 ? 2 : *at >> 4 == 14 ? 3 : *at >> 3 == 30 ? 4 : 0;
    unsigned c = n == 1 ? *at : *at & (0x7fu >> n);
    *bytes = 0;
    if (!n || n > left)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if (at[i] >> 6 != 2)
            return 0;
        c = c << 6 | (at[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *bytes = n;
    return c;
}

static int is_utf8(const uint8_t *text, size_t size)
{
    size_t bytes;
    for (size_t at = 0; at < size; at += bytes) {
        decode(text + at, size - at, &bytes);
        if (!bytes)
            return 0;
    }
    return 1;
}

/* Would a terminal act on it, or show text the other way round? */
static int acts(unsigned c)
{
    return (c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e ||
           c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static void assert_quiet(const struct fuzz_text *out)
{
    size_t bytes;
    for (size_t at = 0; at < out->size; at += bytes) {
        unsigned c = decode(out->data + at, out->size - at, &bytes);
        FUZZ_ASSERT(bytes && !acts(c));
    }
}

/* ---- separated text */

/* The next cell of CSV, parsed by RFC 4180; NULL at the end. */
static const uint8_t *csv_cell(const uint8_t *at, const uint8_t *end, uint8_t *cell, size_t *size)
{
    *size = 0;
    if (at == end)
        return NULL;
    if (*at == '"') {
        for (at++;; at++) {
            FUZZ_ASSERT(at < end);
            if (*at == '"' && ++at < end && *at != '"')
                break;
            cell[(*size)++] = *at;
        }
    } else {
        for (; at < end && *at != '\r' && *at != '\n'; at++) {
            FUZZ_ASSERT(*at != '"' && *at != ',');
            cell[(*size)++] = *at;
        }
    }
    FUZZ_ASSERT(end - at >= 2 && at[0] == '\r' && at[1] == '\n');
    return at + 2;
}

static const uint8_t *tsv_cell(const uint8_t *at, const uint8_t *end, uint8_t *cell, size_t *size)
{
    *size = 0;
    if (at == end)
        return NULL;
    for (; *at != '\n'; at++) {
        uint8_t c = *at;
        FUZZ_ASSERT(c != '\t' && c != '\r');
        if (c == '\\') {
            c = *++at;
            FUZZ_ASSERT(c == '\\' || c == 't' || c == 'n' || c == 'r');
            c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
        }
        cell[(*size)++] = c;
        FUZZ_ASSERT(at + 1 < end);
    }
    return at + 1;
}

static int is_formula(const uint8_t *cell, size_t size)
{
    size_t at = 0;
    while (at < size && cell[at] == ' ')
        at++;
    if (size - at > 2 && cell[at] == 0xef && cell[at + 1] == 0xbc) /* = + - @ as wide characters */
        return memchr("\x9d\x8b\x8d\xa0", cell[at + 2], 4) != NULL;
    return at < size && cell[at] && strchr("=+-@\t\r\n", cell[at]) != NULL;
}

/* A column of names: one of them is ours, with --csv-safe perhaps after an apostrophe. */
static void assert_cells(const struct fuzz_text *out, int tabs, int safe, const uint8_t *name,
                         size_t size)
{
    uint8_t *cell = malloc(out->size + 1);
    const uint8_t *end = out->data + out->size, *next = out->data;
    size_t got, rows = 0;
    int found = 0;
    while (cell && (next = (tabs ? tsv_cell : csv_cell)(next, end, cell, &got))) {
        size_t shy = safe && is_formula(name, size);
        FUZZ_ASSERT(!safe || !is_formula(cell, got));
        found |= got == size + shy && (!shy || *cell == '\'') && !memcmp(cell + shy, name, size);
        rows++;
    }
    FUZZ_ASSERT(!cell || (found && rows >= 2 && rows <= 3)); /* the head, `root`, the name */
    free(cell);
}

/* ---- JSON */

static void assert_json(const struct fuzz_text *out, const uint8_t *name, size_t size)
{
    struct pci_input input;
    struct pci_json json;
    struct pci_input_options options = {.max_bytes = (uint64_t)1 << 25};
    struct pci_json_options how = {0, 0};
    int whole = 0, found = !is_utf8(name, size);
    for (size_t i = 0; i < out->size; i++)
        FUZZ_ASSERT(!acts(out->data[i]) || out->data[i] >= 0x80);
    FUZZ_ASSERT(pci_input_open_memory(&input, out->data, out->size, "x.json", &options, NULL) ==
                PCOL_OK);
    FUZZ_ASSERT(pci_json_open(&json, &input, &how, NULL) == PCOL_OK);
    while (!whole) {
        FUZZ_ASSERT(pci_json_next(&json, NULL) == PCOL_OK);
        whole = json.type == PCI_JSON_END;
        found |= json.type == PCI_JSON_STRING && json.text.size == size &&
                 !memcmp(json.text.data, name, size);
    }
    FUZZ_ASSERT(found);
    pci_json_close(&json);
    pci_input_close(&input);
}

/* ---- markdown */

static void assert_markdown(const struct fuzz_text *out)
{
    const uint8_t *at = out->data, *end = at + out->size, *table = at;
    size_t bars = 0;
    assert_quiet(out);
    while (table < end && !(*table == '|' && table > at && table[-1] == '\n'))
        table++;
    FUZZ_ASSERT(table < end);
    for (at = table; at < end; at++) {
        const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
        size_t here = 0;
        FUZZ_ASSERT(feed);
        for (; at < feed; at++) {
            here += *at == '|';
            FUZZ_ASSERT(!strchr("`[]*\\$_", *at) || !*at);
            if (*at == '<')
                FUZZ_ASSERT((feed - at > 5 && !memcmp(at, "<code>", 6)) ||
                            (feed - at > 6 && !memcmp(at, "</code>", 7)));
        }
        FUZZ_ASSERT(!here || !bars || here == bars);
        bars = bars ? bars : here;
    }
}

/* ---- pictures */

/* Sums of what a document consists of: its elements with their attributes, its scripts and
 * styles. */
struct parts {
    uint64_t sums[512];
    size_t count;
};

static uint64_t sum_more(uint64_t sum, const uint8_t *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ text[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* learn: the part is harmless; else it must be one that was learnt. */
static void note(struct parts *parts, uint64_t sum, int learn)
{
    size_t i = 0;
    while (i < parts->count && parts->sums[i] != sum)
        i++;
    if (learn && i == parts->count && i < sizeof parts->sums / sizeof *parts->sums)
        parts->sums[parts->count++] = sum;
    FUZZ_ASSERT(i < parts->count);
}

static size_t word(const uint8_t *at, const uint8_t *end)
{
    size_t size = 0;
    while (at + size < end && !strchr(" \n\t/>=", at[size]))
        size++;
    return size;
}

/* The element that begins at `at`; its end. */
static const uint8_t *take_element(const uint8_t *at, const uint8_t *end, struct parts *parts,
                                   int learn)
{
    int closing = at + 1 < end && at[1] == '/';
    const uint8_t *name = at + 1 + closing, *raw = NULL;
    size_t size = word(name, end);
    uint64_t element = sum_more((uint64_t)closing + 7, name, size);
    note(parts, element, learn);
    for (at = name + size; at < end && *at != '>';) {
        size_t length = word(at, end);
        if (!length) {
            at++;
            continue;
        }
        note(parts, sum_more(element, at, length), learn);
        at += length;
        if (at + 1 < end && *at == '=') {
            char quote = (char)at[1];
            FUZZ_ASSERT(quote == '"' || quote == '\'');
            for (at += 2; at < end && *at != (uint8_t)quote; at++)
                FUZZ_ASSERT(*at != '<');
            at++;
        }
    }
    FUZZ_ASSERT(at < end);
    at++;
    if (closing ||
        (!(size == 6 && !memcmp(name, "script", 6)) && !(size == 5 && !memcmp(name, "style", 5))))
        return at;
    for (raw = at; end - at > 2 && memcmp(at, "</", 2) != 0;)
        at++;
    note(parts, sum_more(element + 1, raw, (size_t)(at - raw)), learn);
    return at;
}

static void take_picture(const struct fuzz_text *out, struct parts *parts, int learn)
{
    const uint8_t *at = out->data, *end = at + out->size;
    assert_quiet(out);
    while (at < end) {
        if (*at == '<') {
            at = take_element(at, end, parts, learn);
            continue;
        }
        if (*at == '&') {
            size_t size = 1;
            while (at + size < end && size < 10 && at[size] != ';')
                size++;
            FUZZ_ASSERT(at + size < end && at[size] == ';');
        }
        at++;
    }
}

#define PICTURE "flame FILE --min-width 0 --title t"

/* Pictures of harmless names, short and long. */
static int learn_pictures(struct parts *parts)
{
    static char name[LONGEST];
    char path[32];
    memset(name, 'a', sizeof name);
    for (size_t size = 1; size <= sizeof name; size *= 8) {
        if (make_file(name, size, path, sizeof path))
            return -1;
        struct fuzz_text out = print(PICTURE, path);
        take_picture(&out, parts, 1);
        free(out.data);
    }
    return 0;
}

/* ---- all of them */

static const char *const shown[] = {"top FILE --format table",
                                    "tree FILE --format table",
                                    "cat -t functions FILE --format table",
                                    "cat --join FILE --format table",
                                    "peek . FILE --format table",
                                    "flame FILE --format text",
                                    "info -v FILE",
                                    "top --by file FILE --format table"};

void fuzz_escape(const uint8_t *data, size_t size)
{
    static struct parts parts;
    char path[32];
    struct fuzz_text out;
    size = size < LONGEST ? size : LONGEST;
    if ((!parts.count && learn_pictures(&parts)) ||
        make_file((const char *)data, size, path, sizeof path))
        return;
    for (unsigned i = 0; i < sizeof shown / sizeof *shown; i++) {
        if (!fuzz_turn(16, i))
            continue;
        out = print(shown[i], path);
        assert_quiet(&out);
        free(out.data);
    }
    for (unsigned i = 0; i < 4; i++) {
        static const char *const forms[] = {
            "cat -t functions -c name FILE --format csv",
            "cat -t functions -c name FILE --format tsv",
            "cat -t functions -c name FILE --csv-safe --format csv",
            "cat -t functions -c name FILE --csv-safe --format tsv"};
        if (!fuzz_turn(16, 8 + i))
            continue;
        out = print(forms[i], path);
        assert_cells(&out, i & 1, i > 1, data, size);
        free(out.data);
    }
    if (fuzz_turn(16, 12)) {
        out = print("cat -t functions -c name FILE --format json", path);
        assert_json(&out, data, size);
        free(out.data);
    }
    if (fuzz_turn(16, 13)) {
        out = print("diff -n 0 --format markdown FILE FILE", path);
        assert_markdown(&out);
        free(out.data);
    }
    if (fuzz_turn(8, 7)) {
        out = print(PICTURE, path);
        take_picture(&out, &parts, 0);
        free(out.data);
    }
}

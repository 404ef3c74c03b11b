/*
 * test_rprof.c - Rprof output and Rprofmem logs: what a text means, what is refused and where, and
 * that the same bytes come back from everything that is accepted
 */
#include <criterion/criterion.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/open.h"
#include "pcol.h"
#include "rprof/token.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define H "sample.interval=20000\n"
#define LH "line profiling: sample.interval=20000\n"
#define MH "memory profiling: sample.interval=20000\n"

struct text {
    char *data;
    size_t size, capacity;
};

static void add(struct text *t, const void *data, size_t size)
{
    if (t->size + size + 1 > t->capacity) {
        t->capacity = 2 * (t->size + size + 1);
        t->data = realloc(t->data, t->capacity);
        cr_assert_not_null(t->data);
    }
    if (size)
        memcpy(t->data + t->size, data, size);
    t->size += size;
    t->data[t->size] = 0;
}

__attribute__((format(printf, 2, 3))) static void addf(struct text *t, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    cr_assert(size >= 0 && (size_t)size < sizeof line);
    add(t, line, (size_t)size);
}

static pcol_status gather(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)err;
    add(context, data, size);
    return PCOL_OK;
}

static void gather_message(void *context, const char *message)
{
    addf(context, "%s\n", message);
}

/* ---- packing and unpacking */

struct packed {
    void *data;
    size_t size;
    pcol_file *file;
    struct text messages;
};

static pcol_status pack(const char *format, int lenient, const void *data, size_t size,
                        struct packed *p, pcol_error *err)
{
    pcol_builder *builder = NULL;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    memset(p, 0, sizeof *p);
    add(&p->messages, "", 0);
    options.format = format;
    options.lenient = lenient;
    options.message = gather_message;
    options.context = &p->messages;
    pcol_status status = pcol_builder_new(NULL, &builder, err);
    if (status == PCOL_OK)
        status = pcol_import_memory(builder, data, size, "in", &options, err);
    if (status == PCOL_OK)
        status = pcol_builder_write_memory(builder, 0, &p->data, &p->size, err);
    if (status == PCOL_OK)
        status = pcol_file_open_memory(p->data, p->size, NULL, &p->file, err);
    pcol_builder_free(builder);
    return status;
}

static void drop(struct packed *p)
{
    pcol_file_close(p->file);
    pcol_free(p->data);
    free(p->messages.data);
    memset(p, 0, sizeof *p);
}

static const pcol_column *column(const struct packed *p, const char *table, const char *name)
{
    const pcol_table *t;
    if (pcol_file_table_by_name(p->file, PCOL_MODEL_PHYSICAL, table, &t, NULL) != PCOL_OK)
        return NULL;
    return pcol_table_column_by_name(t, name, NULL);
}

static uint64_t rows(const struct packed *p, const char *table)
{
    const pcol_table *t;
    if (pcol_file_table_by_name(p->file, PCOL_MODEL_PHYSICAL, table, &t, NULL) != PCOL_OK)
        return 0;
    return pcol_table_rows(t);
}

/* A cell that may be null or lack its column. */
static int cell(const struct packed *p, const char *table, const char *name, uint64_t row,
                int64_t *value)
{
    const pcol_column *c = column(p, table, name);
    int valid = 0;
    *value = 0;
    if (c)
        cr_assert_eq(pcol_column_i64(c, row, value, &valid, NULL), PCOL_OK);
    return valid;
}

static int text_cell(const struct packed *p, const char *table, const char *name, uint64_t row,
                     struct text *to)
{
    const pcol_column *c = column(p, table, name);
    pcol_str value;
    int valid = 0;
    if (c)
        cr_assert_eq(pcol_column_str(c, row, &value, &valid, NULL), PCOL_OK);
    if (valid)
        add(to, value.data, value.size);
    return valid;
}

/* One line a sample: memory, frames innermost first as name@path:line, "-" for no stack, "()" for
 * an empty one, "~" where the verbatim text is kept. */
static void describe(const struct packed *p, struct text *to)
{
    static const char *const values[] = {"value.1", "value.2", "value.3", "value.4"};
    add(to, "", 0);
    for (uint64_t row = 0; row < rows(p, "samples"); row++) {
        uint32_t locations[256];
        int64_t value, stack;
        size_t depth = 0;
        for (int i = 0; i < 4; i++)
            if (cell(p, "samples", values[i], row, &value))
                addf(to, ":%" PRId64, value);
        int valid = cell(p, "samples", "stack", row, &stack);
        if (valid)
            cr_assert_eq(
                pcol_stack_locations(p->file, (uint64_t)stack, locations, 256, &depth, NULL),
                PCOL_OK);
        addf(to, "%s", !valid ? " -" : depth == 0 ? " ()" : "");
        for (size_t i = 0; i < depth; i++) {
            int64_t function, line;
            add(to, " ", 1);
            int named = cell(p, "locations", "function", locations[i], &function);
            if (named)
                text_cell(p, "functions", "name", (uint64_t)function, to);
            if (!cell(p, "locations", "line", locations[i], &line))
                continue;
            add(to, "@", 1);
            if (!(named ? text_cell(p, "functions", "filename", (uint64_t)function, to)
                        : text_cell(p, "locations", "filename", locations[i], to)))
                add(to, "?", 1);
            addf(to, ":%" PRId64, line);
        }
        struct text ignored = {0};
        if (text_cell(p, "samples", "text", row, &ignored))
            add(to, " ~", 2);
        free(ignored.data);
        add(to, "\n", 1);
    }
}

static void expect_same(const struct packed *p, const char *format, const void *data, size_t size)
{
    struct text out = {0};
    pcol_error err;
    add(&out, "", 0);
    pcol_status status = pcol_export(p->file, format, NULL, (pcol_sink){gather, &out}, &err);
    cr_assert_eq(status, PCOL_OK, "%s", status == PCOL_OK ? "" : err.message);
    cr_assert(out.size == size && (size == 0 || memcmp(out.data, data, size) == 0),
              "came back as:\n%s\nfrom:\n%.*s", out.data, (int)size, (const char *)data);
    free(out.data);
}

struct example {
    const char *text;
    size_t size;
    const char *expected; /* samples, or "LINE:COLUMN message" */
};
#define EXAMPLE(text, expected)         \
    {                                   \
        text, sizeof text - 1, expected \
    }

static void expect(const char *format, int lenient, const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct example *e = &examples[i];
        struct text got = {0};
        struct packed p;
        pcol_error err;
        if (pack(format, lenient, e->text, e->size, &p, &err) == PCOL_OK) {
            describe(&p, &got);
            expect_same(&p, format, e->text, e->size);
        } else {
            char place[192];
            cr_assert_eq(err.status, PCOL_E_SYNTAX, "%s", err.message);
            addf(&got, "%s %s", pcol_error_place(&err, place, sizeof place), err.message);
        }
        cr_assert_str_eq(got.data, e->expected, "example %zu:\n%s\ngives:\n%s\nnot:\n%s", i,
                         e->text, got.data, e->expected);
        free(got.data);
        drop(&p);
    }
}
#define EXPECT(format, lenient, examples) \
    expect(format, lenient, examples, sizeof examples / sizeof *examples)

/* ---- meaning */

Test(rprof, frames)
{
    static const struct example examples[] = {
        EXAMPLE("", ""),
        EXAMPLE("sample.interval=20000", ""),
        EXAMPLE(H, ""),
        EXAMPLE(H "\"a\" \"b\" \n\"b\" \n", " a b\n b\n"),
        EXAMPLE(H "\"f\" \"f\" \"g\" \n\"h\" \"f\" \"g\" \n", " f f g\n h f g\n"),
        EXAMPLE(H "\"q\"uote\" \"sp ace\" \n", " q\"uote sp ace\n"),
        EXAMPLE(H "\"\"\" \"\"\"\" \"\" \"g\" \n", " \" \"\"  g\n"),
        EXAMPLE(H "\"lst[[\"k\"]]\" \"back\\slash\" \n", " lst[[\"k\"]] back\\slash\n"),
        EXAMPLE(H "\"tab\there\" \"cr\rhere\" \"\377\376\" \n", " tab\there cr\rhere \377\376\n"),
        EXAMPLE(H "\"#File 9: x.R\" \":1:2:3:4:\" \n", " #File 9: x.R :1:2:3:4:\n"),
        EXAMPLE(H "\"sample.interval=5\" \n", " sample.interval=5\n"),
        EXAMPLE("GC profiling: " H "\"<GC>\" \"a\" \n", " <GC> a\n"),
        /* what the line before has must not be reused where words are cut otherwise */
        EXAMPLE(H "\"a\" \"z\" \"a\" \n\"z\"\"a\" \n", " a z a\n z\"\"a\n"),
        EXAMPLE(H "\"x\" \"y\" \n\"b\"x\" \"y\" \n\"x\" \"y\" \n", " x y\n b\"x y\n x y\n"),
        EXAMPLE(H "\"\"\"\" 3#8 \"\"\" \n\"\"\"\"3#8 \"\"\" \n", " \"\" \"@?:8\n \"\"\"3#8 \"\"\n"),
    };
    EXPECT("rprof", 0, examples);
}

Test(rprof, references)
{
    static const struct example examples[] = {
        EXAMPLE(LH "#File 1: w.R\n1#3 \"a\" \"b\" 1#9 \"c\" \n", " a@w.R:3 b c@w.R:9\n"),
        EXAMPLE(LH "#File 1: w.R\n\"a\" 1#4 \n1#7 \n", " a @w.R:4\n @w.R:7\n"),
        EXAMPLE(LH "#File 1: w.R\n\"<GC>\" 1#3 \"a\" \n", " <GC> a@w.R:3\n"),
        EXAMPLE(LH "#File 1: \n1#3 \"a\" \n", " a@:3\n"),
        EXAMPLE(LH "#File : \n\"a\" \n", " a\n"),
        EXAMPLE(LH "2#3 \"a\" \n#File 2: x\n2#3 \"a\" \n#File 2: y\n2#3 \"a\" \n",
                " a@?:3\n a@x:3\n a@y:3\n"),
        EXAMPLE(LH "#File 1: w\n1#3 \"a\" \n" LH "#File 1: v\n1#3 \"a\" \n" H "1#3 \"a\" \n",
                " a@w:3\n a@v:3\n a@?:3\n"),
        EXAMPLE(LH "1#2 3#4 \"a\" \n", " @?:2 a@?:4\n"),
        EXAMPLE(LH "01#002 \"a\" \n\"a\" \n", " a@?:2 ~\n a\n"),
        EXAMPLE(LH "1#99999999999999999999 \"a\" \n", " a ~\n"),
        EXAMPLE(LH "#File 007: w\n7#1 \"a\" \n", " a@w:1\n"),
        EXAMPLE(H "\"a\" 1#2\" \"b\" 12\" \n", " a\" 1#2 b\" 12\n"),
    };
    EXPECT("rprof", 0, examples);
}

Test(rprof, memory)
{
    static const struct example examples[] = {
        EXAMPLE(MH ":1:2:3:4:\"a\" \n:5:0:7:8:\"b\" \"a\" \n", ":1:2:3:4 a\n:5:0:7:8 b a\n"),
        EXAMPLE(MH ":9:9:9:9:\n:1:2:3:4:\"a\" \n", ":9:9:9:9 -\n:1:2:3:4 a\n"),
        EXAMPLE(MH ":-1:2:-3:9223372036854775807:\"a\" \n", ":-1:2:-3:9223372036854775807 a\n"),
        EXAMPLE(MH ":01:2:3:4:\"a\" \n", ":1:2:3:4 a ~\n"),
        EXAMPLE(MH ":-0:2:3:4:\"a\" \n", ":0:2:3:4 a ~\n"),
        EXAMPLE(MH ":1:2:18446744073709551615:4:\"a\" \n", ":1:2:4 a ~\n"),
        EXAMPLE(MH "\"a\" \n:1:2:3:4:\"a\" \n", " a\n:1:2:3:4 a\n"),
        EXAMPLE(H "\"a\" \n" MH ":1:2:3:4:\"a\" \n", " a\n:1:2:3:4 a\n"),
        EXAMPLE(MH ":1:2:3:\"a\" \n", "2:8 malformed memory columns"),
        EXAMPLE(MH ":1:+2:3:4:\"a\" \n", "2:4 malformed memory columns"),
        EXAMPLE(H ":1:2:3:4:\"a\" \n", "2:1 neither a frame nor a line reference"),
        EXAMPLE(MH ":1:2:3:4:x \n", "2:10 neither a frame nor a line reference"),
    };
    EXPECT("rprof", 0, examples);
}

Test(rprof, line_feeds_in_names)
{
    static const struct example examples[] = {
        EXAMPLE(H "\"new\nline\" \"g\" \n\"b\" \"g\" \n", " new\nline g\n b g\n"),
        EXAMPLE(H "\"a\" \"x\n\ny\" \"new\nline\" \n", " a x\n\ny new\nline\n"),
        EXAMPLE(H "\"cr\r\nlf\" \n", " cr\r\nlf\n"),
        EXAMPLE(H "\"x\"\ny\" \n", " x\"\ny\n"),
        EXAMPLE(MH ":1:2:3:4:\"x\ny\" \n:5:6:7:8:\"z\" \n", ":1:2:3:4 x\ny\n:5:6:7:8 z\n"),
        EXAMPLE("sample.interval=1\r\n\"a\r\nb\" \r\n\"c\" \r\n", " a\nb\n c\n"),
        EXAMPLE("sample.interval=1\r\n\"a\nb\" \r\n", " a\nb ~\n"),
        EXAMPLE("sample.interval=1\r\n\"a\r\r\nb\" \r\n", " a\r\nb\n"),
        EXAMPLE(H "\"x\n\"y\" \n", "2:1 unterminated frame name"),
        EXAMPLE(H "\"a\" \"x\n1#2 \"y\" \n", "2:5 unterminated frame name"),
        EXAMPLE(H "\"a\" \"x\ny\n" H, "2:5 unterminated frame name"),
    };
    EXPECT("rprof", 0, examples);
}

Test(rprof, line_ends_and_blanks)
{
    static const struct example examples[] = {
        EXAMPLE("line profiling: sample.interval=1\r\n#File 1: w\r\n1#2 \"a\" \r\n", " a@w:2\n"),
        EXAMPLE(H "\"a\" \r\n\"a\" \n", " a ~\n a\n"),
        EXAMPLE("sample.interval=1\r\n\"a\" \n", " a ~\n"),
        EXAMPLE("sample.interval=007\n\"a\" \n", " a\n"),
        EXAMPLE("sample.interval=99999999999999999999\n\"a\" \n", " a\n"),
        EXAMPLE(H "\"a\" \"b\"\n\"b\" \n", " a b ~\n b\n"),
        EXAMPLE(H "\"a\" 1#2\n\"b\" \n", " a @?:2 ~\n b\n"),
        EXAMPLE(H "\"a\"\n\nb\n\"c\" \n", "3:1 blank line"),
    };
    EXPECT("rprof", 0, examples);
}

Test(rprof, cut_last_line)
{
    static const struct example examples[] = {
        EXAMPLE(H "\"a\" \"b\" ", " a b ~\n"),
        EXAMPLE(H "\"a\" \"b\"", " a ~\n"),
        EXAMPLE(H "\"a\" \"b", " a ~\n"),
        EXAMPLE(H "\"a\" \"b\n", " a ~\n"),
        EXAMPLE(H "\"a\" \"b\nc", " a ~\n"),
        EXAMPLE(H "\"a\" 1#2 \"b", " a @?:2 ~\n"),
        EXAMPLE(H "\"", " - ~\n"),
        EXAMPLE(H "12#", " - ~\n"),
        EXAMPLE(MH ":1:2:3:4", " - ~\n"),
        EXAMPLE(MH ":1:2:3:4:", ":1:2:3:4 - ~\n"),
        EXAMPLE(MH ":1:2:3:4:1", ":1:2:3:4 - ~\n"),
        EXAMPLE(LH "\"a\" \n#Fi", " a\n"),
        EXAMPLE(LH "\"a\" \n#File 12", " a\n"),
        EXAMPLE(LH "\"a\" \n#File 12: w", " a\n"),
        EXAMPLE(H "\"a\" \nmemory prof", " a\n"),
        EXAMPLE(H "\"a\" \nmemory x", "3:1 neither a frame nor a line reference"),
        EXAMPLE("memory prof", "1:1 not an Rprof file: no sample.interval header"),
    };
    EXPECT("rprof", 0, examples);
}

Test(rprof, refused)
{
    static const struct example examples[] = {
        EXAMPLE("\"a\" \n", "1:1 not an Rprof file: no sample.interval header"),
        EXAMPLE("sample.interval=\n", "1:1 not an Rprof file: no sample.interval header"),
        EXAMPLE("sample.interval=1 \n", "1:1 not an Rprof file: no sample.interval header"),
        EXAMPLE("line profiling: memory profiling: sample.interval=1\n",
                "1:1 not an Rprof file: no sample.interval header"),
        EXAMPLE(H "\n\"a\" \n", "2:1 blank line"),
        EXAMPLE(H "\"a\" \nhello\n\"b\" \n", "3:1 neither a frame nor a line reference"),
        EXAMPLE(H "1#2 hello\n\"b\" \n", "2:5 neither a frame nor a line reference"),
        EXAMPLE(H "#File 1: x\n", "2:1 #File line without line profiling"),
        EXAMPLE(LH "#File x: y\n", "2:1 malformed #File line"),
        EXAMPLE(LH "#File 1:y\n", "2:1 malformed #File line"),
    };
    EXPECT("rprof", 0, examples);
}

Test(rprof, lenient_keeps_all_bytes)
{
    static const struct example examples[] = {
        EXAMPLE(H "\n\"a\" \n\n", " a\n"),
        EXAMPLE(H "\"a\" \"x\nrest\n\"b\" \n", " a ~\n b\n"),
        EXAMPLE(H "\"x\n\"b\" \n", " - ~\n b\n"),
        EXAMPLE(MH ":1:2:x\n:1:2:3:4:\"b\" \n", " - ~\n:1:2:3:4 b\n"),
        EXAMPLE(H "hello\n#File 1: x\n\"a\" \n", " a\n"),
        EXAMPLE("hello\n", "1:1 not an Rprof file: no sample.interval header"),
    };
    EXPECT("rprof", 1, examples);
}

Test(rprof, lenient_says_so)
{
    static const char text[] = H "\"a\" \n\nx\n\"b\" \"c";
    struct packed p;
    pcol_error err;
    cr_assert_eq(pack("rprof", 1, text, sizeof text - 1, &p, &err), PCOL_OK);
    cr_assert_str_eq(p.messages.data, "malformed lines kept as text: 2, the first is line 3\n"
                                      "the last line is cut: kept as far as it goes\n");
    drop(&p);
}

Test(rprof, segments_and_files)
{
    static const char text[] =
        "memory profiling: GC profiling: line profiling: sample.interval=1000\r\n"
        "#File 1: a\r\n:1:2:3:4:1#1 \"f\" \r\n#File 2: b\r\nsample.interval=77\n\"g\" \n";
    struct packed p;
    pcol_error err;
    int64_t v;
    cr_assert_eq(pack(NULL, 0, text, sizeof text - 1, &p, &err), PCOL_OK);
    cr_assert_eq(rows(&p, "rprof_segments"), 2);
    cr_assert_eq(rows(&p, "rprof_files"), 2);
    cr_assert(cell(&p, "rprof_segments", "memory", 0, &v) && v == 1);
    cr_assert(cell(&p, "rprof_segments", "gc", 0, &v) && v == 1);
    cr_assert(cell(&p, "rprof_segments", "line", 0, &v) && v == 1);
    cr_assert(cell(&p, "rprof_segments", "crlf", 0, &v) && v == 1);
    cr_assert(cell(&p, "rprof_segments", "interval_us", 0, &v) && v == 1000);
    cr_assert(cell(&p, "rprof_segments", "crlf", 1, &v) && v == 0);
    cr_assert(cell(&p, "rprof_segments", "interval_us", 1, &v) && v == 77);
    cr_assert(cell(&p, "rprof_segments", "first_sample", 1, &v) && v == 1);
    cr_assert(cell(&p, "rprof_files", "before_sample", 0, &v) && v == 0);
    cr_assert(cell(&p, "rprof_files", "before_sample", 1, &v) && v == 1);
    cr_assert(cell(&p, "sources", "interval_ns", 0, &v) && v == 1000000);
    cr_assert_null(column(&p, "samples", "text"));
    cr_assert_null(column(&p, "rprof_segments", "text"));
    expect_same(&p, "rprof", text, sizeof text - 1);
    drop(&p);
}

Test(rprofmem, entries)
{
    static const struct example examples[] = {
        EXAMPLE("", ""),
        EXAMPLE("264 :\n4048 :\"integer\" \"f\" \nnew page:\"f\" \n", " ()\n:1 f\n"),
    };
    struct packed p;
    pcol_error err;
    int64_t v;
    expect("rprofmem", 0, examples, 1);
    cr_assert_eq(pack(NULL, 0, examples[1].text, examples[1].size, &p, &err), PCOL_OK);
    cr_assert_eq(rows(&p, "samples"), 3);
    cr_assert(cell(&p, "samples", "value.0", 1, &v) && v == 4048);
    cr_assert(!cell(&p, "samples", "value.0", 2, &v));
    cr_assert(cell(&p, "samples", "value.1", 2, &v) && v == 1);
    cr_assert(cell(&p, "samples", "stack", 0, &v) && v == 0);
    expect_same(&p, "rprofmem", examples[1].text, examples[1].size);
    drop(&p);
}

Test(rprofmem, texts)
{
    static const struct example examples[] = {
        EXAMPLE("200 :360 :new page:8040 :\"double\" \n", " () ~\n () ~\n:1 () ~\n double\n"),
        EXAMPLE("48 :\"a\"b\" \"c\nd\" \n", " a\"b c\nd\n"),
        EXAMPLE("48 :\"a\" 1#2\" \n", " a\" 1#2\n"),
        EXAMPLE("048 :\"a\" \n", " a ~\n"),
        EXAMPLE("99999999999999999999 :\"a\" \n", " a ~\n"),
        EXAMPLE("48 :\"a\" \r\n264 :\r\nnew page:\"x\r\ny\" \r\n", " a\n ()\n:1 x\ny\n"),
        EXAMPLE("48 :\"a\" \"b", " a ~\n"),
        EXAMPLE("48 :\n26", " ()\n - ~\n"),
        EXAMPLE("48 :\nnew pa", " ()\n - ~\n"),
        EXAMPLE("48 :\"a\"\n48 :\n", " a ~\n ()\n"),
        EXAMPLE("48 :\nhello\n", "2:1 neither a size in bytes nor 'new page:'"),
        EXAMPLE("48 :x\n", "1:5 not a quoted frame"),
        EXAMPLE("48 :\"x\n48 :\"y\" \n", "1:5 unterminated frame name"),
        EXAMPLE("hello\n", "1:1 not an Rprofmem log: neither a size in bytes nor 'new page:'"),
    };
    EXPECT("rprofmem", 0, examples);
}

Test(rprof, recognised)
{
    static const struct {
        const char *text;
        int rprof, rprofmem;
    } cases[] = {
        {H, 2, 0},
        {"sample.interval=1\r\nx", 2, 0},
        {"sample.interval=1", 2, 0},
        {"\"a\" \n", 0, 0},
        {"264 :\n", 0, 2},
        {"264 :300 :", 0, 2},
        {"264 :x\n", 0, 0},
        {"new page:\"a\" \n", 0, 2},
        {"", 0, 0},
        {"264\n", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t *data = (const uint8_t *)cases[i].text;
        size_t size = strlen(cases[i].text);
        cr_assert_eq(pci_rprof_sniff(data, size, 1), cases[i].rprof, "%s", cases[i].text);
        cr_assert_eq(pci_rprofmem_sniff(data, size, 1), cases[i].rprofmem, "%s", cases[i].text);
    }
    cr_assert_eq(pci_rprof_sniff((const uint8_t *)"sample.interval=1", 17, 0), 0);
}

/* ---- any text */

static uint64_t seed;

static unsigned below(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % n;
}

static void random_units(struct text *t, int refs)
{
    static const char *const names[] = {"f",      "g.h",        "q\"uote",  "\"",   "\"\"",
                                        "sp ace", "b\\s",       "t\tb",     "c\rr", "n\nl",
                                        "x\"\ny", "l[[\"k\"]]", "<GC>",     "\xff", "#File 1: x",
                                        "a::b",   "a\" 12",     ":1:2:3:4:"};
    for (unsigned n = 1 + below(6); n > 0; n--) {
        if (refs && below(3) == 0)
            addf(t, "%u#%u ", below(4), below(50));
        addf(t, "\"%s\" ", names[below(2) ? below(4) : below(sizeof names / sizeof *names)]);
    }
    if (refs && below(8) == 0)
        addf(t, "%u#%u ", below(4), below(50));
}

/* What R could have written, without CR LF. */
static void random_text(struct text *t)
{
    struct text tail = {0};
    for (unsigned segments = 1 + below(3); segments > 0; segments--) {
        int memory = below(2) == 0, line = below(2) == 0;
        addf(t, "%s%s%ssample.interval=%u\n", memory ? "memory profiling: " : "",
             below(2) ? "GC profiling: " : "", line ? "line profiling: " : "", below(100000));
        for (unsigned lines = below(20); lines > 0; lines--) {
            if (line && below(5) == 0)
                addf(t, "#File %u: %s\n", below(4), below(2) ? "dir/a.R" : "");
            if (memory)
                addf(t, ":%u:%u:%u:%u:", below(9), below(90000), below(1000000), below(3));
            if (below(3) == 0 || tail.size == 0) {
                tail.size = 0;
                random_units(&tail, line);
            } else if (below(2) == 0) {
                random_units(t, line);
            }
            if (!memory || below(8))
                add(t, tail.data, tail.size);
            else if (t->data[t->size - 1] == ' ')
                add(t, "", 0);
            add(t, "\n", 1);
        }
    }
    free(tail.data);
}

static void windows_line_ends(struct text *t)
{
    struct text out = {0};
    for (size_t i = 0; i < t->size; i++)
        if (t->data[i] == '\n')
            add(&out, "\r\n", 2);
        else
            add(&out, &t->data[i], 1);
    free(t->data);
    *t = out;
}

Test(rprof, what_r_writes_needs_no_text)
{
    for (seed = 1; seed < 400; seed++) {
        uint64_t start = seed;
        struct text text = {0};
        struct packed p;
        pcol_error err;
        random_text(&text);
        if (start % 4 == 0)
            windows_line_ends(&text);
        cr_assert_eq(pack("rprof", 0, text.data, text.size, &p, &err), PCOL_OK, "seed %" PRIu64,
                     start);
        cr_assert_null(column(&p, "samples", "text"), "seed %" PRIu64 ":\n%s", start, text.data);
        expect_same(&p, "rprof", text.data, text.size);
        drop(&p);
        free(text.data);
        seed = start;
    }
}

Test(rprof, whatever_is_accepted_comes_back)
{
    unsigned accepted = 0;
    for (seed = 1; seed < 600; seed++) {
        uint64_t start = seed;
        struct text text = {0};
        pcol_error err;
        random_text(&text);
        if (start % 4 == 0)
            windows_line_ends(&text);
        if (start % 3 == 0)
            text.size = below((unsigned)text.size + 1);
        else
            for (unsigned n = 1 + below(3); n > 0; n--)
                text.data[below((unsigned)text.size)] = "\" \n\r:#19s\0"[below(10)];
        for (int lenient = 0; lenient < 2; lenient++) {
            struct packed p;
            pcol_status status = pack("rprof", lenient, text.data, text.size, &p, &err);
            cr_assert(status == PCOL_OK || status == PCOL_E_SYNTAX, "seed %" PRIu64, start);
            if (status == PCOL_OK) {
                accepted++;
                expect_same(&p, "rprof", text.data, text.size);
            }
            drop(&p);
        }
        free(text.data);
        seed = start;
    }
    cr_assert(accepted > 300, "%u", accepted);
}

Test(rprof, any_cut_is_accepted)
{
    static const char text[] =
        "memory profiling: line profiling: sample.interval=10\n#File 1: a.R\n"
        ":1:22:333:4:\"<GC>\" 1#3 \"q\"t\" \"n\nl\" 1#44 \n:1:2:3:4:\nline profiling: "
        "sample.interval=5\n#File 12: \n12#7 \"f\" \"g\" \n";
    for (size_t size = 52; size < sizeof text; size++) {
        struct packed p;
        pcol_error err;
        cr_assert_eq(pack("rprof", 0, text, size, &p, &err), PCOL_OK, "%zu: %s", size, err.message);
        expect_same(&p, "rprof", text, size);
        drop(&p);
    }
}

/* Lines and names that go over the edges of a small window. */
Test(rprof, small_window)
{
    struct text text = {0}, out = {0};
    seed = 7;
    for (int i = 0; i < 30; i++)
        random_text(&text);
    FILE *file = tmpfile();
    cr_assert_not_null(file);
    for (size_t piece = 16; piece < 400; piece += 61) {
        pcol_builder *builder;
        pcol_file *packed;
        void *data;
        size_t size;
        struct pci_input input;
        struct pci_input_options window = {.piece = piece};
        pcol_import_options options = PCOL_INIT(pcol_import_options);
        struct pci_import import = {.input = &input, .options = &options, .type = "rprof"};
        rewind(file);
        cr_assert_eq(fwrite(text.data, 1, text.size, file), text.size);
        cr_assert_eq(fflush(file), 0);
        cr_assert_eq(lseek(fileno(file), 0, SEEK_SET), 0);
        cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
        import.builder = builder;
        cr_assert_eq(pci_input_open_fd(&input, fileno(file), "in", &window, NULL), PCOL_OK);
        cr_assert_eq(pci_rprof_read(&import, NULL), PCOL_OK);
        pci_input_close(&input);
        cr_assert_eq(pcol_builder_write_memory(builder, 0, &data, &size, NULL), PCOL_OK);
        cr_assert_eq(pcol_file_open_memory(data, size, NULL, &packed, NULL), PCOL_OK);
        out.size = 0;
        cr_assert_eq(pcol_export(packed, "rprof", NULL, (pcol_sink){gather, &out}, NULL), PCOL_OK);
        cr_assert(out.size == text.size && memcmp(out.data, text.data, out.size) == 0);
        pcol_file_close(packed);
        pcol_free(data);
        pcol_builder_free(builder);
    }
    fclose(file);
    free(text.data);
    free(out.data);
}

/* ---- other sources */

static void from_counts(pcol_builder *b)
{
    static const char *const names[] = {"f", "end \" \"x", "n\nl", "n\n1#2 l"};
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t row, type, stack = 0, path;
    source.type = "folded";
    cr_assert_eq(pcol_builder_source(b, &source, &row, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_sample_type(b, "samples", "count", 0, 0, &type, NULL), PCOL_OK);
    cr_assert_eq(pcol_builder_string(b, "d/x.c", 5, &path, NULL), PCOL_OK);
    for (unsigned i = 0; i < 4; i++) {
        pcol_function function = PCOL_INIT(pcol_function);
        pcol_line line = {.function = 0, .filename = PCOL_NONE};
        pcol_group group = PCOL_INIT(pcol_group);
        pcol_sample sample = PCOL_INIT(pcol_sample);
        pcol_value value = {type, {.i64 = (int64_t)i}};
        uint32_t id;
        function.system_name = PCOL_NONE;
        function.filename = i == 2 ? path : PCOL_NONE;
        cr_assert_eq(pcol_builder_string(b, names[i], strlen(names[i]), &function.name, NULL),
                     PCOL_OK);
        cr_assert_eq(pcol_builder_function(b, &function, &line.function, NULL), PCOL_OK);
        line.line = 7;
        line.has_line = i == 2;
        group.lines = &line;
        group.line_count = 1;
        group.mapping = PCOL_NONE;
        cr_assert_eq(pcol_builder_group(b, &group, &id, NULL), PCOL_OK);
        cr_assert_eq(pcol_builder_stack(b, stack, id, &stack, NULL), PCOL_OK);
        sample.source = row;
        sample.stack = stack;
        sample.thread = PCOL_NONE;
        sample.values = &value;
        sample.value_count = 1;
        cr_assert_eq(pcol_builder_sample(b, &sample, NULL, NULL), PCOL_OK);
    }
}

Test(rprof, written_from_another_kind)
{
    struct packed p = {0};
    struct text out = {0};
    pcol_builder *builder;
    pcol_export_options options = PCOL_INIT(pcol_export_options);
    options.loss = gather_message;
    options.context = &p.messages;
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    from_counts(builder);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, &p.data, &p.size, NULL), PCOL_OK);
    cr_assert_eq(pcol_file_open_memory(p.data, p.size, NULL, &p.file, NULL), PCOL_OK);
    cr_assert_eq(pcol_export(p.file, "rprof", &options, (pcol_sink){gather, &out}, NULL), PCOL_OK);
    cr_assert_str_eq(out.data, LH "\"end ' 'x\" \"f\" \n"
                                  "#File 1: d/x.c\n"
                                  "1#7 \"n\nl\" \"end ' 'x\" \"f\" \n"
                                  "1#7 \"n\nl\" \"end ' 'x\" \"f\" \n"
                                  "\"n 1#2 l\" 1#7 \"n\nl\" \"end ' 'x\" \"f\" \n"
                                  "\"n 1#2 l\" 1#7 \"n\nl\" \"end ' 'x\" \"f\" \n"
                                  "\"n 1#2 l\" 1#7 \"n\nl\" \"end ' 'x\" \"f\" \n");
    cr_assert_str_eq(
        p.messages.data,
        "rprof cannot hold names that Rprof cannot delimit: quotes and line feeds in "
        "them are changed\n"
        "rprof cannot hold how often a sample counts, where that is not 1 to 100000\n");
    pcol_error err;
    cr_assert_eq(pcol_export(p.file, "rprofmem", NULL, (pcol_sink){gather, &out}, &err),
                 PCOL_E_LOSS);
    pcol_builder_free(builder);
    free(out.data);
    drop(&p);
}

/* ---- memory runs out */

static int allocations;

static int fail_later(void)
{
    return allocations-- == 0;
}

Test(rprof, without_memory)
{
    static const char text[] = LH "#File 1: w\n1#2 \"a\" \"b\nc\" \n\"d\" \"b\nc\" \n\"x\" \"y\"\n";
    pcol_status status = PCOL_E_NO_MEMORY;
    int n;
    for (n = 0; status != PCOL_OK && n < 2000; n++) {
        pcol_builder *builder = NULL;
        pcol_import_options options = PCOL_INIT(pcol_import_options);
        options.format = "rprof";
        cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
        allocations = n;
        pci_alloc_hook = fail_later;
        status = pcol_import_memory(builder, text, sizeof text - 1, "in", &options, NULL);
        pci_alloc_hook = NULL;
        cr_assert(status == PCOL_OK || status == PCOL_E_NO_MEMORY);
        pcol_builder_free(builder);
    }
    cr_assert(status == PCOL_OK && n > 10);
    struct packed p;
    struct text out = {0};
    pcol_error err;
    cr_assert_eq(pack("rprof", 0, text, sizeof text - 1, &p, &err), PCOL_OK);
    status = PCOL_E_NO_MEMORY;
    for (n = 0; status != PCOL_OK && n < 2000; n++) {
        out.size = 0;
        allocations = n;
        pci_alloc_hook = fail_later;
        status = pcol_export(p.file, "rprof", NULL, (pcol_sink){gather, &out}, NULL);
        pci_alloc_hook = NULL;
        cr_assert(status == PCOL_OK || status == PCOL_E_NO_MEMORY);
    }
    cr_assert(status == PCOL_OK && n > 5);
    cr_assert_eq(out.size, sizeof text - 1);
    free(out.data);
    drop(&p);
}

/*
 * test_folded.c - folded stacks: meaning of lines, rejected lines and their positions, recognition,
 * byte-exact round trips
 */
#include <criterion/criterion.h>

#include "formats/folded/folded.h"
#include "formats/folded/frame_form.h"
#include "formats/folded/line_parser.h"
#include "testing.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct packed {
    void *data;
    size_t size;
    pcol_file *file;
};

static pcol_status pack(int lenient, const void *data, size_t size, struct packed *p,
                        pcol_error *err)
{
    pcol_builder *builder = NULL;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    memset(p, 0, sizeof *p);
    options.format = "folded";
    options.lenient = lenient;
    pcol_status status = pcol_builder_new(NULL, &builder, err);
    if (status == PCOL_OK)
        status = pcol_import_memory(builder, data, size, "in", &options, err);
    if (status == PCOL_OK)
        status = pcol_builder_write_memory(builder, 0, NULL, &p->data, &p->size, err);
    if (status == PCOL_OK)
        status = pcol_file_open_memory(p->data, p->size, NULL, &p->file, err);
    pcol_builder_free(builder);
    return status;
}

static void drop(struct packed *p)
{
    pcol_file_close(p->file);
    pcol_free(p->data);
    memset(p, 0, sizeof *p);
}

static void expect_same(const char *data, size_t size, int lenient)
{
    struct packed p;
    struct text out = {0};
    pcol_error err = {0};
    uint64_t faults = 0;
    text_add(&out, "", 0);
    cr_assert_eq(pack(lenient, data, size, &p, &err), PCOL_OK, "%s: %s", data, err.message);
    cr_assert_eq(pcol_file_check(p.file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, &err),
                 PCOL_OK);
    cr_assert_eq(faults, 0, "%s", data);
    cr_assert_eq(pcol_export(p.file, "folded", NULL, (pcol_sink){text_gather, &out}, &err), PCOL_OK,
                 "%s", err.message);
    cr_assert(out.size == size && !memcmp(out.data, data, size), "'%s' became '%s'", data,
              out.data);
    free(out.data);
    drop(&p);
}

static void expect_error(const char *data, uint64_t line, uint64_t column, const char *message)
{
    struct packed p;
    pcol_error err = {0};
    cr_assert_eq(pack(0, data, strlen(data), &p, &err), PCOL_E_SYNTAX, "%s", data);
    cr_assert(err.line == line && err.text_column == column, "%s: %" PRIu64 ":%" PRIu64, data,
              err.line, err.text_column);
    cr_assert_str_eq(err.message, message);
    drop(&p);
}

/* ---- counts */

Test(folded, split)
{
    static const struct {
        const char *line, *stack;
        int is_double, plain;
        double value;
    } cases[] = {
        {"a;b 5", "a;b", 0, 1, 5},
        {"a b;c d 17", "a b;c d", 0, 1, 17},
        {"a  5", "a ", 0, 1, 5},
        {"a\t5", "a", 0, 0, 5},
        {"a 5 \t", "a", 0, 0, 5},
        {" 5", "", 0, 1, 5},
        {"a 1.5", "a", 1, 1, 1.5},
        {"a 5.", "a", 1, 1, 5},
        {"a .5", "a", 1, 1, .5},
        {"a -.5e1", "a", 1, 1, -5},
        {"a 1e3", "a", 1, 1, 1000},
        {"a 2.5E-1", "a", 1, 1, .25},
        {"a +7", "a", 0, 1, 7},
        {"a -7", "a", 0, 1, -7},
        {"a 9223372036854775807", "a", 0, 1, 9223372036854775807.0},
        {"a 9223372036854775808", "a", 1, 1, 9223372036854775808.0},
        {"f(int, 3) 4", "f(int, 3)", 0, 1, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pci_folded_parts parts;
        const char *line = cases[i].line;
        cr_assert(pci_folded_split((const uint8_t *)line, strlen(line), &parts), "%s", line);
        cr_assert(parts.stack == strlen(cases[i].stack) &&
                      !memcmp(line, cases[i].stack, parts.stack),
                  "%s", line);
        cr_assert_eq(parts.value.is_double, cases[i].is_double, "%s", line);
        cr_assert_eq(parts.plain, cases[i].plain, "%s", line);
        double value = parts.value.is_double ? parts.value.as.f64 : (double)parts.value.as.i64;
        cr_assert(value >= cases[i].value && value <= cases[i].value, "%s: %g", line, value);
    }
}

Test(folded, no_count)
{
    static const char *const lines[] = {"",    "a",    "a;b",   "a 5x",    "a 5 b",  "a -",
                                        "a .", "a 1e", "a 1e+", "a 0x5",   "a nan",  "a inf",
                                        "5",   "a 5,", "a --5", "a 1e999", "a 1.2.3"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct pci_folded_parts parts;
        cr_assert_not(pci_folded_split((const uint8_t *)lines[i], strlen(lines[i]), &parts), "%s",
                      lines[i]);
        cr_assert(parts.fault <= strlen(lines[i]));
    }
}

/* ---- round trips */

#define SAME(text) expect_same(text, sizeof(text) - 1, 0)

Test(folded, the_same_bytes)
{
    SAME("");
    SAME("a 1\n");
    SAME("a;b 1\na;b;c 2\na;d 3\n");
    SAME("a;b 1\na;b;c 2\na;d 3");
    SAME("a;b;c 1\na;b 2\na 3\n 4\n;5 6\na;b;c 1\n");
    SAME(";;; 1\n;; 2\n; 3\na;; 4\na;;b 5\n");
    SAME("main;read file;parse (x, y) 12\n");
    SAME("main;f_[k];g_[j];h_[i] 12\n");
    SAME("a 1.5\na;b 2\na 0.1\nb 1e-07\nb 1e+22\n");
    SAME("a 1\na 2\na 3.25\na 4\n");
    SAME("a 1e3\na 007\na +1\na -1\na 1.0\na 1.50\na -0\na 5.\na .5\n");
    SAME("a 9007199254740992\na 9007199254740993\na 0.5\na 99999999999999999999\n");
    SAME("a;b 1\r\na;c 2\r\n");
    SAME("a;b 1\r\na;c 2\n");
    SAME("a;b 1\na;c 2\r\na;d 3");
    SAME("\xef\xbb\xbf"
         "a;b 1\na;c 2\n");
    SAME("# written by hand\n#\n\na;b 1\n\n  \n# end\n");
    SAME("# nothing else\n\n");
    SAME("\n");
    SAME("#<Class:0x1>#new;b 3\n");
    SAME("a\t1\na  1\na 1  \n a 1\n");
    SAME("x\xff\xfe\xfd;y 1\n");
    SAME("nul\0l;b 1\n");
    SAME("a;b 1\n# between\na;b 2\na;b 3\n");
    expect_same("a 1\nb\na;b 2\nc", 14, 1);
}

/* ---- frames with a file and a line */

Test(folded, frames_with_places)
{
    static const struct {
        enum pci_folded_form form;
        const char *text, *function, *file;
        int64_t line;
    } cases[] = {
        {PCI_FOLDED_FILE_FIRST, "a.py:f:12", "f", "a.py", 12},
        {PCI_FOLDED_FILE_FIRST, "<exec>:<module>:0", "<module>", "<exec>", 0},
        {PCI_FOLDED_FILE_FIRST, "C:\\a.py:T.f.<locals>.g:3", "T.f.<locals>.g", "C:\\a.py", 3},
        {PCI_FOLDED_FILE_FIRST, "/a.php:T::f:7", "T::f", "/a.php", 7},
        {PCI_FOLDED_FILE_FIRST, "a.py:f:12:5", NULL, NULL, 0},
        {PCI_FOLDED_FILE_FIRST, "a.py:f:012", NULL, NULL, 0},
        {PCI_FOLDED_FILE_FIRST, "a.py:12", NULL, NULL, 0},
        {PCI_FOLDED_FILE_FIRST, "a.py::12", NULL, NULL, 0},
        {PCI_FOLDED_FILE_FIRST, ":GC:", NULL, NULL, 0},
        {PCI_FOLDED_FILE_FIRST, ":f:1", NULL, NULL, 0},
        {PCI_FOLDED_FILE_FIRST, "a.py:f:L12", NULL, NULL, 0},
        {PCI_FOLDED_FILE_FIRST, "a.py:f:1234567890123456789", NULL, NULL, 0},
        {PCI_FOLDED_FILE_FIRST_L, "a.py:f:L12", "f", "a.py", 12},
        {PCI_FOLDED_FILE_FIRST_L, "a.py:f:12", NULL, NULL, 0},
        {PCI_FOLDED_FILE_FIRST_L, "L12", NULL, NULL, 0},
        {PCI_FOLDED_FILE_LAST, "f (a.py:12)", "f", "a.py", 12},
        {PCI_FOLDED_FILE_LAST, "f(int) (b (c).cpp:1)", "f(int) (b", "c).cpp", 1},
        {PCI_FOLDED_FILE_LAST, "f (a.js:12:5)", NULL, NULL, 0},
        {PCI_FOLDED_FILE_LAST, "f (a.py)", NULL, NULL, 0},
        {PCI_FOLDED_FILE_LAST, " (a.py:1)", NULL, NULL, 0},
        {PCI_FOLDED_FILE_LAST, "f (:1)", NULL, NULL, 0},
        {PCI_FOLDED_FILE_LAST, ")", NULL, NULL, 0},
        {PCI_FOLDED_NAME, "a.py:f:12", NULL, NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pci_folded_frame frame;
        char printed[100];
        const char *text = cases[i].text;
        int parsed =
            pci_folded_parse_frame(cases[i].form, (const uint8_t *)text, strlen(text), &frame);
        cr_assert_eq(parsed, cases[i].function != NULL, "%s", text);
        if (!parsed)
            continue;
        cr_assert(frame.function.size == strlen(cases[i].function) &&
                      !memcmp(frame.function.data, cases[i].function, frame.function.size),
                  "%s", text);
        cr_assert(frame.file.size == strlen(cases[i].file) &&
                      !memcmp(frame.file.data, cases[i].file, frame.file.size),
                  "%s", text);
        cr_assert_eq(frame.line, cases[i].line, "%s", text);
        size_t size = pci_folded_print_frame(cases[i].form, &frame, printed);
        cr_assert(size == strlen(text) && !memcmp(printed, text, size), "%s", text);
    }
}

Test(folded, form_of_a_text)
{
    static const struct {
        const char *text;
        enum pci_folded_form form;
    } cases[] = {
        {"tid:7;a.py:f:12;b.py:g:3 1\n", PCI_FOLDED_FILE_FIRST},
        {"# austin: 3\nP1;T0:7f;/a.py:f:12;script:g:3 1\n", PCI_FOLDED_FILE_FIRST},
        {"P1;T0x7f;a.py:f:L12 1\n", PCI_FOLDED_FILE_FIRST_L},
        {"process 1:\"x\";f (a.py:1);g (b.py:2) 3\n", PCI_FOLDED_FILE_LAST},
        {"main;f (a.c:1);x;y 3\n", PCI_FOLDED_NAME},
        {"a::b:12;std::f:13 1\n", PCI_FOLDED_NAME},
        {"main:work.c:12;f:work.c:13 1\n", PCI_FOLDED_NAME},
        {"LazyCompile:~foo /path/x.js:10;Function:^a b.js:1 1\n", PCI_FOLDED_NAME},
        {"main;f 3\n", PCI_FOLDED_NAME},
        {"", PCI_FOLDED_NAME},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(pci_folded_find_form((const uint8_t *)cases[i].text, strlen(cases[i].text), 1),
                     cases[i].form, "%s", cases[i].text);
    /* Of a truncated line, its complete frames. */
    cr_expect_eq(pci_folded_find_form((const uint8_t *)"a.py:f:1;b.py:g:2;c.p", 21, 0),
                 PCI_FOLDED_FILE_FIRST);
}

Test(folded, the_same_bytes_with_places)
{
    SAME("tid:7;a.py:f:12;b.py:g:3 1\ntid:7;a.py:f:12 2\ntid:8;a.py:f:12 2\n");
    SAME("tid:7;a.py:f:12 1\ntid:7 2\ntid:7; 3\ntid:7;; 4\ntid:; 5\ntid:x;f 6\ntid:78 7\n");
    SAME("tid:7;a.py:f:12 1\na.py:f:12 2\ntid:7;a.py:f:12 1\n\na.py:f:12;tid:7 2\n");
    SAME("P1;T0:7f;/a.py:f:12;:GC: 1\nP1;T0:7f;/a.py:f:012 2\nP1;a.py:f:3 1\nP1;T;a.py:f:3 1\n");
    SAME("P1;T1;a.py:f:L1 1\r\nP1;T1;a.py:f:L2;a.py:f:3 1\r\nP2;T1;a.py:f:L1 1\r\n");
    SAME("f (a.py:1);g (b.py:2) 3\nf (a.py:1);g (b.py) 3\nf (a.py:1);f (a.py:01);(a:1) 4\n");
    SAME("a.py:f:1;f 2\na.py:f:1;:f:1 3\n 4\n; 5\n# c\na.py:f:1;f 6");
}

Test(folded, random_text)
{
    static const char *const pieces[] = {
        "a",  "b",    ";",   ";",  " ",    " 1",  " 2\n",      " 3\n", "main", "\n",   "#",
        "\t", "\r\n", "1.5", "\n", " 7\n", "ab;", "a;b;c 5\n", "a.c:", "f:1;", "tid:", "f:2 1\n"};
    uint64_t state = 88172645463325252u;
    for (int round = 0; round < 400; round++) {
        struct text t = {0};
        text_add(&t, "", 0);
        for (int i = 0; i < 1 + round / 4; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            const char *piece = pieces[state % (sizeof pieces / sizeof *pieces)];
            text_add(&t, piece, strlen(piece));
        }
        expect_same(t.data, t.size, 1);
        free(t.data);
    }
}

Test(folded, larger_than_the_window)
{
    struct text t = {0};
    char line[64];
    for (int i = 0; i < 40000; i++) {
        int size = snprintf(line, sizeof line, "main;worker_%d;step_%d %d\n", i / 700, i % 91, i);
        text_add(&t, line, (size_t)size);
    }
    for (int i = 0; i < 60000; i++)
        text_add(&t, "deep;", 5);
    text_add(&t, "leaf 1\n", 7);
    expect_same(t.data, t.size, 0);
    free(t.data);
}

/* ---- meaning */

Test(folded, one_type_for_the_file)
{
    static const char text[] = "a 1\nb 2.5\nc 3\n";
    struct packed p;
    const pcol_table *table;
    double value = 0;
    cr_assert_eq(pack(0, text, sizeof text - 1, &p, NULL), PCOL_OK);
    cr_assert_eq(pcol_file_table_by_name(p.file, PCOL_MODEL_PHYSICAL, "sample_types", &table, NULL),
                 PCOL_OK);
    cr_assert_eq(pcol_table_rows(table), 1);
    cr_assert_eq(pcol_file_table_by_name(p.file, PCOL_MODEL_V2, "sample_values", &table, NULL),
                 PCOL_OK);
    const pcol_column *column = pcol_table_column_by_name(table, "value", NULL);
    static const double values[] = {1, 2.5, 3};
    for (uint64_t row = 0; row < 3; row++) {
        cr_assert_eq(pcol_column_f64(column, row, &value, NULL, NULL), PCOL_OK);
        cr_assert(value >= values[row] && value <= values[row]);
    }
    drop(&p);
}

Test(folded, rejected)
{
    expect_error("a;b\n", 1, 4, "no count at the end of the line");
    expect_error("a 1\nb x\n", 2, 3, "no count at the end of the line");
    expect_error("a 1\n\n# c\nb c;d\n", 4, 3, "no count at the end of the line");
    expect_error("a 1\na 12z\n", 2, 3, "count is not a number within range");
    expect_error("a 1e999\n", 1, 3, "count is not a number within range");
    expect_error("\xef\xbb\xbf"
                 "a x\n",
                 1, 6, "no count at the end of the line");
    expect_error("\xff\xfe"
                 "a\n",
                 1, 1, "text in UTF-16: convert it to UTF-8 first");
}

Test(folded, recognised)
{
    static const struct {
        const char *text;
        int sure;
    } cases[] = {
        {"a;b 1\n", 2},
        {"\xef\xbb\xbf"
         "a;b 1\n",
         2},
        {"# x\n\na;b 1\n", 2},
        {"a;b 1\r\na 2", 2},
        {"a 1\nb 2\n", 1},
        {"a;b\n", 0},
        {"{\"a\": 1}", 0},
        {"\n\n", 0},
        {"a;b 1\nsomething else\n", 0},
        {"heap profile: 1: 2 [ 3: 4] @ heapprofile\n", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(pci_folded_sniff((const uint8_t *)cases[i].text, strlen(cases[i].text), 1),
                     cases[i].sure, "%s", cases[i].text);
    struct text t = {0};
    while (t.size < 4096)
        text_add(&t, "java/lang/Thread.run;", 21);
    cr_assert_eq(pci_folded_sniff((const uint8_t *)t.data, 4096, 0), 2);
    t.data[77] = 1;
    cr_assert_eq(pci_folded_sniff((const uint8_t *)t.data, 4096, 0), 0);
    free(t.data);
}

/* ---- memory runs out */

static long allocations_left;

static int fail_late(void)
{
    return allocations_left-- <= 0;
}

static pcol_status swallow(void *context, const void *data, size_t size, pcol_error *err)
{
    (void)context;
    (void)data;
    (void)size;
    (void)err;
    return PCOL_OK;
}

/* Everything that this file and its neighbours are about, with one profile. */
static pcol_status whole_way(const char *format, const char *text, pcol_error *err)
{
    static const char *const targets[] = {"folded", "perf", "speedscope"};
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_diff_options stacks = PCOL_INIT(pcol_diff_options);
    pcol_flame_options against = PCOL_INIT(pcol_flame_options);
    pcol_sink sink = {swallow, NULL};
    pcol_builder *builder = NULL;
    pcol_file *file = NULL;
    pcol_query *query = NULL;
    pcol_result *flame = NULL;
    pcol_result *diff = NULL;
    void *data = NULL;
    size_t size;
    options.format = format;
    stacks.by = PCOL_BY_STACK;
    pcol_status status = pcol_builder_new(NULL, &builder, err);
    if (status == PCOL_OK)
        status = pcol_import_memory(builder, text, strlen(text), "in", &options, err);
    if (status == PCOL_OK)
        status = pcol_builder_write_memory(builder, 0, NULL, &data, &size, err);
    pcol_builder_free(builder);
    if (status == PCOL_OK)
        status = pcol_file_open_memory(data, size, NULL, &file, err);
    for (int i = 0; status == PCOL_OK && i < 3; i++)
        status = pcol_export(file, targets[i], NULL, sink, err);
    if (status == PCOL_OK)
        status = pcol_query_new(file, NULL, NULL, &query, err);
    against.base = query;
    if (status == PCOL_OK)
        status = pcol_query_flame(query, &against, &flame, err);
    if (status == PCOL_OK)
        status = pcol_flame_svg(flame, NULL, sink, err);
    if (status == PCOL_OK)
        status = pcol_diff(query, query, &stacks, &diff, err);
    pcol_result_free(diff);
    diff = NULL;
    if (status == PCOL_OK)
        status = pcol_diff(query, query, NULL, &diff, err);
    pcol_result_free(diff);
    pcol_result_free(flame);
    pcol_query_free(query);
    pcol_file_close(file);
    pcol_free(data);
    return status;
}

Test(folded, memory_runs_out)
{
    static const char *const inputs[][2] = {
        {"folded", "# c\na;b 1\r\na;c 2.5\nd  3\n# e\n"},
        {"perf", "a 1/2 [003] 1.5:  10 cycles: x=1\n\t    7f722d142778 in (inlined)\n"
                 "\t    7f722d142778 out+0x5 (/lib/x)\n  "
                 "formats/firefox/emitter.c:7\n\t7f722d100000 [unknown] (/y)\n"}};
    for (int i = 0; i < 2; i++) {
        pcol_status status = PCOL_E_NO_MEMORY;
        for (long n = 0; status != PCOL_OK; n++) {
            pcol_error err = {0};
            cr_assert(n < 20000);
            allocations_left = n;
            pci_alloc_hook = fail_late;
            status = whole_way(inputs[i][0], inputs[i][1], &err);
            pci_alloc_hook = NULL;
            cr_assert(status == PCOL_OK || status == PCOL_E_NO_MEMORY, "%ld: %s", n, err.message);
        }
    }
}

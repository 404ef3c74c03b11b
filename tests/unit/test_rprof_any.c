/*
 * test_rprof_any.c - Rprof output: byte-exact round trips of accepted texts, export of other
 * formats, failing allocations
 */
#include <criterion/criterion.h>

#include "formats/rprof/rprof.h"
#include "rprof_case.h"
#include "stream/input_open.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
            text_addf(t, "%u#%u ", below(4), below(50));
        text_addf(t, "\"%s\" ", names[below(2) ? below(4) : below(sizeof names / sizeof *names)]);
    }
    if (refs && below(8) == 0)
        text_addf(t, "%u#%u ", below(4), below(50));
}

/* What R could have written, without CR LF. */
static void random_text(struct text *t)
{
    struct text tail = {0};
    for (unsigned segments = 1 + below(3); segments > 0; segments--) {
        int memory = below(2) == 0, line = below(2) == 0;
        text_addf(t, "%s%s%ssample.interval=%u\n", memory ? "memory profiling: " : "",
                  below(2) ? "GC profiling: " : "", line ? "line profiling: " : "", below(100000));
        for (unsigned lines = below(20); lines > 0; lines--) {
            if (line && below(5) == 0)
                text_addf(t, "#File %u: %s\n", below(4), below(2) ? "dir/a.R" : "");
            if (memory)
                text_addf(t, ":%u:%u:%u:%u:", below(9), below(90000), below(1000000), below(3));
            if (below(3) == 0 || tail.size == 0) {
                tail.size = 0;
                random_units(&tail, line);
            } else if (below(2) == 0) {
                random_units(t, line);
            }
            if (!memory || below(8))
                text_add(t, tail.data, tail.size);
            else if (t->data[t->size - 1] == ' ')
                text_add(t, "", 0);
            text_add(t, "\n", 1);
        }
    }
    free(tail.data);
}

static void windows_line_ends(struct text *t)
{
    struct text out = {0};
    for (size_t i = 0; i < t->size; i++)
        if (t->data[i] == '\n')
            text_add(&out, "\r\n", 2);
        else
            text_add(&out, &t->data[i], 1);
    free(t->data);
    *t = out;
}

Test(rprof, what_r_writes_needs_no_text)
{
    for (seed = 1; seed < 400; seed++) {
        uint64_t start = seed;
        struct text text = {0};
        struct rprof_packed p;
        pcol_error err;
        random_text(&text);
        if (start % 4 == 0)
            windows_line_ends(&text);
        cr_assert_eq(rprof_pack("rprof", 0, text.data, text.size, &p, &err), PCOL_OK,
                     "seed %" PRIu64, start);
        cr_assert_null(rprof_column(&p, "samples", "text"), "seed %" PRIu64 ":\n%s", start,
                       text.data);
        rprof_expect_same(&p, "rprof", text.data, text.size);
        rprof_drop(&p);
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
            struct rprof_packed p;
            pcol_status status = rprof_pack("rprof", lenient, text.data, text.size, &p, &err);
            cr_assert(status == PCOL_OK || status == PCOL_E_SYNTAX, "seed %" PRIu64, start);
            if (status == PCOL_OK) {
                accepted++;
                rprof_expect_same(&p, "rprof", text.data, text.size);
            }
            rprof_drop(&p);
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
        struct rprof_packed p;
        pcol_error err;
        cr_assert_eq(rprof_pack("rprof", 0, text, size, &p, &err), PCOL_OK, "%zu: %s", size,
                     err.message);
        rprof_expect_same(&p, "rprof", text, size);
        rprof_drop(&p);
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
        cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, &data, &size, NULL), PCOL_OK);
        cr_assert_eq(pcol_file_open_memory(data, size, NULL, &packed, NULL), PCOL_OK);
        out.size = 0;
        cr_assert_eq(pcol_export(packed, "rprof", NULL, (pcol_sink){text_gather, &out}, NULL),
                     PCOL_OK);
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
        line.flags |= i == 2 ? PCOL_LINE_HAS_LINE : 0;
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
    struct rprof_packed p = {0};
    struct text out = {0};
    pcol_builder *builder;
    pcol_export_options options = PCOL_INIT(pcol_export_options);
    pcol_control control = {sizeof control, &p.messages, NULL, text_notice};
    options.control = &control;
    cr_assert_eq(pcol_builder_new(NULL, &builder, NULL), PCOL_OK);
    from_counts(builder);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, &p.data, &p.size, NULL), PCOL_OK);
    cr_assert_eq(pcol_file_open_memory(p.data, p.size, NULL, &p.file, NULL), PCOL_OK);
    cr_assert_eq(pcol_export(p.file, "rprof", &options, (pcol_sink){text_gather, &out}, NULL),
                 PCOL_OK);
    cr_assert_str_eq(out.data, LH "\"end ' 'x\" \"f\" \n"
                                  "#File 1: d/x.c\n"
                                  "1#7 \"n\nl\" \"end ' 'x\" \"f\" \n"
                                  "1#7 \"n\nl\" \"end ' 'x\" \"f\" \n"
                                  "\"n 1#2 l\" 1#7 \"n\nl\" \"end ' 'x\" \"f\" \n"
                                  "\"n 1#2 l\" 1#7 \"n\nl\" \"end ' 'x\" \"f\" \n"
                                  "\"n 1#2 l\" 1#7 \"n\nl\" \"end ' 'x\" \"f\" \n");
    cr_assert_str_eq(p.messages.data,
                     "rprof cannot hold names that Rprof cannot delimit: quotes and line feeds in "
                     "them are changed\n"
                     "rprof cannot hold how often a sample counts, where that is not 1 to 100000\n"
                     "summaryRprof() splits names at blanks\n");
    pcol_error err;
    cr_assert_eq(pcol_export(p.file, "rprofmem", NULL, (pcol_sink){text_gather, &out}, &err),
                 PCOL_E_LOSS);
    pcol_builder_free(builder);
    free(out.data);
    rprof_drop(&p);
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
    struct rprof_packed p;
    struct text out = {0};
    pcol_error err;
    cr_assert_eq(rprof_pack("rprof", 0, text, sizeof text - 1, &p, &err), PCOL_OK);
    status = PCOL_E_NO_MEMORY;
    for (n = 0; status != PCOL_OK && n < 2000; n++) {
        out.size = 0;
        allocations = n;
        pci_alloc_hook = fail_later;
        status = pcol_export(p.file, "rprof", NULL, (pcol_sink){text_gather, &out}, NULL);
        pci_alloc_hook = NULL;
        cr_assert(status == PCOL_OK || status == PCOL_E_NO_MEMORY);
    }
    cr_assert(status == PCOL_OK && n > 5);
    cr_assert_eq(out.size, sizeof text - 1);
    free(out.data);
    rprof_drop(&p);
}

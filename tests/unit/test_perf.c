/*
 * test_perf.c - perf script: all forms of headers and frames, their rows, rejected lines and
 * positions
 */
#include <criterion/criterion.h>

#include "formats/perf/parse.h"
#include "formats/perf/perf.h"
#include "pcol.h"
#include "reader/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is(pcol_str text, const char *expected)
{
    return text.size == strlen(expected) && !memcmp(text.data, expected, text.size);
}

Test(perf, headers)
{
    static const struct {
        const char *line, *comm, *pid, *tid;
        int64_t cpu, time, period; /* -1: none */
        const char *event, *tail;
    } cases[] = {
        {"java 12688 [002] 6544038.708352: cpu-clock:", "java", "", "12688", 2,
         INT64_C(6544038708352000), -1, "cpu-clock", ""},
        {"V8 WorkerThread 24636/25607 [000] 94564.109216: cycles:", "V8 WorkerThread", "24636",
         "25607", 0, INT64_C(94564109216000), -1, "cycles", ""},
        {"         swapper     0 [010] 206.12:   12 cycles:uppp: ", "swapper", "", "0", 10,
         INT64_C(206120000000), 12, "cycles:uppp", ""},
        {"vote   913    72.176760123:     257597 cycles: ", "vote", "", "913", -1,
         INT64_C(72176760123), 257597, "cycles", ""},
        {"a 1 b 2/3 [001] 1.5: x:", "a 1 b", "2", "3", 1, 1500000000, -1, "x", ""},
        {"perf 1 [003] 7.1: sched:sched_switch: prev=a b ==> next: c", "perf", "", "1", 3,
         7100000000, -1, "sched:sched_switch", "prev=a b ==> next: c"},
        {"p 1 1.5: cpu/mem-loads,ldlat=30/P: tail", "p", "", "1", -1, 1500000000, -1,
         "cpu/mem-loads,ldlat=30/P", "tail"},
        {"p 1 1.5:  7fff12345678 f(int) (/x y)", "p", "", "1", -1, 1500000000, -1, "",
         "7fff12345678 f(int) (/x y)"},
        {"p 1 1.5:  55512345 g (/x)", "p", "", "1", -1, 1500000000, -1, "", "55512345 g (/x)"},
        {"p -1/12 1.0: e:", "p", "1", "12", -1, 1000000000, -1, "e", ""},
        {"12688 6.0: e: ", "", "", "12688", -1, 6000000000, -1, "e", ""},
        {"comm 6.0: e: ", "comm", "", "", -1, 6000000000, -1, "e", ""},
        {"comm [007] 6.0: e: ", "comm", "", "", 7, 6000000000, -1, "e", ""},
        {"p 1 [000] U     6.0: e: ", "p", "", "1", 0, 6000000000, -1, "e", ""},
        {"p 17 [001]  5 e: ", "p", "", "17", 1, -1, 5, "e", ""},
        {"p 17 e:u: ", "p", "", "17", -1, -1, -1, "e:u", ""},
        {"p 1.5:  4175 [000]  2829.764072:     20 e:u: ", "p 1.5:", "", "4175", 0,
         INT64_C(2829764072000), 20, "e:u", ""},
        {"p 1.5:  4175  2829.764072:     20 e:u: ", "p 1.5:", "", "4175", -1,
         INT64_C(2829764072000), 20, "e:u", ""},
        {"p 2 25010 e:u: ", "p 2", "", "25010", -1, -1, -1, "e:u", ""},
        {"p     2      25010 e:u: ", "p", "", "2", -1, -1, 25010, "e:u", ""},
        {"p 2 25010      25010 e:u: ", "p 2", "", "25010", -1, -1, 25010, "e:u", ""},
        {"p 2 25010 [001] e:u: ", "p 2", "", "25010", 1, -1, -1, "e:u", ""},
        {"p 2 25010 [001]      25010 e:u: ", "p 2", "", "25010", 1, -1, 25010, "e:u", ""},
        {"p 1.5:     7/7     [001]     250000 e:u: ", "p 1.5:", "7", "7", 1, -1, 250000, "e:u", ""},
        {"p 1.5:     7 e:u: ", "p 1.5:", "", "7", -1, -1, -1, "e:u", ""},
        {"p 1.5:     7 U     6544000.000000: 123 e:u: ", "p 1.5:", "", "7", -1,
         INT64_C(6544000000000000), 123, "e:u", ""},
        {"p [001] 25010 e:u: ", "p [001]", "", "25010", -1, -1, -1, "e:u", ""},
        {"p 25 6.5:     250000            400000 f0+0x1 (/bin/x)", "p", "", "25", -1,
         INT64_C(6500000000), 250000, "", "400000 f0+0x1 (/bin/x)"},
        {"p 25 6.5:  25000012 add (/bin/x)", "p", "", "25", -1, INT64_C(6500000000), -1, "",
         "25000012 add (/bin/x)"},
        {"p    17 99999999999 e:u: ", "p", "", "17", -1, -1, 99999999999, "e:u", ""},
        {"p 17 99999999999 e:u: ", "p 17", "", "", -1, -1, 99999999999, "e:u", ""},
        {"p     250000 e:u: ", "p", "", "", -1, -1, 250000, "e:u", ""},
        {"p    250000 e:u: ", "p", "", "250000", -1, -1, -1, "e:u", ""},
        {"    250000 e:u: ", "", "", "", -1, -1, 250000, "e:u", ""},
        {"p 2         99 e:u: ", "p 2", "", "", -1, -1, 99, "e:u", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pci_perf_header h;
        const char *line = cases[i].line;
        cr_assert(pci_perf_header((const uint8_t *)line, strlen(line), 0, &h), "%s", line);
        cr_assert(is(h.comm, cases[i].comm), "%s: %.*s", line, (int)h.comm.size, h.comm.data);
        cr_assert_eq(h.has_pid, *cases[i].pid != 0, "%s", line);
        cr_assert_eq(h.has_tid, *cases[i].tid != 0, "%s", line);
        cr_assert(!h.has_tid || is(h.tid, cases[i].tid) || h.tid.data[-1] == '-', "%s", line);
        cr_assert_eq(h.has_cpu ? h.cpu : -1, cases[i].cpu, "%s", line);
        cr_assert_eq(h.has_time ? h.time_ns : -1, cases[i].time, "%s: %" PRId64, line, h.time_ns);
        cr_assert_eq(h.has_period ? h.period : -1, cases[i].period, "%s", line);
        cr_assert_eq(h.has_event, *cases[i].event != 0, "%s", line);
        cr_assert(!h.has_event || is(h.event, cases[i].event), "%s", line);
        cr_assert(is(h.tail, cases[i].tail), "%s: %.*s", line, (int)h.tail.size, h.tail.data);
    }
}

/* Headers without a time and without an event after a thread: by their columns. */
Test(perf, bare_headers)
{
    static const struct {
        const char *line, *comm, *pid, *tid, *event;
        int64_t cpu, period;
    } cases[] = {
        {"sh ", "sh", "", "", "", -1, -1},
        {"sh  7103/7103  [001]          1 ", "sh", "7103", "7103", "", 1, 1},
        {"sh  7103 [001] ", "sh", "", "7103", "", 1, -1},
        {"sh     250000 ", "sh", "", "", "", -1, 250000},
        {"sh    250000 ", "sh", "", "250000", "", -1, -1},
        {"sh 2  7103     250000 ", "sh 2", "", "7103", "", -1, 250000},
        {"[001] ", "", "", "", "", 1, -1},
        {"   99 ", "", "", "99", "", -1, -1},
        {"        99 ", "", "", "", "", -1, 99},
        {"sh page-faults:u: ", "sh", "", "", "page-faults:u", -1, -1},
        {"pool 1", "pool 1", "", "", "", -1, -1},
        {"pool [1]", "pool [1]", "", "", "", -1, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pci_perf_header h;
        const char *line = cases[i].line;
        pci_perf_comm((const uint8_t *)line, strlen(line), &h);
        cr_expect(is(h.comm, cases[i].comm), "%s: %.*s", line, (int)h.comm.size, h.comm.data);
        cr_expect_eq(h.has_pid, *cases[i].pid != 0, "%s", line);
        cr_expect_eq(h.has_tid, *cases[i].tid != 0, "%s", line);
        cr_expect(!h.has_tid || is(h.tid, cases[i].tid), "%s", line);
        cr_expect_eq(h.has_cpu ? h.cpu : -1, cases[i].cpu, "%s", line);
        cr_expect_eq(h.has_period ? h.period : -1, cases[i].period, "%s", line);
        cr_expect_eq(h.has_event, *cases[i].event != 0, "%s", line);
        cr_expect(!h.has_event || is(h.event, cases[i].event), "%s", line);
    }
}

/* A comm may be long; the blanks after it are padding of any length. */
Test(perf, long_comm)
{
    char line[1024];
    struct pci_perf_header h;
    for (int blanks = 1; blanks < 600; blanks += 299) {
        snprintf(line, sizeof line, "%0256d%*s 1.5: e:", 0, blanks + 1, "7");
        cr_assert(pci_perf_header((const uint8_t *)line, strlen(line), 0, &h), "%d", blanks);
        cr_expect_eq(h.comm.size, 256);
        cr_expect(is(h.tid, "7"));
    }
    snprintf(line, sizeof line, "%0257d x 7 1.5: e:", 0);
    cr_expect_not(pci_perf_header((const uint8_t *)line, strlen(line), 0, &h));
}

/* Without call chains the frame follows the event, padded, and fields before and after it; a number
 * in a text is no address. */
Test(perf, frame_in_a_header)
{
    static const struct {
        const char *line;                    /* after the event */
        const char *symbol, *before, *after; /* symbol NULL: no frame */
    } cases[] = {
        {"               0 f ([unknown])", "f", "", ""},
        {"2 f (x)", NULL, "", ""},
        {"    7fff12345678 f (/x)", "f", "", ""},
        {"    7fff12345678 f", "f", "", ""},
        {"    7fff12345678 f(int) const [clone .cold]", "f(int) const [clone .cold]", "", ""},
        {"    7fff12345678 void (anonymous namespace)::f<int>(int) (/x (deleted))",
         "void (anonymous namespace)::f<int>(int)", "", ""},
        /* a data address, a weight, a data source */
        {"    561d01ac6020 d+0x0 (/w) ffffffff81775dda f+0x28a ([k])", "f",
         "561d01ac6020 d+0x0 (/w)", ""},
        {"561d01ac6020 d+0x0 (/w) 7fff12345678 f+0x28a ([k])", "f", "561d01ac6020 d+0x0 (/w)", ""},
        {"               0 ffffffff81775dda f+0x28a ([k])", "f", "0", ""},
        {"               0     7fff12345678 f+0x28a", "f", "0", ""},
        {"    ffff88810001          5080184 |OP LOAD|LVL L1 hit|BLK  N/A                  7 "
         "ffffffff81abc120 f+0x10 ([k])",
         "f", "ffff88810001          5080184 |OP LOAD|LVL L1 hit|BLK  N/A                  7", ""},
        {"               0 ffffffff81abc120 add ([k])         12345678", "add", "0", "12345678"},
        /* without objects and offsets */
        {"               0     7f002b7b1085 _dl_map", "_dl_map", "0", ""},
        {"    561d01ac6020 [unknown]     7f002b7b1085 _dl_map", "_dl_map", "561d01ac6020 [unknown]",
         ""},
        {"      1e05080021 |OP N/A|LVL N/A|BLK  N/A     7f002b7b1085 _dl_map", "_dl_map",
         "1e05080021 |OP N/A|LVL N/A|BLK  N/A", ""},
        {"      1e05080021 |OP N/A|LVL N/A|BLK  N/A", NULL, "", ""},
        {"    7f002b7b1085 _dl_map               0", "_dl_map", "", "0"},
        {"    7f002b7b1085 f               0 N/A 4K", "f", "", "0 N/A 4K"},
        {"    7f002b7b1085 f+0x3  =>     7f3c2a1e0df0 g", "f", "", "=>     7f3c2a1e0df0 g"},
        {"               0     55b1072e22c3 f+0xd3 (/usr/bin/bash)       2760ae52c 4K", "f", "0",
         "2760ae52c 4K"},
        {"prev_comm=x next_pid=12 ffffffff81abc120 f+0x10 ([k])", "f", "prev_comm=x next_pid=12",
         ""},
        {"prev_comm=x next_pid=12 7fff12345678 f+0x10 ([k])", NULL, "", ""},
        /* the target of a branch, an instruction, a physical address, cycles, branches */
        {"          401136 f+0x10 (/w) =>           401140 g+0x0 (/w)", "f", "",
         "=>           401140 g+0x0 (/w)"},
        {"               7           401136 f+0x10 (/w) =>           401140 g+0x0 (/w)", "f", "7",
         "=>           401140 g+0x0 (/w)"},
        {"          401136 f+0x10 (/w)  insn: 48 89 e5", "f", "", "insn: 48 89 e5"},
        {"          401136 f+0x10 (/w)         12345678", "f", "", "12345678"},
        {"          401136 f+0x10 (/w)\t IPC: 0.50 (1/2)", "f", "", "IPC: 0.50 (1/2)"},
        {"    7f1bc8c3e040 memcpy insn: f3 a4", "memcpy", "", "insn: f3 a4"},
        {"    7f1bc8c3e040 memcpy+0x1 ilen: 3 \t IPC: 0.50 (1/2)", "memcpy", "",
         "ilen: 3 \t IPC: 0.50 (1/2)"},
        {"    7f1bc8c3e040 insn: f3 a4", NULL, "", ""},
        {"          401136 f(int)+0x10 (/w) 0x401136/0x401140/P/-/-/0", "f(int)", "",
         "0x401136/0x401140/P/-/-/0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pci_perf_header h;
        struct pci_perf_tail t;
        char line[256];
        snprintf(line, sizeof line, "p 1 1.5: cycles: %s", cases[i].line);
        cr_assert(pci_perf_header((const uint8_t *)line, strlen(line), 0, &h));
        int framed = pci_perf_tail_frame(&h, 0, &t);
        cr_expect_eq(framed, cases[i].symbol != NULL, "%s", line);
        if (!framed || !cases[i].symbol)
            continue;
        cr_expect(is(t.frame.symbol, cases[i].symbol), "%s: %.*s", line, (int)t.frame.symbol.size,
                  t.frame.symbol.data);
        cr_expect(is(t.before, cases[i].before), "%s: %.*s", line, (int)t.before.size,
                  t.before.data);
        cr_expect(is(t.after, cases[i].after), "%s: %.*s", line, (int)t.after.size, t.after.data);
    }
}

Test(perf, lines_of_fields)
{
    static const struct {
        const char *line;
        int is;
    } cases[] = {
        {"               0", 1},
        {"       131ef18c0 4K", 1},
        {" N/A 4K", 1},
        {"  insn: 48 89 e5", 2},
        {" ABI:2    AX:0x1", 2},
        {" 0x401136/0x401140/P/-/-/0", 2},
        {" ilen: 3", 2},
        {" insns: 3", 0},
        {"insn: 25 1.5: cycles:", 0},
        {" ABI:x", 0},
        {"\t               0", 0},
        {"            7f00 main", 0},
        {"  file.c:42", 0},
        {"p 1 1.5: cycles:", 0},
        {"", 0},
        {"  libc.so.6[1750a5]", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(pci_perf_fields_line((const uint8_t *)cases[i].line, strlen(cases[i].line)),
                     cases[i].is, "%s", cases[i].line);
}

Test(perf, no_headers)
{
    static const char *const lines[] = {"",
                                        "java",
                                        "hello world",
                                        "main;read 12",
                                        "a 1 1.1234567891: e",
                                        "ffffffff8106d06a native_write_msr+0x6 ([kernel])",
                                        "a 1 [002]",
                                        "1 1 1 1 1 1"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct pci_perf_header h;
        cr_assert_not(pci_perf_header((const uint8_t *)lines[i], strlen(lines[i]), 0, &h), "%s",
                      lines[i]);
    }
}

Test(perf, numbers_beyond_64_bits_are_marked)
{
    static const char time[] = "a 1 [3] 99999999999999999999.5: e:",
                      cpu[] = "a 1 [99999999999999999999] 1.5: e:";
    struct pci_perf_header h;
    cr_assert(pci_perf_header((const uint8_t *)time, strlen(time), 0, &h));
    cr_assert(h.has_time && h.beyond_time && !h.beyond_cpu && h.cpu == 3);
    cr_assert(pci_perf_header((const uint8_t *)cpu, strlen(cpu), 0, &h));
    cr_assert(h.has_cpu && h.beyond_cpu && !h.beyond_time && h.time_ns == 1500000000);
}

Test(perf, long_lines_take_linear_time)
{
    size_t size = (size_t)1 << 22;
    uint8_t *line = malloc(size);
    struct pci_perf_header h;
    cr_assert_not_null(line);
    for (size_t i = 0; i < size; i += 2)
        memcpy(line + i, i % 6 ? "1 " : ": ", 2);
    pci_perf_header(line, size, 0, &h);
    memset(line, '(', size);
    struct pci_perf_frame frame;
    line[size - 1] = ')';
    cr_assert(pci_perf_frame(line, size, 0, &frame));
    free(line);
}

Test(perf, frames)
{
    static const struct {
        const char *line, *symbol, *object; /* NULL: none */
        int64_t address, offset;            /* -1: none */
        int inlined;
    } cases[] = {
        {"\t    7f722d142778 f+0x1c (/lib/a.so)", "f", "/lib/a.so", 0x7f722d142778, 0x1c, 0},
        {"\tffffffff8106d06a [unknown] ([kernel.kallsyms])", NULL, "[kernel.kallsyms]",
         (int64_t)0xffffffff8106d06a, -1, 0},
        {"\t               0 [unknown] ([unknown])", NULL, NULL, 0, -1, 0},
        {"\t            def5 main", "main", NULL, 0xdef5, -1, 0},
        {"\tadd (x)", "add", "x", -1, -1, 0},
        {"\t7f722d142778 std::f(int, char (*)(long)) const+0x1 (/a b (deleted))",
         "std::f(int, char (*)(long)) const", "/a b (deleted)", 0x7f722d142778, 1, 0},
        {"\t7f722d142778 operator()(int)", "operator()(int)", NULL, 0x7f722d142778, -1, 0},
        {"\t7f722d142778 g (inlined)", "g", NULL, 0x7f722d142778, -1, 1},
        {"    7f722d142778 g+0x (x)", "g+0x", "x", 0x7f722d142778, -1, 0},
        {"\t7f722d142778 a+0x10+0x20 (/usr/bin/ls+0x1234)", "a+0x10", "/usr/bin/ls", 0x7f722d142778,
         0x20, 0},
        {"\t7f722d142778", NULL, NULL, 0x7f722d142778, -1, 0},
        {"\t7f722d142778 (/x)", NULL, "/x", 0x7f722d142778, -1, 0},
        {"\tmain", "main", NULL, -1, -1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pci_perf_frame f;
        const char *line = cases[i].line;
        cr_assert(pci_perf_frame((const uint8_t *)line, strlen(line), 0, &f), "%s", line);
        cr_assert_eq(f.has_symbol, cases[i].symbol != NULL, "%s", line);
        cr_assert(!f.has_symbol || is(f.symbol, cases[i].symbol), "%s: %.*s", line,
                  (int)f.symbol.size, f.symbol.data);
        cr_assert_eq(f.has_object, cases[i].object != NULL, "%s", line);
        cr_assert(!f.has_object || is(f.object, cases[i].object), "%s", line);
        cr_assert_eq(f.has_address ? (int64_t)f.address : -1, cases[i].address, "%s", line);
        cr_assert_eq(f.has_offset ? (int64_t)f.offset : -1, cases[i].offset, "%s", line);
        cr_assert_eq(f.inlined, cases[i].inlined, "%s", line);
    }
}

/* ---- whole texts */

static pcol_status pack(const char *text, size_t size, int lenient, void **data, pcol_file **file,
                        pcol_error *err)
{
    pcol_builder *builder = NULL;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    size_t bytes;
    *data = NULL;
    *file = NULL;
    options.format = "perf";
    options.lenient = lenient;
    pcol_status status = pcol_builder_new(NULL, &builder, err);
    if (status == PCOL_OK)
        status = pcol_import_memory(builder, text, size, "in", &options, err);
    if (status == PCOL_OK)
        status = pcol_builder_write_memory(builder, 0, NULL, data, &bytes, err);
    if (status == PCOL_OK)
        status = pcol_file_open_memory(*data, bytes, NULL, file, err);
    pcol_builder_free(builder);
    return status;
}

static void expect_error(const char *text, uint64_t line, const char *message)
{
    void *data;
    pcol_file *file;
    pcol_error err = {0};
    cr_assert_eq(pack(text, strlen(text), 0, &data, &file, &err), PCOL_E_SYNTAX, "%s", text);
    cr_assert_eq(err.line, line, "%s: %" PRIu64, text, err.line);
    cr_assert_str_eq(err.message, message);
    pcol_free(data);
    cr_assert_eq(pack(text, strlen(text), 1, &data, &file, &err), PCOL_OK, "%s", text);
    pcol_file_close(file);
    pcol_free(data);
}

Test(perf, rejected)
{
    static const char header[] = "neither the first line of a sample nor a frame";
    expect_error("hello\nworld\n", 1, header);
    expect_error("a 1 1.5: e:\n\t7f722d142778 f (x)\n\nhello\n", 4, header);
    expect_error("a 1 1.5: e:\n\t7f722d142778 f (x)\nhello\n", 3, header);
    expect_error("a 1 1.5: e:\n\t7f722d142778 f (x)\n\tg h i\n", 3, "not a frame of a call stack");
    expect_error("            bash\n            bash\n", 1, header);
}

static uint64_t rows(const pcol_file *file, const char *table)
{
    const struct pci_table *t = pci_table_find(file, table);
    return t ? t->rows : 0;
}

Test(perf, samples)
{
    static const char text[] = "# a comment\n#\n"
                               "a 1/2 [003] 1.5:  10 cycles: \n"
                               "\t    7f722d142778 in (inlined)\n"
                               "\t    7f722d142778 out+0x5 (/lib/x)\n"
                               "  formats/firefox/emitter.c:7\n"
                               "\t    7f722d100000 main+0x9 (/bin/y)\n"
                               "\n"
                               "a 1/2 [004] 1.6:  20 cycles: \r\n"
                               "\t    7f722d100000 main+0x9 (/bin/y)\r\n"
                               "\r\n"
                               "b 3 1.7: page-faults: \n"
                               "b 3 1.8: PERF_RECORD_COMM exec: b:3/3\n"
                               "b 3 1.9: page-faults:      7f722d100000 main+0x9 (/bin/y)\n";
    void *data;
    pcol_file *file;
    pcol_error err = {0};
    uint64_t faults = 1;
    cr_assert_eq(pack(text, sizeof text - 1, 0, &data, &file, &err), PCOL_OK, "%s", err.message);
    cr_assert_eq(pcol_file_check(file, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, &err),
                 PCOL_OK);
    cr_assert_eq(faults, 0);
    cr_assert_eq(rows(file, "samples"), 4);
    cr_assert_eq(rows(file, "threads"), 2);
    cr_assert_eq(rows(file, "sample_types"), 2);
    cr_assert_eq(rows(file, "mappings"), 3); /* the last frame is of no call chain */
    cr_assert_eq(rows(file, "locations"), 4);
    cr_assert_eq(rows(file, "location_groups"), 3);
    cr_assert_eq(rows(file, "stacks"), 4);
    const struct pci_column *stack = pci_column_find(pci_table_find(file, "samples"), "stack");
    static const int64_t stacks[4] = {2, 1, 0, 3};
    for (uint64_t row = 0; row < 4; row++) {
        int64_t value;
        int valid;
        cr_assert_eq(pci_get(file, stack, row, &value, &valid, NULL), PCOL_OK);
        cr_assert_eq(valid ? value : -1, stacks[row], "row %" PRIu64, row);
    }
    pcol_file_close(file);
    pcol_free(data);
}

/* A period of 2^63 - 1 is a value; one more is an error, or the sample counts as 1. */
Test(perf, period_beyond_64_bits)
{
    static const char *const texts[] = {
        "a 1 1.5: 9223372036854775807 cycles: \n\t    7f722d100000 main (x)\n",
        "a 1 1.5: 9223372036854775808 cycles: \n\t    7f722d100000 main (x)\n",
    };
    static const int64_t values[] = {INT64_MAX, 1};
    expect_error(texts[1], 1, "period beyond 64 bits; a lenient import counts such a sample as 1");
    for (int i = 0; i < 2; i++) {
        void *data;
        pcol_file *file;
        pcol_error err = {0};
        int64_t value;
        int valid;
        cr_assert_eq(pack(texts[i], strlen(texts[i]), i, &data, &file, &err), PCOL_OK, "%s",
                     err.message);
        const struct pci_column *column =
            pci_column_find(pci_table_find(file, "samples"), "value.0");
        cr_assert_not_null(column);
        cr_assert_eq(pci_get(file, column, 0, &value, &valid, &err), PCOL_OK);
        cr_expect_eq(value, values[i]);
        pcol_file_close(file);
        pcol_free(data);
    }
}

Test(perf, any_cut_is_no_crash)
{
    static const char text[] =
        "a b 1/2 [003] 1.5:  10 cycles:u: \n\t    7f722d142778 in "
        "(inlined)\n\t    7f722d142778 out+0x5 (/lib/x y)\n  formats/firefox/emitter.c:7\n\n";
    for (size_t size = 0; size < sizeof text; size++) {
        void *data;
        pcol_file *file;
        pcol_status status = pack(text, size, 0, &data, &file, NULL);
        cr_assert(status == PCOL_OK || status == PCOL_E_SYNTAX, "%zu", size);
        if (status == PCOL_OK)
            pcol_file_close(file);
        pcol_free(data);
    }
}

Test(perf, recognised)
{
    static const struct {
        const char *text;
        int sure;
    } cases[] = {
        {"a 1 1.5: e: \n\t7f722d142778 f (x)\n", 2},
        {"# c\n\na 1 1.5: e: \n", 2},
        {"a 1 1.5: e:  7f722d142778 f (x)\n", 2},
        {"\n\t    7f722d142778 f (x)\n", 2},
        {"a 1 e: \n\t    7f722d142778 f (x)\n", 2},
        {"a 1 e: \nb\n", 0},
        {"a;b 1\n", 0},
        {"{}", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(pci_perf_sniff((const uint8_t *)cases[i].text, strlen(cases[i].text), 1),
                     cases[i].sure, "%s", cases[i].text);
}

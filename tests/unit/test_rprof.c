/*
 * test_rprof.c - Rprof output and Rprofmem logs: meaning of texts, rejected lines and positions
 */
#include <criterion/criterion.h>

#include "formats/rprof/rprof.h"
#include "rprof_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- meaning */

Test(rprof, frames)
{
    static const struct rprof_example examples[] = {
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
    static const struct rprof_example examples[] = {
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
        EXAMPLE(LH "#File 007: w\n7#1 \"a\" \n", " a@w:1\n"),
        EXAMPLE(H "\"a\" 1#2\" \"b\" 12\" \n", " a\" 1#2 b\" 12\n"),
    };
    EXPECT("rprof", 0, examples);
}

Test(rprof, memory)
{
    static const struct rprof_example examples[] = {
        EXAMPLE(MH ":1:2:3:4:\"a\" \n:5:0:7:8:\"b\" \"a\" \n", ":1:2:3:4 a\n:5:0:7:8 b a\n"),
        EXAMPLE(MH ":9:9:9:9:\n:1:2:3:4:\"a\" \n", ":9:9:9:9 -\n:1:2:3:4 a\n"),
        EXAMPLE(MH ":-1:2:-3:9223372036854775807:\"a\" \n", ":-1:2:-3:9223372036854775807 a\n"),
        EXAMPLE(MH ":01:2:3:4:\"a\" \n", ":1:2:3:4 a ~\n"),
        EXAMPLE(MH ":-0:2:3:4:\"a\" \n", ":0:2:3:4 a ~\n"),
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
    static const struct rprof_example examples[] = {
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
    static const struct rprof_example examples[] = {
        EXAMPLE("line profiling: sample.interval=1\r\n#File 1: w\r\n1#2 \"a\" \r\n", " a@w:2\n"),
        EXAMPLE(H "\"a\" \r\n\"a\" \n", " a ~\n a\n"),
        EXAMPLE("sample.interval=1\r\n\"a\" \n", " a ~\n"),
        EXAMPLE("sample.interval=007\n\"a\" \n", " a\n"),
        EXAMPLE(H "\"a\" \"b\"\n\"b\" \n", " a b ~\n b\n"),
        EXAMPLE(H "\"a\" 1#2\n\"b\" \n", " a @?:2 ~\n b\n"),
        EXAMPLE(H "\"a\"\n\nb\n\"c\" \n", "3:1 blank line"),
    };
    EXPECT("rprof", 0, examples);
}

/* 2^63: an error at the first digit, or the line is text and the number unknown. */
#define MOST "9223372036854775807"
#define BEYOND "9223372036854775808"

Test(rprof, beyond_64_bits)
{
    static const struct {
        const char *format, *text, *place, *lenient;
    } cases[] = {
        {"rprof", "sample.interval=" BEYOND "\n\"a\" \n", "1:17", " a\n"},
        {"rprof", H "sample.interval=" BEYOND "\n\"a\" \n", "2:17", " a\n"},
        {"rprof", MH ":1:2:3:4:\"a\" \n:1:" BEYOND ":3:4:\"a\" \n", "3:4",
         ":1:2:3:4 a\n:1:3:4 a ~\n"},
        {"rprof", MH ":1:2:3:-" BEYOND "0:\"a\" \n", "2:8", ":1:2:3 a ~\n"},
        {"rprof", LH "\"b\" 1#" BEYOND " \"a\" \n", "2:7", " b a ~\n"},
        {"rprof", LH BEYOND "#1 \"a\" \n", "2:1", " a ~\n"},
        {"rprof", LH "1#" BEYOND "\n", "2:3", "  ~\n"},
        {"rprof", LH "1#1 \"a\" \n2#2 \"b\" 1#" BEYOND " \"a\" \n", "3:11", " a@?:1\n b@?:2 a ~\n"},
        {"rprof", LH "#File " BEYOND ": w\n\"a\" \n", "2:7", " a\n"},
        {"rprofmem", "8 :\"a\" \n" BEYOND " :\"a\" \n", "2:1", " a\n a ~\n"},
        {"rprofmem", BEYOND " :8 :\"a\" \n", "1:1", " () ~\n a\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char rejected[128];
        snprintf(rejected, sizeof rejected,
                 "%s number beyond 64 bits; a lenient import keeps the line as text",
                 cases[i].place);
        struct rprof_example e = {cases[i].text, strlen(cases[i].text), rejected};
        rprof_expect(cases[i].format, 0, &e, 1);
        struct rprof_packed p;
        pcol_error err;
        cr_assert_eq(rprof_pack(cases[i].format, 1, e.text, e.size, &p, &err), PCOL_OK, "%s",
                     err.message);
        cr_expect(strstr(p.messages.data, "kept as text: 1, "), "case %zu: %s", i, p.messages.data);
        rprof_drop(&p);
        e.expected = cases[i].lenient;
        rprof_expect(cases[i].format, 1, &e, 1);
    }
    static const struct rprof_example known[] = {
        EXAMPLE(MH ":1:2:3:" MOST ":\"a\" \n", ":1:2:3:" MOST " a\n"),
        EXAMPLE(LH "1#" MOST " \"a\" \n", " a@?:" MOST "\n"),
    };
    EXPECT("rprof", 0, known);
}

Test(rprof, cut_last_line)
{
    static const struct rprof_example examples[] = {
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

Test(rprof, rejected)
{
    static const struct rprof_example examples[] = {
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
    static const struct rprof_example examples[] = {
        EXAMPLE(H "\n\"a\" \n\n", " a\n"),
        EXAMPLE(H "\"a\" \"x\nrest\n\"b\" \n", " a ~\n b\n"),
        EXAMPLE(H "\"x\n\"b\" \n", " - ~\n b\n"),
        EXAMPLE(MH ":1:2:x\n:1:2:3:4:\"b\" \n", " - ~\n:1:2:3:4 b\n"),
        EXAMPLE(H "hello\n#File 1: x\n\"a\" \n", " a\n"),
        EXAMPLE("hello\n", "1:1 not an Rprof file: no sample.interval header"),
    };
    EXPECT("rprof", 1, examples);
}

Test(rprof, lenient_warns)
{
    static const char text[] = H "\"a\" \n\nx\n\"b\" \"c";
    struct rprof_packed p;
    pcol_error err;
    cr_assert_eq(rprof_pack("rprof", 1, text, sizeof text - 1, &p, &err), PCOL_OK);
    cr_assert_str_eq(p.messages.data, "malformed lines kept as text: 2, the first is line 3\n"
                                      "the last line is cut: kept as far as it goes\n");
    rprof_drop(&p);
}

Test(rprof, segments_and_files)
{
    static const char text[] =
        "memory profiling: GC profiling: line profiling: sample.interval=1000\r\n"
        "#File 1: a\r\n:1:2:3:4:1#1 \"f\" \r\n#File 2: b\r\nsample.interval=77\n\"g\" \n";
    struct rprof_packed p;
    pcol_error err;
    int64_t v;
    cr_assert_eq(rprof_pack(NULL, 0, text, sizeof text - 1, &p, &err), PCOL_OK);
    cr_assert_eq(rprof_rows(&p, "rprof_segments"), 2);
    cr_assert_eq(rprof_rows(&p, "rprof_files"), 2);
    cr_assert(rprof_cell(&p, "rprof_segments", "memory", 0, &v) && v == 1);
    cr_assert(rprof_cell(&p, "rprof_segments", "gc", 0, &v) && v == 1);
    cr_assert(rprof_cell(&p, "rprof_segments", "line", 0, &v) && v == 1);
    cr_assert(rprof_cell(&p, "rprof_segments", "crlf", 0, &v) && v == 1);
    cr_assert(rprof_cell(&p, "rprof_segments", "interval_us", 0, &v) && v == 1000);
    cr_assert(rprof_cell(&p, "rprof_segments", "crlf", 1, &v) && v == 0);
    cr_assert(rprof_cell(&p, "rprof_segments", "interval_us", 1, &v) && v == 77);
    cr_assert(rprof_cell(&p, "rprof_segments", "first_sample", 1, &v) && v == 1);
    cr_assert(rprof_cell(&p, "rprof_files", "before_sample", 0, &v) && v == 0);
    cr_assert(rprof_cell(&p, "rprof_files", "before_sample", 1, &v) && v == 1);
    cr_assert_null(rprof_column(&p, "sources", "interval_ns")); /* that of all segments */
    cr_assert_null(rprof_column(&p, "samples", "text"));
    cr_assert_null(rprof_column(&p, "rprof_segments", "text"));
    rprof_expect_same(&p, "rprof", text, sizeof text - 1);
    rprof_drop(&p);
}

Test(rprofmem, entries)
{
    static const struct rprof_example examples[] = {
        EXAMPLE("", ""),
        EXAMPLE("264 :\n4048 :\"integer\" \"f\" \nnew page:\"f\" \n", " ()\n:1 f\n"),
    };
    struct rprof_packed p;
    pcol_error err;
    int64_t v;
    rprof_expect("rprofmem", 0, examples, 1);
    cr_assert_eq(rprof_pack(NULL, 0, examples[1].text, examples[1].size, &p, &err), PCOL_OK);
    cr_assert_eq(rprof_rows(&p, "samples"), 3);
    cr_assert(rprof_cell(&p, "samples", "value.0", 1, &v) && v == 4048);
    cr_assert(!rprof_cell(&p, "samples", "value.0", 2, &v));
    cr_assert(rprof_cell(&p, "samples", "value.1", 2, &v) && v == 1);
    cr_assert(rprof_cell(&p, "samples", "stack", 0, &v) && v == 0);
    rprof_expect_same(&p, "rprofmem", examples[1].text, examples[1].size);
    rprof_drop(&p);
}

Test(rprofmem, texts)
{
    static const struct rprof_example examples[] = {
        EXAMPLE("200 :360 :new page:8040 :\"double\" \n", " () ~\n () ~\n:1 () ~\n double\n"),
        EXAMPLE("48 :\"a\"b\" \"c\nd\" \n", " a\"b c\nd\n"),
        EXAMPLE("48 :\"a\" 1#2\" \n", " a\" 1#2\n"),
        EXAMPLE("048 :\"a\" \n", " a ~\n"),
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

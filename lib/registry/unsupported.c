/*
 * unsupported.c - recognition of files of other tools by tables of signatures
 *
 * Signatures at the start of a file are certain: no supported format begins with them, although
 * lenient text formats would accept some of these files (folded stacks are any lines that end in a
 * number). Marks anywhere in the first 64 KiB may also be part of a function's name, so that they
 * are used only for files that no sniffer recognises. Tests: tests/unit/test_unsupported.c.
 */
#include "registry/unsupported.h"

#include "formats/format.h"
#include "util/strbuf.h"

#include <string.h>

struct mark {
    const char *data;
    size_t size;
};

#define MARK(text)             \
    {                          \
        text, sizeof(text) - 1 \
    }

#define UNPACK_FIRST "decompress it first (pcol reads gzip directly)"
#define NO_STACKS "it has no call stacks, and pcol cannot read it; "

static const struct signature {
    struct mark start;
    struct mark also; /* anywhere in the searched bytes; size 0: none */
    const char *description;
} signatures[] = {
    {MARK("PERFILE2"), {0}, "a perf.data file: pcol reads the output of `perf script`"},
    {MARK("PERFFILE"), {0}, "a perf.data file: pcol reads the output of `perf script`"},
    {MARK("2ELIFREP"), {0}, "a perf.data file: pcol reads the output of `perf script`"},
    {MARK("# To display the perf.data header info"),
     {0},
     "the output of `perf report`: pcol reads the output of `perf script`"},
    {MARK("# tracer: "),
     {0},
     "an ftrace log, which pcol cannot read; record with perf and use `perf script`"},
    {MARK("JAVA PROFILE 1.0.1\0"), {0}, "a Java heap dump, which is not a profile"},
    {MARK("JAVA PROFILE 1.0.2\0"), {0}, "a Java heap dump, which is not a profile"},
    {MARK("{\"type\":\"meta\""), MARK("\"run_id\""),
     "a JSON log of Python's profiling.sampling, which pcol cannot read; use --collapsed or "
     "--gecko"},
    {MARK("MOJ\1"),
     {0},
     "a binary profile of Austin, which pcol cannot read; convert it with mojo2austin"},
    {MARK("MOJ\2"),
     {0},
     "a binary profile of Austin, which pcol cannot read; convert it with mojo2austin"},
    {MARK("MOJ\3"),
     {0},
     "a binary profile of Austin, which pcol cannot read; convert it with mojo2austin"},
    {MARK("memray\0"),
     {0},
     "a memray capture, which pcol cannot read; `memray transform` converts it for other tools"},
    {MARK("gmon\1\0\0\0"), {0}, "a gmon.out file of gprof: " NO_STACKS "use perf record -g"},
    {MARK("gmon\0\0\0\1"), {0}, "a gmon.out file of gprof: " NO_STACKS "use perf record -g"},
    {MARK("Flat profile:"), {0}, "the output of gprof: " NO_STACKS "use perf record -g"},
    {MARK("# callgrind format"), {0}, "a callgrind file: " NO_STACKS "use callgrind_annotate"},
    {MARK("version: 1\n"), MARK("\nevents: "),
     "a callgrind file: " NO_STACKS "use callgrind_annotate"},
    {MARK("desc: "), MARK("\nevents: "), "a cachegrind file: " NO_STACKS "use cg_annotate"},
    {MARK("desc: "), MARK("\ntime_unit: "), "a massif file, which pcol cannot read; use ms_print"},
    {MARK("\x04\x08{"),
     {0},
     "a stackprof dump of Ruby, which pcol cannot read; `stackprof --collapsed` or rbspy write "
     "folded stacks"},
    {MARK("{\xa9"),
     {0},
     "a pstats file of Python's cProfile: " NO_STACKS "use py-spy --format raw"},
    {MARK("{("), {0}, "a pstats file of Python's cProfile: " NO_STACKS "use py-spy --format raw"},
    {MARK("{)"), {0}, "a pstats file of Python's cProfile: " NO_STACKS "use py-spy --format raw"},
    {MARK("\xfb\xa9"),
     {0},
     "a pstats file of Python's cProfile: " NO_STACKS "use py-spy --format raw"},
    {MARK("\xfb("),
     {0},
     "a pstats file of Python's cProfile: " NO_STACKS "use py-spy --format raw"},
    {MARK("\xfb)"),
     {0},
     "a pstats file of Python's cProfile: " NO_STACKS "use py-spy --format raw"},
    {MARK("{0"), {0}, "an empty pstats file of Python's cProfile"},
    {MARK("\xfb"
          "0"),
     {0},
     "an empty pstats file of Python's cProfile"},
    {MARK("v8-version,"),
     {0},
     "a log of V8, which pcol cannot read; `node --prof-process` reads it"},
    {MARK("Nettrace"),
     {0},
     "a .nettrace file of .NET, which pcol cannot read; use `dotnet-trace convert`"},
    {MARK("TRACE START ["), {0}, "a function trace of Xdebug, which pcol cannot read"},
    {MARK("Attaching "), MARK("@[\n"),
     "the output of bpftrace: convert it with stackcollapse-bpftrace.pl to folded stacks"},
    {MARK("@[\n"), MARK("]: "),
     "the output of bpftrace: convert it with stackcollapse-bpftrace.pl to folded stacks"},
    {MARK("Analysis of sampling "),
     {0},
     "the output of macOS' sample: convert it with stackcollapse-sample.awk to folded stacks"},
    {MARK("PeriodType: "), MARK("\nSamples:\n"),
     "the output of `pprof -raw`: pcol reads the profile it was made from, or `pprof -proto`"},
    {MARK("File: "), MARK("flat%"),
     "the output of `pprof -top`: pcol reads the profile it was made from"},
    {MARK("version https://git-lfs.github.com/spec/"),
     {0},
     "a pointer of Git LFS: `git lfs pull` fetches the file itself"},
    {MARK("RDX2\n"), {0}, "a data file of R: pcol reads what Rprof() writes"},
    {MARK("RDX3\n"), {0}, "a data file of R: pcol reads what Rprof() writes"},
    {MARK("X\n\0\0\0"), {0}, "a data file of R: pcol reads what Rprof() writes"},
    {MARK("\x7f"
          "ELF"),
     {0},
     "a program or library, not a profile: give pcol the file that a profiler wrote of its run"},
    {MARK("SQLite format 3"), {0}, "an SQLite database, which pcol cannot read"},
    {MARK("PK\003\004"), {0}, "a zip archive: extract it first"},
    {MARK("\x28\xb5\x2f\xfd"), {0}, "compressed by zstd: " UNPACK_FIRST},
    {MARK("\xfd\x37zXZ\0"), {0}, "compressed by xz: " UNPACK_FIRST},
    {MARK("\x04\x22\x4d\x18"), {0}, "compressed by lz4: " UNPACK_FIRST},
    {MARK("BZh"), MARK("1AY&SY"), "compressed by bzip2: " UNPACK_FIRST},
    {MARK("<?xml"), {0}, "an XML document, which pcol cannot read"},
};

/* JSON and documents: both marks must occur anywhere. */
static const struct {
    struct mark marks[2];
    const char *description;
} contents[] = {
    {{MARK("\"dhatFileVersion\"")},
     "a DHAT file whose first member is not dhatFileVersion; the format dhat reads it"},
    {{MARK("\"missed_samples\""), MARK("\"gc_samples\"")},
     "a stackprof profile of Ruby, which pcol cannot read; `stackprof --collapsed` or rbspy write "
     "folded stacks"},
    {{MARK("\"root_frame\""), MARK("\"sample_count\"")},
     "a pyinstrument session, which pcol cannot read; py-spy --format raw writes folded stacks"},
    {{MARK("\"flamebearer\"")}, "a Pyroscope profile as JSON, which pcol cannot read; use pprof"},
    {{MARK("\nevents: "), MARK("\nfn=")}, "a callgrind file: " NO_STACKS "use callgrind_annotate"},
    {{MARK("\nX "), MARK("\nI 1000 ")},
     "a heaptrack file, which pcol cannot read; heaptrack_print -F writes folded stacks"},
    {{MARK("<html")}, "a web page, not a profile"},
    {{MARK("<!DOCTYPE html")}, "a web page, not a profile"},
    {{MARK("<svg")}, "a picture: use the profile it was made from"},
};

static int contains(const uint8_t *data, size_t size, const struct mark *mark)
{
    return pci_bytes_contain(data, size, mark->data, mark->size);
}

static int starts_with(const uint8_t *data, size_t size, const struct mark *mark)
{
    return size >= mark->size && !memcmp(data, mark->data, mark->size);
}

/* ---- stacks with several numbers ---- */

/* The last word of [text, *size), which is removed with the blanks before it. */
static pcol_str last_word(const uint8_t *text, size_t *size)
{
    size_t end = *size;
    while (end && (text[end - 1] == ' ' || text[end - 1] == '\t'))
        end--;
    size_t start = end;
    while (start && text[start - 1] != ' ' && text[start - 1] != '\t')
        start--;
    *size = start;
    return (pcol_str){(const char *)text + start, end - start};
}

/* Number of numbers in a word: "12" or "1.5" 1, "12,0,-5" 3, anything else 0. */
static size_t count_numbers(pcol_str word)
{
    size_t count = 1, digits = 0;
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] == ',' && digits)
            count++, digits = 0;
        else if (word.data[i] >= '0' && word.data[i] <= '9')
            digits++;
        else if (digits ? word.data[i] != '.' : word.data[i] != '-')
            return 0;
    }
    return digits ? count : 0;
}

/* Whether all complete lines end in two or more numbers, and one has a semicolon before them. */
static int has_several_numbers(const uint8_t *data, size_t size, int all)
{
    int has_frames = 0;
    for (size_t next = 0; next < size;) {
        const uint8_t *text = data + next, *feed = memchr(text, '\n', size - next);
        size_t length = feed ? (size_t)(feed - text) : size - next;
        next += length + 1;
        if (!feed && !all)
            break;
        length -= length && text[length - 1] == '\r';
        if (!length || text[0] == '#')
            continue;
        size_t count = count_numbers(last_word(text, &length));
        if (count == 1)
            count += count_numbers(last_word(text, &length)) > 0;
        if (count < 2 || !length)
            return 0;
        has_frames |= memchr(text, ';', length) != NULL;
    }
    return has_frames;
}

const char *pci_describe_unsupported(const uint8_t *data, size_t size, int all, int certain)
{
    all = all && size <= PCI_UNSUPPORTED_BYTES;
    size = size < PCI_UNSUPPORTED_BYTES ? size : PCI_UNSUPPORTED_BYTES;
    for (size_t i = 0; certain && i < sizeof signatures / sizeof *signatures; i++)
        if (starts_with(data, size, &signatures[i].start) &&
            (!signatures[i].also.size || contains(data, size, &signatures[i].also)))
            return signatures[i].description;
    if (certain && has_several_numbers(data, size, all))
        return "a text of call stacks with several numbers per line (Austin -f, difffolded.pl): "
               "pcol reads folded stacks with one; as format folded, the last number counts and "
               "the others become parts of the names";
    for (size_t i = 0; !certain && i < sizeof contents / sizeof *contents; i++)
        if (contains(data, size, &contents[i].marks[0]) &&
            (!contents[i].marks[1].size || contains(data, size, &contents[i].marks[1])))
            return contents[i].description;
    return NULL;
}

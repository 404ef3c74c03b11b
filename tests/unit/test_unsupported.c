/*
 * test_unsupported.c - files of other tools: named with advice, never read as another format
 */
#include <criterion/criterion.h>

#include "pcol.h"
#include "registry/unsupported.h"

#include <stdlib.h>
#include <string.h>

#define TEXT(text) text, sizeof(text) - 1

/* The beginnings that the tools' documentation describes. */
static const struct {
    const char *data;
    size_t size;
    const char *tool; /* part of the message */
} files[] = {
    {TEXT("P42;T0x7f54;mod.py:main:L353 1106 0\n"), "Austin -f"},
    {TEXT("# austin: 3.6.0\n# interval: 100\n# mode: full\n\nP42;T7;m.py:main:L353;m.py:f:L9 1106 "
          "0 0\n"
          "P42;T7;m.py:main:L353 99 0 -12\n"),
     "Austin -f"},
    {TEXT("P42;T7;m.py:main:L353;m.py:f:L9 1106,0,-12\n"), "Austin -f"},
    {TEXT("main;f 10 12\nmain;g 3 0\n"), "difffolded.pl"},
    {TEXT("MOJ\3\2name"), "Austin"},
    {TEXT("{\"type\":\"meta\",\"v\":0,\"run_id\":\"15\",\"sample_interval_usec\":1000}\n"),
     "profiling.sampling"},
    {TEXT("PERFILE2h\0\0\0"), "perf script"},
    {TEXT(
         "# To display the perf.data header info, please use --header/--header-only options.\n#\n"),
     "perf report"},
    {TEXT("# tracer: nop\n#\n            bash-1977  [000] .... 17284.993652: sys_close: fd: 3\n"),
     "ftrace"},
    {TEXT("{\xa9\3\xfa\1~i\0\0\0\0"), "pstats"},
    {TEXT("version: 1\ncreator: xdebug 3.2\ncmd: /a.php\n\nevents: Time_(10ns) "
          "Memory_(bytes)\n\nfl=(1) a.php\nfn=(1) f\n1 2\n"),
     "callgrind"},
    {TEXT("desc: I1 cache: 32768 B\ncmd: ./a\nevents: Ir\nfl=a.c\nfn=main\n16 1\n"), "cachegrind"},
    {TEXT("desc: --massif-out-file=x\ncmd: ./a\ntime_unit: i\n#-----------\nsnapshot=0\n"),
     "massif"},
    {TEXT("v 10400 3\nX ./a\nI 1000 3e8\n"), "heaptrack"},
    {TEXT("Flat profile:\n\nEach sample counts as 0.01 seconds.\n"), "gprof"},
    {TEXT("\x04\x08{\x0d:\x0cversion"), "stackprof"},
    {TEXT("Attaching 1 probe...\n\n@[\n    main+1\n    start+2\n]: 12\n"), "bpftrace"},
    {TEXT("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"), "Git LFS"},
    {TEXT("RDX3\nX\n\0\0\0\3"), "data file of R"},
    {TEXT("\x28\xb5\x2f\xfd\1"), "zstd"},
};

Test(unsupported, named)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        pcol_builder *builder;
        pcol_error err = {0};
        cr_assert_eq(pcol_builder_new(NULL, &builder, &err), PCOL_OK);
        /* Suffixes that formats claim must not matter. */
        static const char *const names[] = {"x", "x.out", "x.prof", "x.json", "x.folded"};
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            pcol_status status =
                pcol_import_memory(builder, files[i].data, files[i].size, names[k], NULL, &err);
            cr_expect_eq(status, PCOL_E_FORMAT, "%s as %s: %d %s", files[i].tool, names[k], status,
                         err.message);
            cr_expect(strstr(err.message, "this is ") && strstr(err.message, files[i].tool),
                      "%s as %s: %s", files[i].tool, names[k], err.message);
        }
        pcol_builder_free(builder);
    }
}

/* Folded stacks whose functions are called like the signatures. */
Test(unsupported, folded_stacks_are_read)
{
    static const char *const texts[] = {
        "FLR;main 5\n",
        "MOJO;f 3\n",
        "TACH;f 3\nHCAT;g 4\n",
        "gmon_start;main 5\n",
        "v 10\nX;f 5\n",
        "BZh;f 1\n",
        "@[x];f 2\n",
        "main;worker 7 3\nmain;f 2\n",
        "main;f<html 3\n",
        "desc: a;b 3\n",
        "# austin: 3.6.0\nP42;T7;m.py:main:L353 1106\n",
        "a;\"ph\":\"ts\": 3\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pcol_builder *builder;
        pcol_error err = {0};
        cr_assert_eq(pcol_builder_new(NULL, &builder, &err), PCOL_OK);
        cr_expect_eq(
            pcol_import_memory(builder, texts[i], strlen(texts[i]), "x.folded", NULL, &err),
            PCOL_OK, "%s: %s", texts[i], err.message);
        pcol_builder_free(builder);
    }
}

/* A cut anywhere, and bytes that end within a mark. */
Test(unsupported, any_cut)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t size = 0; size <= files[i].size; size++)
            for (int all = 0; all < 2; all++) {
                uint8_t *exact = malloc(size + !size);
                memcpy(exact, files[i].data, size);
                pci_describe_unsupported(exact, size, all, 1);
                pci_describe_unsupported(exact, size, all, 0);
                free(exact);
            }
}

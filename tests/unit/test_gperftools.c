/*
 * test_gperftools.c - what the older formats become: each input is translated into profile.proto
 * and that is printed, a line for each message, with strings in place of their numbers
 *
 *     type samples/count
 *     sample 1,10000 : 1 2 {bytes=16}
 *     mapping 1 400000-500000+0 /bin/a BUILD
 *     location 1 m1 4000f0
 *     period cpu/nanoseconds 10000
 */
#include <criterion/criterion.h>

#include "formats/gperftools/gperftools.h"
#include "gperftools_case.h"
#include "stream/input_open.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* ---- CPU profiles */

struct words {
    uint8_t data[4096];
    size_t size;
    unsigned width;
    int big_endian;
};

static void word(struct words *w, uint64_t n)
{
    for (unsigned i = 0; i < w->width; i++)
        w->data[w->size + (w->big_endian ? w->width - 1 - i : i)] = (uint8_t)(n >> 8 * i);
    w->size += w->width;
}

static void list(struct words *w, size_t count, const uint64_t *numbers_of)
{
    for (size_t i = 0; i < count; i++)
        word(w, numbers_of[i]);
}
#define WORDS(w, ...) \
    list(w, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

static void text_after(struct words *w, const char *text)
{
    memcpy(w->data + w->size, text, strlen(text));
    w->size += strlen(text);
}

static const char cpu_expected[] = "type samples/count\n"
                                   "type cpu/nanoseconds\n"
                                   "sample 2,20000000 : 1 2\n"
                                   "sample 1,10000000 : 3\n"
                                   "mapping 1 401000-403000+0 /bin/a \n"
                                   "location 1 m1 401010\n"
                                   "location 2 m1 40201f\n"
                                   "location 3 m1 402020\n"
                                   "drop ProfileDa\n"
                                   "period cpu/nanoseconds 10000000\n";

Test(gperftools, cpu_of_every_word)
{
    for (int kind = 0; kind < 4; kind++) {
        struct words w = {.width = kind & 1 ? 8 : 4, .big_endian = kind & 2};
        WORDS(&w, 0, 3, 0, 10000, 0);
        WORDS(&w, 2, 2, 0x401010, 0x402020);
        WORDS(&w, 1, 1, 0x402020);
        WORDS(&w, 0, 1, 0);
        text_after(&w, "00401000-00403000 r-xp 00000000 08:01 77 /bin/a\n"
                       "00403000-00404000 rw-p 00003000 08:01 77 /bin/a\n");
        cr_assert_eq(pci_gperftools_sniff(w.data, w.size, 1), 2);
        cr_assert_eq(gp_translate(w.data, w.size, 0), PCOL_OK, "%s", gp_failure.message);
        cr_assert_str_eq(gp_printed.text, cpu_expected);
        cr_assert_str_empty(gp_messages);
    }
}

/* The second innermost frame that all stacks have is the signal handler's, up to two. */
Test(gperftools, cpu_handlers)
{
    struct words w = {.width = 8};
    WORDS(&w, 0, 3, 0, 1, 0);
    for (uint64_t i = 0; i < 40; i++)
        WORDS(&w, 1, 4, 0x10 + i, i == 7 ? 0x99 : 0x1001, 0x2001, 0x3001);
    WORDS(&w, 1, 4, 0x3000, 0x1001, 0x2001, 0x5001);
    WORDS(&w, 0, 1, 0);
    cr_assert_eq(gp_translate(w.data, w.size, 0), PCOL_OK, "%s", gp_failure.message);
    cr_assert_not_null(strstr(gp_printed.text, "nanoseconds\nsample 1,1000 : 1 2\n"));
    cr_assert_not_null(strstr(gp_printed.text, "sample 1,1000 : 9 10 11 2\n"), "%s",
                       gp_printed.text);
    cr_assert_null(strstr(gp_printed.text, "m1 1000\n"), "the handler is still there");
}

/* The innermost address once as it is, once as a return address. */
Test(gperftools, cpu_double_leaf)
{
    struct words w = {.width = 4};
    WORDS(&w, 0, 3, 0, 1, 0);
    WORDS(&w, 1, 3, 0x500, 0x500, 0x601);
    WORDS(&w, 1, 2, 0x700, 0x801);
    WORDS(&w, 1, 2, 0x700, 0x901);
    WORDS(&w, 0, 1, 0);
    cr_assert_eq(gp_translate(w.data, w.size, 0), PCOL_OK, "%s", gp_failure.message);
    cr_assert_not_null(strstr(gp_printed.text, "sample 1,1000 : 1 3\n"), "%s", gp_printed.text);
    cr_assert_not_null(strstr(gp_printed.text, "location 2 m1 4ff\n"), "%s", gp_printed.text);
}

Test(gperftools, cpu_cut)
{
    struct words w = {.width = 4};
    WORDS(&w, 0, 3, 0, 1, 0);
    WORDS(&w, 1, 2, 0x500, 0x601);
    WORDS(&w, 1, 2, 0x500, 0x701);
    size_t whole = w.size;
    cr_assert_eq(gp_translate(w.data, w.size, 0), PCOL_OK, "%s", gp_failure.message);
    cr_assert_not_null(strstr(gp_messages, "no end mark"));
    WORDS(&w, 3, 3, 0x500, 0x601);
    for (size_t size = whole + 1; size <= w.size; size++) {
        cr_assert_eq(gp_translate(w.data, size, 0), PCOL_E_SYNTAX);
        cr_assert_eq(gp_failure.inflated_offset == PCOL_POSITION_UNKNOWN
                         ? gp_failure.offset
                         : gp_failure.inflated_offset,
                     whole);
        cr_assert_eq(gp_translate(w.data, size, 1), PCOL_OK, "%s", gp_failure.message);
        cr_assert_not_null(strstr(gp_printed.text, "sample 1,1000 : 1 3\nmapping"), "%s",
                           gp_printed.text);
        cr_assert_not_null(strstr(gp_messages, "truncated"));
    }
    /* A depth that the input cannot hold costs nothing. */
    w.size = whole;
    WORDS(&w, 1, 0xffffffff, 1);
    cr_assert_eq(gp_translate(w.data, w.size, 0), PCOL_E_SYNTAX);
}

/* ---- heap */

Test(gperftools, heap_in_use_only)
{
    gp_becomes("heap profile:    2:   96 [   2:   96] @ heapprofile\n"
               "     1:   64 [     1:   64] @ 0x401001 0x402001\n"
               "     1:   32 [     1:   32] @\n"
               "\n"
               "MAPPED_LIBRARIES:\n"
               "400000-500000: /bin/a (@0) c0ffee\n",
               "type objects/count\n"
               "type space/bytes\n"
               "sample 1,64 : 1 2 {bytes=64}\n"
               "sample 1,32 : {bytes=32}\n"
               "mapping 1 400000-500000+0 /bin/a c0ffee\n"
               "location 1 m1 401000\n"
               "location 2 m1 402000\n"
               "drop calloc|cf\n"
               "keep runtime\\.\n"
               "period space/bytes 1\n");
}

/* 1 / (1 - exp(-1024 / 1024)) = 1.58197...; Go's rate is halved; blocks of much more than the rate
 * are as they are. */
Test(gperftools, heap_unsampled)
{
    static const char expected[] = "type alloc_objects/count\n"
                                   "type alloc_space/bytes\n"
                                   "type inuse_objects/count\n"
                                   "type inuse_space/bytes\n"
                                   "sample 15,16199,1,1619 : 1 {bytes=1024}\n"
                                   "sample 2,2000000,0,0 : {bytes=1000000}\n"
                                   "mapping 1 0-ffffffffffffffff+0  \n"
                                   "location 1 m1 ff\n"
                                   "drop calloc|cf\n"
                                   "keep runtime\\.\n"
                                   "period space/bytes 1024\n";
    gp_becomes("heap profile: 1: 1024 [12: 2010240] @ heap/2048\n"
               "1: 1024 [10: 10240] @ 0x100\n"
               "#\t0xff\tmain.f+0x1\tf.go:3\n"
               "0: 0 [2: 2000000] @\n",
               expected);
    gp_becomes("heap profile: 1: 1024 [12: 2010240] @ heap_v2/1024\n"
               "1: 1024 [10: 10240] @ 0x100\n"
               "0: 0 [2: 2000000] @\n",
               expected);
}

Test(gperftools, heap_growth_and_fragmentation)
{
    static const char expected[] = "type objects/count\n"
                                   "type space/bytes\n"
                                   "sample 1,2097152 : 1 {bytes=2097152}\n"
                                   "mapping 1 0-ffffffffffffffff+0  \n"
                                   "location 1 m1 b83002\n"
                                   "drop calloc|cf\n"
                                   "keep runtime\\.\n"
                                   "period space/bytes 1\n";
    gp_becomes(
        "heap profile:  1: 2097152 [ 1: 2097152] @ growthz\n 1: 2097152 [ 1: 2097152] @ 0xb83003\n",
        expected);
    gp_becomes("heap profile:  1: 2097152 [ 1: 2097152] @ fragmentationz\r\n"
               " 1: 2097152 [ 1: 2097152] @ 0xb83003\r\n",
               expected);
}

Test(gperftools, heap_refused)
{
    gp_refused("heap profile: 1: 1 [1: 1] @ heap/2\n 1: 1 @ 0x1\n", 2, 2, "not a sample");
    gp_refused("heap profile: 1: 1 [1: 1] @ heap/2\n0: 1 [1: 1] @ 0x1\n", 2, 1, "count is 0");
    gp_refused("heap profile: 1: 1 [1: 1] @ heap/2\n1: 1 [1: 1] @ 0x1 0x10000000000000000\n", 2, 19,
               "64 bits");
    gp_refused("heap profile: 1: 1 [1: 1] @ heap/2\n9223372036854775808: 1 [1: 1] @\n", 2, 1,
               "64 bits");
    gp_refused("heap profile: 1: 1 [1: 1] @ heap_v3/2\n", 1, 1, "not a profile");
    gp_refused("heap profile: 1: 1 [1: 1] @ heap_v2/9000000000000000000\n1: 1 [1: 1] @\n", 2, 1,
               "unsampled");
    gp_refused("", 1, 1, "not a profile");
}

/* ---- counts */

Test(gperftools, count)
{
    gp_becomes("# a comment\n"
               "\n"
               "goroutine profile: total 3\n"
               "2 @ 0x2 0x3\n"
               "# labels: {\"a\":\"b\"}\n"
               "#\t0x1\tmain.f+0x1\tf.go:3\n"
               "\n"
               "1 @ 0x3 0x0\n",
               "type goroutine/count\n"
               "sample 2 : 1 2\n"
               "sample 1 : 2 3\n"
               "mapping 1 0-ffffffffffffffff+0  \n"
               "location 1 m1 1\n"
               "location 2 m1 2\n"
               "location 3 m1 ffffffffffffffff\n"
               "drop ProfileDa\n"
               "period goroutine/count 1\n");
    gp_refused("x profile: total 1\n1 @ 0x1 0x\n", 2, 11, "address");
    gp_refused("x profile: total 1\n1  @ 0x1\n", 2, 2, "not a sample");
    gp_refused("x profile: total 1\n-1 @ 0x1\n", 2, 1, "not a sample");
    gp_refused("x profile: total 1\n1 @ 0x1 \n", 2, 8, "address");
    gp_refused("x profile: total one\n", 1, 1, "not a profile");
    gp_refused("x profile: total 1\n1 @\n", 2, 4, "has no addresses");
}

Test(gperftools, count_without_addresses_leniently)
{
    static const char text[] = "threadcreate profile: total 5\n5 @\n#\t0x0\n\n";
    cr_assert_eq(gp_translate(text, strlen(text), 1), PCOL_OK, "%s", gp_failure.message);
    cr_assert_str_eq(gp_printed.text, "type threadcreate/count\nsample 5 :\ndrop ProfileDa\n"
                                      "period threadcreate/count 1\n");
    cr_assert_str_eq(gp_messages, "samples imported without addresses: 1");
}

/* ---- threads */

Test(gperftools, threads)
{
    gp_becomes("--- threadz 1 ---\n"
               "\n"
               "--- Thread 7f79 (name: main/14748) stack: ---\n"
               "  PC:  0x00401010: helper(arg *)\n"
               "  0x00402021: main\n"
               "--- Thread 7f80 (name: a/b/1) stack: ---\n"
               "  [same as previous thread]\n"
               "--- Thread 7f81 (name: /2) stack: ---\n"
               "  PC:  0x401010 0x401010\n"
               "      creator: 0x402021\n"
               "--- Memory map: ---\n"
               "  00400000-00500000: /bin/a\n"
               "  7fff000-7fff100: [vdso]\n",
               "type thread/count\n"
               "sample 2 : 1 2\n"
               "sample 1 : 1 2\n"
               "mapping 1 400000-500000+0 /bin/a \n"
               "mapping 2 7fff000-7fff100+0 [vdso] \n"
               "location 1 m1 401010\n"
               "location 2 m1 402020\n"
               "location 3 m1 40100f\n"
               "drop ProfileDa\n"
               "period thread/count 1\n");
    gp_refused("--- threadz 1 ---\n\n--- Thread 7f79 (name: main/1) stack: ---\n  0x1\n", 5, 1,
               "no memory map");
    gp_refused("--- threadz 1 ---\n--- Thread 7f79 (name: main) stack: ---\n", 2, 1,
               "not a thread");
}

/* ---- contention */

Test(gperftools, contention)
{
    gp_becomes("--- contentionz 1 ---\n"
               "cycles/second = 2000000000\n"
               "sampling period = 100\n"
               "ms since reset = 16\n"
               "discarded samples = 0\n"
               "  50 2 @ 0x11 0x21\n"
               "--- Memory map: ---\n"
               "10-30 /bin/a\n",
               "type contentions/count\n"
               "type delay/nanoseconds\n"
               "sample 200,2500 : 1 2\n"
               "mapping 1 10-30+0 /bin/a \n"
               "location 1 m1 10\n"
               "location 2 m1 20\n"
               "drop RecordLoc\n"
               "duration 16000000\n"
               "period contentions/count 100\n");
    gp_becomes("--- mutex:\ncycles/second=1000000000\nsampling period=1\n7 1 @ 0x11\n#\t0x10\tf\n",
               "type contentions/count\n"
               "type delay/nanoseconds\n"
               "sample 1,7 : 1\n"
               "mapping 1 0-ffffffffffffffff+0  \n"
               "location 1 m1 10\n"
               "drop RecordLoc\n"
               "period contentions/count 1\n");
    gp_refused("--- mutex:\nsampling period=x\n", 2, 17, "not a number");
    gp_refused("--- mutex:\nspeed=1\n", 2, 1, "unknown attribute");
    gp_refused("--- mutex:\n1 @ 0x1\n", 2, 1, "not a sample");
    gp_refused("--- mutex:\n1 99999999999999999999 @ 0x1\n", 2, 1, "64 bits");
}

/* ---- Java */

Test(gperftools, java)
{
    gp_becomes("--- contentionz 1 ---\n"
               "format = java\n"
               "resolution = microseconds\n"
               "sampling period = 10\n"
               "   7  2 @ 0x00000003 0x00000004 0x5\n"
               "\n"
               " 0x00000003 com.f (F.java:31)\n"
               " 0x00000004 libjvm (/usr/lib/libjvm.so)\n"
               " 0x00000004 GC\n"
               " 0x00000005 x generated stub/JIT y\n"
               " 0x00000006 unused (U.java:1)\n",
               "type contentions/count\n"
               "type delay/microseconds\n"
               "sample 20,70 : 1 2 3\n"
               "location 1 m0 0 f1:31\n"
               "location 2 m0 0 f2:0\n"
               "location 3 m0 0 f3:0\n"
               "function 1 com.f com.f F.java\n"
               "function 2 GC GC \n"
               "function 3 STUB STUB \n"
               "drop RecordLoc\n"
               "period contentions/count 10\n");
    gp_becomes("--- heapz 1 ---\nformat = java\nresolution = bytes\n"
               "   524288  1 @ 0x3\n 0x3 f (/lib/g.so)\n",
               "type inuse_objects/count\n"
               "type inuse_space/bytes\n"
               "sample 1,829411 : 1 {bytes=524288}\n"
               "location 1 m0 0 f1:0\n"
               "function 1 f f g.so\n"
               "drop calloc|cf\n"
               "keep runtime\\.\n"
               "period /\n");
    gp_refused("--- heapz 1 ---\n 1 1 @ 0x3\n", 2, 2, "resolution");
    gp_refused("--- heapz 1 ---\nformat = c\n", 2, 10, "java");
    gp_refused("--- heapz 1 ---\nformat = java\nresolution = bytes\n1 0 @ 0x3\n", 4, 3, "is 0");
}

/* ---- memory maps */

/* What becomes of a map, with samples at given addresses. */
static void maps_to(const char *addresses, const char *map, const char *expected)
{
    char text[4096];
    snprintf(text, sizeof text,
             "heap profile: 1: 1 [1: 1] @ heapprofile\n1: 1 [1: 1] @ %s\n"
             "--- Memory map: ---\n%s",
             addresses, map);
    cr_assert_eq(gp_translate(text, strlen(text), 0), PCOL_OK, "%s", gp_failure.message);
    const char *begin = strstr(gp_printed.text, "{bytes=1}\n") + 10, *end = strstr(begin, "drop");
    char got[4096];
    snprintf(got, sizeof got, "%.*s", (int)(end - begin), begin);
    cr_assert_str_eq(got, expected);
}

Test(gperftools, map_lines)
{
    maps_to("",
            "0x100-0x200 r-xp 00000010 fd:01 12 /bin/a (deleted)\n"
            "300-400 00000010 fd:01 12\n"
            "500-600: /lib/b.so.1 (@FF0) abc123 x\n"
            "700 800 /lib/c.so ff\n"
            "900-a00 rw-p 0 0:0 0 /data\n"
            "W1208 20:17 file.cc:12] b00-c00 /bin/logged\n"
            "dir=/opt/x\n"
            "d00-e00 $dir/d.so\n"
            "10000000000000000-e00 /too/large\n"
            "zz-yy\n"
            "f00-ff0 x\n"
            "f00-ff0 xyz\n",
            "mapping 1 100-200+10 /bin/a \n"
            "mapping 2 300-400+10  \n"
            "mapping 3 500-600+ff0 /lib/b.so.1 abc123\n"
            "mapping 4 700-800+0 /lib/c.so ff\n"
            "mapping 5 b00-c00+0 /bin/logged \n"
            "mapping 6 d00-e00+0 /opt/x/d.so \n"
            "mapping 7 f00-ff0+0  \n"
            "mapping 8 f00-ff0+0  \n");
}

Test(gperftools, map_order)
{
    /* The program first; pieces joined; what huge pages hide is left out. */
    maps_to("", "100-200: /lib/a.so\n300-400: [vdso]\n500-600: /bin/p\n700-800: /bin/q\n",
            "mapping 1 500-600+0 /bin/p \n"
            "mapping 2 300-400+0 [vdso] \n"
            "mapping 3 100-200+0 /lib/a.so \n"
            "mapping 4 700-800+0 /bin/q \n");
    maps_to("",
            "100-200: /bin/p (@1000)\n200-300: /bin/p (@1100)\n300-400: /bin/p (@1300)\n400-500\n",
            "mapping 1 100-300+1000 /bin/p \n"
            "mapping 2 300-500+1300 /bin/p \n");
    maps_to("", "100-200: /anon_hugepage\n200-300: /bin/p\n", "mapping 1 200-300+0 /bin/p \n");
    maps_to("0x400101", "402000-403000: /bin/p (@2000)\n",
            "mapping 1 400000-403000+0 /bin/p \nlocation 1 m1 400100\n");
}

Test(gperftools, map_places)
{
    /* The first that spans an address; else the first that its offset extends; else everything. */
    maps_to("0x151 0x251 0x11 0x31 0x901 0x41",
            "100-300: /bin/p\n120-180: /lib/a.so\n200-380: /lib/b.so\n390-3a0: /lib/c.so (@380)\n",
            "mapping 1 100-300+0 /bin/p \n"
            "mapping 2 120-180+0 /lib/a.so \n"
            "mapping 3 200-380+0 /lib/b.so \n"
            "mapping 4 10-3a0+0 /lib/c.so \n"
            "mapping 5 0-ffffffffffffffff+0  \n"
            "location 1 m1 150\n"
            "location 2 m1 250\n"
            "location 3 m4 10\n"
            "location 4 m4 30\n"
            "location 5 m5 900\n"
            "location 6 m4 40\n");
}

static uint64_t below(uint64_t n, uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (*seed >> 33) % n;
}

/* Against looking at all mappings for each address, on random maps that overlap. */
Test(gperftools, map_places_random)
{
    enum { MAPS = 12, ADDRESSES = 24 };
    uint64_t seed = 12345;
    for (int round = 0; round < 300; round++) {
        uint64_t start[MAPS + 1], limit[MAPS + 1], offset[MAPS + 1];
        char addresses[1024] = "", map[2048] = "", expected[4096] = "";
        unsigned count = 0, fake = 0, place[ADDRESSES];
        uint64_t address[ADDRESSES];
        for (unsigned i = 0; i < MAPS; i++, count++) {
            start[i] = 0x100 + below(300, &seed);
            limit[i] = start[i] + below(60, &seed);
            offset[i] = below(2, &seed) ? below(90, &seed) : 0;
            /* The first is the program, the names differ: nothing is moved or joined. */
            sprintf(map + strlen(map), "%" PRIx64 "-%" PRIx64 ": /%u (@%" PRIx64 ")\n", start[i],
                    limit[i], i, offset[i]);
        }
        for (unsigned a = 0; a < ADDRESSES; a++) {
            uint64_t far = 1000 * below(2, &seed);
            far *= below(2, &seed);
            address[a] = far + 0x80 + (below(20, &seed) * 20 + a) % 500;
            for (unsigned b = 0; b < a; b++)
                if (address[b] == address[a])
                    address[a] = 5000 + a;
            sprintf(addresses + strlen(addresses), " 0x%" PRIx64, address[a] + 1);
            unsigned m = 0;
            while (m < count && !(start[m] <= address[a] && address[a] < limit[m]))
                m++;
            for (unsigned e = 0; m == count && e < count; e++)
                if (offset[e] && start[e] - offset[e] <= address[a] && address[a] < start[e]) {
                    start[e] -= offset[e];
                    offset[e] = 0;
                    m = e;
                }
            if (m == count) {
                start[m] = offset[m] = 0;
                limit[m] = UINT64_MAX;
                fake = ++count;
            }
            place[a] = m + 1;
        }
        for (unsigned i = 0; i < count; i++) {
            sprintf(expected + strlen(expected), "mapping %u %" PRIx64 "-%" PRIx64 "+%" PRIx64 " ",
                    i + 1, start[i], limit[i], offset[i]);
            sprintf(expected + strlen(expected), i + 1 == fake ? " \n" : "/%u \n", i);
        }
        for (unsigned a = 0; a < ADDRESSES; a++)
            sprintf(expected + strlen(expected), "location %u m%u %" PRIx64 "\n", a + 1, place[a],
                    address[a]);
        maps_to(addresses, map, expected);
    }
}

/* Names that stand for each other must not grow without end. */
Test(gperftools, map_names_are_bounded)
{
    char text[8192] =
        "x profile: total 1\n--- Memory map: ---\na=bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n";
    for (int i = 0; i < 30; i++)
        sprintf(text + strlen(text), "n%02d=$%s$%s\n", i, i ? "" : "a", i ? "" : "a");
    for (int i = 1; i < 30; i++) {
        char name[16];
        sprintf(name, "n%02d=", i);
        char *at = strstr(text, name) + 4;
        sprintf(name, "$n%02d", i - 1);
        char line[40];
        snprintf(line, sizeof line, "%s%s\n", name, name);
        char rest[8192];
        strcpy(rest, strchr(at, '\n') + 1);
        strcpy(at, line);
        strcat(text, rest);
    }
    cr_assert_eq(gp_translate(text, strlen(text), 0), PCOL_E_SYNTAX, "%s", gp_printed.text);
    cr_assert_not_null(strstr(gp_failure.message, "65536"), "%s", gp_failure.message);
}

/* Every prefix of every kind ends in an answer, and so does every single changed byte. */
Test(gperftools, damaged_everywhere)
{
    static const char *const texts[] = {
        "heap profile: 1: 1024 [12: 2010240] @ heap/2048\n1: 1024 [10: 10240] @ 0x100\n",
        "goroutine profile: total 3\n2 @ 0x2 0x3\n",
        "--- threadz 1 ---\n--- Thread 7f (name: a/1) stack: ---\n 0x1: f\n--- Memory map: ---\n"
        "a=b\n400-500: /$a (@10) ff\n",
        "--- contentionz 1 ---\ncycles/second = 20\n  50 2 @ 0x11\n--- Memory map: ---\n10-30 "
        "a.so\n",
        "--- heapz 1 ---\nformat = java\nresolution = bytes\n   7  1 @ 0x3\n 0x3 f (g:1)\n",
    };
    static const char bytes[] = "\0\n 0:@x-[]=$(/a9\x80\xff";
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        size_t size = strlen(texts[t]);
        for (size_t cut = 0; cut < size; cut++)
            (void)gp_translate(texts[t], cut, cut % 2);
        for (size_t at = 0; at < size; at++)
            for (size_t b = 0; b + 1 < sizeof bytes; b++) {
                char text[256];
                memcpy(text, texts[t], size);
                text[at] = bytes[b];
                (void)gp_translate(text, size, 0);
            }
    }
}

static int allocations_left;

static int fail_later(void)
{
    return allocations_left-- <= 0;
}

Test(gperftools, out_of_memory)
{
    static const char text[] =
        "--- heapz 1 ---\nformat = java\nresolution = bytes\n   7  1 @ 0x3\n 0x3 f (g:1)\n";
    pcol_status status = PCOL_E_NO_MEMORY;
    for (int n = 0; status != PCOL_OK && n < 200; n++) {
        struct pci_input input;
        pcol_import_options options = PCOL_INIT(pcol_import_options);
        struct pci_import import = {NULL, &input, &options, "gperftools", NULL, PCOL_NONE};
        uint8_t *proto = NULL;
        size_t size;
        cr_assert_eq(pci_input_open_memory(&input, text, strlen(text), "in", NULL, &gp_failure),
                     PCOL_OK);
        allocations_left = n;
        pci_alloc_hook = fail_later;
        status = pci_gperftools_convert(&import, &proto, &size, &gp_failure);
        pci_alloc_hook = NULL;
        cr_assert(status == PCOL_OK || status == PCOL_E_NO_MEMORY);
        pci_free(proto);
        pci_input_close(&input);
    }
    cr_assert_eq(status, PCOL_OK);
}

/*
 * test_input.c - the window over files, pipes and memory, gzip, and the choice of a format
 */
#include <criterion/criterion.h>

#include "stream/input_open.h"
#include "testing.h"
#include "util/alloc.h"
#include "util/import_budget.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

TestSuite(input, .init = folder_begin, .fini = folder_end);

/* One gzip member. */
static size_t gzip(const void *data, size_t size, uint8_t *out, size_t capacity)
{
    z_stream z = {0};
    cr_assert_eq(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    z.next_out = out;
    z.avail_out = (uInt)capacity;
    cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t got = capacity - z.avail_out;
    deflateEnd(&z);
    return got;
}

static uint8_t *pattern(size_t size)
{
    uint8_t *data = malloc(size + 1);
    uint32_t x = 1;
    cr_assert_not_null(data);
    for (size_t i = 0; i < size; i++) {
        x = x * 1664525u + 1013904223u;
        data[i] = (uint8_t)(i % 7 ? x >> 24 : 'a');
    }
    return data;
}

/* Read all, consuming now a little, now all but a little. */
static void expect_content(struct pci_input *input, const uint8_t *data, size_t size)
{
    size_t at = 0, turn = 0;
    for (;;) {
        cr_assert_eq(input->offset, at);
        cr_assert_leq(at + input->size, size);
        cr_assert_arr_eq(input->data, data + at, input->size);
        if (input->end)
            break;
        size_t keep = turn++ % 3 == 0 ? input->size : turn % 3 == 1 ? 5 : 0;
        size_t consumed = input->size > keep ? input->size - keep : 0;
        pcol_error err;
        at += consumed;
        cr_assert_eq(pci_input_more(input, consumed, &err), PCOL_OK);
    }
    cr_assert_eq(at + input->size, size);
    cr_assert_eq(pci_input_more(input, input->size, NULL), PCOL_OK);
    cr_assert(input->end && !input->size);
}

Test(input, files_whatever_their_size)
{
    static const size_t sizes[] = {0, 1, 2, 3, 100, 4096, 100000, 3000000};
    static const size_t pieces[] = {1, 3, 4096, 0};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint8_t *data = pattern(sizes[s]);
        const char *path = folder_file("plain", data, sizes[s]);
        for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
            struct pci_input_options options = {.max_bytes = 0, .piece = pieces[p]};
            struct pci_input input;
            if (sizes[s] > 100000 && pieces[p] && pieces[p] < 4096)
                continue;
            cr_assert_eq(pci_input_open_path(&input, path, &options, NULL), PCOL_OK);
            cr_assert(pci_input_is_file(&input));
            expect_content(&input, data, sizes[s]);
            pci_input_close(&input);
        }
        free(data);
    }
}

/* A file out of turn: a part of it anywhere, the input itself forwards. */
Test(input, parts_and_skips)
{
    enum { SIZE = 1000000 };
    static const uint64_t places[] = {999999, 0, 500000, 500010, 1000000};
    uint8_t *data = pattern(SIZE);
    const char *path = folder_file("plain", data, SIZE);
    struct pci_input_options options = {.piece = 4096};
    struct pci_input input, part;
    cr_assert_eq(pci_input_open_path(&input, path, &options, NULL), PCOL_OK);
    cr_assert_eq(pci_input_bytes(&input), SIZE);
    cr_assert_eq(pci_input_open_part(&part, &input, NULL), PCOL_OK);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        cr_assert_eq(pci_input_skip(&part, places[i], NULL), PCOL_OK);
        cr_assert_eq(pci_input_more(&part, 0, NULL), PCOL_OK);
        cr_assert_eq(part.offset, places[i]);
        cr_assert_eq(part.end, places[i] == SIZE);
        cr_assert(part.size > 0 || part.end);
        cr_assert_arr_eq(part.data, data + places[i], part.size);
    }
    /* Up to a pause, and then only as much as is asked for once more. */
    input.pause = 10000;
    while (input.offset + input.size < 10000)
        cr_assert_eq(pci_input_more(&input, 0, NULL), PCOL_OK);
    cr_assert_eq(input.offset + input.size, 10000);
    input.pause = 0;
    for (size_t i = 2; i < sizeof places / sizeof *places; i++) {
        cr_assert_eq(pci_input_skip(&input, places[i] - 5, NULL), PCOL_OK);
        cr_assert_eq(pci_input_more(&input, 0, NULL), PCOL_OK);
        cr_assert_eq(input.offset, places[i] - 5);
        cr_assert_geq(input.size, 5);
        cr_assert_arr_eq(input.data, data + places[i] - 5, input.size);
    }
    struct pci_input inner; /* a part of a part is one of the whole, and may end early */
    cr_assert_eq(pci_input_bytes(&part), SIZE);
    cr_assert_eq(pci_input_open_part(&inner, &part, NULL), PCOL_OK);
    pci_input_end_part(&inner, 5000);
    cr_assert_eq(pci_input_skip(&inner, 4990, NULL), PCOL_OK);
    while (!inner.end)
        cr_assert_eq(pci_input_more(&inner, 0, NULL), PCOL_OK);
    cr_assert(inner.offset == 4990 && inner.size == 10);
    cr_assert_arr_eq(inner.data, data + 4990, 10);
    pci_input_close(&inner);
    pci_input_close(&part);
    pci_input_close(&input);
    cr_assert_eq(pci_input_open_memory(&input, data, SIZE, NULL, NULL, NULL), PCOL_OK);
    cr_assert_eq(pci_input_bytes(&input), 0);
    pci_input_close(&input);
    free(data);
}

Test(input, gzip_of_several_members)
{
    enum { SIZE = 700000 };
    uint8_t *data = pattern(SIZE), *packed = malloc(2 * SIZE);
    size_t size = 0, cuts[] = {0, 10, 10, 300000, SIZE};
    cr_assert_not_null(packed);
    for (size_t i = 0; i + 1 < sizeof cuts / sizeof cuts[0]; i++)
        size += gzip(data + cuts[i], cuts[i + 1] - cuts[i], packed + size, 2 * SIZE - size);
    const char *path = folder_file("x.gz", packed, size);
    static const size_t pieces[] = {1, 777, 0};
    for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
        struct pci_input_options options = {.max_bytes = 0, .piece = pieces[p]};
        struct pci_input input;
        cr_assert_eq(pci_input_open_path(&input, path, &options, NULL), PCOL_OK);
        cr_assert_not(pci_input_is_file(&input));
        expect_content(&input, data, SIZE);
        pci_input_close(&input);
        cr_assert_eq(pci_input_open_memory(&input, packed, size, "m", &options, NULL), PCOL_OK);
        expect_content(&input, data, SIZE);
        pci_input_close(&input);
    }
    free(data);
    free(packed);
}

static int trusted;

static pcol_status read_memory(const void *data, size_t size, uint64_t limit, pcol_error *err)
{
    struct pci_input input;
    struct pci_budget budget = {.trusted = trusted};
    struct pci_input_options options = {.max_bytes = limit, .piece = 0, .budget = &budget};
    pcol_status status = pci_input_open_memory(&input, data, size, "m", &options, err);
    while (status == PCOL_OK && !input.end)
        status = pci_input_more(&input, input.size, err);
    pci_input_close(&input);
    return status;
}

Test(input, damaged_gzip)
{
    uint8_t data[5000], packed[8000];
    pcol_error err;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i >> 3);
    size_t size = gzip(data, sizeof data, packed, sizeof packed);
    cr_assert_eq(read_memory(packed, size, 0, &err), PCOL_OK);
    for (size_t cut = 2; cut < size; cut++) {
        cr_assert_eq(read_memory(packed, cut, 0, &err), PCOL_E_SYNTAX, "cut at %zu", cut);
        cr_assert_str_eq(err.message, "gzip data is truncated");
        cr_assert_eq(err.offset, cut);
        cr_assert_leq(err.inflated_offset, sizeof data);
    }
    for (size_t i = size - 8; i < size; i++) { /* checksum and length */
        packed[i] ^= 1;
        cr_assert_eq(read_memory(packed, size, 0, &err), PCOL_E_SYNTAX);
        cr_assert_eq(err.inflated_offset, sizeof data);
        cr_assert_not_null(strstr(err.message, "does not match"));
        packed[i] ^= 1;
    }
    for (size_t bit = 0; bit < 8 * size;
         bit++) { /* no flip passes but in the header's idle fields */
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (read_memory(packed, size, 0, &err) == PCOL_OK)
            cr_assert_lt(bit / 8, 10);
        packed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    packed[size] = 'x';
    cr_assert_eq(read_memory(packed, size + 1, 0, &err), PCOL_E_SYNTAX);
    cr_assert_str_eq(err.message, "bytes after the end of the gzip data");
    cr_assert_eq(err.offset, size);
    packed[size] = 0;
    cr_assert_eq(read_memory(packed, size + 1, 0, &err), PCOL_E_SYNTAX);
}

Test(input, gzip_inside_gzip)
{
    uint8_t inner[200], outer[400];
    pcol_error err;
    size_t size = gzip("text", 4, inner, sizeof inner);
    size = gzip(inner, size, outer, sizeof outer);
    cr_assert_eq(read_memory(outer, size, 0, &err), PCOL_E_FORMAT);
    cr_assert_not_null(strstr(err.message, "gzip inside gzip"));
}

Test(input, limits)
{
    uint8_t *data = calloc(1, 1000000), *packed = malloc(10000);
    pcol_error err;
    size_t size = gzip(data, 1000000, packed, 10000);
    cr_assert_eq(read_memory(data, 1000, 1000, &err), PCOL_OK);
    cr_assert_eq(read_memory(data, 1001, 1000, &err), PCOL_E_LIMIT);
    cr_assert_str_eq(err.message, "input is larger than the limit of 1000 bytes");
    cr_assert_eq(read_memory(packed, size, 1000000, &err), PCOL_OK);
    cr_assert_eq(read_memory(packed, size, 999999, &err), PCOL_E_LIMIT);
    struct pci_input input;
    struct pci_input_options options = {.max_bytes = 999999, .piece = 0};
    const char *path = folder_file("large", data, 1000000);
    pcol_status status = pci_input_open_path(&input, path, &options, &err);
    while (status == PCOL_OK && !input.end)
        status = pci_input_more(&input, input.size, &err);
    cr_assert_eq(status, PCOL_E_LIMIT);
    pci_input_close(&input);
    free(data);
    free(packed);
}

/* Data that grows a thousand times: rejected past 64 MiB and 200 times, unless it is trusted. A
 * limit does not make it so. */
Test(input, growth)
{
    enum { SIZE = 90 << 20 };
    uint8_t *data = calloc(1, SIZE), *packed = malloc(1 << 20);
    pcol_error err;
    size_t size = gzip(data, SIZE, packed, 1 << 20);
    cr_assert_eq(read_memory(packed, size, 0, &err), PCOL_E_LIMIT);
    cr_assert_not_null(strstr(err.message, "200 times"), "%s", err.message);
    cr_assert_eq(read_memory(packed, size, SIZE, &err), PCOL_E_LIMIT, "%s", err.message);
    trusted = 1;
    cr_assert_eq(read_memory(packed, size, 0, &err), PCOL_OK, "%s", err.message);
    cr_assert_eq(read_memory(packed, size, SIZE, &err), PCOL_OK, "%s", err.message);
    cr_assert_eq(read_memory(packed, size, SIZE - 1, &err), PCOL_E_LIMIT);
    trusted = 0;
    size = gzip(data, 60 << 20, packed, 1 << 20);
    cr_assert_eq(read_memory(packed, size, 0, &err), PCOL_OK, "%s", err.message);
    free(data);
    free(packed);
}

/* A piece that is never consumed: the window grows to 64 MiB and no further. */
Test(input, endless_token)
{
    struct pci_input input;
    pcol_error err;
    cr_assert_eq(pci_input_open_path(&input, "/dev/zero", NULL, &err), PCOL_OK);
    pcol_status status;
    do
        status = pci_input_more(&input, 0, &err);
    while (status == PCOL_OK);
    cr_assert_eq(status, PCOL_E_LIMIT);
    cr_assert_str_eq(err.message, "a token or line of the input is longer than 64 MiB");
    cr_assert_eq(input.size, (size_t)64 << 20);
    pci_input_close(&input);
}

Test(input, what_is_no_file)
{
    struct pci_input input;
    pcol_error err;
    cr_assert_eq(pci_input_open_path(&input, folder, NULL, &err), PCOL_E_IO);
    cr_assert_str_eq(err.message, "is a directory");
    cr_assert_eq(pci_input_open_path(&input, folder_path("none"), NULL, &err), PCOL_E_IO);
    cr_assert_not_null(strstr(err.message, "No such file"));
    int fd = open(folder, O_RDONLY);
    cr_assert_eq(pci_input_open_fd(&input, fd, "-", NULL, &err), PCOL_E_IO);
    cr_assert_eq(fcntl(fd, F_GETFD), 0); /* a descriptor of the caller's stays open */
    close(fd);
    cr_assert_eq(pci_input_open_fd(&input, -1, "-", NULL, &err), PCOL_E_ARGUMENT);
    cr_assert_eq(pci_input_open_path(&input, "/dev/null", NULL, &err), PCOL_OK);
    cr_assert(input.end && !input.size);
    pci_input_close(&input);
}

static int failing; /* which allocation fails, counted down */

static int fail_one(void)
{
    return failing-- == 0;
}

Test(input, no_memory)
{
    uint8_t data[1000] = {0}, packed[1000];
    size_t size = gzip(data, sizeof data, packed, sizeof packed);
    const char *path = folder_file("x.gz", packed, size);
    pci_alloc_hook = fail_one;
    for (int n = 0;; n++) {
        struct pci_input input;
        pcol_error err;
        failing = n;
        pcol_status status = pci_input_open_path(&input, path, NULL, &err);
        pci_input_close(&input);
        if (status == PCOL_OK)
            break;
        cr_assert_eq(status, PCOL_E_NO_MEMORY);
        cr_assert_lt(n, 100);
    }
    pci_alloc_hook = NULL;
}

/* ---- formats */

static pcol_status import(const char *text, size_t size, const char *name, const char *format,
                          pcol_error *err)
{
    pcol_builder *builder;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    options.format = format;
    cr_assert_eq(pcol_builder_new(NULL, &builder, err), PCOL_OK);
    pcol_status status = pcol_import_memory(builder, text, size, name, &options, err);
    pcol_builder_free(builder);
    return status;
}

Test(input, table_of_formats)
{
    size_t count = 0;
    for (const pcol_format *f; (f = pcol_format_at(count)); count++) {
        cr_assert(*f->name && *f->summary && *f->keeps && f->suffixes);
        cr_assert(f->reads || f->writes);
        for (size_t i = 0; i < count; i++)
            cr_assert_str_neq(f->name, pcol_format_at(i)->name);
    }
    cr_assert_geq(count, 4);
    cr_assert_null(pcol_format_at(SIZE_MAX));
}

Test(input, recognising)
{
    static const char rprof[] = "sample.interval=20000\n\"f\" \n";
    pcol_error err;
    cr_assert_eq(import(rprof, sizeof rprof - 1, "x", NULL, &err), PCOL_OK);
    cr_assert_eq(import(rprof, sizeof rprof - 1, "x", "auto", &err), PCOL_OK);
    cr_assert_eq(import(rprof, sizeof rprof - 1, "x", "rprof", &err), PCOL_OK);
    cr_assert_eq(import(rprof, sizeof rprof - 1, "x", "nosuch", &err), PCOL_E_NOT_FOUND);
    cr_assert_not_null(strstr(err.message, "rprof, rprofmem"), "%s", err.message);
    cr_assert_eq(import("hello", 5, "x", NULL, &err), PCOL_E_FORMAT);
    cr_assert_not_null(strstr(err.message, "format not recognised: it looks like none of rprof"));
    cr_assert_eq(import("", 0, "x", NULL, &err), PCOL_E_FORMAT);
    cr_assert_str_eq(err.message, "input is empty");
    cr_assert_eq(import("", 0, "dir/x.Rprof", NULL, &err), PCOL_OK);
    cr_assert_eq(import("", 0, "x.RPROF.gz", NULL, &err), PCOL_OK);
    cr_assert_eq(import("", 0, ".Rprof", NULL, &err), PCOL_E_FORMAT); /* a name, not a suffix */
    cr_assert_eq(import("\x89PCOL\r\n\x1a", 8, "x", NULL, &err), PCOL_E_TRUNCATED);
    cr_assert_eq(import("\x89PCOL\n\x1a garbage", 15, "x", NULL, &err), PCOL_E_MAGIC);
}

/*
 * flip.c - enumerated damage to a file: flipped bits, truncation, fields, values
 *
 *     flip [-n EVERY] [-v EVERY] [-s SEED] [-k KEPT] FILE...
 *
 * For each valid file: every bit is flipped, the file is truncated to every length, and every field
 * of the header and every byte of the records is set to each value at which a check may be off by
 * one. Opening or check must detect every flip, and opening every truncation. Changed fields get
 * valid checksums and must give an error or an answer within bounds. Each damaged file is in a
 * block of exactly its size, so that ASan detects reads beyond it. -n: one case in EVERY, chosen
 * by the seed.
 *
 * Checksums do not protect against attackers, who recompute them. So every byte of every section is
 * also set to some values with all checksums recomputed, and the file is read, checked, queried,
 * filtered, drawn and exported by the targets of tests/hostile/fuzz, which assert invariants that
 * hold for any bytes. -v: one of these cases in EVERY. A violated invariant ends the program and
 * leaves the file in KEPT. The last line has the totals.
 */
#include "format/layout.h"
#include "pcol.h"
#include "seal.h"

#include "../fuzz/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are read of one table: a damaged file may claim 2^48. */
#define MAX_ROWS 4096u

struct file {
    const char *path;
    uint8_t *bytes;
    size_t size;
};

static uint64_t every = 1, every_value = 1;
static uint64_t state = 1;
static uint64_t passed, failed;
static FILE *kept; /* holds what is being looked at */

/* Whether this case is one of those to look at: xorshift, the same for the same seed. */
static int chosen(uint64_t one_in)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % one_in == 0;
}

static void *need(size_t size)
{
    void *memory = malloc(size ? size : 1);
    if (!memory) {
        fprintf(stderr, "flip: out of memory\n");
        exit(2);
    }
    return memory;
}

/* ---- reading all there is */

static void read_table(const pcol_table *table)
{
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    if (pcol_scan_new(
            table, &(pcol_scan_options){.size = sizeof(pcol_scan_options), .row_count = MAX_ROWS},
            &scan, NULL) != PCOL_OK)
        return;
    while (pcol_scan_next(scan, &batch, NULL) == PCOL_OK && batch.rows)
        continue;
    pcol_scan_free(scan);
    for (uint32_t i = 0; i < pcol_table_column_count(table); i++) {
        const pcol_column *column = pcol_table_column(table, i);
        uint64_t last = pcol_table_rows(table) - 1;
        pcol_buffer buffer;
        int64_t number;
        pcol_str text;
        (void)!pcol_column_i64(column, last, &number, NULL, NULL);
        (void)!pcol_column_str(column, last, &text, NULL, NULL);
        (void)!pcol_column_data(column, &buffer, NULL);
    }
}

static void read_models(const pcol_file *file)
{
    for (int model = PCOL_MODEL_V2; model <= PCOL_MODEL_PHYSICAL; model++) {
        uint32_t count = pcol_file_table_count(file, (pcol_model)model);
        for (uint32_t i = 0; i < count; i++) {
            const pcol_table *table;
            if (pcol_file_table(file, (pcol_model)model, i, &table, NULL) == PCOL_OK)
                read_table(table);
        }
    }
}

enum { REJECTED, FAULTY, VALID };

/* The verdict on these bytes: rejected at open, faulty by check, or valid. */
static int judge(const uint8_t *bytes, size_t size)
{
    pcol_file *file;
    uint64_t faults = 0;
    if (pcol_file_open_memory(bytes, size, NULL, &file, NULL) != PCOL_OK)
        return REJECTED;
    read_models(file);
    pcol_status status = pcol_file_check(file, PCOL_CHECK_DEFAULT, NULL, NULL, NULL, &faults, NULL);
    pcol_file_close(file);
    return status != PCOL_OK || faults ? FAULTY : VALID;
}

/* Reports that are wanted, and those that came. */
struct reports {
    uint64_t wanted, came;
};

static int count_report(void *context, const pcol_fault *fault)
{
    struct reports *reports = context;
    (void)fault;
    return ++reports->came >= reports->wanted;
}

/* A caller that stops a check at its first, second or last report gets no further one. More faults
 * are counted than reported: the first ones of a kind, then the number of the others. */
static int stops(const uint8_t *bytes, size_t size)
{
    struct reports all = {UINT64_MAX, 0};
    uint64_t all_faults = 0, faults = 0;
    pcol_file *file;
    int right = 1;
    if (pcol_file_open_memory(bytes, size, NULL, &file, NULL) != PCOL_OK)
        return 1;
    if (pcol_file_check(file, PCOL_CHECK_STRICT, count_report, &all, NULL, &all_faults, NULL) !=
        PCOL_OK)
        all_faults = UINT64_MAX; /* it got no further: their number is unknown */
    const uint64_t wanted[] = {1, 2, all.came / 2, all.came};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct reports some = {wanted[i], 0};
        if (wanted[i] < 1 || wanted[i] > all.came)
            continue;
        (void)!pcol_file_check(file, PCOL_CHECK_STRICT, count_report, &some, NULL, &faults, NULL);
        right = right && some.came == wanted[i] && faults <= all_faults;
    }
    pcol_file_close(file);
    return right;
}

static void expect(int right, const struct file *file, const char *what, uint64_t number)
{
    if (right) {
        passed++;
        return;
    }
    failed++;
    fprintf(stderr, "FAIL %s: %s %llu is not found\n", file->path, what,
            (unsigned long long)number);
}

/* All that can be made of these bytes; each target copies them into a block of their size. */
static void use(const uint8_t *bytes, size_t size)
{
    static const char *const targets[] = {"open",   "check", "query", "export",
                                          "filter", "flame", "ask",   "import_pcol"};
    struct fuzz_target target;
    if (kept) {
        rewind(kept);
        if (fwrite(bytes, 1, size, kept) != size || fflush(kept))
            perror("flip: what is kept");
    }
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (fuzz_find(targets[i], &target))
            fuzz_run(&target, bytes, size);
}

/* ---- the four kinds of damage */

/* Fields that a later version added to the header: this one reads neither them nor their checksum.
 */
static int is_ignored(const struct file *file, uint64_t byte)
{
    struct pcf_header h;
    memcpy(&h, file->bytes, sizeof h);
    return byte >= sizeof h && byte < h.header_size;
}

static void flips(const struct file *file)
{
    uint8_t *copy = need(file->size);
    memcpy(copy, file->bytes, file->size);
    for (uint64_t bit = 0; bit < 8 * (uint64_t)file->size; bit++) {
        uint8_t mask = (uint8_t)(1u << bit % 8);
        if (is_ignored(file, bit / 8) || !chosen(every))
            continue;
        copy[bit / 8] ^= mask;
        expect(judge(copy, file->size) != VALID, file, "flipped bit", bit);
        copy[bit / 8] ^= mask;
    }
    free(copy);
}

static void cuts(const struct file *file)
{
    for (size_t size = 0; size < file->size; size++) {
        uint8_t *copy;
        if (!chosen(every))
            continue;
        copy = need(size);
        memcpy(copy, file->bytes, size);
        expect(judge(copy, size) == REJECTED, file, "cut at byte", size);
        free(copy);
    }
}

/* Fields of each width; reserved bytes are fields of 1. */
struct field {
    size_t offset, size;
};

#define FIELD(type, name)                                           \
    {                                                               \
        offsetof(struct type, name), sizeof((struct type *)0)->name \
    }

static const struct field of_header[] = {FIELD(pcf_header, magic[0]),
                                         FIELD(pcf_header, major),
                                         FIELD(pcf_header, minor),
                                         FIELD(pcf_header, header_size),
                                         FIELD(pcf_header, incompatible),
                                         FIELD(pcf_header, read_only_compatible),
                                         FIELD(pcf_header, compatible),
                                         FIELD(pcf_header, file_size),
                                         FIELD(pcf_header, index_offset),
                                         FIELD(pcf_header, index_size),
                                         FIELD(pcf_header, index_checksum),
                                         FIELD(pcf_header, table_count),
                                         FIELD(pcf_header, column_count),
                                         FIELD(pcf_header, section_count),
                                         FIELD(pcf_header, records_size),
                                         FIELD(pcf_header, child_count),
                                         FIELD(pcf_header, checksum_algorithm),
                                         FIELD(pcf_header, reserved0),
                                         FIELD(pcf_header, reserved1[0]),
                                         FIELD(pcf_header, header_checksum)};
/* One field of a sound file set to each value of interest; little-endian, as this machine is. */
static void field_values(const struct file *file, size_t at, size_t size)
{
    uint64_t now = 0;
    memcpy(&now, file->bytes + at, size);
    const uint64_t values[] = {0,
                               1,
                               now - 1,
                               now,
                               now + 1,
                               INT32_MAX,
                               127,
                               128,
                               UINT64_C(1) << 31,
                               UINT32_MAX,
                               UINT64_C(1) << 32,
                               UINT64_C(1) << 61,
                               INT64_MAX,
                               UINT64_C(1) << 63,
                               UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        uint8_t *copy;
        if (!chosen(every))
            continue;
        copy = need(file->size);
        memcpy(copy, file->bytes, file->size);
        memcpy(copy + at, &values[i], size);
        (void)judge(copy, file->size);
        seal(copy, file->size);
        (void)judge(copy, file->size);
        if (chosen(every_value)) {
            use(copy, file->size);
            expect(stops(copy, file->size), file, "end of a check that was stopped, byte", at);
        }
        free(copy);
        passed++;
    }
}

static void all_fields(const struct file *file)
{
    struct pcf_header h;
    memcpy(&h, file->bytes, sizeof h);
    for (size_t k = 0; k < sizeof of_header / sizeof *of_header; k++)
        field_values(file, of_header[k].offset, of_header[k].size);
    if (h.incompatible & PCF_INCOMPATIBLE_ARCHIVE)
        return; /* its index is compressed: no field of it has a place, and flips go through it */
    for (size_t at = (size_t)h.section_count * 8; at < h.index_size; at++)
        field_values(file, (size_t)h.index_offset + at, 1);
}

/* Each byte of what the header and the index lead to with each value at which something may turn:
 * none, all, one more or less, the other sign. In an archive flips go through all that is
 * compressed. */
static void all_values(const struct file *file)
{
    struct pcf_header h;
    memcpy(&h, file->bytes, sizeof h);
    for (size_t at = h.header_size; at < file->size; at++) {
        uint8_t now = file->bytes[at];
        const uint8_t values[] = {0,           0xff,       (uint8_t)(now + 1), (uint8_t)(now - 1),
                                  now ^ 0x80u, now ^ 0x04u};
        int is_index = at >= h.index_offset && at - h.index_offset < h.index_size;
        for (size_t i = 0; i < sizeof values; i++) {
            if (is_index || h.incompatible & PCF_INCOMPATIBLE_ARCHIVE || values[i] == now ||
                !chosen(every_value))
                continue;
            uint8_t *copy = need(file->size);
            memcpy(copy, file->bytes, file->size);
            copy[at] = values[i];
            seal(copy, file->size);
            use(copy, file->size);
            expect(stops(copy, file->size), file, "end of a check that was stopped, byte", at);
            free(copy);
            passed++;
        }
    }
}

/* ---- files */

static struct file load(const char *path)
{
    struct file file = {path, NULL, 0};
    FILE *stream = fopen(path, "rb");
    long size;
    if (!stream || fseek(stream, 0, SEEK_END) || (size = ftell(stream)) < 0) {
        perror(path);
        exit(2);
    }
    rewind(stream);
    file.size = (size_t)size;
    file.bytes = need(file.size);
    if (fread(file.bytes, 1, file.size, stream) != file.size) {
        perror(path);
        exit(2);
    }
    fclose(stream);
    return file;
}

int main(int argc, char **argv)
{
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        uint64_t number = strtoull(argv[i + 1], NULL, 10);
        if (argv[i][1] == 'k') {
            kept = fopen(argv[i + 1], "wb");
            continue;
        }
        uint64_t *of = argv[i][1] == 'n' ? &every : argv[i][1] == 'v' ? &every_value : &state;
        *of = number ? number : 1;
    }
    for (; i < argc; i++) {
        struct file file = load(argv[i]);
        expect(judge(file.bytes, file.size) == VALID, &file, "soundness of byte", 0);
        flips(&file);
        cuts(&file);
        all_fields(&file);
        all_values(&file);
        free(file.bytes);
        if (kept && !freopen(NULL, "wb", kept)) /* the next one may be shorter */
            kept = NULL;
    }
    printf("%llu passed, %llu failed\n", (unsigned long long)passed, (unsigned long long)failed);
    return failed ? 1 : 0;
}

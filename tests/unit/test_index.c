/*
 * test_index.c - opening: what a damaged or hostile header and index may do
 *
 * A file with every encoding in it is built once and then changed. With the checksums left alone,
 * every changed bit must be noticed; with the checksums made right again, every change must end in
 * an error or in answers that stay within the file. Each image is a buffer of its exact size, so
 * that the address sanitizer sees a read beyond it.
 */
#include <criterion/criterion.h>

#include "core/alloc.h"
#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct pci_column *find(const pcol_file *file, int column)
{
    const struct pci_column *c =
        pci_column_find(pci_table_find(file, "things"), image_columns[column]);
    cr_assert_not_null(c);
    return c;
}

static void check_cells(const pcol_file *file, int plain)
{
    static const uint8_t encodings[COLUMNS] = {PCF_LINEAR, PCF_PACKED, PCF_BLOCKED,
                                               PCF_SPARSE, PCF_SPARSE, PCF_RUNS,
                                               PCF_PACKED, PCF_PLAIN,  PCF_PLAIN};
    pcol_error err;
    for (int k = 0; k < COLUMNS; k++) {
        const struct pci_column *c = find(file, k);
        cr_assert(c->supported);
        MUST(pci_verify(file, c, &err));
        MUST(pci_verify(file, c, &err));
        cr_assert(plain || c->desc->encoding == encodings[k], "column %s has encoding %d", c->name,
                  c->desc->encoding);
        for (uint64_t row = 0; row < ROWS && k <= RUNS; row++) {
            int64_t value;
            int valid;
            MUST(pci_get(file, c, row, &value, &valid, &err));
            cr_assert_eq(valid, k != SPARSE_NULL || row % 40 == 1);
            cr_assert_eq(value, valid ? image_cell(k, row) : 0);
        }
    }
    pcol_str text;
    int valid;
    MUST(pci_get_str(file, find(file, STRING), 6, &text, &valid, &err));
    cr_assert(valid && text.size == 7 && memcmp(text.data, "text 36", 7) == 0);
    MUST(pci_get_str(file, find(file, OWN), 2, &text, &valid, &err));
    cr_assert(valid && text.size == 6 && memcmp(text.data, "text 4", 6) == 0);
    MUST(pci_get_str(file, find(file, OWN), 3, &text, &valid, &err));
    cr_assert(!valid && text.size == 0);
}

Test(index, sound_files_open)
{
    static const unsigned flags[] = {0, PCOL_WRITE_PLAIN};
    for (size_t i = 0; i < 2; i++) {
        struct image image = image_build(flags[i]);
        pcol_open_options options = PCOL_INIT(pcol_open_options);
        char path[] = "/tmp/pcol-test-XXXXXX";
        int fd = mkstemp(path);
        FILE *out = fdopen(fd, "wb");
        cr_assert(out && fwrite(image.bytes, 1, image.size, out) == image.size);
        cr_assert_eq(fclose(out), 0);
        for (int how = 0; how < 4; how++) {
            pcol_file *file;
            pcol_error err;
            unsigned major, minor;
            options.flags = how & 1 ? PCOL_OPEN_COPY : 0;
            if (how < 2)
                MUST(pcol_file_open(path, &options, &file, &err));
            else
                MUST(pcol_file_open_memory(image.bytes, image.size, &options, &file, &err));
            cr_assert_eq(pcol_file_size(file), image.size);
            pcol_file_version(file, &major, &minor);
            cr_assert(major == 1 && minor == 0);
            check_cells(file, i == 1);
            pcol_file_close(file);
        }
        remove(path);
        free(image.bytes);
    }
}

Test(index, arguments_are_checked)
{
    struct image image = image_build(0);
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    pcol_file *file;
    pcol_error err;
    cr_assert_eq(pcol_file_open(NULL, NULL, &file, &err), PCOL_E_ARGUMENT);
    cr_assert_eq(pcol_file_open("/", NULL, &file, &err), PCOL_E_IO);
    cr_assert_str_eq(err.message, "cannot open the file: is a directory");
    cr_assert_eq(pcol_file_open("/dev/null", NULL, &file, &err), PCOL_E_IO);
    cr_assert_eq(pcol_file_open("/nowhere/at/all", NULL, &file, &err), PCOL_E_IO);
    cr_assert_eq(pcol_file_open_memory(NULL, 0, NULL, &file, &err), PCOL_E_MAGIC);
    options.flags = 0x80;
    cr_assert_eq(pcol_file_open_memory(image.bytes, image.size, &options, &file, &err),
                 PCOL_E_ARGUMENT);
    options.size = 0;
    cr_assert_eq(pcol_file_open_memory(image.bytes, image.size, &options, &file, NULL),
                 PCOL_E_ARGUMENT);
    cr_assert_null(file);
    pcol_file_close(NULL);
    free(image.bytes);
}

Test(index, every_cut_is_noticed)
{
    struct image image = image_build(0);
    for (size_t size = 0; size < image.size; size++) {
        struct image cut = image_copy(&image, size);
        pcol_file *file;
        pcol_error err;
        pcol_status expected = size ? PCOL_E_TRUNCATED : PCOL_E_MAGIC;
        cr_assert_eq(image_open(&cut, &file, &err), expected, "%zu bytes: %s", size, err.message);
        free(cut.bytes);
    }
    struct image longer = {calloc(1, image.size + 1), image.size + 1};
    memcpy(longer.bytes, image.bytes, image.size);
    cr_assert(image_refused(&longer));
    free(longer.bytes);
    free(image.bytes);
}

/* Sections of all columns against their checksums: 1 if all are right. */
static int verified(const pcol_file *file)
{
    for (uint32_t i = 0; i < file->index.header.column_count; i++) {
        pcol_error err;
        if (pci_verify(file, &file->columns[i], &err) != PCOL_OK) {
            cr_assert_eq(err.status, PCOL_E_CHECKSUM);
            return 0;
        }
    }
    return 1;
}

static int in_section(const pcol_file *file, size_t at)
{
    for (uint32_t i = 0; i < file->index.header.section_count; i++) {
        const struct pcf_section *s = &file->index.sections[i];
        if (at >= s->offset && at - s->offset < s->size)
            return 1;
    }
    return 0;
}

Test(index, every_flipped_bit_is_noticed)
{
    struct image image = image_build(0);
    struct pcf_header h = image_header(&image);
    size_t front = h.index_offset + h.index_size, end = image.size - sizeof(struct pcf_end);
    pcol_file *file;
    pcol_error err;
    for (size_t bit = 0; bit < image.size * 8; bit++) {
        image.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (bit / 8 < front || bit / 8 >= end) {
            cr_assert(image_refused(&image), "bit %zu", bit);
        } else {
            MUST(image_open(&image, &file, &err));
            cr_assert_eq(verified(file), !in_section(file, bit / 8), "bit %zu", bit);
            pcol_file_close(file);
        }
        image.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(image.bytes);
}

Test(index, flipped_bits_in_sections_stay_in_bounds)
{
    struct image image = image_build(0);
    struct pcf_header h = image_header(&image);
    size_t front = h.index_offset + h.index_size, end = image.size - sizeof(struct pcf_end);
    for (size_t at = front; at < end; at += 1 + at % 3) {
        uint8_t old = image.bytes[at];
        image.bytes[at] = (uint8_t)(old ^ (at % 2 ? 0xffu : 1u << at % 8));
        cr_assert_not(image_refused(&image));
        image.bytes[at] = old;
    }
    free(image.bytes);
}

static void store(uint8_t *at, uint64_t value, size_t width)
{
    memcpy(at, &value, width);
}

/* Every number of 1, 2, 4 and 8 bytes in header and index at every border, under right checksums. */
static void mutate(size_t width, size_t from, size_t to, struct image *image, unsigned *survivors)
{
    static const uint64_t borders[] = {0,
                                       1,
                                       7,
                                       0x3f,
                                       0x80,
                                       0xff,
                                       0xffff,
                                       0x7fffffff,
                                       0x80000000,
                                       0xffffffff,
                                       UINT64_C(1) << 32,
                                       UINT64_C(1) << 48,
                                       UINT64_C(1) << 61,
                                       INT64_MAX,
                                       UINT64_C(1) << 63,
                                       UINT64_MAX,
                                       UINT64_MAX - 7};
    const size_t count = sizeof borders / sizeof borders[0];
    for (size_t at = from; at + width <= to; at += width) {
        struct image copy = image_copy(image, image->size);
        uint64_t old = 0;
        memcpy(&old, image->bytes + at, width);
        for (size_t i = 0; i < count + 2; i++) {
            uint64_t value = i < count ? borders[i] : i == count ? old - 1 : old + 1;
            if (width < 8 && value >> 8 * width && i < count)
                continue;
            memcpy(copy.bytes, image->bytes, image->size);
            store(copy.bytes + at, value, width);
            image_seal(&copy);
            *survivors += !image_refused(&copy);
        }
        free(copy.bytes);
    }
}

#define MUTATE(name, width)                                                               \
    Test(index, mutated_##name)                                                           \
    {                                                                                     \
        struct image image = image_build(0);                                              \
        struct pcf_header h = image_header(&image);                                       \
        unsigned survivors = 0;                                                           \
        mutate(width, 0, HEADER(header_checksum), &image, &survivors);                    \
        mutate(width, h.index_offset, h.index_offset + h.index_size, &image, &survivors); \
        cr_assert(survivors > 0);                                                         \
        free(image.bytes);                                                                \
    }
MUTATE(bytes, 1)
MUTATE(shorts, 2)
MUTATE(words, 4)
MUTATE(longs, 8)

/* One change, checksums right: what is said about it (unless NULL), and where. */
static void expect(size_t at, uint64_t value, size_t width, pcol_status status, const char *message)
{
    struct image image = image_build(0);
    pcol_file *file;
    pcol_error err = {.message = ""};
    store(image.bytes + at, value, width);
    image_seal(&image);
    cr_assert_eq(image_open(&image, &file, &err), status, "%s", err.message);
    if (message)
        cr_assert_str_eq(err.message, message);
    if (message)
        cr_assert_eq(err.offset, at, "byte %llu", (unsigned long long)err.offset);
    free(image.bytes);
}

Test(index, header_faults_name_their_byte)
{
    expect(HEADER(magic), 0x0a, 1, PCOL_E_MAGIC,
           "first bytes were changed, as by a transfer in text mode");
    expect(HEADER(major), 2, 2, PCOL_E_VERSION,
           "file is of another major version of the format: 2");
    expect(HEADER(incompatible), 0x20, 8, PCOL_E_VERSION,
           "file needs an unknown feature: incompatible bit 5");
    expect(HEADER(checksum_algorithm), 9, 1, PCOL_E_VERSION,
           "file has an unknown kind of checksum: 9");
    expect(HEADER(table_count), 5000, 4, PCOL_E_CORRUPT, "too many tables: 5000");
    expect(HEADER(column_stride), 80, 2, PCOL_E_CORRUPT,
           "impossible size of column descriptors: 80");
    expect(HEADER(reserved0), 1, 1, PCOL_E_CORRUPT, "reserved bytes of the header are not zero");
}

Test(index, compatible_news_are_welcome)
{
    struct image image = image_build(0);
    pcol_file *file;
    pcol_error err;
    store(image.bytes + HEADER(minor), 7, 2);
    store(image.bytes + HEADER(compatible), UINT64_MAX, 8);
    store(image.bytes + HEADER(read_only_compatible), UINT64_MAX, 8);
    store(image.bytes + HEADER(reserved1), UINT64_MAX, 8);
    store(image.bytes + COLUMN_AT(&image, 0, reserved), 1, 1);
    image_seal(&image);
    MUST(image_open(&image, &file, &err));
    check_cells(file, 0);
    pcol_file_close(file);
    free(image.bytes);
}

/* The number of a column of `things` in the index. */
static uint32_t number_of(const struct image *image, int column)
{
    pcol_file *file;
    pcol_error err;
    MUST(image_open(image, &file, &err));
    uint32_t number = find(file, column)->number;
    pcol_file_close(file);
    return number;
}

Test(index, column_faults_name_their_byte)
{
    struct image image = image_build(0);
    uint32_t packed = number_of(&image, PACKED), blocked = number_of(&image, BLOCKED);
    uint32_t doubles = number_of(&image, DOUBLE), own = number_of(&image, OWN);
    struct pcf_column c, runs;
    memcpy(&c, image.bytes + image_column_at(&image, packed, 0), sizeof c);
    memcpy(&runs, image.bytes + image_column_at(&image, number_of(&image, RUNS), 0), sizeof runs);
    uint32_t section = c.first_section, ends = runs.first_child;
    expect(COLUMN_AT(&image, packed, width), 58, 1, PCOL_E_CORRUPT,
           "width of packed values is not 1 to 57 or 64");
    expect(COLUMN_AT(&image, packed, scale), 0, 8, PCOL_E_CORRUPT, "scale is 0");
    expect(COLUMN_AT(&image, packed, rows), ROWS + 1, 8, PCOL_E_CORRUPT,
           "column has not as many rows as its table");
    expect(COLUMN_AT(&image, packed, ref_table), 1000, 4, PCOL_E_CORRUPT,
           "column refers to a table that does not exist");
    expect(COLUMN_AT(&image, packed, null_count), 1, 8, PCOL_E_CORRUPT,
           "more nulls than the column can have");
    expect(COLUMN_AT(&image, packed, first_section), UINT32_MAX, 4, PCOL_E_CORRUPT,
           "sections of a column are out of range");
    expect(COLUMN_AT(&image, packed, child_count), 1, 1, PCOL_E_CORRUPT, NULL);
    expect(COLUMN_AT(&image, packed, name_offset), 1u << 30, 4, PCOL_E_CORRUPT,
           "name of a column is out of range");
    expect(COLUMN_AT(&image, packed, reserved), 1, 1, PCOL_E_CORRUPT,
           "reserved bytes are not zero");
    expect(COLUMN_AT(&image, blocked, scale), 0, 8, PCOL_E_CORRUPT, "scale is 0");
    expect(COLUMN_AT(&image, doubles, encoding), PCF_PACKED, 1, PCOL_E_CORRUPT,
           "doubles cannot have this encoding");
    expect(COLUMN_AT(&image, own, encoding), PCF_SPARSE, 1, PCOL_E_CORRUPT,
           "byte strings cannot have this encoding");
    expect(COLUMN_AT(&image, ends, type), PCF_I64, 1, PCOL_E_CORRUPT,
           "child column of the wrong type");
    expect(COLUMN_AT(&image, ends, flags), PCF_COLUMN_NULLABLE, 4, PCOL_E_CORRUPT,
           "child column with nulls");
    expect(COLUMN_AT(&image, ends, rows), 3, 8, PCOL_E_CORRUPT,
           "run ends and run values must be equally many, at most one a row");
    expect(SECTION_AT(&image, section, size), 0, 8, PCOL_E_CORRUPT,
           "section is empty or leaves the file");
    expect(SECTION_AT(&image, section, role), PCF_ROLE_RANK, 1, PCOL_E_CORRUPT,
           "section of a role that its column's encoding does not have");
    expect(SECTION_AT(&image, section, align_log2), 2, 1, PCOL_E_CORRUPT, "section is not aligned");
    expect(SECTION_AT(&image, section, raw_size), 3, 8, PCOL_E_CORRUPT,
           "section that is not compressed has two sizes");
    expect(SECTION_AT(&image, section, offset), 0, 8, PCOL_E_CORRUPT,
           "section overlaps the index or the section before");
    expect(SECTION_AT(&image, section, column), 100000, 4, PCOL_E_CORRUPT, "section of no column");
    free(image.bytes);
}

Test(index, unknown_encoding_refuses_its_column_only)
{
    struct image image = image_build(0);
    pcol_file *file;
    pcol_error err;
    int64_t value;
    int valid;
    uint32_t sparse = number_of(&image, SPARSE);
    store(image.bytes + COLUMN_AT(&image, sparse, encoding), 77, 1);
    image_seal(&image);
    MUST(image_open(&image, &file, &err));
    cr_assert_not(find(file, SPARSE)->supported);
    cr_assert(pci_table_find(file, "things")->supported);
    cr_assert_eq(pci_get(file, find(file, SPARSE), 0, &value, &valid, &err), PCOL_E_UNSUPPORTED);
    cr_assert_str_eq(err.column, "sparse");
    MUST(pci_get(file, find(file, PACKED), 5, &value, &valid, &err));
    cr_assert_eq(value, image_cell(PACKED, 5));
    MUST(pci_verify(file, find(file, SPARSE), &err));
    pcol_file_close(file);

    store(image.bytes + COLUMN_AT(&image, sparse, flags), PCF_COLUMN_MUST_UNDERSTAND, 1);
    image_seal(&image);
    MUST(image_open(&image, &file, &err));
    cr_assert_not(pci_table_find(file, "things")->supported);
    pcol_file_close(file);
    free(image.bytes);
}

Test(index, unknown_kind_of_child_refuses_the_parent)
{
    struct image image = image_build(0);
    struct pcf_column column;
    pcol_file *file;
    pcol_error err;
    memcpy(&column, image.bytes + image_column_at(&image, number_of(&image, RUNS), 0),
           sizeof column);
    store(image.bytes + COLUMN_AT(&image, column.first_child, encoding), 99, 1);
    image_seal(&image);
    MUST(image_open(&image, &file, &err));
    cr_assert_not(find(file, RUNS)->supported);
    cr_assert(find(file, SPARSE)->supported);
    pcol_file_close(file);
    free(image.bytes);
}

Test(index, wrong_checksum_names_table_and_column)
{
    struct image image = image_build(0);
    struct pcf_column column;
    pcol_file *file;
    pcol_error err;
    memcpy(&column, image.bytes + image_column_at(&image, number_of(&image, RUNS), 0),
           sizeof column);
    struct pcf_column child;
    memcpy(&child, image.bytes + image_column_at(&image, column.first_child + 1, 0), sizeof child);
    cr_assert(child.section_count > 0);
    size_t at = SECTION_AT(&image, child.first_section, offset);
    image.bytes[pcf_load64(image.bytes + at)] ^= 1;
    MUST(image_open(&image, &file, &err));
    cr_assert_eq(pci_verify(file, find(file, RUNS), &err), PCOL_E_CHECKSUM);
    cr_assert_eq(pci_verify(file, find(file, RUNS), &err), PCOL_E_CHECKSUM, "said once only");
    cr_assert_str_eq(err.table, "things");
    cr_assert_str_eq(err.column, "runs");
    MUST(pci_verify(file, find(file, SPARSE), &err));
    pcol_file_close(file);
    free(image.bytes);
}

Test(index, names)
{
    static const struct {
        const char *bytes;
        int good;
    } names[] = {
        {"abcdefgh", 1},
        {"abc\tefgh", 0},
        {"abc\x7f"
         "efgh",
         0},
        {"\xc3\xa4\xc3\xb6\xe2\x82\xac?", 1},
        {"\xf0\x9f\x98\x80well", 1},
        {"abcdefg\xc3", 0},
        {"\xc0\x80"
         "bcdefg",
         0},
        {"\xed\xa0\x80"
         "cdefg",
         0},
        {"\xc2\x85"
         "cdefgh",
         0},
        {"\xe0\x80\x80"
         "defgh",
         0},
        {"\xf5\x80\x80\x80"
         "defg",
         0},
        {"abc\0efgh", 0},
        {"\x80"
         "bcdefgh",
         0},
    };
    struct image image = image_build(0);
    size_t at = image_names_at(&image);
    /* Give the first table's name a place of 8 bytes: the last column of `things` has `own`. */
    uint32_t table = 0;
    struct pcf_table t;
    memcpy(&t, image.bytes + image_table_at(&image, table, 0), sizeof t);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct image copy = image_copy(&image, image.size);
        memcpy(copy.bytes + at, names[i].bytes, 8);
        store(copy.bytes + image_table_at(&copy, table, offsetof(struct pcf_table, name_offset)), 0,
              4);
        store(copy.bytes + image_table_at(&copy, table, offsetof(struct pcf_table, name_size)), 8,
              2);
        image_seal(&copy);
        cr_assert_eq(pcf_name_valid(names[i].bytes, 8), names[i].good);
        if (names[i].good) {
            cr_assert_not(image_refused(&copy), "name %zu", i);
        } else {
            cr_assert(image_refused(&copy), "name %zu", i);
        }
        free(copy.bytes);
    }
    free(image.bytes);
}

Test(index, same_name_twice)
{
    struct image image = image_build(0);
    struct pcf_column column;
    uint32_t first = number_of(&image, LINEAR);
    memcpy(&column, image.bytes + image_column_at(&image, first, 0), sizeof column);
    store(image.bytes + COLUMN_AT(&image, first + 5, name_offset), column.name_offset, 4);
    store(image.bytes + COLUMN_AT(&image, first + 5, name_size), column.name_size, 2);
    image_seal(&image);
    pcol_file *file;
    pcol_error err;
    cr_assert_eq(image_open(&image, &file, &err), PCOL_E_CORRUPT);
    cr_assert_str_eq(err.message, "two columns of a table have the same name");
    free(image.bytes);
}

/* Descriptors of a later minor version are longer: the rest is skipped. */
Test(index, longer_descriptors)
{
    struct image old = image_build(0);
    struct pcf_header h = image_header(&old), n = h;
    n.table_stride = sizeof(struct pcf_table) + 8;
    n.column_stride = sizeof(struct pcf_column) + 24;
    n.section_stride = sizeof(struct pcf_section) + 16;
    size_t grown =
        8 * (size_t)h.table_count + 24 * (size_t)h.column_count + 16 * (size_t)h.section_count;
    size_t shift = (grown + 4095) / 4096 * 4096; /* keeps every alignment */
    struct image image = {calloc(1, old.size + shift), old.size + shift};
    n.index_size = h.index_size + grown;
    n.index_size = (n.index_size + 7) / 8 * 8;
    n.file_size = image.size;
    size_t front = h.index_offset + h.index_size;
    memcpy(image.bytes, &n, sizeof n);
    memcpy(image.bytes + front + shift, old.bytes + front, old.size - front);
    store(image.bytes + image.size - sizeof(struct pcf_end), image.size, 8);
    for (uint32_t i = 0; i < h.table_count; i++)
        memcpy(image.bytes + image_table_at(&image, i, 0), old.bytes + image_table_at(&old, i, 0),
               sizeof(struct pcf_table));
    for (uint32_t i = 0; i < h.column_count; i++)
        memcpy(image.bytes + image_column_at(&image, i, 0), old.bytes + image_column_at(&old, i, 0),
               sizeof(struct pcf_column));
    for (uint32_t i = 0; i < h.section_count; i++) {
        struct pcf_section s;
        memcpy(&s, old.bytes + image_section_at(&old, i, 0), sizeof s);
        s.offset += shift;
        memcpy(image.bytes + image_section_at(&image, i, 0), &s, sizeof s);
    }
    memcpy(image.bytes + image_names_at(&image), old.bytes + image_names_at(&old), h.names_size);
    image_seal(&image);
    pcol_file *file;
    pcol_error err;
    MUST(image_open(&image, &file, &err));
    check_cells(file, 0);
    pcol_file_close(file);
    free(image.bytes);
    free(old.bytes);
}

/* ---- memory that runs out */

static int allowed;

static int fail_later(void)
{
    return allowed-- <= 0;
}

Test(index, failed_allocations)
{
    struct image image = image_build(0);
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    pcol_file *file;
    pcol_error err;
    int count = 0;
    options.flags = PCOL_OPEN_COPY;
    pci_alloc_hook = fail_later;
    for (pcol_status status = PCOL_E_NO_MEMORY; status == PCOL_E_NO_MEMORY; count++) {
        allowed = count;
        status = pcol_file_open_memory(image.bytes, image.size, &options, &file, &err);
        cr_assert(status == PCOL_OK || (status == PCOL_E_NO_MEMORY && !file));
    }
    pci_alloc_hook = NULL;
    cr_assert_eq(count, 4, "open takes three allocations");
    pcol_file_close(file);
    free(image.bytes);
}

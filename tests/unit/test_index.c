/*
 * test_index.c - opening of files with damaged or hostile headers and indexes
 *
 * A file with every encoding is built once and then changed. With the old checksums every changed
 * bit must be detected; with valid checksums every change must end in an error or in-bounds
 * answers. Images are buffers of exact size, so that ASan detects reads beyond the end.
 * More than 600 lines: all changes are made to the file with every encoding below.
 */
#include <criterion/criterion.h>

#include "image.h"
#include "testing.h"
#include "util/alloc.h"

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
    static const uint8_t encodings[COLUMNS] = {PCF_LINEAR, PCF_PACKED, PCF_SPLIT,
                                               PCF_SPARSE, PCF_SPARSE, PCF_RUNS,
                                               PCF_CHAIN,  PCF_PLAIN,  PCF_PLAIN};
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
    for (size_t size = 0; size < image.size; size += STEP(3)) {
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
    for (size_t bit = 0; bit < image.size * 8; bit += STEP(7)) {
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
    for (size_t at = front; at < end; at += 5 + at % 3) {
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

/* Every number of 1, 2, 4 and 8 bytes in header and index at every border, under right
 * checksums. */
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
    for (size_t at = from; at + width <= to; at += width * STEP(3)) {
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

/* One change, checksums right: the message (unless NULL), and its position. */
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
    expect(HEADER(major), 2, 2, PCOL_E_VERSION, "unsupported major version of the format: 2");
    expect(HEADER(incompatible), 0x20, 8, PCOL_E_VERSION,
           "file requires an unknown feature: incompatible bit 5");
    expect(HEADER(checksum_algorithm), 9, 1, PCOL_E_VERSION, "unknown checksum algorithm: 9");
    expect(HEADER(table_count), 5000, 4, PCOL_E_CORRUPT, "too many tables: 5000");
    expect(HEADER(child_count), 8000, 4, PCOL_E_CORRUPT, "too many child columns: 8000");
    expect(HEADER(records_size), 30, 4, PCOL_E_CORRUPT, "more records than their bytes can hold");
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

/* One change in the index: the message, and the record that it names. */
#define EXPECT(change, column, text)                                                       \
    do {                                                                                   \
        struct image image = image_build(0);                                               \
        struct pcf_index *x = image_index(&image);                                         \
        pcol_file *file;                                                                   \
        pcol_error err = {.message = ""};                                                  \
        uint64_t place = x->header.index_offset + x->column.record_offset;                 \
        x->change;                                                                         \
        image_put_index(&image, x);                                                        \
        cr_assert_eq(image_open(&image, &file, &err), PCOL_E_CORRUPT, "%s", text);         \
        cr_assert_str_eq(err.message, text);                                               \
        cr_assert_eq(err.offset, place, "%s: %llu", text, (unsigned long long)err.offset); \
        free(image.bytes);                                                                 \
    } while (0)
#define COLUMN(number, field, value, text) \
    EXPECT(columns[number].field = (value), columns[number], text)
#define SECTION(number, field, value, text) \
    EXPECT(sections[number].field = (value), sections[number], text)

Test(index, column_faults_name_their_record)
{
    struct image whole = image_build(0);
    struct pcf_index *all = image_index(&whole);
    uint32_t packed = number_of(&whole, PACKED), split = number_of(&whole, SPLIT);
    uint32_t doubles = number_of(&whole, DOUBLE), own = number_of(&whole, OWN);
    uint32_t section = all->columns[packed].first_section;
    uint32_t ends = all->columns[number_of(&whole, RUNS)].first_child;
    COLUMN(packed, width, 58, "width of packed values is not 1 to 57 or 64");
    COLUMN(packed, ref_table, 1000, "column refers to a table that does not exist");
    COLUMN(packed, null_count, 1, "more nulls than the column can have");
    COLUMN(split, flags, PCF_COLUMN_DEFAULT_NULL,
           "column cannot be null by default with this encoding");
    COLUMN(doubles, encoding, PCF_PACKED, "doubles cannot have this encoding");
    COLUMN(doubles, flags, PCF_COLUMN_ASCENDING, "column of this type cannot be ascending");
    COLUMN(own, flags, PCF_COLUMN_NULLABLE | PCF_COLUMN_STATS,
           "column has statistics without values");
    COLUMN(packed, step, 1, "packed values cannot have a step");
    COLUMN(split, width, 8, "column has a parameter that its encoding lacks");
    COLUMN(split, scale, 2, "column has a parameter that its encoding lacks");
    COLUMN(split, base, 3, "column has a parameter that its encoding lacks");
    COLUMN(own, step, 1, "column has a parameter that its encoding lacks");
    COLUMN(own, encoding, PCF_SPARSE, "byte strings cannot have this encoding");
    COLUMN(ends, type, PCF_I64, "child column of the wrong type");
    COLUMN(ends, flags, PCF_COLUMN_NULLABLE, "child column has nulls");
    COLUMN(ends, rows, 3, "numbers of run ends and run values differ or exceed the rows");
    COLUMN(ends, name_size, 2, "child column has a name");
    SECTION(section, size, 0, "section is empty or extends past the end of the file");
    SECTION(section, size, UINT64_MAX - 100,
            "section is empty or extends past the end of the file");
    SECTION(section, role, PCF_ROLE_MARKS, "column's encoding has no section of this role");
    SECTION(section, align_log2, 30, "section is empty or extends past the end of the file");
    SECTION(section, raw_size, 3, "uncompressed section has two different sizes");
    SECTION(section, flags, 2, "unknown flag of a section");
    EXPECT(tables[0].rows = PCF_MAX_ROWS + 1, tables[0], "table has too many rows");
    image_put_index(&whole, all);
    free(whole.bytes);
}

/* Every field of every record at every border, under right checksums. */
static void mutate_field(const struct image *image, size_t part, uint32_t number, size_t at,
                         size_t width, unsigned *survivors)
{
    static const uint64_t borders[] = {0,          1,
                                       7,          64,
                                       255,        UINT16_MAX,
                                       INT32_MAX,  UINT32_MAX,
                                       ROWS - 1,   ROWS + 1,
                                       INT64_MAX,  UINT64_C(1) << 63,
                                       UINT64_MAX, UINT64_C(1) << 48};
    for (size_t i = 0; i < sizeof borders / sizeof borders[0]; i++) {
        struct image copy = image_copy(image, image->size);
        struct pcf_index *x = image_index(&copy);
        uint8_t *record = part == 0   ? (uint8_t *)&x->tables[number]
                          : part == 1 ? (uint8_t *)&x->columns[number]
                                      : (uint8_t *)&x->sections[number];
        memcpy(record + at, &borders[i], width);
        image_put_index(&copy, x);
        *survivors += !image_refused(&copy);
        free(copy.bytes);
    }
}

#define FIELD(part, type, name)                                             \
    {                                                                       \
        part, offsetof(struct type, name), sizeof(((struct type *)0)->name) \
    }

Test(index, mutated_fields)
{
    static const struct {
        size_t part, at, width;
    } fields[] = {FIELD(0, pcf_table, rows),         FIELD(0, pcf_table, flags),
                  FIELD(1, pcf_column, type),        FIELD(1, pcf_column, encoding),
                  FIELD(1, pcf_column, flags),       FIELD(1, pcf_column, ref_table),
                  FIELD(1, pcf_column, rows),        FIELD(1, pcf_column, width),
                  FIELD(1, pcf_column, base),        FIELD(1, pcf_column, step),
                  FIELD(1, pcf_column, scale),       FIELD(1, pcf_column, null_count),
                  FIELD(1, pcf_column, min),         FIELD(1, pcf_column, max),
                  FIELD(2, pcf_section, size),       FIELD(2, pcf_section, role),
                  FIELD(2, pcf_section, align_log2), FIELD(2, pcf_section, codec),
                  FIELD(2, pcf_section, raw_size),   FIELD(2, pcf_section, flags)};
    struct image image = image_build(0);
    struct pcf_header h = image_header(&image);
    const uint32_t counts[] = {h.table_count, h.column_count, h.section_count};
    unsigned survivors = 0;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        for (uint32_t k = 0; k < counts[fields[i].part]; k++)
            mutate_field(&image, fields[i].part, k, fields[i].at, fields[i].width, &survivors);
    cr_assert(survivors > 0);
    free(image.bytes);
}

/* What is read and stored again is the same, byte for byte. */
Test(index, stored_as_read)
{
    static const unsigned flags[] = {0, PCOL_WRITE_PLAIN};
    for (size_t i = 0; i < 2; i++) {
        struct image image = image_build(flags[i]);
        struct image copy = image_copy(&image, image.size);
        image_put_index(&copy, image_index(&copy));
        cr_assert_eq(copy.size, image.size);
        cr_assert_eq(memcmp(copy.bytes, image.bytes, image.size), 0);
        free(copy.bytes);
        free(image.bytes);
    }
}

Test(index, unknown_encoding_refuses_its_column_only)
{
    struct image image = image_build(0);
    pcol_file *file;
    pcol_error err;
    int64_t value;
    int valid;
    uint32_t sparse = number_of(&image, SPARSE);
    struct pcf_index *x = image_index(&image);
    x->columns[sparse].encoding = 77;
    image_put_index(&image, x);
    MUST(image_open(&image, &file, &err));
    cr_assert_not(find(file, SPARSE)->supported);
    cr_assert(pci_table_find(file, "things")->supported);
    cr_assert_eq(pci_get(file, find(file, SPARSE), 0, &value, &valid, &err), PCOL_E_UNSUPPORTED);
    cr_assert_str_eq(err.column, "sparse");
    MUST(pci_get(file, find(file, PACKED), 5, &value, &valid, &err));
    cr_assert_eq(value, image_cell(PACKED, 5));
    MUST(pci_verify(file, find(file, SPARSE), &err));
    pcol_file_close(file);

    x = image_index(&image);
    x->columns[sparse].flags = PCF_COLUMN_MUST_UNDERSTAND;
    image_put_index(&image, x);
    MUST(image_open(&image, &file, &err));
    cr_assert_not(pci_table_find(file, "things")->supported);
    pcol_file_close(file);
    free(image.bytes);
}

Test(index, unknown_kind_of_child_refuses_the_parent)
{
    struct image image = image_build(0);
    struct pcf_index *x = image_index(&image);
    pcol_file *file;
    pcol_error err;
    x->columns[x->columns[number_of(&image, RUNS)].first_child].encoding = 99;
    image_put_index(&image, x);
    MUST(image_open(&image, &file, &err));
    cr_assert_not(find(file, RUNS)->supported);
    cr_assert(find(file, SPARSE)->supported);
    pcol_file_close(file);
    free(image.bytes);
}

Test(index, wrong_checksum_names_table_and_column)
{
    struct image image = image_build(0);
    struct pcf_index *x = image_index(&image);
    pcol_file *file;
    pcol_error err;
    const struct pcf_column *child =
        &x->columns[x->columns[number_of(&image, RUNS)].first_child + 1];
    cr_assert(child->section_count > 0);
    image.bytes[x->sections[child->first_section].offset] ^= 1;
    image_put_index(&image, x); /* whose checksums are those of before */
    MUST(image_open(&image, &file, &err));
    cr_assert_eq(pci_verify(file, find(file, RUNS), &err), PCOL_E_CHECKSUM);
    cr_assert_eq(pci_verify(file, find(file, RUNS), &err), PCOL_E_CHECKSUM, "reported once only");
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
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct image image = image_build(0);
        struct pcf_index *x = image_index(&image);
        memcpy((char *)(uintptr_t)x->names + x->columns[0].name_offset, names[i].bytes, 8);
        x->columns[0].name_size = 8; /* over what follows, which is in x already */
        image_put_index(&image, x);
        cr_assert_eq(pcf_name_valid(names[i].bytes, 8), names[i].good);
        cr_assert_eq(image_refused(&image), !names[i].good, "name %zu", i);
        free(image.bytes);
    }
}

Test(index, same_name_twice)
{
    struct image image = image_build(0);
    struct pcf_index *x = image_index(&image);
    uint32_t first = number_of(&image, LINEAR);
    x->columns[first + 5].name_offset = x->columns[first].name_offset;
    x->columns[first + 5].name_size = x->columns[first].name_size;
    image_put_index(&image, x);
    pcol_file *file;
    pcol_error err;
    cr_assert_eq(image_open(&image, &file, &err), PCOL_E_CORRUPT);
    cr_assert_str_eq(err.message, "two columns of a table have the same name");
    free(image.bytes);
}

/* The index of an image with other bytes for its records, checksums right: an error, or the
 * file. */
static pcol_status with_records(const uint8_t *records, size_t size, uint16_t minor,
                                pcol_error *err)
{
    struct pcf_header h = {.magic = PCF_MAGIC,
                           .major = PCF_VERSION_MAJOR,
                           .minor = minor,
                           .header_size = sizeof h,
                           .index_offset = sizeof h,
                           .index_size = (size + 7) / 8 * 8,
                           .table_count = 1,
                           .column_count = 1,
                           .records_size = (uint32_t)size,
                           .checksum_algorithm = PCF_CHECKSUM_XXH3_64};
    struct pcf_end end = {.mark = PCF_END_MARK};
    struct image image = {calloc(1, sizeof h + h.index_size + sizeof end), 0};
    image.size = h.file_size = end.file_size = sizeof h + h.index_size + sizeof end;
    memcpy(image.bytes, &h, sizeof h);
    memcpy(image.bytes + sizeof h, records, size);
    memcpy(image.bytes + image.size - sizeof end, &end, sizeof end);
    image_seal(&image);
    pcol_file *file;
    pcol_status status = image_open(&image, &file, err);
    if (status == PCOL_OK) {
        const struct pci_column *c = pci_column_find(pci_table_find(file, "t"), "c");
        int64_t value;
        int valid;
        cr_assert_not_null(c);
        cr_assert_eq(pci_get(file, c, 4, &value, &valid, NULL), PCOL_OK);
        cr_assert(valid && value == -1);
        pcol_file_close(file);
    }
    free(image.bytes);
    return status;
}

/* Table `t` of 5 rows, column `c`, i64, LINEAR, base -5, step 1. */
#define TABLE_RECORD "\x07\x01\x05\x01t"
#define COLUMN_RECORD          \
    "\xc3\x08\x11\x01\x09\x02" \
    "c"

Test(index, records)
{
    static const struct {
        const char *bytes;
        size_t size;
        uint16_t minor;
        const char *message; /* NULL: fine */
    } cases[] = {
#define CASE(bytes, minor, message) {bytes, sizeof(bytes) - 1, minor, message}
        CASE(TABLE_RECORD COLUMN_RECORD, 0, NULL),
        CASE(TABLE_RECORD COLUMN_RECORD, 7, NULL),
        /* a field 20 of a later version, and bytes after the last record */
        CASE("\x87\x80\x40\x01\x05\x01\xff\x01t" COLUMN_RECORD "\xee\xee", 7, NULL),
        CASE("\x87\x80\x40\x01\x05\x01\xff\x01t" COLUMN_RECORD, 0, "record has an unknown field"),
        CASE(TABLE_RECORD COLUMN_RECORD "\xee", 0, "bytes after the last record"),
        CASE(TABLE_RECORD "\xc3\x08\x11\x01\x09\x02", 0, "records of the index are truncated"),
        CASE(TABLE_RECORD "\xc3\x08\x11\x01\x09\x82", 0, "records of the index are truncated"),
        CASE("\x07\x01\x05\x02t" COLUMN_RECORD, 0, "more columns than the header declares"),
        CASE("\x03\x01\x05t", 0, "fewer columns or sections than the header declares"),
        CASE("\x07\xff\x01\x05\x01t" COLUMN_RECORD, 0, "records of the index are truncated"),
        CASE("\x07\x80\x02\x05\x01t" COLUMN_RECORD, 0, "field of a record is too large"),
        CASE("\x07\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x01t", 0,
             "varint in the index exceeds 64 bits"),
        CASE("\x07\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01t", 0, "table has too many rows"),
        CASE("\x06\x05\x01t" COLUMN_RECORD, 0, "name is not 1 to 255 bytes of printable UTF-8"),
        CASE(TABLE_RECORD "\xe3\x08\x11\x01\x01\x09\x02"
                          "c",
             0, "more sections than the header declares"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pcol_error err = {.message = ""};
        pcol_status status =
            with_records((const uint8_t *)cases[i].bytes, cases[i].size, cases[i].minor, &err);
        cr_assert_eq(status, cases[i].message ? PCOL_E_CORRUPT : PCOL_OK, "case %zu: %s", i,
                     err.message);
        if (cases[i].message)
            cr_assert_str_eq(err.message, cases[i].message, "case %zu: %s", i, err.message);
    }
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

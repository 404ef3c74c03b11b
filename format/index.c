/*
 * index.c - validation of the header and the index
 *
 * index_codec.c decodes the records of a private copy of the index; this file validates tables,
 * columns and sections. Every number is compared before it is used as an array index, sums and
 * products use range.h, and a fault has the offset of its record. Time is linear in the size of the
 * index for any input. Tests: tests/unit/test_index.c, tests/format/golden.
 */
#define XXH_INLINE_ALL
#include "format/index.h"

#include "format/column_rules.h"
#include "format/index_codec.h"
#include "format/load.h"
#include "format/range.h"

#include <string.h>
#include <xxhash.h>

#define HEADER(name) offsetof(struct pcf_header, name)

uint64_t pcf_checksum(const void *data, uint64_t size)
{
    return XXH3_64bits(data, (size_t)size);
}

/* ---- faults */

/* Fills *fault; always returns -1. */
static int set_fault(struct pcf_fault *fault, enum pcf_fault_kind kind, uint64_t offset,
                     const char *message)
{
    *fault = (struct pcf_fault){.kind = kind, .offset = offset, .message = message};
    return -1;
}

static int fault_number(struct pcf_fault *fault, enum pcf_fault_kind kind, uint64_t offset,
                        const char *message, uint64_t number)
{
    set_fault(fault, kind, offset, message);
    fault->number = number;
    fault->has_number = 1;
    return -1;
}

int pcf_fault_index(const struct pcf_check *check, uint32_t index_offset, const char *message)
{
    return set_fault(check->fault, PCF_FAULT_CORRUPT,
                     check->index->header.index_offset + index_offset, message);
}

int pcf_fault_column(const struct pcf_check *check, uint32_t column, const char *message)
{
    return pcf_fault_index(check, check->index->columns[column].record_offset, message);
}

int pcf_fault_section(const struct pcf_check *check, uint32_t section, const char *message)
{
    return pcf_fault_index(check, check->index->sections[section].record_offset, message);
}

/* ---- header and end mark */

/* Version and features; checked first, because the other fields depend on them. */
static int check_version(const struct pcf_header *h, struct pcf_fault *fault)
{
    uint64_t unknown = h->incompatible & ~PCF_INCOMPATIBLE_KNOWN;
    if (h->major != PCF_VERSION_MAJOR)
        return fault_number(fault, PCF_FAULT_VERSION, HEADER(major),
                            "unsupported major version of the format:", h->major);
    if (unknown)
        return fault_number(fault, PCF_FAULT_VERSION, HEADER(incompatible),
                            "file requires an unknown feature: incompatible bit",
                            (uint64_t)__builtin_ctzll(unknown));
    if (h->checksum_algorithm != PCF_CHECKSUM_XXH3_64)
        return fault_number(fault, PCF_FAULT_VERSION, HEADER(checksum_algorithm),
                            "unknown checksum algorithm:", h->checksum_algorithm);
    return 0;
}

static int check_counts(const struct pcf_header *h, struct pcf_fault *fault)
{
    const struct {
        uint64_t value, low, high, field;
        const char *message;
    } limits[] = {
        {h->table_count, 0, PCF_MAX_TABLES, HEADER(table_count), "too many tables:"},
        {h->column_count, 0, PCF_MAX_COLUMNS, HEADER(column_count), "too many columns:"},
        {h->section_count, 0, PCF_MAX_SECTIONS, HEADER(section_count), "too many sections:"},
        {h->records_size, 0, PCF_MAX_RECORDS, HEADER(records_size), "too many bytes of records:"},
        {h->child_count, 0, h->column_count, HEADER(child_count), "too many child columns:"},
        {h->header_size, sizeof *h, UINT32_MAX, HEADER(header_size), "impossible header size:"},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (limits[i].value < limits[i].low || limits[i].value > limits[i].high)
            return fault_number(fault, PCF_FAULT_CORRUPT, limits[i].field, limits[i].message,
                                limits[i].value);
    }
    /* A record takes at least two bytes, so the counts that drive allocation are bounded. */
    if ((uint64_t)h->table_count + h->column_count + h->section_count > h->records_size / 2)
        return set_fault(fault, PCF_FAULT_CORRUPT, HEADER(records_size),
                         "more records than their bytes can hold");
    if (h->minor <= PCF_VERSION_MINOR &&
        (h->reserved0 || !pcf_is_zero(h->reserved1, sizeof h->reserved1)))
        return set_fault(fault, PCF_FAULT_CORRUPT, HEADER(reserved0),
                         "reserved bytes of the header are not zero");
    return 0;
}

/* Cannot overflow: both parts are within the limits above. */
uint64_t pcf_index_raw_size(const struct pcf_header *h)
{
    uint64_t size = (uint64_t)h->section_count * 8 + h->records_size;
    return (size + 7) / 8 * 8;
}

/* The index is between header and end mark; its size is that of its parts unless compressed. */
static int check_index_bounds(const struct pcf_header *h, struct pcf_fault *fault)
{
    uint64_t size = pcf_index_raw_size(h);
    int archive = pcf_is_archive(h);
    if (h->index_offset % 8 || h->index_offset < h->header_size)
        return fault_number(fault, PCF_FAULT_CORRUPT, HEADER(index_offset),
                            "index cannot start at byte", h->index_offset);
    if (archive && size / PCF_ARCHIVE_RATIO > h->index_size)
        return set_fault(fault, PCF_FAULT_CORRUPT, HEADER(index_size),
                         "index is larger than its compressed bytes can be");
    if (!archive && h->index_size != size)
        return set_fault(fault, PCF_FAULT_CORRUPT, HEADER(index_size),
                         "index size does not match the sizes of its parts");
    if (!pcf_range(h->index_offset, h->index_size, 1, h->file_size - sizeof(struct pcf_end)))
        return set_fault(fault, PCF_FAULT_CORRUPT, HEADER(index_offset),
                         "index extends past the end of the file");
    return 0;
}

int pcf_header_check(const uint8_t *bytes, uint64_t size, uint64_t file_size,
                     struct pcf_header *header, struct pcf_fault *fault)
{
    struct pcf_header h;
    size_t magic = size < PCF_MAGIC_SIZE ? (size_t)size : PCF_MAGIC_SIZE;
    if (magic == 0)
        return set_fault(fault, PCF_FAULT_MAGIC, 0, "file is empty");
    if (memcmp(bytes, PCF_MAGIC, magic) != 0)
        return set_fault(fault, PCF_FAULT_MAGIC, 0,
                         magic > 4 && memcmp(bytes + 1, &PCF_MAGIC[1], 4) == 0
                             ? "first bytes were changed, as by a transfer in text mode"
                             : "first bytes are not those of a pcol file");
    if (size < sizeof h)
        return set_fault(fault, PCF_FAULT_TRUNCATED, size, "file ends within its header");
    memcpy(&h, bytes, sizeof h);
    if (pcf_checksum(bytes, HEADER(header_checksum)) != h.header_checksum) {
        if (h.major != PCF_VERSION_MAJOR) /* its header may have another layout */
            return check_version(&h, fault);
        return set_fault(fault, PCF_FAULT_CHECKSUM, 0, "checksum of the header is wrong");
    }
    if (check_version(&h, fault))
        return -1;
    if (file_size < h.file_size)
        return fault_number(
            fault, PCF_FAULT_TRUNCATED, file_size,
            "file is truncated: bytes missing at its end:", h.file_size - file_size);
    if (file_size > h.file_size)
        return fault_number(fault, PCF_FAULT_CORRUPT, h.file_size,
                            "bytes after the end of the pcol file:", file_size - h.file_size);
    if (file_size < sizeof h + sizeof(struct pcf_end))
        return set_fault(fault, PCF_FAULT_CORRUPT, HEADER(file_size),
                         "file is too small for its end mark");
    if (check_counts(&h, fault) || check_index_bounds(&h, fault))
        return -1;
    *header = h;
    return 0;
}

int pcf_end_check(const uint8_t *bytes, uint64_t file_size, struct pcf_fault *fault)
{
    uint64_t offset = file_size - sizeof(struct pcf_end);
    if (memcmp(bytes + offsetof(struct pcf_end, mark), PCF_END_MARK, 8) != 0)
        return set_fault(fault, PCF_FAULT_CORRUPT, offset + offsetof(struct pcf_end, mark),
                         "end mark is missing");
    if (pcf_load64(bytes) != file_size)
        return set_fault(fault, PCF_FAULT_CORRUPT, offset, "end mark has a different file size");
    return 0;
}

/* ---- names */

/* Length of the valid UTF-8 sequence of a printable character at the start of `text`; 0: none. */
static size_t utf8_length(const uint8_t *text, size_t size)
{
    uint32_t c = text[0];
    if (c < 0x80)
        return c >= 0x20 && c != 0x7f;
    size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (c < 0xc2 || c > 0xf4 || length > size)
        return 0;
    c &= 0x7fu >> length;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (text[i] & 0x3fu);
    }
    if (c < smallest[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) || c < 0xa0)
        return 0;
    return length;
}

/* Whether all eight bytes are printable ASCII. */
static int is_ascii_word(uint64_t w)
{
    const uint64_t high = UINT64_C(0x8080808080808080), ones = UINT64_C(0x0101010101010101);
    return !((w | (w - 0x20 * ones) | (w + ones)) & high);
}

/* Length of the longest prefix of `text` that is printable UTF-8. */
static size_t printable_prefix(const uint8_t *text, size_t size)
{
    size_t i = 0, length;
    while (i < size) {
        if (size - i >= 8 && is_ascii_word(pcf_load64(text + i)))
            i += 8;
        else if ((length = utf8_length(text + i, size - i)))
            i += length;
        else
            break;
    }
    return i;
}

int pcf_name_valid(const char *name, uint64_t size)
{
    return size > 0 && size <= PCF_MAX_NAME &&
           printable_prefix((const uint8_t *)name, (size_t)size) == size;
}

/*
 * Open-addressing hash set of (owner, name); the owner is a table number for its columns and
 * UINT32_MAX for tables. A slot has 1 + the number of the column, or 1 + column_count + the number
 * of the table; 0: empty. The seed is an address, against files with chosen collisions; results do
 * not depend on it.
 */
struct name_set {
    const struct pcf_index *index;
    uint32_t *slots, mask;
};

static uint64_t name_slot_count(const struct pcf_header *h)
{
    uint64_t slots = 4, names = (uint64_t)h->table_count + h->column_count;
    while (slots < 2 * names)
        slots *= 2;
    return slots;
}

/* Returns 0 if the owner has the name already. */
static int name_set_add(struct name_set *names, uint32_t owner, uint32_t offset, uint16_t size,
                        uint32_t number)
{
    const struct pcf_index *x = names->index;
    const uint32_t columns = x->header.column_count;
    uint64_t seed = (uint64_t)(uintptr_t)names->slots ^ (uint64_t)owner << 44;
    uint32_t slot = (uint32_t)XXH3_64bits_withSeed(x->names + offset, size, seed) & names->mask;
    for (; names->slots[slot]; slot = (slot + 1) & names->mask) {
        uint32_t other = names->slots[slot] - 1;
        uint32_t other_offset, other_size;
        if (number < columns) {
            const struct pcf_table *t = &x->tables[owner];
            if (other < t->first_column || other >= number)
                continue;
            other_offset = x->columns[other].name_offset;
            other_size = x->columns[other].name_size;
        } else {
            if (other < columns)
                continue;
            other_offset = x->tables[other - columns].name_offset;
            other_size = x->tables[other - columns].name_size;
        }
        if (other_size == size && memcmp(x->names + other_offset, x->names + offset, size) == 0)
            return 0;
    }
    names->slots[slot] = number + 1;
    return 1;
}

/* ---- tables */

static int check_tables(const struct pcf_check *check, struct name_set *names)
{
    const struct pcf_header *h = &check->index->header;
    for (uint32_t i = 0; i < h->table_count; i++) {
        const struct pcf_table *t = &check->index->tables[i];
        if (!name_set_add(names, UINT32_MAX, t->name_offset, t->name_size, h->column_count + i))
            return pcf_fault_index(check, t->record_offset, "two tables have the same name");
    }
    return 0;
}

/* Names and table references of the columns of a table. */
static int check_table_columns(const struct pcf_check *check, struct name_set *names,
                               uint32_t table)
{
    const struct pcf_index *x = check->index;
    const struct pcf_table *t = &x->tables[table];
    for (uint32_t i = t->first_column; i < t->first_column + t->column_count; i++) {
        const struct pcf_column *c = &x->columns[i];
        if (!name_set_add(names, table, c->name_offset, c->name_size, i))
            return pcf_fault_column(check, i, "two columns of a table have the same name");
        if (c->ref_table && c->type == PCF_STRING)
            return pcf_fault_column(check, i, "column of type string refers to a table");
        if (c->ref_table > x->header.table_count)
            return pcf_fault_column(check, i, "column refers to a table that does not exist");
        if (c->ref_table && (c->type == PCF_U32 || c->type == PCF_STRING) &&
            x->tables[c->ref_table - 1].rows > PCF_MAX_U32_ROWS)
            return pcf_fault_column(check, i,
                                    "column refers to a table with too many rows for its type");
    }
    return 0;
}

/* Shared codes belong to an earlier DICTIONARY column of the same table that has child 1. */
static int check_shared_codes(const struct pcf_check *check, uint32_t table)
{
    const struct pcf_index *x = check->index;
    const struct pcf_table *t = &x->tables[table];
    for (uint32_t i = t->first_column; i < t->first_column + t->column_count; i++) {
        const struct pcf_column *c = &x->columns[i];
        if (c->encoding != PCF_DICTIONARY || c->child_count != 1 || !pcf_column_known(x, i))
            continue;
        if (c->base < 1 || c->base > i - t->first_column)
            return pcf_fault_column(check, i, "shared codes refer to no column before this one");
        uint32_t other = i - (uint32_t)c->base;
        if (pcf_column_known(x, other) &&
            (x->columns[other].encoding != PCF_DICTIONARY || x->columns[other].child_count != 2))
            return pcf_fault_column(check, i, "shared codes refer to a column without codes");
    }
    return 0;
}

/* ---- columns and sections */

static int check_children(const struct pcf_check *check)
{
    const struct pcf_header *h = &check->index->header;
    for (uint32_t i = h->column_count - h->child_count; i < h->column_count; i++) {
        const struct pcf_column *c = &check->index->columns[i];
        if (c->ref_table || c->rows > PCF_MAX_ROWS + 1)
            return pcf_fault_column(check, i,
                                    "child column refers to a table or has too many rows");
    }
    return 0;
}

static int check_sections(const struct pcf_check *check)
{
    const struct pcf_header *h = &check->index->header;
    for (uint32_t i = 0; i < h->section_count; i++) {
        const struct pcf_section *s = &check->index->sections[i];
        if (s->codec != 0 && s->raw_size / PCF_ARCHIVE_RATIO > s->size)
            return pcf_fault_section(check, i,
                                     "section is larger than its compressed bytes can be");
        if (s->codec == 0 && s->raw_size != s->size)
            return pcf_fault_section(check, i, "uncompressed section has two different sizes");
        if ((s->flags & ~PCF_SECTION_OPTIONAL) && h->minor <= PCF_VERSION_MINOR)
            return pcf_fault_section(check, i, "unknown flag of a section");
    }
    return 0;
}

/* The end mark follows the last section, or the index if there are no sections. */
static int check_end(const struct pcf_check *check)
{
    const struct pcf_header *h = &check->index->header;
    const struct pcf_section *last = check->index->sections + h->section_count - 1;
    uint64_t end = h->section_count ? last->offset + last->size : h->index_offset + h->index_size;
    if ((end + 7) / 8 * 8 + sizeof(struct pcf_end) != h->file_size)
        return set_fault(check->fault, PCF_FAULT_CORRUPT, end,
                         "end mark does not follow the last section");
    return 0;
}

static int check_columns(const struct pcf_check *check)
{
    const struct pcf_index *x = check->index;
    const struct pcf_header *h = &x->header;
    for (uint32_t i = 0; i < h->column_count; i++) {
        if (pcf_column_known(x, i) && pcf_column_check(check, i))
            return -1;
    }
    return 0;
}

/* ---- public */

uint64_t pcf_index_scratch(const struct pcf_header *header)
{
    return name_slot_count(header);
}

int pcf_index_load(const uint8_t *bytes, uint32_t *scratch, struct pcf_index *index,
                   struct pcf_fault *fault)
{
    const struct pcf_header *h = &index->header;
    struct name_set names = {index, scratch, (uint32_t)name_slot_count(h) - 1};
    struct pcf_check check = {index, fault};
    uint32_t records = h->section_count * 8, end = records + h->records_size;
    if (!pcf_is_archive(h) && pcf_checksum(bytes, h->index_size) != h->index_checksum)
        return set_fault(fault, PCF_FAULT_CHECKSUM, h->index_offset,
                         "checksum of the index is wrong");
    index->names = (const char *)bytes;
    if (pcf_records_read(&check, bytes + records, h->records_size, records))
        return -1;
    if (!pcf_is_zero(bytes + end, (8 - end % 8) % 8))
        return pcf_fault_index(&check, end, "padding after the records is not zero");
    memset(scratch, 0, ((size_t)names.mask + 1) * sizeof *scratch);
    if (check_tables(&check, &names))
        return -1;
    for (uint32_t i = 0; i < h->table_count; i++) {
        if (check_table_columns(&check, &names, i) || check_shared_codes(&check, i))
            return -1;
    }
    if (check_children(&check) || check_sections(&check))
        return -1;
    return check_columns(&check) || check_end(&check) ? -1 : 0;
}

uint32_t pcf_column_codes(const struct pcf_index *index, uint32_t column)
{
    const struct pcf_column *c = &index->columns[column];
    if (c->encoding != PCF_DICTIONARY || !pcf_column_known(index, column))
        return 0;
    if (c->child_count == 1) {
        column -= (uint32_t)c->base;
        c = &index->columns[column];
    }
    return pcf_column_known(index, column) ? c->first_child + 1 : 0;
}

void pcf_index_set_section(const struct pcf_index *index, uint32_t section, const uint8_t *bytes,
                           struct pcf_data *all)
{
    const struct pcf_section *s = &index->sections[section];
    struct pcf_data *d = &all[s->column];
    if (s->role == PCF_ROLE_VALUES)
        d->values = bytes;
    else if (s->role == PCF_ROLE_VALIDITY)
        d->validity = bytes;
    else if (s->role == PCF_ROLE_MARKS)
        d->marks = bytes;
    else if (s->role == PCF_ROLE_DATA)
        d->bytes = bytes;
}

static void set_size(const struct pcf_section *s, struct pcf_data *d)
{
    if (s->role == PCF_ROLE_VALUES)
        d->values_size = s->raw_size;
    else if (s->role == PCF_ROLE_DATA)
        d->bytes_size = s->raw_size;
}

void pcf_index_fill_column(const struct pcf_index *index, uint32_t column, const uint8_t *file,
                           struct pcf_data *all)
{
    const struct pcf_column *c = &index->columns[column];
    struct pcf_data *d = &all[column];
    *d = (struct pcf_data){0};
    if (!pcf_column_known(index, column))
        return;
    for (uint32_t i = 0; i < c->child_count; i++) {
        if (all[c->first_child + i].type == 0)
            return;
        d->child[i] = &all[c->first_child + i]; /* at most two, see check_children() */
    }
    /* Shared codes are filled already: children have greater numbers than columns of tables. */
    if (c->encoding == PCF_DICTIONARY) {
        uint32_t codes = pcf_column_codes(index, column);
        if (!codes || all[codes].type == 0)
            return;
        d->child[1] = &all[codes];
    }
    for (uint32_t i = 0; i < c->section_count; i++) {
        const struct pcf_section *s = &index->sections[c->first_section + i];
        set_size(s, d);
        pcf_index_set_section(index, c->first_section + i, s->codec ? NULL : file + s->offset, all);
    }
    d->type = c->type;
    d->encoding = c->encoding;
    d->width = c->width;
    d->flags = c->flags;
    d->rows = c->rows;
    d->base = c->base;
    d->step = c->step;
    d->scale = c->scale;
}

/*
 * mutate.c - how inputs are changed that are pcol files: libFuzzer's own ways, but within a section,
 * within the records of the index, or to a field of one
 *
 * A byte changed anywhere in a file mostly makes it one that is refused when it is opened, and a byte
 * put in moves all behind it. So most changes here keep every section in its place, and checksums are
 * made right again. Other inputs are libFuzzer's to change.
 */
#include "targets.h"

#include "../faults/seal.h"
#include "index.h"

#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
/* Not there under AFL++, which never asks for a change either. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

struct file {
    uint8_t *data;
    size_t size;
    struct pcf_index x;
    uint64_t state; /* of the random numbers */
};

static uint64_t any(struct file *f, uint64_t below)
{
    f->state ^= f->state << 13;
    f->state ^= f->state >> 7;
    f->state ^= f->state << 17;
    return below ? (f->state >> 8) % below : 0;
}

/* Values at which something may turn, near the number of rows of some table above all. */
static uint64_t telling(struct file *f)
{
    static const uint64_t some[] = {0,
                                    1,
                                    63,
                                    64,
                                    1024,
                                    INT32_MAX,
                                    UINT32_MAX - 1,
                                    UINT32_MAX,
                                    (uint64_t)UINT32_MAX + 1,
                                    UINT64_C(1) << 48,
                                    UINT64_C(1) << 61,
                                    INT64_MAX,
                                    UINT64_C(1) << 63,
                                    UINT64_MAX};
    if (any(f, 2) || !f->x.header.table_count)
        return some[any(f, sizeof some / sizeof *some)];
    return f->x.tables[any(f, f->x.header.table_count)].rows + any(f, 3) - 1;
}

/* ---- within a section */

static void change_bytes(struct file *f, uint8_t *at, uint64_t size)
{
    static const uint8_t widths[] = {1, 2, 4, 8};
    uint64_t width = widths[any(f, 4)], value = telling(f);
    if (size && any(f, 2) && LLVMFuzzerMutate) {
        (void)LLVMFuzzerMutate(at, size, size);
        return;
    }
    if (size < width)
        return;
    uint8_t *to = at + any(f, size / width) * width;
    if (any(f, 2)) { /* a little more or less */
        memcpy(&value, to, width);
        value += any(f, 5) - 2;
    }
    memcpy(to, &value, width);
}

static void change_section(struct file *f)
{
    const struct pcf_section *s = &f->x.sections[any(f, f->x.header.section_count)];
    change_bytes(f, f->data + s->offset, s->size);
}

/* ---- the index */

static void change_records(struct file *f)
{
    uint64_t sums = (uint64_t)f->x.header.section_count * 8;
    change_bytes(f, f->data + f->x.header.index_offset + sums, f->x.header.index_size - sums);
}

static void change_field(struct file *f)
{
    struct pcf_header *h = &f->x.header;
    struct pcf_column *c = h->column_count ? &f->x.columns[any(f, h->column_count)] : NULL;
    struct pcf_section *s = h->section_count ? &f->x.sections[any(f, h->section_count)] : NULL;
    uint64_t value = telling(f), kind = any(f, c && s ? 14 : 1);
    if (kind == 0 && h->table_count)
        f->x.tables[any(f, h->table_count)].rows = value;
    else if (kind == 1)
        c->type = (uint8_t)(1 + any(f, 7));
    else if (kind == 2)
        c->encoding = (uint8_t)any(f, 12);
    else if (kind == 3)
        c->flags ^= 1u << any(f, 5);
    else if (kind == 4)
        c->ref_table = (uint32_t)any(f, h->table_count + UINT64_C(2));
    else if (kind == 5)
        c->rows = value;
    else if (kind == 6)
        c->width = (uint8_t)any(f, 66);
    else if (kind == 7)
        c->base = (int64_t)value;
    else if (kind == 8)
        c->step = (int64_t)value;
    else if (kind == 9)
        c->scale = value;
    else if (kind == 10)
        c->null_count = value;
    else if (kind == 11)
        c->min = (int64_t)value;
    else if (kind == 12)
        c->max = (int64_t)value;
    else if (kind == 13)
        s->role = (uint8_t)any(f, 8);
}

/* The index anew, if it has room before the first section. */
static void store(struct file *f)
{
    struct pcf_header *h = &f->x.header;
    uint64_t records, room = f->size - h->index_offset;
    if (h->section_count && f->x.sections[0].offset > h->index_offset)
        room = f->x.sections[0].offset - h->index_offset;
    uint64_t size = pcf_index_store(&f->x, NULL, &records);
    uint8_t *index = size <= room ? malloc(size + 1) : NULL;
    if (!index)
        return;
    pcf_index_store(&f->x, index, &records);
    memset(f->data + h->index_offset, 0, room);
    memcpy(f->data + h->index_offset, index, size);
    h->index_size = size;
    h->records_size = (uint32_t)records;
    memcpy(f->data, h, sizeof *h);
    free(index);
}

/* ---- which */

static void change(struct file *f)
{
    uint64_t times = 1 + any(f, 3);
    for (uint64_t i = 0; i < times; i++) {
        uint64_t way = any(f, 8);
        if (way < 5 && f->x.header.section_count) {
            change_section(f);
        } else if (way < 6) {
            change_records(f);
            return; /* what was loaded is no more */
        } else {
            change_field(f);
            store(f);
        }
    }
}

/* 0: no file whose sections could be found. */
static int change_file(uint8_t *data, size_t size, uint64_t seed)
{
    struct file f = {.data = data, .size = size, .state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    struct pcf_fault fault;
    int loaded = 0;
    if (pcf_header_check(data, size, size, &f.x.header, &fault) || pcf_is_archive(&f.x.header))
        return 0;
    f.x.tables = calloc(f.x.header.table_count + (size_t)1, sizeof *f.x.tables);
    f.x.columns = calloc(f.x.header.column_count + (size_t)1, sizeof *f.x.columns);
    f.x.sections = calloc(f.x.header.section_count + (size_t)1, sizeof *f.x.sections);
    uint32_t *scratch = calloc(pcf_index_scratch(&f.x.header), sizeof *scratch);
    uint64_t index_size = pcf_index_raw_size(&f.x.header);
    uint8_t *index = malloc(index_size + 1); /* names stay in it */
    if (f.x.tables && f.x.columns && f.x.sections && scratch && index) {
        memcpy(index, data + f.x.header.index_offset, index_size);
        loaded = pcf_index_load(index, scratch, &f.x, &fault) == 0;
    }
    if (loaded)
        change(&f);
    free(f.x.tables);
    free(f.x.columns);
    free(f.x.sections);
    free(scratch);
    free(index);
    return loaded;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    int file = size >= sizeof(struct pcf_header) && !memcmp(data, PCF_MAGIC, PCF_MAGIC_SIZE);
    if (file && seed % 8 && change_file(data, size, seed)) {
        seal(data, size);
        return size;
    }
    size = LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, most) : size;
    if (file && seed % 16 < 12)
        seal(data, size);
    return size;
}

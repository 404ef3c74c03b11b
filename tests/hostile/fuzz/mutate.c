/*
 * mutate.c - custom mutator for pcol files: mutations of a section, record or field
 *
 * Random mutations of a file are mostly rejected at opening, and inserted bytes move all later
 * sections. Most mutations here keep section offsets, and checksums are recomputed. Inputs that are
 * not pcol files are mutated by libFuzzer.
 */
#include "targets.h"

#include "../faults/seal.h"
#include "util/raw_deflate.h"

#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
/* Absent under AFL++, which does not call custom mutators. */
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
    const struct pcf_header *h = &f->x.header;
    change_bytes(f, seal_index(f->data, h) + (size_t)h->section_count * 8, h->records_size);
}

/* An encoding whose sections and children look the same, so that the file is opened. */
static uint8_t alike(struct file *f, uint8_t encoding)
{
    static const uint8_t kinds[][3] = {{PCF_CHAIN, PCF_DELTAS, PCF_SPLIT},
                                       {PCF_SPARSE, PCF_TREE, PCF_SPARSE},
                                       {PCF_RUNS, PCF_DICTIONARY, PCF_RUNS}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (memchr(kinds[i], encoding, sizeof kinds[i]))
            return kinds[i][any(f, sizeof kinds[i])];
    return (uint8_t)any(f, PCF_TREE + 1);
}

static void change_field(struct file *f)
{
    struct pcf_header *h = &f->x.header;
    struct pcf_column *c = h->column_count ? &f->x.columns[any(f, h->column_count)] : NULL;
    struct pcf_section *s = h->section_count ? &f->x.sections[any(f, h->section_count)] : NULL;
    uint64_t value = telling(f), kind = any(f, 17);
    if (kind == 0 && h->table_count)
        f->x.tables[any(f, h->table_count)].rows = value;
    if (kind == 0 || !c || !s)
        return;
    if (kind == 1)
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
    else if (kind < 16)
        c->encoding = alike(f, c->encoding);
    else if (c->encoding == PCF_DICTIONARY) /* whose codes it has, if it has none */
        c->base = (int64_t)any(f, 4);
}

/* Writes the index again if it fits before the first section; in archives, if its size is that
 * of the previous one. */
static void store(struct file *f)
{
    struct pcf_header *h = &f->x.header;
    uint64_t records, available = f->size - h->index_offset, was = pcf_index_raw_size(h);
    if (h->section_count && f->x.sections[0].offset > h->index_offset)
        available = f->x.sections[0].offset - h->index_offset;
    uint64_t size = pcf_index_store(&f->x, NULL, &records);
    int fits = pcf_is_archive(h) ? size == was : size <= available;
    uint8_t *index = fits ? malloc(size + 1) : NULL;
    if (!index)
        return;
    pcf_index_store(&f->x, index, &records);
    if (!pcf_is_archive(h)) {
        memset(f->data + h->index_offset, 0, available);
        h->index_size = size;
    }
    memcpy(seal_index(f->data, h), index, size);
    h->records_size = (uint32_t)records;
    memcpy(f->data, h, sizeof *h);
    free(index);
}

/* ---- reading a file, whose names stay in `index` */

static int load(struct file *f, uint8_t *index)
{
    struct pcf_header *h = &f->x.header;
    struct pcf_fault fault;
    f->x.tables = calloc(h->table_count + (size_t)1, sizeof *f->x.tables);
    f->x.columns = calloc(h->column_count + (size_t)1, sizeof *f->x.columns);
    f->x.sections = calloc(h->section_count + (size_t)1, sizeof *f->x.sections);
    uint32_t *scratch = calloc(pcf_index_scratch(h), sizeof *scratch);
    int loaded = f->x.tables && f->x.columns && f->x.sections && scratch &&
                 pcf_index_load(index, scratch, &f->x, &fault) == 0;
    free(scratch);
    return loaded;
}

static void unload(struct file *f)
{
    free(f->x.tables);
    free(f->x.columns);
    free(f->x.sections);
}

/* ---- an archive whose index can be changed */

/* The sections after a longer index, and the end. Returns the new size; 0: more than `most`. */
static size_t lay_out(const struct file *f, const uint8_t *index, uint64_t raw, uint8_t *to,
                      size_t most)
{
    struct pcf_header h = f->x.header;
    struct pcf_end end = {.mark = PCF_END_MARK};
    uint64_t at = h.index_offset + raw + SEAL_STORED;
    if (at > most || raw > UINT16_MAX)
        return 0;
    memset(to, 0, most);
    memcpy(to + h.index_offset + SEAL_STORED, index, raw);
    const uint8_t head[SEAL_STORED] = {1, (uint8_t)raw, (uint8_t)(raw >> 8), (uint8_t)~raw,
                                       (uint8_t)(~raw >> 8)};
    memcpy(to + h.index_offset, head, sizeof head);
    for (uint32_t i = 0; i < h.section_count; i++) {
        const struct pcf_section *s = &f->x.sections[i];
        uint64_t mask = (UINT64_C(1) << s->align_log2) - 1;
        at = (at + mask) & ~mask;
        if (at > most || s->size > most - at)
            return 0;
        memcpy(to + at, f->data + s->offset, s->size);
        at += s->size;
    }
    at = (at + 7) / 8 * 8;
    if (at + sizeof end > most)
        return 0;
    h.index_size = raw + SEAL_STORED;
    h.file_size = end.file_size = at + sizeof end;
    memcpy(to, &h, sizeof h);
    memcpy(to + at, &end, sizeof end);
    seal(to, (size_t)h.file_size);
    return (size_t)h.file_size;
}

/* The same archive with its index stored instead of compressed; 0: not to be had. */
static size_t store_index(uint8_t *data, size_t size, size_t most)
{
    struct file f = {.data = data, .size = size};
    struct pcf_fault fault;
    int memory;
    size_t got = 0;
    if (pcf_header_check(data, size, size, &f.x.header, &fault) || !pcf_is_archive(&f.x.header) ||
        seal_index(data, &f.x.header))
        return 0;
    uint64_t raw = pcf_index_raw_size(&f.x.header);
    uint8_t *index = malloc(raw + 1), *to = malloc(most);
    if (index && to &&
        pci_raw_inflate(data + f.x.header.index_offset, f.x.header.index_size, index, raw,
                        &memory) == (int64_t)raw) {
        if (load(&f, index))
            got = lay_out(&f, index, raw, to, most);
        unload(&f);
    }
    if (got)
        memcpy(data, to, got);
    free(index);
    free(to);
    return got;
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
    if (pcf_header_check(data, size, size, &f.x.header, &fault) || !seal_index(data, &f.x.header))
        return 0;
    uint64_t index_size = pcf_index_raw_size(&f.x.header);
    uint8_t *index = malloc(index_size + 1);
    if (index) {
        memcpy(index, seal_index(data, &f.x.header), index_size);
        loaded = load(&f, index);
        if (loaded)
            change(&f);
        unload(&f);
    }
    free(index);
    return loaded;
}

/* Inputs of the target `cells`: mostly another edit, else another file. */
static size_t change_edits(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    struct file f = {.state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    size_t head = FUZZ_EDITS * 4;
    if (seed % 8 == 0)
        return head + LLVMFuzzerCustomMutator(data + head, size - head, most - head, seed / 8);
    uint8_t *edit = data + any(&f, FUZZ_EDITS) * 4;
    edit[0] = (uint8_t)any(&f, 256);
    edit[1] = (uint8_t)any(&f, 2);
    edit[2] = (uint8_t)(any(&f, 2) ? any(&f, 4) : any(&f, 256));
    edit[3] = (uint8_t)any(&f, any(&f, 2) ? 16 : 256);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size_t head = FUZZ_EDITS * 4;
    if (size >= head + sizeof(struct pcf_header) && !memcmp(data + head, PCF_MAGIC, PCF_MAGIC_SIZE))
        return change_edits(data, size, most, seed);
    int file = size >= sizeof(struct pcf_header) && !memcmp(data, PCF_MAGIC, PCF_MAGIC_SIZE);
    size_t stored = file ? store_index(data, size, most) : 0;
    if (stored)
        return stored;
    if (file && seed % 8 && change_file(data, size, seed)) {
        seal(data, size);
        return size;
    }
    size = LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, most) : size;
    if (file && seed % 16 < 12)
        seal(data, size);
    return size;
}

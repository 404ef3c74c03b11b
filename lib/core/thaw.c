/*
 * thaw.c - columns of archives, decompressed when they are first read
 *
 * The sections of a column and of its children are decompressed together into memory that belongs
 * to the file; from then on the column is read as any other. A flag of the column is set last, so a
 * reader that sees it set sees the bytes as well; before that, one thread works and others wait.
 * What a section takes is bounded by its bytes in the file (PCF_PRESS_RATIO), which were found to
 * have the right checksum.
 */
#include "file.h"

#include "alloc.h"
#include "core/rank.h"
#include "core/zlib.h"
#include "load.h"
#include "transform.h"

#include <lz4.h>
#include <string.h>

#define ROWS 1024u

/* A section on its way. */
struct thaw {
    const pcol_file *file;
    const struct pci_column *column, *parent; /* parent: of PCF_TRANSFORM_RANK */
    const struct pcf_section *section;
    struct pci_rank rank;
    uint8_t *raw;    /* section->raw_size bytes */
    uint8_t *stream; /* of a block: PCF_PRESS_STREAM */
};

static pcol_status damaged(const struct thaw *t, uint64_t at, pcol_error *err)
{
    const char *table = t->column->table ? t->column->table->name : "";
    uint64_t offset = t->section->offset + at;
    pci_fail_cell(err, PCOL_E_CORRUPT, table, t->column->name, PCOL_NOWHERE,
                  "compressed block at byte %llu is damaged", (unsigned long long)offset);
    if (err)
        err->offset = offset;
    return PCOL_E_CORRUPT;
}

/* The block's stream, decompressed; *size is -1 if that cannot be done. */
static pcol_status open_stream(struct thaw *t, const uint8_t *from, uint32_t head,
                               const uint8_t **stream, int64_t *size, pcol_error *err)
{
    uint32_t stored = head & PCF_PRESS_SIZE;
    int memory = 0;
    *stream = t->stream;
    if (head & PCF_PRESS_STORED) {
        *stream = from;
        *size = stored <= PCF_PRESS_STREAM ? (int64_t)stored : -1;
    } else if ((t->section->codec & 15) == PCF_CODEC_ZLIB) {
        *size = pci_zlib_inflate(from, stored, t->stream, PCF_PRESS_STREAM, &memory);
    } else {
        *size = LZ4_decompress_safe((const char *)from, (char *)t->stream, (int)stored,
                                    (int)PCF_PRESS_STREAM);
    }
    return memory ? pci_fail_memory(err) : PCOL_OK;
}

static pcol_status undo_rank(struct thaw *t, const uint8_t *stream, size_t size, uint64_t first,
                             size_t count, int *sound, pcol_error *err)
{
    int64_t parents[ROWS];
    size_t used = 0;
    *sound = 1;
    for (size_t done = 0; done < count && *sound; done += ROWS) {
        size_t n = count - done < ROWS ? count - done : ROWS;
        PCI_TRY(pci_read(t->file, t->parent, first + done, n, parents, NULL, err));
        PCI_TRY(pci_rank_undo(&t->rank, parents, t->raw, first + done, n, stream, size, &used,
                              sound, err));
    }
    *sound = *sound && used == size;
    return PCOL_OK;
}

static unsigned width_of(const struct pci_column *column)
{
    return column->desc->type == PCF_U32 || column->desc->type == PCF_STRING ? 4 : 8;
}

/* Bytes [at, at + bytes) of the section out of the stream of its block. */
static pcol_status undo(struct thaw *t, uint32_t head, const uint8_t *stream, int64_t size,
                        uint64_t at, size_t bytes, int *sound, pcol_error *err)
{
    unsigned transform = t->section->codec >> 4;
    *sound = 0;
    if (size < 0)
        return PCOL_OK;
    if (transform >= PCF_TRANSFORM_PARENT && head & PCF_PRESS_BARE)
        return PCOL_OK; /* what is known of the rows before depends on each block */
    if (transform == PCF_TRANSFORM_RANK)
        return undo_rank(t, stream, (size_t)size, at / 4, bytes / 4, sound, err);
    if (transform == PCF_TRANSFORM_PARENT)
        *sound = pcf_parents_undo(stream, (size_t)size, t->raw, at / 4, bytes / 4) == 0;
    else
        *sound =
            pcf_transform_undo(head & PCF_PRESS_BARE ? PCF_TRANSFORM_NONE : transform,
                               width_of(t->column), stream, (size_t)size, t->raw + at, bytes) == 0;
    return PCOL_OK;
}

static pcol_status thaw_blocks(struct thaw *t, pcol_error *err)
{
    const uint8_t *from = t->file->bytes + t->section->offset, *stream;
    uint64_t size = t->section->size, raw = t->section->raw_size, used = 0;
    for (uint64_t at = 0; at < raw; at += PCF_PRESS_BLOCK) {
        size_t bytes = raw - at < PCF_PRESS_BLOCK ? (size_t)(raw - at) : PCF_PRESS_BLOCK;
        uint32_t head;
        int64_t got;
        int sound;
        if (size - used < sizeof head)
            return damaged(t, used, err);
        head = pcf_load32(from + used);
        if ((head & PCF_PRESS_SIZE) > size - used - sizeof head)
            return damaged(t, used, err);
        PCI_TRY(open_stream(t, from + used + sizeof head, head, &stream, &got, err));
        PCI_TRY(undo(t, head, stream, got, at, bytes, &sound, err));
        if (!sound)
            return damaged(t, used, err);
        used += sizeof head + (head & PCF_PRESS_SIZE);
    }
    return used == size ? PCOL_OK : damaged(t, used, err);
}

/* PCF_TRANSFORM_RANK needs the column `parent` of the same table. */
static pcol_status find_parent(struct thaw *t, pcol_error *err)
{
    const struct pci_table *table = t->column->table;
    t->parent = table ? pci_column_find(table, "parent") : NULL;
    if (!t->parent || t->parent == t->column || !t->parent->supported ||
        t->parent->data->type != PCF_U32)
        return damaged(t, 0, err);
    for (uint32_t i = 0; i < t->parent->desc->section_count; i++) {
        const struct pcf_section *s = &t->file->index.sections[t->parent->desc->first_section + i];
        if (s->codec >> 4 == PCF_TRANSFORM_RANK)
            return damaged(t, 0, err);
    }
    PCI_TRY(pci_verify(t->file, t->parent, err));
    return pci_thaw_column(t->file, t->parent->number, err);
}

static pcol_status thaw_section(const pcol_file *file, const struct pci_column *column,
                                uint32_t number, pcol_error *err)
{
    struct thaw t = {.file = file, .column = column, .section = &file->index.sections[number]};
    pcol_status status = PCOL_OK;
    if (t.section->codec == 0 || file->thawed[number])
        return PCOL_OK;
    if (t.section->codec >> 4 == PCF_TRANSFORM_RANK)
        PCI_TRY(find_parent(&t, err));
    t.raw = pci_malloc((size_t)t.section->raw_size, 1);
    t.stream = pci_malloc(PCF_PRESS_STREAM, 1);
    if (!t.raw || !t.stream)
        status = pci_fail_memory(err);
    if (status == PCOL_OK)
        status = thaw_blocks(&t, err);
    if (status == PCOL_OK ||
        status == PCOL_E_CORRUPT) { /* was it the file's bytes that were read? */
        pcol_status kept = pci_kept(file, err);
        status = kept != PCOL_OK ? kept : status;
    }
    pci_rank_clear(&t.rank);
    pci_free(t.stream);
    if (status != PCOL_OK) {
        pci_free(t.raw);
        return status;
    }
    file->thawed[number] = t.raw;
    pcf_index_section(&file->index, number, t.raw, file->data);
    return PCOL_OK;
}

/* The column and its children, at most PCF_MAX_CHILD_DEPTH calls deep. */
pcol_status pci_thaw_column(const pcol_file *file, uint32_t number, pcol_error *err)
{
    struct pci_column *column = &file->columns[number];
    const struct pcf_column *desc = column->desc;
    if (!atomic_load_explicit(&column->frozen, memory_order_acquire))
        return PCOL_OK;
    for (uint32_t i = 0; i < desc->child_count; i++)
        PCI_TRY(pci_thaw_column(file, desc->first_child + i, err));
    uint32_t codes = pcf_column_codes(&file->index, number);
    if (codes)
        PCI_TRY(pci_thaw_column(file, codes, err));
    for (uint32_t i = 0; i < desc->section_count; i++)
        PCI_TRY(thaw_section(file, column, desc->first_section + i, err));
    atomic_store_explicit(&column->frozen, 0, memory_order_release);
    return PCOL_OK;
}

pcol_status pci_thaw_now(const pcol_file *file, const struct pci_column *column, pcol_error *err)
{
    pthread_mutex_t *lock = file->thaw_lock;
    pcol_status status = pci_verify(file, column, err);
    if (status != PCOL_OK)
        return status;
    pthread_mutex_lock(lock);
    status = pci_thaw_column(file, column->number, err);
    pthread_mutex_unlock(lock);
    return status;
}

pcol_status pci_thaw_index(const struct pcf_header *header, const uint8_t *stored, uint8_t *index,
                           pcol_error *err)
{
    int memory;
    uint64_t raw = pcf_index_raw_size(header);
    if (pcf_checksum(stored, header->index_size) != header->index_checksum)
        return pci_fail_byte(err, PCOL_E_CHECKSUM, header->index_offset,
                             "checksum of the index is wrong");
    int64_t got = pci_zlib_inflate(stored, header->index_size, index, raw, &memory);
    if (memory)
        return pci_fail_memory(err);
    if (got < 0 || (uint64_t)got != raw)
        return pci_fail_byte(err, PCOL_E_CORRUPT, header->index_offset,
                             "index does not decompress to the size of its parts");
    return PCOL_OK;
}

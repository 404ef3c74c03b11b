/*
 * archive_read.c - one block of a compressed section back to what it was
 *
 * A block is found through the entries at the section's end and checked by the checksum that stands
 * there; a section of one block by its own. Then its stream is decompressed and the transform
 * undone. No block needs another one of its section. What a section takes is bounded by its bytes
 * in the file (PCF_PRESS_RATIO).
 */
#include "reader/archive_read.h"

#include "format/load.h"
#include "format/transform.h"
#include "util/alloc.h"
#include "util/tree_context.h"

#include <lz4.h>
#include <string.h>

#define ROWS 1024u

/* A block on its way. */
struct thaw {
    const pcol_file *file;
    const struct pci_column *column, *named, *parent; /* parent: of PCF_TRANSFORM_RANK */
    const struct pcf_section *section;
    const uint8_t *from; /* in the file: the flags and what they are of */
    uint64_t begin, end; /* of that in the section */
    uint8_t *to;
    uint64_t at;  /* of the block in the section, decompressed */
    size_t bytes; /* of the block */
};

static pcol_status fail_block(const struct thaw *t, pcol_status status, pcol_error *err)
{
    const char *table = t->named->table ? t->named->table->name : "";
    uint64_t offset = t->section->offset + t->begin;
    PCI_TRY(pci_kept(t->file, err));
    pci_fail_cell(err, status, table, t->named->name, PCOL_NOWHERE,
                  status == PCOL_E_CHECKSUM
                      ? "checksum of the compressed block at byte %llu is wrong"
                      : "compressed block at byte %llu is damaged",
                  (unsigned long long)offset);
    if (err)
        err->offset = offset;
    return status;
}

/* Where the block lies in the file, and whether it is what was written. */
static pcol_status find_block(struct thaw *t, uint64_t block, pcol_error *err)
{
    const struct pcf_section *s = t->section;
    const uint8_t *bytes = t->file->bytes + s->offset, *entry;
    uint64_t count = pci_archive_block_count(s), entries = count * sizeof(struct pcf_press_entry);
    t->begin = 0;
    t->end = s->size;
    t->from = bytes;
    if (count == 1)
        return pci_verify_section(t->file, (uint32_t)(s - t->file->index.sections), t->named, err);
    if (entries > s->size)
        return fail_block(t, PCOL_E_CORRUPT, err);
    entry = bytes + s->size - entries + block * sizeof(struct pcf_press_entry);
    if (block)
        t->begin = pcf_load64(entry - sizeof(struct pcf_press_entry));
    t->end = pcf_load64(entry);
    if (t->begin >= t->end || t->end > s->size - entries ||
        (block == count - 1 && t->end != s->size - entries)) {
        t->begin = 0; /* which may be far beyond */
        return fail_block(t, PCOL_E_CORRUPT, err);
    }
    t->from = bytes + t->begin;
    if (pcf_checksum(t->from, t->end - t->begin) !=
        pcf_load64(entry + offsetof(struct pcf_press_entry, checksum)))
        return fail_block(t, PCOL_E_CHECKSUM, err);
    return PCOL_OK;
}

/* The block's stream, decompressed; *size is -1 if that cannot be done. */
static pcol_status open_stream(struct thaw *t, const uint8_t **stream, int64_t *size,
                               pcol_error *err)
{
    struct pci_decompress_column *thaw = t->file->thaw;
    uint64_t stored = t->end - t->begin - 1;
    int memory = 0;
    *size = -1;
    if (stored > PCF_PRESS_STREAM)
        return PCOL_OK;
    if (t->from[0] & PCF_PRESS_STORED) {
        *stream = t->from + 1;
        *size = (int64_t)stored;
        return PCOL_OK;
    }
    if (!thaw->stream && !(thaw->stream = pci_malloc(PCF_PRESS_STREAM, 1)))
        return pci_fail_memory(err);
    *stream = thaw->stream;
    if ((t->section->codec & 15) != PCF_CODEC_ZLIB) {
        *size = LZ4_decompress_safe((const char *)t->from + 1, (char *)thaw->stream, (int)stored,
                                    (int)PCF_PRESS_STREAM);
        return PCOL_OK;
    }
    if (!thaw->has_zlib && pci_deflate_raw_begin(&thaw->zlib) != 0)
        return pci_fail_memory(err);
    thaw->has_zlib = 1;
    *size = pci_deflate_raw_next(&thaw->zlib, t->from + 1, stored, thaw->stream, PCF_PRESS_STREAM,
                                 &memory);
    return memory ? pci_fail_memory(err) : PCOL_OK;
}

static pcol_status undo_rank(struct thaw *t, const uint8_t *stream, size_t size, int *sound,
                             pcol_error *err)
{
    struct pci_tree_context rank = {0};
    int64_t parents[ROWS];
    uint64_t first = t->at / 4, count = t->bytes / 4;
    pcol_status status = PCOL_OK;
    size_t used = 0;
    *sound = 1;
    for (size_t done = 0; status == PCOL_OK && done < count && *sound; done += ROWS) {
        size_t n = count - done < ROWS ? count - done : ROWS;
        status = pci_read(t->file, t->parent, first + done, n, parents, NULL, err);
        if (status == PCOL_OK)
            status = pci_tree_context_undo(&rank, parents, t->to, first, first + done, n, stream,
                                           size, &used, sound, err);
    }
    pci_tree_context_clear(&rank);
    *sound = *sound && used == size;
    return status;
}

static unsigned width_of(const struct pci_column *column)
{
    return column->desc->type == PCF_U32 || column->desc->type == PCF_STRING ? 4 : 8;
}

/* The block out of its stream. */
static pcol_status undo(struct thaw *t, const uint8_t *stream, int64_t size, int *sound,
                        pcol_error *err)
{
    unsigned transform = t->section->codec >> 4, flags = t->from[0];
    *sound = 0;
    if (size < 0 || flags & ~(PCF_PRESS_STORED | PCF_PRESS_BARE))
        return PCOL_OK;
    if (transform >= PCF_TRANSFORM_PARENT && flags & PCF_PRESS_BARE)
        return PCOL_OK;
    if (transform == PCF_TRANSFORM_RANK)
        return undo_rank(t, stream, (size_t)size, sound, err);
    if (transform == PCF_TRANSFORM_PARENT)
        *sound = pcf_parents_undo(stream, (size_t)size, t->to, t->at / 4, t->bytes / 4) == 0;
    else
        *sound =
            pcf_transform_undo(flags & PCF_PRESS_BARE ? PCF_TRANSFORM_NONE : transform,
                               width_of(t->column), stream, (size_t)size, t->to, t->bytes) == 0;
    return PCOL_OK;
}

/* PCF_TRANSFORM_RANK needs the column `parent` of the same table. */
static pcol_status find_parent(struct thaw *t, pcol_error *err)
{
    const struct pci_table *table = t->column->table;
    t->parent = table ? pci_column_find(table, "parent") : NULL;
    if (!t->parent || t->parent == t->column || !t->parent->supported ||
        t->parent->data->type != PCF_U32)
        return fail_block(t, PCOL_E_CORRUPT, err);
    for (uint32_t i = 0; i < t->parent->desc->section_count; i++) {
        const struct pcf_section *s = &t->file->index.sections[t->parent->desc->first_section + i];
        if (s->codec >> 4 == PCF_TRANSFORM_RANK)
            return fail_block(t, PCOL_E_CORRUPT, err);
    }
    return pci_verify(t->file, t->parent, err);
}

static pcol_status thaw_found(struct thaw *t, pcol_error *err)
{
    const uint8_t *stream = NULL;
    int64_t size;
    int sound;
    PCI_TRY(open_stream(t, &stream, &size, err));
    PCI_TRY(undo(t, stream, size, &sound, err));
    PCI_TRY(pci_kept(t->file, err)); /* was it the file's bytes that were read? */
    return sound ? PCOL_OK : fail_block(t, PCOL_E_CORRUPT, err);
}

pcol_status pci_thaw_block(const pcol_file *file, const struct pci_column *column,
                           const struct pci_column *named, uint32_t section, uint64_t block,
                           pcol_error *err)
{
    struct thaw t = {
        .file = file, .column = column, .named = named, .section = &file->index.sections[section]};
    uint64_t whole = pcf_press_block(t.section->codec), left;
    struct pci_pin hold;
    t.at = block * whole;
    t.to = file->thaw->cold[section].raw + t.at;
    left = t.section->raw_size - t.at;
    t.bytes = (size_t)(left < whole ? left : whole);
    PCI_TRY(find_block(&t, block, err));
    if (t.section->codec >> 4 != PCF_TRANSFORM_RANK)
        return thaw_found(&t, err);
    /* The parents first: there is one buffer for streams. */
    PCI_TRY(find_parent(&t, err));
    pcol_status status = pci_pin_rows(&hold, file, t.parent, t.at / 4, t.bytes / 4, err);
    if (status == PCOL_OK)
        status = thaw_found(&t, err);
    pci_unpin(&hold);
    return status;
}

pcol_status pci_archive_read_index(const struct pcf_header *header, const uint8_t *stored,
                                   uint8_t *index, pcol_error *err)
{
    int memory;
    uint64_t raw = pcf_index_raw_size(header);
    if (pcf_checksum(stored, header->index_size) != header->index_checksum)
        return pci_fail_at_byte(err, PCOL_E_CHECKSUM, header->index_offset,
                                "checksum of the index is wrong");
    int64_t got = pci_deflate_raw_inflate(stored, header->index_size, index, raw, &memory);
    if (memory)
        return pci_fail_memory(err);
    if (got < 0 || (uint64_t)got != raw)
        return pci_fail_at_byte(err, PCOL_E_CORRUPT, header->index_offset,
                                "index does not decompress to the size of its parts");
    return PCOL_OK;
}

/* ---- begin and end */

static int new_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0)
        return -1;
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    int failed = pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return failed ? -1 : 0;
}

pcol_status pci_archive_open(pcol_file *file, uint64_t limit, pcol_error *err)
{
    const struct pcf_index *x = &file->index;
    int small = pcol_file_unpacked_size(file) <= limit;
    struct pci_decompress_column *thaw =
        pci_malloc(1, sizeof *thaw + x->header.section_count * sizeof thaw->cold[0]);
    if (!thaw)
        return pci_fail_memory(err);
    memset(thaw, 0, sizeof *thaw + x->header.section_count * sizeof thaw->cold[0]);
    if (new_lock(&thaw->lock) != 0) {
        pci_free(thaw);
        return pci_fail_memory(err);
    }
    thaw->limit = limit;
    atomic_init(&thaw->strings, 0);
    for (uint32_t i = 0; i < x->header.section_count; i++) {
        struct pci_archive_section *cold = &thaw->cold[i];
        cold->blocks = x->sections[i].codec ? pci_archive_block_count(&x->sections[i]) : 0;
        atomic_init(&cold->may_go, (uint8_t)(!small && cold->blocks > 1 &&
                                             x->sections[i].role == PCF_ROLE_VALUES));
    }
    file->thaw = thaw;
    return PCOL_OK;
}

void pci_archive_close(pcol_file *file)
{
    struct pci_decompress_column *thaw = file->thaw;
    if (!thaw)
        return;
    for (uint32_t i = 0; i < file->index.header.section_count; i++) {
        struct pci_archive_section *cold = &thaw->cold[i];
        if (cold->blocks > 1 && cold->raw)
            pci_unreserve(cold->raw, (size_t)file->index.sections[i].raw_size);
        else
            pci_free(cold->raw);
        pci_free((void *)(uintptr_t)cold->state);
    }
    if (thaw->has_zlib)
        inflateEnd(&thaw->zlib);
    pci_free(thaw->stream);
    pci_free(thaw->queue);
    pthread_mutex_destroy(&thaw->lock);
    pci_free(thaw);
    file->thaw = NULL;
}

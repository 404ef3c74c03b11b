/*
 * archive_read.c - decompression of one block of a compressed section
 *
 * The block directory at the end of a section locates a block and has its checksum; a section of
 * one block uses the section's checksum. The stream is decompressed, then the transform inverted.
 * Blocks of a section are independent. Decompressed sizes are bounded by stored sizes
 * (PCF_ARCHIVE_RATIO). Tests: tests/unit/test_archive.c, tests/format/archive.
 */
#include "reader/archive_read.h"

#include "format/load.h"
#include "format/transform.h"
#include "util/alloc.h"
#include "util/tree_context.h"

#include <lz4.h>
#include <string.h>

#define BATCH_ROWS 1024u

/* A block to decompress. */
struct job {
    const pcol_file *file;
    const struct pci_column *column, *named, *parent; /* parent: for PCF_TRANSFORM_RANK */
    const struct pcf_section *section;
    const uint8_t *from; /* stored bytes: flags and stream */
    uint64_t begin, end; /* offsets of the stored bytes in the section */
    uint8_t *to;
    uint64_t raw_offset; /* of the block in the decompressed section */
    size_t raw_size;     /* of the block */
};

static pcol_status fail_block(const struct job *t, pcol_status status, pcol_error *err)
{
    const char *table = t->named->table ? t->named->table->name : "";
    uint64_t offset = t->section->offset + t->begin;
    PCI_TRY(pci_check_unchanged(t->file, err));
    pci_fail_cell(err, status, table, t->named->name, PCOL_POSITION_UNKNOWN,
                  status == PCOL_E_CHECKSUM
                      ? "checksum of the compressed block at byte %llu is wrong"
                      : "compressed block at byte %llu is damaged",
                  (unsigned long long)offset);
    if (err)
        err->offset = offset;
    return status;
}

/* Locates the stored bytes of a block and verifies their checksum. */
static pcol_status find_block(struct job *t, uint64_t block, pcol_error *err)
{
    const struct pcf_section *s = t->section;
    const uint8_t *bytes = t->file->bytes + s->offset, *entry;
    uint64_t count = pci_archive_block_count(s), entries = count * sizeof(struct pcf_archive_entry);
    t->begin = 0;
    t->end = s->size;
    t->from = bytes;
    if (count == 1)
        return pci_verify_section(t->file, (uint32_t)(s - t->file->index.sections), t->named, err);
    if (entries > s->size)
        return fail_block(t, PCOL_E_CORRUPT, err);
    entry = bytes + s->size - entries + block * sizeof(struct pcf_archive_entry);
    if (block)
        t->begin = pcf_load64(entry - sizeof(struct pcf_archive_entry));
    t->end = pcf_load64(entry);
    if (t->begin >= t->end || t->end > s->size - entries ||
        (block == count - 1 && t->end != s->size - entries)) {
        t->begin = 0; /* report the section: the offset may be beyond the file */
        return fail_block(t, PCOL_E_CORRUPT, err);
    }
    t->from = bytes + t->begin;
    if (pcf_checksum(t->from, t->end - t->begin) !=
        pcf_load64(entry + offsetof(struct pcf_archive_entry, checksum)))
        return fail_block(t, PCOL_E_CHECKSUM, err);
    return PCOL_OK;
}

/* Decompresses the stream of a block; *size is -1 if it is corrupt. */
static pcol_status decompress_stream(struct job *t, const uint8_t **stream, int64_t *size,
                                     pcol_error *err)
{
    struct pci_archive *archive = t->file->archive;
    uint64_t stored = t->end - t->begin - 1;
    int memory = 0;
    *size = -1;
    if (stored > PCF_ARCHIVE_STREAM)
        return PCOL_OK;
    if (t->from[0] & PCF_ARCHIVE_STORED) {
        *stream = t->from + 1;
        *size = (int64_t)stored;
        return PCOL_OK;
    }
    if (!archive->stream && !(archive->stream = pci_malloc(PCF_ARCHIVE_STREAM, 1)))
        return pci_fail_memory(err);
    *stream = archive->stream;
    if ((t->section->codec & 15) != PCF_CODEC_ZLIB) {
        *size = LZ4_decompress_safe((const char *)t->from + 1, (char *)archive->stream, (int)stored,
                                    (int)PCF_ARCHIVE_STREAM);
        return PCOL_OK;
    }
    if (!archive->has_zlib && pci_raw_inflate_begin(&archive->zlib) != 0)
        return pci_fail_memory(err);
    archive->has_zlib = 1;
    *size = pci_raw_inflate_next(&archive->zlib, t->from + 1, stored, archive->stream,
                                 PCF_ARCHIVE_STREAM, &memory);
    return memory ? pci_fail_memory(err) : PCOL_OK;
}

/* Inverts PCF_TRANSFORM_RANK; *valid is 0 if the stream is corrupt. */
static pcol_status undo_rank(struct job *t, const uint8_t *stream, size_t size, int *valid,
                             pcol_error *err)
{
    struct pci_tree_context rank = {0};
    int64_t parents[BATCH_ROWS];
    uint64_t first = t->raw_offset / 4, count = t->raw_size / 4;
    pcol_status status = PCOL_OK;
    size_t used = 0;
    *valid = 1;
    for (size_t done = 0; status == PCOL_OK && done < count && *valid; done += BATCH_ROWS) {
        size_t n = count - done < BATCH_ROWS ? (size_t)(count - done) : BATCH_ROWS;
        status = pci_read(t->file, t->parent, first + done, n, parents, NULL, err);
        PCI_THEN(status, pci_tree_context_decode(&rank, parents, t->to, first, first + done, n,
                                                 stream, size, &used, valid, err));
    }
    pci_tree_context_clear(&rank);
    *valid = *valid && used == size;
    return status;
}

static unsigned value_width(const struct pci_column *column)
{
    return column->desc->type == PCF_U32 || column->desc->type == PCF_STRING ? 4 : 8;
}

/* Inverts the transform of a block; *valid is 0 if the stream is corrupt. */
static pcol_status undo_transform(struct job *t, const uint8_t *stream, int64_t size, int *valid,
                                  pcol_error *err)
{
    unsigned transform = t->section->codec >> 4, flags = t->from[0];
    *valid = 0;
    if (size < 0 || flags & ~(PCF_ARCHIVE_STORED | PCF_ARCHIVE_UNTRANSFORMED))
        return PCOL_OK;
    if (transform >= PCF_TRANSFORM_PARENT && flags & PCF_ARCHIVE_UNTRANSFORMED)
        return PCOL_OK;
    if (transform == PCF_TRANSFORM_RANK)
        return undo_rank(t, stream, (size_t)size, valid, err);
    if (transform == PCF_TRANSFORM_PARENT)
        *valid =
            pcf_parents_undo(stream, (size_t)size, t->to, t->raw_offset / 4, t->raw_size / 4) == 0;
    else
        *valid = pcf_transform_undo(
                     flags & PCF_ARCHIVE_UNTRANSFORMED ? PCF_TRANSFORM_NONE : transform,
                     value_width(t->column), stream, (size_t)size, t->to, t->raw_size) == 0;
    return PCOL_OK;
}

/* PCF_TRANSFORM_RANK needs the column `parent` of the same table. */
static pcol_status find_parent(struct job *t, pcol_error *err)
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

static pcol_status decompress_found(struct job *t, pcol_error *err)
{
    const uint8_t *stream = NULL;
    int64_t size;
    int valid;
    PCI_TRY(decompress_stream(t, &stream, &size, err));
    PCI_TRY(undo_transform(t, stream, size, &valid, err));
    PCI_TRY(pci_check_unchanged(t->file, err)); /* a truncated map reads as zeros */
    return valid ? PCOL_OK : fail_block(t, PCOL_E_CORRUPT, err);
}

pcol_status pci_archive_decompress(const pcol_file *file, const struct pci_column *column,
                                   const struct pci_column *named, uint32_t section, uint64_t block,
                                   pcol_error *err)
{
    struct job t = {
        .file = file, .column = column, .named = named, .section = &file->index.sections[section]};
    uint64_t whole = pcf_archive_block(t.section->codec), left;
    struct pci_pin pin;
    t.raw_offset = block * whole;
    t.to = file->archive->sections[section].raw + t.raw_offset;
    left = t.section->raw_size - t.raw_offset;
    t.raw_size = (size_t)(left < whole ? left : whole);
    PCI_TRY(find_block(&t, block, err));
    if (t.section->codec >> 4 != PCF_TRANSFORM_RANK)
        return decompress_found(&t, err);
    /* Decompress the parents first: all blocks share one stream buffer. */
    PCI_TRY(find_parent(&t, err));
    pcol_status status = pci_pin_rows(&pin, file, t.parent, t.raw_offset / 4, t.raw_size / 4, err);
    PCI_THEN(status, decompress_found(&t, err));
    pci_unpin(&pin);
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
    int64_t got = pci_raw_inflate(stored, header->index_size, index, raw, &memory);
    if (memory)
        return pci_fail_memory(err);
    if (got < 0 || (uint64_t)got != raw)
        return pci_fail_at_byte(err, PCOL_E_CORRUPT, header->index_offset,
                                "decompressed index does not have the size of its parts");
    return PCOL_OK;
}

/* ---- open and close */

pcol_status pci_archive_open(pcol_file *file, uint64_t limit, pcol_error *err)
{
    const struct pcf_index *x = &file->index;
    int small = pcol_file_unpacked_size(file) <= limit;
    struct pci_archive *archive =
        pci_malloc(1, sizeof *archive + x->header.section_count * sizeof archive->sections[0]);
    if (!archive)
        return pci_fail_memory(err);
    memset(archive, 0, sizeof *archive + x->header.section_count * sizeof archive->sections[0]);
    if (pci_mutex_init_recursive(&archive->lock) != 0) {
        pci_free(archive);
        return pci_fail_memory(err);
    }
    archive->limit = limit;
    atomic_init(&archive->string_bytes, 0);
    for (uint32_t i = 0; i < x->header.section_count; i++) {
        struct pci_archive_section *s = &archive->sections[i];
        s->blocks = x->sections[i].codec ? pci_archive_block_count(&x->sections[i]) : 0;
        atomic_init(&s->evictable,
                    (uint8_t)(!small && s->blocks > 1 && x->sections[i].role == PCF_ROLE_VALUES));
    }
    file->archive = archive;
    return PCOL_OK;
}

void pci_archive_close(pcol_file *file)
{
    struct pci_archive *archive = file->archive;
    if (!archive)
        return;
    for (uint32_t i = 0; i < file->index.header.section_count; i++) {
        struct pci_archive_section *s = &archive->sections[i];
        if (s->blocks > 1 && s->raw)
            pci_unreserve(s->raw, (size_t)file->index.sections[i].raw_size);
        else
            pci_free(s->raw);
        pci_free((void *)(uintptr_t)s->state);
    }
    if (archive->has_zlib)
        inflateEnd(&archive->zlib);
    pci_free(archive->stream);
    pci_free(archive->queue);
    pci_mutex_destroy(&archive->lock);
    pci_free(archive);
    file->archive = NULL;
}

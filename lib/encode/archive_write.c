/*
 * archive_write.c - writer of compressed sections of archives (archive_write.h)
 *
 * zlib level 9, because archives are written once; level 4 to compare the sizes of alternatives,
 * which it ranks equally well.
 */
#include "encode/archive_write.h"

#include "format/index.h"
#include "format/transform.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/raw_deflate.h"
#include "util/tree_context.h"

#include <lz4hc.h>
#include <string.h>

#define QUICK_LEVEL 4
#define BEST_LEVEL 9
/* Upper bound of a compressed stream for both codecs. */
#define MAX_COMPRESSED (PCF_ARCHIVE_STREAM + PCF_ARCHIVE_STREAM / 128 + 1024)

/* A block as stored in the file. */
struct stored_block {
    uint8_t flags; /* PCF_ARCHIVE_STORED, PCF_ARCHIVE_UNTRANSFORMED */
    uint8_t bytes[MAX_COMPRESSED];
};
_Static_assert(offsetof(struct stored_block, bytes) == 1, "flags and bytes are contiguous");

struct pci_archive_writer {
    unsigned flags;
    z_stream best, quick;
    int has_best, has_quick;
    void *lz4;
    /* the current section */
    unsigned transform, width, codec;
    int is_quick;
    const struct pci_archive_writer_tree *tree;
    struct pci_tree_context rank;
    uint64_t raw, stored; /* bytes of the complete blocks, and their size in the file */
    size_t fill;          /* bytes in `block` */
    struct pcf_archive_entry *entries;
    size_t entry_count, entry_capacity;
    uint8_t block[PCF_ARCHIVE_RANK_BLOCK];
    struct stored_block stream, deflated, fast;
};

pcol_status pci_archive_writer_new(unsigned flags, struct pci_archive_writer **writer,
                                   pcol_error *err)
{
    struct pci_archive_writer *new;
    *writer = NULL;
    PCI_TRY(PCI_MALLOC(new, 1, err));
    memset(new, 0, offsetof(struct pci_archive_writer, block));
    new->flags = flags;
    new->lz4 = pci_malloc(1, (size_t)LZ4_sizeofStateHC());
    new->has_best = pci_raw_deflate_begin(&new->best, BEST_LEVEL) == 0;
    new->has_quick = pci_raw_deflate_begin(&new->quick, QUICK_LEVEL) == 0;
    if (!new->lz4 || !new->has_best || !new->has_quick) {
        pci_archive_writer_free(new);
        return pci_fail_memory(err);
    }
    *writer = new;
    return PCOL_OK;
}

void pci_archive_writer_free(struct pci_archive_writer *writer)
{
    if (!writer)
        return;
    if (writer->has_best)
        deflateEnd(&writer->best);
    if (writer->has_quick)
        deflateEnd(&writer->quick);
    pci_tree_context_clear(&writer->rank);
    pci_free(writer->entries);
    pci_free(writer->lz4);
    pci_free(writer);
}

unsigned pci_archive_writer_flags(const struct pci_archive_writer *writer)
{
    return writer->flags;
}

void pci_archive_writer_begin(struct pci_archive_writer *writer, unsigned transform, unsigned width,
                              const struct pci_archive_writer_tree *tree, int quick)
{
    writer->transform = transform;
    writer->width = width;
    writer->codec = PCF_CODEC_NONE;
    writer->is_quick = quick;
    writer->tree = tree;
    writer->raw = writer->stored = 0;
    writer->fill = 0;
    writer->entry_count = 0;
}

/* ---- one block */

/* Compresses in pieces, so that the call can be cancelled: a piece takes some milliseconds.
 * capacity: deflateBound() or more, so that zlib cannot fail. */
static pcol_status compress_zlib(z_stream *z, const uint8_t *from, size_t size, uint8_t *to,
                                 size_t capacity, size_t *compressed, pcol_error *err)
{
    enum { PIECE = 32 << 10 };
    deflateReset(z);
    z->next_out = to;
    z->avail_out = (uInt)capacity;
    do {
        size_t n = size < PIECE ? size : PIECE;
        PCI_TRY(pci_work(PCI_CONTROL_STEP, err));
        z->next_in = from;
        z->avail_in = (uInt)n;
        from += n;
        size -= n;
        deflate(z, size ? Z_NO_FLUSH : Z_FINISH);
    } while (size);
    *compressed = capacity - z->avail_out;
    return PCOL_OK;
}

static size_t compress_lz4(struct pci_archive_writer *p, const uint8_t *from, size_t size)
{
    int n = LZ4_compress_HC_extStateHC(p->lz4, (const char *)from, (char *)p->fast.bytes, (int)size,
                                       (int)MAX_COMPRESSED, LZ4HC_CLEVEL_MAX);
    return n > 0 ? (size_t)n : size; /* a size not below the stream's: stored uncompressed */
}

/* Compresses a stream with the section's codec, which its first block decides. */
static pcol_status compress_stream(struct pci_archive_writer *p, const uint8_t *from, size_t size,
                                   struct stored_block **out, size_t *compressed, pcol_error *err)
{
    z_stream *z = p->is_quick ? &p->quick : &p->best;
    size_t deflated = 0, fast;
    if (p->codec == PCF_CODEC_NONE &&
        (p->is_quick || (p->flags & PCOL_WRITE_ARCHIVE_ZLIB) == PCOL_WRITE_ARCHIVE_ZLIB))
        p->codec = PCF_CODEC_ZLIB;
    if (p->codec == PCF_CODEC_NONE && (p->flags & PCOL_WRITE_ARCHIVE_LZ4) == PCOL_WRITE_ARCHIVE_LZ4)
        p->codec = PCF_CODEC_LZ4;
    if (p->codec != PCF_CODEC_LZ4)
        PCI_TRY(compress_zlib(z, from, size, p->deflated.bytes, MAX_COMPRESSED, &deflated, err));
    fast = deflated;
    if (p->codec != PCF_CODEC_ZLIB)
        fast = compress_lz4(p, from, size);
    if (p->codec == PCF_CODEC_NONE)
        p->codec = fast <= deflated + deflated / 32 ? PCF_CODEC_LZ4 : PCF_CODEC_ZLIB;
    *out = p->codec == PCF_CODEC_ZLIB ? &p->deflated : &p->fast;
    *compressed = p->codec == PCF_CODEC_ZLIB ? deflated : fast;
    return PCOL_OK;
}

static pcol_status transform_block(struct pci_archive_writer *p, size_t *size, pcol_error *err)
{
    uint64_t first = p->raw / 4;
    uint8_t *stream = p->stream.bytes;
    pcol_status status;
    switch (p->transform) {
    case PCF_TRANSFORM_PARENT:
        *size = pcf_parents_apply(p->tree->parents, first, p->fill / 4, stream);
        return PCOL_OK;
    case PCF_TRANSFORM_RANK:
        status = pci_tree_context_encode(&p->rank, p->tree->parents, p->tree->values, first,
                                         p->fill / 4, stream, size, err);
        pci_tree_context_clear(&p->rank);
        return status;
    default:
        *size = pcf_transform_apply(p->transform, p->width, p->block, p->fill, stream);
        return PCOL_OK;
    }
}

static int is_tree(const struct pci_archive_writer *p)
{
    return p->transform >= PCF_TRANSFORM_PARENT;
}

/* Transforms and compresses the block: *size bytes after the flags. */
static pcol_status compress_block(struct pci_archive_writer *p, struct stored_block **out,
                                  size_t *size, pcol_error *err)
{
    size_t stream = 0;
    PCI_TRY(transform_block(p, &stream, err));
    PCI_TRY(compress_stream(p, p->stream.bytes, stream, out, size, err));
    (*out)->flags = 0;
    /* Readers reject a higher ratio as a decompression bomb. */
    int bomb = p->transform && p->fill / PCF_ARCHIVE_RATIO > *size;
    if (bomb && !is_tree(p)) {
        PCI_TRY(compress_stream(p, p->block, p->fill, out, size, err));
        (*out)->flags = PCF_ARCHIVE_UNTRANSFORMED;
    } else if (bomb || *size >= stream) {
        *size = stream;
        *out = &p->stream;
        (*out)->flags = PCF_ARCHIVE_STORED;
    }
    return PCOL_OK;
}

static pcol_status put_block(struct pci_archive_writer *p, pci_archive_writer_put put,
                             void *context, int last, pcol_error *err)
{
    struct stored_block *out;
    size_t size;
    PCI_TRY(pci_work(PCI_CONTROL_STEP, err)); /* some milliseconds */
    PCI_TRY(compress_block(p, &out, &size, err));
    if (last && p->raw == 0 && 1 + size >= p->fill) { /* single block, not smaller */
        p->codec = PCF_CODEC_NONE;
        return put(context, p->block, p->fill, err);
    }
    PCI_TRY(PCI_GROW(p->entries, p->entry_capacity, p->entry_count + 1, err));
    p->stored += 1 + size;
    p->entries[p->entry_count++] =
        (struct pcf_archive_entry){p->stored, pcf_checksum(out, 1 + size)};
    return put(context, out, 1 + size, err);
}

pcol_status pci_archive_writer_add(struct pci_archive_writer *writer, const void *data, size_t size,
                                   pci_archive_writer_put put, void *context, pcol_error *err)
{
    size_t block = (size_t)pcf_archive_block(writer->transform << 4);
    const uint8_t *from = data;
    while (size) {
        size_t n = block - writer->fill;
        if (n == 0) {
            PCI_TRY(put_block(writer, put, context, 0, err));
            writer->raw += writer->fill;
            writer->fill = 0;
            continue;
        }
        n = n < size ? n : size;
        memcpy(writer->block + writer->fill, from, n);
        writer->fill += n;
        from += n;
        size -= n;
    }
    return PCOL_OK;
}

pcol_status pci_archive_writer_end(struct pci_archive_writer *writer, pci_archive_writer_put put,
                                   void *context, uint8_t *codec, uint64_t *raw_size,
                                   pcol_error *err)
{
    *raw_size = writer->raw + writer->fill;
    if (writer->fill)
        PCI_TRY(put_block(writer, put, context, 1, err));
    *codec = (uint8_t)(writer->codec ? writer->codec | writer->transform << 4 : PCF_CODEC_NONE);
    if (writer->entry_count < 2)
        return PCOL_OK;
    return put(context, writer->entries, writer->entry_count * sizeof *writer->entries, err);
}

pcol_status pci_archive_writer_index(struct pci_archive_writer *writer, const void *data,
                                     size_t size, uint8_t **out, size_t *out_size, pcol_error *err)
{
    z_stream *z = &writer->best;
    uLong bound = deflateBound(z, (uLong)size); /* an index is smaller than 1 GiB */
    *out_size = 0;
    PCI_TRY(PCI_MALLOC(*out, (size_t)bound + 1, err));
    return compress_zlib(z, data, size, *out, bound, out_size, err);
}

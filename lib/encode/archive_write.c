/*
 * archive_write.c - compressed sections of archives, written
 *
 * zlib is asked for its utmost (level 9), as archives are written once; while forms are compared, a
 * quicker level says as well which of them is smaller.
 */
#include "encode/archive_write.h"

#include "format/index.h"
#include "format/transform.h"
#include "util/alloc.h"
#include "util/raw_deflate.h"
#include "util/tree_context.h"

#include <lz4hc.h>
#include <string.h>

#define QUICK_LEVEL 4
#define BEST_LEVEL 9
#define ROOM \
    (PCF_PRESS_STREAM + PCF_PRESS_STREAM / 128 + 1024) /* no codec makes more of a stream */

/* What a block is in the file. */
struct piece {
    uint8_t flags; /* PCF_PRESS_ */
    uint8_t bytes[ROOM];
};
_Static_assert(offsetof(struct piece, bytes) == 1, "flags and bytes are put as one");

struct pci_archive_writer {
    unsigned flags;
    z_stream best, quick;
    int has_best, has_quick;
    void *lz4;
    /* the section */
    unsigned transform, width, codec;
    int is_quick;
    const struct pci_archive_writer_tree *tree;
    struct pci_tree_context rank;
    uint64_t raw, put; /* bytes of the blocks before, and what became of them */
    size_t fill;
    struct pcf_press_entry *entries;
    size_t entry_count, entry_capacity;
    uint8_t block[PCF_PRESS_RANK_BLOCK];
    struct piece stream, deflated, fast;
};

pcol_status pci_archive_writer_new(unsigned flags, struct pci_archive_writer **press,
                                   pcol_error *err)
{
    struct pci_archive_writer *new = pci_malloc(1, sizeof *new);
    *press = NULL;
    if (!new)
        return pci_fail_memory(err);
    memset(new, 0, offsetof(struct pci_archive_writer, block));
    new->flags = flags;
    new->lz4 = pci_malloc(1, (size_t)LZ4_sizeofStateHC());
    new->has_best = pci_deflate_raw_deflate(&new->best, BEST_LEVEL) == 0;
    new->has_quick = pci_deflate_raw_deflate(&new->quick, QUICK_LEVEL) == 0;
    if (!new->lz4 || !new->has_best || !new->has_quick) {
        pci_archive_writer_free(new);
        return pci_fail_memory(err);
    }
    *press = new;
    return PCOL_OK;
}

void pci_archive_writer_free(struct pci_archive_writer *press)
{
    if (!press)
        return;
    if (press->has_best)
        deflateEnd(&press->best);
    if (press->has_quick)
        deflateEnd(&press->quick);
    pci_tree_context_clear(&press->rank);
    pci_free(press->entries);
    pci_free(press->lz4);
    pci_free(press);
}

unsigned pci_archive_writer_flags(const struct pci_archive_writer *press)
{
    return press->flags;
}

void pci_archive_writer_begin(struct pci_archive_writer *press, unsigned transform, unsigned width,
                              const struct pci_archive_writer_tree *tree, int quick)
{
    press->transform = transform;
    press->width = width;
    press->codec = PCF_CODEC_NONE;
    press->is_quick = quick;
    press->tree = tree;
    press->raw = press->put = 0;
    press->fill = 0;
    press->entry_count = 0;
}

/* ---- one block */

static size_t with_zlib(z_stream *z, const uint8_t *from, size_t size, uint8_t *to)
{
    deflateReset(z);
    z->next_in = from;
    z->avail_in = (uInt)size;
    z->next_out = to;
    z->avail_out = (uInt)ROOM;
    deflate(z, Z_FINISH); /* cannot fail: there is room */
    return ROOM - z->avail_out;
}

static size_t with_lz4(struct pci_archive_writer *p, const uint8_t *from, size_t size)
{
    int n = LZ4_compress_HC_extStateHC(p->lz4, (const char *)from, (char *)p->fast.bytes, (int)size,
                                       (int)ROOM, LZ4HC_CLEVEL_MAX);
    return n > 0 ? (size_t)n : size; /* no less than the stream: it is stored */
}

/* The stream's bytes under the section's codec, which its first block decides. */
static size_t compress_stream(struct pci_archive_writer *p, const uint8_t *from, size_t size,
                              struct piece **out)
{
    z_stream *z = p->is_quick ? &p->quick : &p->best;
    size_t deflated = 0, fast;
    *out = &p->deflated;
    if (p->codec == PCF_CODEC_NONE &&
        (p->is_quick || (p->flags & PCOL_WRITE_ARCHIVE_ZLIB) == PCOL_WRITE_ARCHIVE_ZLIB))
        p->codec = PCF_CODEC_ZLIB;
    if (p->codec == PCF_CODEC_NONE && (p->flags & PCOL_WRITE_ARCHIVE_LZ4) == PCOL_WRITE_ARCHIVE_LZ4)
        p->codec = PCF_CODEC_LZ4;
    if (p->codec != PCF_CODEC_LZ4)
        deflated = with_zlib(z, from, size, p->deflated.bytes);
    if (p->codec == PCF_CODEC_ZLIB)
        return deflated;
    fast = with_lz4(p, from, size);
    if (p->codec == PCF_CODEC_NONE)
        p->codec = fast <= deflated + deflated / 32 ? PCF_CODEC_LZ4 : PCF_CODEC_ZLIB;
    if (p->codec == PCF_CODEC_ZLIB)
        return deflated;
    *out = &p->fast;
    return fast;
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
        status = pci_tree_context_apply(&p->rank, p->tree->parents, p->tree->values, first,
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

/* The block in the file: *size bytes behind the flags. */
static pcol_status press_block(struct pci_archive_writer *p, struct piece **out, size_t *size,
                               pcol_error *err)
{
    size_t stream = 0;
    PCI_TRY(transform_block(p, &stream, err));
    *size = compress_stream(p, p->stream.bytes, stream, out);
    (*out)->flags = 0;
    /* So alike that a reader might take it for a bomb. */
    int bomb = p->transform && p->fill / PCF_PRESS_RATIO > *size;
    if (bomb && !is_tree(p)) {
        *size = compress_stream(p, p->block, p->fill, out);
        (*out)->flags = PCF_PRESS_BARE;
    } else if (bomb || *size >= stream) {
        *size = stream;
        *out = &p->stream;
        (*out)->flags = PCF_PRESS_STORED;
    }
    return PCOL_OK;
}

static pcol_status put_block(struct pci_archive_writer *p, pci_archive_writer_put put,
                             void *context, int last, pcol_error *err)
{
    struct piece *out;
    size_t size;
    PCI_TRY(press_block(p, &out, &size, err));
    if (last && p->raw == 0 && 1 + size >= p->fill) { /* not worth it */
        p->codec = PCF_CODEC_NONE;
        return put(context, p->block, p->fill, err);
    }
    if (pci_grow((void **)&p->entries, &p->entry_capacity, p->entry_count + 1, sizeof *p->entries))
        return pci_fail_memory(err);
    p->put += 1 + size;
    p->entries[p->entry_count++] = (struct pcf_press_entry){p->put, pcf_checksum(out, 1 + size)};
    return put(context, out, 1 + size, err);
}

pcol_status pci_archive_writer_add(struct pci_archive_writer *press, const void *data, size_t size,
                                   pci_archive_writer_put put, void *context, pcol_error *err)
{
    size_t block = (size_t)pcf_press_block(press->transform << 4);
    const uint8_t *from = data;
    while (size) {
        size_t n = block - press->fill;
        if (n == 0) {
            PCI_TRY(put_block(press, put, context, 0, err));
            press->raw += press->fill;
            press->fill = 0;
            continue;
        }
        n = n < size ? n : size;
        memcpy(press->block + press->fill, from, n);
        press->fill += n;
        from += n;
        size -= n;
    }
    return PCOL_OK;
}

pcol_status pci_archive_writer_end(struct pci_archive_writer *press, pci_archive_writer_put put,
                                   void *context, uint8_t *codec, uint64_t *raw_size,
                                   pcol_error *err)
{
    *raw_size = press->raw + press->fill;
    if (press->fill)
        PCI_TRY(put_block(press, put, context, 1, err));
    *codec = (uint8_t)(press->codec ? press->codec | press->transform << 4 : PCF_CODEC_NONE);
    if (press->entry_count < 2)
        return PCOL_OK;
    return put(context, press->entries, press->entry_count * sizeof *press->entries, err);
}

pcol_status pci_archive_writer_index(struct pci_archive_writer *press, const void *data,
                                     size_t size, uint8_t **out, size_t *out_size, pcol_error *err)
{
    z_stream *z = &press->best;
    uLong room;
    deflateReset(z);
    room = deflateBound(z, (uLong)size);
    *out_size = 0;
    *out = pci_malloc((size_t)room + 1, 1);
    if (!*out)
        return pci_fail_memory(err);
    z->next_in = data;
    z->avail_in = (uInt)size; /* an index has less than 1 GiB */
    z->next_out = *out;
    z->avail_out = (uInt)room;
    deflate(z, Z_FINISH);
    *out_size = (size_t)(room - z->avail_out);
    return PCOL_OK;
}

/*
 * press.c - compressed sections of archives, written
 *
 * zlib is asked for its utmost (level 9), as archives are written once; while forms are compared, a
 * quicker level says as well which of them is smaller.
 */
#include "core/press.h"

#include "core/alloc.h"
#include "core/rank.h"
#include "core/zlib.h"
#include "transform.h"

#include <lz4hc.h>
#include <string.h>

#define QUICK_LEVEL 4
#define BEST_LEVEL 9
#define ROOM \
    (PCF_PRESS_STREAM + PCF_PRESS_STREAM / 128 + 1024) /* no codec makes more of a stream */

struct pci_press {
    unsigned flags;
    z_stream best, quick;
    int has_best, has_quick;
    void *lz4;
    /* the section */
    unsigned transform, width, codec;
    int is_quick;
    const struct pci_press_tree *tree;
    struct pci_rank rank;
    uint64_t raw; /* bytes of the blocks before */
    size_t fill;
    uint8_t block[PCF_PRESS_BLOCK], stream[PCF_PRESS_STREAM], deflated[ROOM], fast[ROOM];
};

pcol_status pci_press_new(unsigned flags, struct pci_press **press, pcol_error *err)
{
    struct pci_press *new = pci_malloc(1, sizeof *new);
    *press = NULL;
    if (!new)
        return pci_fail_memory(err);
    memset(new, 0, offsetof(struct pci_press, block));
    new->flags = flags;
    new->lz4 = pci_malloc(1, (size_t)LZ4_sizeofStateHC());
    new->has_best = pci_zlib_deflate(&new->best, BEST_LEVEL) == 0;
    new->has_quick = pci_zlib_deflate(&new->quick, QUICK_LEVEL) == 0;
    if (!new->lz4 || !new->has_best || !new->has_quick) {
        pci_press_free(new);
        return pci_fail_memory(err);
    }
    *press = new;
    return PCOL_OK;
}

void pci_press_free(struct pci_press *press)
{
    if (!press)
        return;
    if (press->has_best)
        deflateEnd(&press->best);
    if (press->has_quick)
        deflateEnd(&press->quick);
    pci_rank_clear(&press->rank);
    pci_free(press->lz4);
    pci_free(press);
}

unsigned pci_press_flags(const struct pci_press *press)
{
    return press->flags;
}

void pci_press_begin(struct pci_press *press, unsigned transform, unsigned width,
                     const struct pci_press_tree *tree, int quick)
{
    pci_rank_clear(&press->rank);
    press->transform = transform;
    press->width = width;
    press->codec = PCF_CODEC_NONE;
    press->is_quick = quick;
    press->tree = tree;
    press->raw = 0;
    press->fill = 0;
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

static size_t with_lz4(struct pci_press *p, const uint8_t *from, size_t size)
{
    int n = LZ4_compress_HC_extStateHC(p->lz4, (const char *)from, (char *)p->fast, (int)size,
                                       (int)ROOM, LZ4HC_CLEVEL_MAX);
    return n > 0 ? (size_t)n : size; /* no less than the stream: it is stored */
}

/* The stream's bytes under the section's codec, which its first block decides. */
static size_t compress_stream(struct pci_press *p, const uint8_t *from, size_t size,
                              const uint8_t **out)
{
    z_stream *z = p->is_quick ? &p->quick : &p->best;
    size_t deflated = 0, fast;
    *out = p->deflated;
    if (p->codec == PCF_CODEC_NONE &&
        (p->is_quick || (p->flags & PCOL_WRITE_ARCHIVE_ZLIB) == PCOL_WRITE_ARCHIVE_ZLIB))
        p->codec = PCF_CODEC_ZLIB;
    if (p->codec == PCF_CODEC_NONE && (p->flags & PCOL_WRITE_ARCHIVE_LZ4) == PCOL_WRITE_ARCHIVE_LZ4)
        p->codec = PCF_CODEC_LZ4;
    if (p->codec != PCF_CODEC_LZ4)
        deflated = with_zlib(z, from, size, p->deflated);
    if (p->codec == PCF_CODEC_ZLIB)
        return deflated;
    fast = with_lz4(p, from, size);
    if (p->codec == PCF_CODEC_NONE)
        p->codec = fast <= deflated + deflated / 32 ? PCF_CODEC_LZ4 : PCF_CODEC_ZLIB;
    if (p->codec == PCF_CODEC_ZLIB)
        return deflated;
    *out = p->fast;
    return fast;
}

static pcol_status transform_block(struct pci_press *p, size_t *size, pcol_error *err)
{
    uint64_t first = p->raw / 4;
    switch (p->transform) {
    case PCF_TRANSFORM_PARENT:
        *size = pcf_parents_apply(p->tree->parents, first, p->fill / 4, p->stream);
        return PCOL_OK;
    case PCF_TRANSFORM_RANK:
        return pci_rank_apply(&p->rank, p->tree->parents, p->tree->values, first, p->fill / 4,
                              p->stream, size, err);
    default:
        *size = pcf_transform_apply(p->transform, p->width, p->block, p->fill, p->stream);
        return PCOL_OK;
    }
}

static int is_tree(const struct pci_press *p)
{
    return p->transform >= PCF_TRANSFORM_PARENT;
}

static pcol_status put_block(struct pci_press *p, pci_press_put put, void *context, int last,
                             pcol_error *err)
{
    const uint8_t *out;
    size_t size = 0, used;
    uint32_t head;
    PCI_TRY(transform_block(p, &size, err));
    used = compress_stream(p, p->stream, size, &out);
    head = 0;
    if (used > PCF_PRESS_STREAM || used >= size)
        head = PCF_PRESS_STORED, out = p->stream, used = size;
    if (last && p->raw == 0 && used + sizeof head >= p->fill) { /* not worth it */
        p->codec = PCF_CODEC_NONE;
        return put(context, p->block, p->fill, err);
    }
    /* So alike that a reader might take it for a bomb. */
    if (p->fill / PCF_PRESS_RATIO > used && p->transform) {
        head = is_tree(p) ? PCF_PRESS_STORED : PCF_PRESS_BARE;
        out = p->stream, used = size;
        if (!is_tree(p))
            used = compress_stream(p, p->block, p->fill, &out);
    }
    head |= (uint32_t)used;
    PCI_TRY(put(context, &head, sizeof head, err));
    return put(context, out, used, err);
}

pcol_status pci_press_add(struct pci_press *press, const void *data, size_t size, pci_press_put put,
                          void *context, pcol_error *err)
{
    const uint8_t *from = data;
    while (size) {
        size_t n = PCF_PRESS_BLOCK - press->fill;
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

pcol_status pci_press_end(struct pci_press *press, pci_press_put put, void *context, uint8_t *codec,
                          uint64_t *raw_size, pcol_error *err)
{
    pcol_status status = PCOL_OK;
    if (press->fill)
        status = put_block(press, put, context, 1, err);
    *raw_size = press->raw + press->fill;
    *codec = (uint8_t)(press->codec ? press->codec | press->transform << 4 : PCF_CODEC_NONE);
    pci_rank_clear(&press->rank);
    return status;
}

pcol_status pci_press_index(struct pci_press *press, const void *data, size_t size, uint8_t **out,
                            size_t *out_size, pcol_error *err)
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

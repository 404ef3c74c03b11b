/*
 * bytes.c - parts of a binary profile of CPython as bytes, decompressed by libzstd
 */
#include "formats/tachyon/tachyon.h"

#include "stream/input.h"
#include "util/alloc.h"
#include "util/import_budget.h"

#include <zstd.h>
#include <zstd_errors.h>

#define PIECE PCI_PAGE_BYTES

pcol_status pci_tachyon_fail(const struct pci_tachyon_bytes *bytes, pcol_error *err,
                             const char *problem)
{
    uint64_t unread =
        bytes->zstd ? bytes->input_size - bytes->input_at : bytes->output_size - bytes->output_at;
    return pci_fail_at_byte(err, PCOL_E_SYNTAX, bytes->at - unread, "%s", problem);
}

pcol_status pci_tachyon_open(struct pci_tachyon_bytes *bytes, const struct pci_spill *spill,
                             uint64_t at, uint64_t end, struct pci_input *compressed,
                             pcol_error *err)
{
    int is_big_endian = bytes->is_big_endian;
    *bytes = (struct pci_tachyon_bytes){
        .spill = spill, .at = at, .end = end, .is_big_endian = is_big_endian, .source = compressed};
    bytes->output = pci_malloc(PIECE, 1);
    if (!bytes->output)
        return pci_fail_memory(err);
    if (!compressed)
        return PCOL_OK;
    bytes->input = pci_malloc(PIECE, 1);
    bytes->zstd = ZSTD_createDCtx();
    if (!bytes->input || !bytes->zstd)
        return pci_fail_memory(err);
    if (pci_thread_budget && pci_thread_budget->trusted)
        (void)ZSTD_DCtx_setParameter(bytes->zstd, ZSTD_d_windowLogMax,
                                     ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound);
    return PCOL_OK;
}

void pci_tachyon_close(struct pci_tachyon_bytes *bytes)
{
    ZSTD_freeDCtx(bytes->zstd);
    pci_budget_credit(bytes->zstd_size);
    bytes->zstd_size = 0;
    pci_free(bytes->input);
    pci_free(bytes->output);
    bytes->zstd = NULL;
    bytes->input = bytes->output = NULL;
}

static pcol_status fetch(struct pci_tachyon_bytes *b, uint8_t *to, size_t *size, pcol_error *err)
{
    *size = b->end - b->at < PIECE ? (size_t)(b->end - b->at) : PIECE;
    PCI_TRY(*size ? pci_spill_read(b->spill, b->at, to, *size, err) : PCOL_OK);
    b->at += *size;
    return PCOL_OK;
}

/* libzstd allocates the window of a frame, up to 128 MiB, at the frame's header. */
static pcol_status charge_window(struct pci_tachyon_bytes *b, pcol_error *err)
{
    size_t size = ZSTD_sizeof_DCtx(b->zstd);
    if (size <= b->zstd_size)
        return PCOL_OK;
    if (pci_budget_charge(size - b->zstd_size) != 0)
        return pci_fail_memory(err);
    b->zstd_size = size;
    return PCOL_OK;
}

static pcol_status fail_zstd(const struct pci_tachyon_bytes *b, size_t result, pcol_error *err)
{
    uint64_t at = b->at - (b->input_size - b->input_at);
    if (ZSTD_getErrorCode(result) != ZSTD_error_frameParameter_windowTooLarge)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, at, "the zstd data is damaged: %s",
                                ZSTD_getErrorName(result));
    return pci_error_option(
        err, "PCOL_IMPORT_TRUSTED",
        pci_fail_at_byte(err, PCOL_E_LIMIT, at, "the zstd data has a window of more than 128 MiB"));
}

/* Decompress until there are bytes, or until the end. */
static pcol_status decompress(struct pci_tachyon_bytes *b, pcol_error *err)
{
    for (;;) {
        if (b->input_at == b->input_size) {
            b->input_at = 0;
            PCI_TRY(fetch(b, b->input, &b->input_size, err));
        }
        int is_end = !b->input_size;
        if (is_end && !b->is_open)
            return PCOL_OK;
        ZSTD_inBuffer in = {b->input, b->input_size, b->input_at};
        ZSTD_outBuffer out = {b->output, PIECE, 0};
        size_t result = ZSTD_decompressStream(b->zstd, &out, &in);
        if (ZSTD_isError(result))
            return fail_zstd(b, result, err);
        PCI_TRY(charge_window(b, err));
        PCI_TRY(pci_input_count_expanded(b->source, in.pos - b->input_at, out.pos, err));
        b->input_at = in.pos;
        b->is_open = result != 0;
        b->output_size = out.pos;
        if (out.pos)
            return PCOL_OK;
        if (is_end)
            return pci_tachyon_fail(b, err, "the zstd data ends inside a frame");
    }
}

pcol_status pci_tachyon_more(struct pci_tachyon_bytes *bytes, int *more, pcol_error *err)
{
    if (bytes->output_at == bytes->output_size) {
        bytes->output_at = bytes->output_size = 0;
        PCI_TRY(bytes->zstd ? decompress(bytes, err)
                            : fetch(bytes, bytes->output, &bytes->output_size, err));
    }
    *more = bytes->output_size > 0;
    return PCOL_OK;
}

pcol_status pci_tachyon_copy(struct pci_tachyon_bytes *bytes, void *data, size_t size,
                             pcol_error *err)
{
    uint8_t *to = data;
    while (size) {
        int more;
        PCI_TRY(pci_tachyon_more(bytes, &more, err));
        if (!more)
            return pci_tachyon_fail(bytes, err, "this part of the file ends inside a value");
        size_t left = bytes->output_size - bytes->output_at, n = left < size ? left : size;
        memcpy(to, bytes->output + bytes->output_at, n);
        bytes->output_at += n;
        to += n;
        size -= n;
    }
    return PCOL_OK;
}

pcol_status pci_tachyon_fixed(struct pci_tachyon_bytes *bytes, unsigned size, uint64_t *value,
                              pcol_error *err)
{
    uint8_t data[8];
    PCI_TRY(pci_tachyon_copy(bytes, data, size, err));
    *value = 0;
    for (unsigned i = 0; i < size; i++)
        *value |= (uint64_t)data[i] << 8 * (bytes->is_big_endian ? size - 1 - i : i);
    return PCOL_OK;
}

pcol_status pci_tachyon_varint(struct pci_tachyon_bytes *bytes, uint64_t most, uint64_t *value,
                               pcol_error *err)
{
    uint8_t byte = 0x80;
    *value = 0;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        PCI_TRY(pci_tachyon_copy(bytes, &byte, 1, err));
        if (shift > 63 || (shift == 63 && byte > 1))
            return pci_tachyon_fail(bytes, err, "an integer of more than 64 bits");
        *value |= (uint64_t)(byte & 0x7f) << shift;
    }
    return *value <= most ? PCOL_OK : pci_tachyon_fail(bytes, err, "a number out of its range");
}

pcol_status pci_tachyon_zigzag(struct pci_tachyon_bytes *bytes, int32_t *value, pcol_error *err)
{
    uint64_t bits;
    PCI_TRY(pci_tachyon_varint(bytes, UINT32_MAX, &bits, err));
    *value = (int32_t)((uint32_t)bits >> 1 ^ (0 - ((uint32_t)bits & 1)));
    return PCOL_OK;
}

/*
 * inflate.c - gzip and zlib reader
 *
 * A file is one zlib stream or any number of gzip members, each verified by its checksum and
 * length. Bytes after the last member and a truncated member are errors with both offsets,
 * compressed and decompressed. Tests: tests/unit/test_input.c.
 */
#include "stream/inflate.h"

#include "util/alloc.h"
#include "util/raw_deflate.h"

#include <string.h>

struct pci_inflate {
    struct pci_raw_reader raw;
    z_stream z;
    enum pci_wrap wrap;
    uint64_t raw_offset, inflated; /* bytes passed to zlib; bytes decompressed */
    int ended;                     /* the current member has ended */
};

/* Whether the first TRIED bytes are a valid zlib stream. A protobuf profile whose first field is
 * doc_url begins with the same byte, but is not valid deflate data after a few bytes. */
#define TRIED 256u

static int is_zlib_stream(const uint8_t *data, size_t size)
{
    uint8_t out[1024];
    z_stream z = {.zalloc = pci_zlib_alloc, .zfree = pci_zlib_free};
    if (inflateInit2(&z, 15) != Z_OK)
        return 1; /* out of memory, which the actual decompression reports */
    z.next_in = data;
    z.avail_in = (uInt)(size < TRIED ? size : TRIED);
    int result;
    do {
        z.next_out = out;
        z.avail_out = sizeof out;
        result = inflate(&z, Z_NO_FLUSH);
    } while (result == Z_OK && z.avail_in && z.total_out < UINT64_C(64) * TRIED);
    inflateEnd(&z);
    return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
}

enum pci_wrap pci_detect_wrap(const uint8_t *data, size_t size)
{
    if (size < 2)
        return PCI_WRAP_NONE;
    if (!memcmp(data, PCI_GZIP_MAGIC, 2))
        return PCI_WRAP_GZIP;
    if (data[0] != 0x78)
        return PCI_WRAP_NONE;
    if (data[1] == 0x01 || data[1] == 0x9c || data[1] == 0xda)
        return is_zlib_stream(data, size) ? PCI_WRAP_ZLIB : PCI_WRAP_NONE;
    for (size_t i = 2; data[1] == 0x5e && i < size && i < 64; i++)
        if (data[i] >= 0x7f || data[i] < 0x09)
            return is_zlib_stream(data, size) ? PCI_WRAP_ZLIB : PCI_WRAP_NONE;
    return PCI_WRAP_NONE;
}

pcol_status pci_inflate_new(struct pci_raw_reader raw, enum pci_wrap wrap,
                            struct pci_inflate **inflate, pcol_error *err)
{
    struct pci_inflate *new;
    *inflate = NULL;
    PCI_TRY(PCI_CALLOC(new, 1, err));
    new->raw = raw;
    new->wrap = wrap;
    new->z.zalloc = pci_zlib_alloc;
    new->z.zfree = pci_zlib_free;
    /* The largest window; + 16: gzip instead of zlib. */
    if (inflateInit2(&new->z, wrap == PCI_WRAP_GZIP ? 15 + 16 : 15) != Z_OK) {
        pci_free(new);
        return pci_fail_memory(err);
    }
    *inflate = new;
    return PCOL_OK;
}

void pci_inflate_free(struct pci_inflate *inflate)
{
    if (!inflate)
        return;
    inflateEnd(&inflate->z);
    pci_free(inflate);
}

/* Error at the current offsets: "PREFIXgzip dataSUFFIX". */
static pcol_status fail(const struct pci_inflate *gz, pcol_error *err, const char *prefix,
                        const char *suffix)
{
    pci_fail_at_byte(err, PCOL_E_SYNTAX, gz->raw_offset - gz->z.avail_in, "%s%s data%s", prefix,
                     gz->wrap == PCI_WRAP_GZIP ? "gzip" : "zlib", suffix);
    if (err)
        err->inflated_offset = gz->inflated;
    return PCOL_E_SYNTAX;
}

/* Provide input for zlib if it has none; no bytes only at the end of the stream. */
static pcol_status fill_input(struct pci_inflate *gz, pcol_error *err)
{
    if (gz->z.avail_in)
        return PCOL_OK;
    const uint8_t *data;
    size_t size;
    PCI_TRY(gz->raw.read(gz->raw.context, &data, &size, err));
    gz->z.next_in = data;
    gz->z.avail_in = (uInt)size;
    gz->raw_offset += size;
    return PCOL_OK;
}

/* One call of zlib's inflate(). */
static pcol_status inflate_step(struct pci_inflate *gz, uint8_t *data, size_t size, size_t *got,
                                pcol_error *err)
{
    z_stream *z = &gz->z;
    z->next_out = data;
    z->avail_out = (uInt)size;
    int result = inflate(z, Z_NO_FLUSH);
    *got = size - z->avail_out;
    gz->inflated += *got;
    if (result == Z_STREAM_END) {
        gz->ended = 1;
        return PCOL_OK;
    }
    if (result == Z_OK || result == Z_BUF_ERROR)
        return PCOL_OK;
    if (result == Z_MEM_ERROR)
        return pci_fail_memory(err);
    if (z->msg && !strcmp(z->msg, "incorrect header check"))
        return fail(gz, err, "damaged ", ": no header here");
    if (z->msg && !strcmp(z->msg, "incorrect data check"))
        return fail(gz, err, "damaged ", ": the checksum does not match");
    if (z->msg && !strcmp(z->msg, "incorrect length check"))
        return fail(gz, err, "damaged ", ": the length does not match");
    return fail(gz, err, "damaged ", "");
}

/* After a member: begin the next one, or set *end. */
static pcol_status next_member(struct pci_inflate *gz, int *end, pcol_error *err)
{
    z_stream *z = &gz->z;
    *end = 0;
    PCI_TRY(fill_input(gz, err));
    if (!z->avail_in) {
        *end = 1;
        return PCOL_OK;
    }
    if (gz->wrap != PCI_WRAP_GZIP || z->next_in[0] != 0x1f)
        return fail(gz, err, "bytes after the end of the ", "");
    if (inflateReset(z) != Z_OK)
        return fail(gz, err, "damaged ", "");
    gz->ended = 0;
    return PCOL_OK;
}

pcol_status pci_inflate_read(struct pci_inflate *gz, void *data, size_t size, size_t *got,
                             pcol_error *err)
{
    if (size > PCI_INFLATE_STEP)
        size = PCI_INFLATE_STEP;
    *got = 0;
    while (size && !*got) {
        if (gz->ended) {
            int end;
            PCI_TRY(next_member(gz, &end, err));
            if (end)
                return PCOL_OK;
        }
        PCI_TRY(fill_input(gz, err));
        int at_end = !gz->z.avail_in; /* zlib may still have pending output */
        PCI_TRY(inflate_step(gz, data, size, got, err));
        if (at_end && !*got && !gz->ended)
            return fail(gz, err, "", " is truncated");
    }
    return PCOL_OK;
}

uint64_t pci_inflate_consumed(const struct pci_inflate *gz)
{
    return gz->raw_offset - gz->z.avail_in;
}

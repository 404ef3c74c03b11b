/*
 * inflate.c - gzip and zlib data as a filter between two byte streams
 *
 * A file is one zlib stream or any number of gzip members, each proved by its checksum and length,
 * and nothing else: bytes behind the last member or a member that breaks off are errors that name
 * both offsets. Output is made in steps, and the reader remembers where in the compressed bytes
 * steps began, up to 1024 of them in even distances, so that an error which an importer finds later
 * can name a byte of the file.
 */
#include "stream/inflate.h"

#include "util/alloc.h"

#define ZLIB_CONST
#include <zlib.h>

#include <string.h>

struct pci_inflate {
    struct pci_raw raw;
    z_stream z;
    enum pci_wrap wrap;
    uint64_t raw_offset, inflated; /* of the bytes handed to and taken from zlib */
    int ended;                     /* between members, or at the end */
};

static voidpf allocate(voidpf unused, uInt count, uInt size)
{
    (void)unused;
    return pci_malloc(count, size);
}

static void release(voidpf unused, voidpf memory)
{
    (void)unused;
    pci_free(memory);
}

/* Could the bytes go on as zlib's, up to TRIED of them? A profile of protobuf whose first field is
 * doc_url begins with the same byte, and a few bytes of it are no deflated data any more. */
#define TRIED 256u

static int goes_on(const uint8_t *data, size_t size)
{
    uint8_t out[1024];
    z_stream z = {.zalloc = allocate, .zfree = release};
    if (inflateInit2(&z, 15) != Z_OK)
        return 1; /* whoever inflates it says that memory is out */
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

enum pci_wrap pci_wrap_of(const uint8_t *data, size_t size)
{
    if (size < 2)
        return PCI_WRAP_NONE;
    if (!memcmp(data, PCI_GZIP_MAGIC, 2))
        return PCI_WRAP_GZIP;
    if (data[0] != 0x78)
        return PCI_WRAP_NONE;
    if (data[1] == 0x01 || data[1] == 0x9c || data[1] == 0xda)
        return goes_on(data, size) ? PCI_WRAP_ZLIB : PCI_WRAP_NONE;
    for (size_t i = 2; data[1] == 0x5e && i < size && i < 64; i++)
        if (data[i] >= 0x7f || data[i] < 0x09)
            return goes_on(data, size) ? PCI_WRAP_ZLIB : PCI_WRAP_NONE;
    return PCI_WRAP_NONE;
}

pcol_status pci_inflate_new(struct pci_raw raw, enum pci_wrap wrap, struct pci_inflate **inflate,
                            pcol_error *err)
{
    struct pci_inflate *new = pci_calloc(1, sizeof *new);
    *inflate = NULL;
    if (!new)
        return pci_fail_memory(err);
    new->raw = raw;
    new->wrap = wrap;
    new->z.zalloc = allocate;
    new->z.zfree = release;
    /* The largest window; 16 more: gzip instead of zlib. */
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

/* "BEFOREgzip dataAFTER" */
static pcol_status fail(const struct pci_inflate *gz, pcol_error *err, const char *before,
                        const char *after)
{
    pci_fail_at_byte(err, PCOL_E_SYNTAX, gz->raw_offset - gz->z.avail_in, "%s%s data%s", before,
                     gz->wrap == PCI_WRAP_GZIP ? "gzip" : "zlib", after);
    if (err)
        err->inflated_offset = gz->inflated;
    return PCOL_E_SYNTAX;
}

/* Compressed bytes for zlib, if it has none; none at all only at their end. */
static pcol_status feed(struct pci_inflate *gz, pcol_error *err)
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

/* One call of zlib. */
static pcol_status step(struct pci_inflate *gz, uint8_t *data, size_t size, size_t *got,
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

/* Behind a member: the next one, or the end (*end). */
static pcol_status next_member(struct pci_inflate *gz, int *end, pcol_error *err)
{
    z_stream *z = &gz->z;
    *end = 0;
    PCI_TRY(feed(gz, err));
    if (!z->avail_in) {
        *end = 1;
        return PCOL_OK;
    }
    if (gz->wrap != PCI_WRAP_GZIP || z->next_in[0] != 0x1f)
        return fail(gz, err, "bytes behind the end of the ", "");
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
        PCI_TRY(feed(gz, err));
        int cut = !gz->z.avail_in; /* zlib may still have output to give */
        PCI_TRY(step(gz, data, size, got, err));
        if (cut && !*got && !gz->ended)
            return fail(gz, err, "", " is cut");
    }
    return PCOL_OK;
}

uint64_t pci_inflate_consumed(const struct pci_inflate *gz)
{
    return gz->raw_offset - gz->z.avail_in;
}

/*
 * deflate.c - gzip writer by zlib, which buffers its input itself
 */
#include "stream/deflate.h"

#include "util/alloc.h"
#include "util/raw_deflate.h"

#define OUTPUT_BYTES 65536u
#define LEVEL 6
#define MEMORY 8 /* zlib's default */

struct pci_gzip_writer {
    pcol_sink to;
    z_stream z;
    uint8_t out[OUTPUT_BYTES];
};

pcol_status pci_gzip_writer_new(pcol_sink to, struct pci_gzip_writer **gz, pcol_error *err)
{
    struct pci_gzip_writer *new;
    *gz = NULL;
    PCI_TRY(PCI_CALLOC(new, 1, err));
    new->to = to;
    new->z.zalloc = pci_zlib_alloc;
    new->z.zfree = pci_zlib_free;
    if (deflateInit2(&new->z, LEVEL, Z_DEFLATED, 15 + 16, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        pci_free(new);
        return pci_fail_memory(err);
    }
    new->z.next_out = new->out;
    new->z.avail_out = OUTPUT_BYTES;
    *gz = new;
    return PCOL_OK;
}

void pci_gzip_writer_free(struct pci_gzip_writer *gz)
{
    if (!gz)
        return;
    deflateEnd(&gz->z);
    pci_free(gz);
}

static pcol_status flush_output(struct pci_gzip_writer *gz, pcol_error *err)
{
    size_t size = OUTPUT_BYTES - gz->z.avail_out;
    gz->z.next_out = gz->out;
    gz->z.avail_out = OUTPUT_BYTES;
    return size ? pci_sink_write(gz->to, gz->out, size, err) : PCOL_OK;
}

static pcol_status write_piece(void *context, const void *data, size_t size, pcol_error *err)
{
    struct pci_gzip_writer *gz = context;
    const uint8_t *from = data;
    while (size) {
        uInt part = size < (1u << 30) ? (uInt)size : 1u << 30; /* zlib counts in unsigned int */
        gz->z.next_in = from;
        gz->z.avail_in = part;
        while (gz->z.avail_in) {
            deflate(&gz->z, Z_NO_FLUSH); /* cannot fail: the stream is valid, the buffer not full */
            if (!gz->z.avail_out)
                PCI_TRY(flush_output(gz, err));
        }
        from += part;
        size -= part;
    }
    return PCOL_OK;
}

pcol_sink pci_gzip_writer_sink(struct pci_gzip_writer *gz)
{
    return (pcol_sink){write_piece, gz};
}

pcol_status pci_gzip_writer_finish(struct pci_gzip_writer *gz, pcol_error *err)
{
    int result;
    gz->z.next_in = NULL;
    gz->z.avail_in = 0;
    do {
        result = deflate(&gz->z, Z_FINISH);
        PCI_TRY(flush_output(gz, err));
    } while (result != Z_STREAM_END);
    return PCOL_OK;
}

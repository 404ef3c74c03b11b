/*
 * jslb_reader.c - reader of the JSLB container: a table of slabs, then their bytes
 *
 *     DC DF 4A 53 4C 42 01 00 | u32 version 1 | u32 count | u32 root | count times
 *     { u32 type, u32 offset, u32 size } | slabs, each aligned to its elements, little-endian
 *
 * Only the table is in memory; slabs of a file are read on demand, in windows. Input that is no
 * file is read as a whole. Tests: tests/roundtrip/firefox, tests/unit/test_firefox.c.
 */
#include "formats/firefox/stream.h"

#include "format/load.h"
#include "stream/input_open.h"
#include "util/alloc.h"
#include "util/simd_kernels.h"

#include <string.h>

#define HEADER_SIZE 20u
#define ENTRY_SIZE 12u
#define MAX_WIDTH 8u /* of the elements of a slab */

const char pci_slab_magic[8] = "\xdc\xdf\x4a\x53\x4c\x42\x01";
const uint8_t pci_slab_widths[PCI_SLAB_TYPES] = {1, 1, 2, 2, 4, 4, 4, 8, 8, 8, 1};

static uint32_t get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static pcol_status check_slab(const struct pci_slabs *s, uint32_t i, pcol_error *err)
{
    const struct pci_slab *slab = &s->slabs[i];
    uint64_t entry = HEADER_SIZE + (uint64_t)ENTRY_SIZE * i;
    uint64_t first = HEADER_SIZE + (uint64_t)ENTRY_SIZE * s->count;
    if (slab->type >= PCI_SLAB_TYPES)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, entry, "slab %u has an unknown type",
                                (unsigned)i);
    if (slab->offset < first || slab->offset > s->size || slab->size > s->size - slab->offset)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, entry, "slab %u is outside the file",
                                (unsigned)i);
    unsigned width = pci_slab_widths[slab->type];
    if (slab->offset % width || slab->size % width)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, entry,
                                "slab %u is not aligned to its elements of %u bytes", (unsigned)i,
                                width);
    return PCOL_OK;
}

/* Get `size` bytes of the container; the range must be inside of it. */
static pcol_status get_bytes(struct pci_slabs *s, uint64_t offset, size_t size,
                             const uint8_t **bytes, pcol_error *err)
{
    if (!s->file) {
        *bytes = s->bytes + offset;
        return PCOL_OK;
    }
    PCI_TRY(pci_input_skip(&s->part, offset, err));
    while (s->part.size < size && !s->part.end)
        PCI_TRY(pci_input_more(&s->part, 0, err));
    *bytes = s->part.data;
    return s->part.size < size ? pci_fail_at_byte(err, PCOL_E_SYNTAX, offset,
                                                  "the file was truncated while it was read")
                               : PCOL_OK;
}

static pcol_status read_entry(struct pci_slabs *s, uint32_t i, pcol_error *err)
{
    const uint8_t *entry;
    PCI_TRY(get_bytes(s, HEADER_SIZE + (uint64_t)ENTRY_SIZE * i, ENTRY_SIZE, &entry, err));
    uint32_t type = get_u32(entry);
    s->slabs[i].type = type < PCI_SLAB_TYPES ? (uint8_t)type : (uint8_t)PCI_SLAB_TYPES;
    s->slabs[i].offset = get_u32(entry + 4);
    s->slabs[i].size = get_u32(entry + 8);
    return check_slab(s, i, err);
}

/* The last slab ends the container, but for alignment. */
static pcol_status check_end(const struct pci_slabs *s, pcol_error *err)
{
    uint64_t end = HEADER_SIZE + (uint64_t)ENTRY_SIZE * s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t slab_end = (uint64_t)s->slabs[i].offset + s->slabs[i].size;
        end = slab_end > end ? slab_end : end;
    }
    return s->size - end < MAX_WIDTH
               ? PCOL_OK
               : pci_fail_at_byte(err, PCOL_E_SYNTAX, end, "bytes after the end of the profile");
}

static pcol_status read_table(struct pci_slabs *s, pcol_error *err)
{
    const uint8_t *header;
    if (s->size < HEADER_SIZE)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, s->size,
                                "the container is truncated in its header");
    PCI_TRY(get_bytes(s, 0, HEADER_SIZE, &header, err));
    uint32_t version = get_u32(header + 8);
    if (version != 1)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, 8,
                                "container version %u is unknown, expected 1", (unsigned)version);
    s->count = get_u32(header + 12);
    s->root = get_u32(header + 16);
    if (s->count > (s->size - HEADER_SIZE) / ENTRY_SIZE)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, 12,
                                "the file is too short for a table of %u slabs",
                                (unsigned)s->count);
    if (s->root >= s->count)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, 16,
                                "root slab %u is out of range, there are %u slabs",
                                (unsigned)s->root, (unsigned)s->count);
    PCI_TRY(PCI_CALLOC(s->slabs, s->count, err));
    for (uint32_t i = 0; i < s->count; i++)
        PCI_TRY(read_entry(s, i, err));
    PCI_TRY(check_end(s, err));
    if (s->slabs[s->root].type != PCI_SLAB_JSON)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, 16, "root slab %u is not JSON",
                                (unsigned)s->root);
    return PCOL_OK;
}

pcol_status pci_slabs_open(struct pci_slabs *slabs, struct pci_input *input, pcol_error *err)
{
    void *bytes = NULL;
    size_t size = 0;
    pcol_status status;
    memset(slabs, 0, sizeof *slabs);
    slabs->size = pci_input_bytes(input);
    if (slabs->size) {
        slabs->file = input;
        status = pci_input_open_part(&slabs->part, input, err);
        if (status == PCOL_OK)
            pci_input_report_to(&slabs->part, input);
    } else {
        status = pci_input_rest(input, &bytes, &size, err);
        slabs->bytes = bytes;
        slabs->size = size;
    }
    PCI_THEN(status, read_table(slabs, err));
    if (status != PCOL_OK)
        pci_slabs_close(slabs);
    return status;
}

void pci_slabs_close(struct pci_slabs *slabs)
{
    if (slabs->part.state)
        pci_input_close(&slabs->part);
    pci_free(slabs->bytes);
    pci_free(slabs->slabs);
    memset(slabs, 0, sizeof *slabs);
}

pcol_status pci_slab_open(const struct pci_slabs *slabs, const struct pci_slab *slab,
                          struct pci_input *input, uint64_t *offset, pcol_error *err)
{
    *offset = slab->offset;
    if (!slabs->file) {
        const uint8_t *data = slabs->bytes + slab->offset;
        if (slab->size >= 2 && !memcmp(data, "\x1f\x8b", 2))
            return pci_fail_at_byte(err, PCOL_E_SYNTAX, slab->offset,
                                    "the slab has the type JSON, but is not JSON");
        return pci_input_open_memory(input, data, slab->size, "", NULL, err);
    }
    *offset = 0;
    PCI_TRY(pci_input_open_part(input, slabs->file, err));
    pci_input_report_to(input, slabs->file);
    pci_input_end_part(input, (uint64_t)slab->offset + slab->size);
    pcol_status status = pci_input_skip(input, slab->offset, err);
    if (status != PCOL_OK)
        pci_input_close(input);
    return status;
}

size_t pci_slab_count(const struct pci_slab *slab)
{
    return slab->size / pci_slab_widths[slab->type];
}

static int64_t double_bits(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Values above INT64_MAX become doubles, as the front end reads them. */
static int get_u64(const uint8_t *p, size_t n, int64_t *values, uint8_t *reals)
{
    int any = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t raw = pcf_load64(p + i * 8);
        reals[i] = raw > INT64_MAX;
        values[i] = reals[i] ? double_bits((double)raw) : (int64_t)raw;
        any |= reals[i];
    }
    return any ? -1 : 0;
}

static void get_f32(const uint8_t *p, size_t n, int64_t *values)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = pcf_load32(p + i * 4);
        float single;
        memcpy(&single, &bits, sizeof single);
        values[i] = double_bits((double)single);
    }
}

/* Elements of all types but u64 and f32; f64 as bits. */
static void get_integers(unsigned type, const uint8_t *p, size_t n, int64_t *values)
{
#define EACH(from)                 \
    for (size_t k = 0; k < n; k++) \
    values[k] = (int64_t)(from)
    switch (type) {
    case PCI_SLAB_I8:
        EACH((int8_t)p[k]);
        return;
    case PCI_SLAB_I16:
        EACH((int16_t)pcf_load16(p + 2 * k));
        return;
    case PCI_SLAB_I32:
        pci_simd_widen(p, n, values);
        return;
    case PCI_SLAB_U8:
        EACH(p[k]);
        return;
    case PCI_SLAB_U16:
        EACH(pcf_load16(p + 2 * k));
        return;
    case PCI_SLAB_U32:
        EACH(pcf_load32(p + 4 * k));
        return;
    default: /* I64; F64 as bits */
        memcpy(values, p, n * sizeof *values);
    }
#undef EACH
}

pcol_status pci_slab_numbers(struct pci_slabs *slabs, const struct pci_slab *slab, size_t i,
                             size_t n, int64_t *values, uint8_t *reals, int *all, pcol_error *err)
{
    unsigned width = pci_slab_widths[slab->type];
    const uint8_t *p;
    *all = slab->type == PCI_SLAB_F32 || slab->type == PCI_SLAB_F64;
    PCI_TRY(get_bytes(slabs, slab->offset + (uint64_t)i * width, n * width, &p, err));
    if (slab->type == PCI_SLAB_U64)
        *all = get_u64(p, n, values, reals);
    else if (slab->type == PCI_SLAB_F32)
        get_f32(p, n, values);
    else
        get_integers(slab->type, p, n, values);
    return PCOL_OK;
}

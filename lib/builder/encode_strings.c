/*
 * encode_strings.c - the string pool as a column, front coded if that saves enough
 *
 * Front coding (incremental encoding): sorted strings share prefixes, such as packages and
 * directories. Only the rest is stored, which saves a tenth to a half of the bytes. Tests:
 * tests/unit/test_front_coding.c.
 */
#include "builder/builder.h"

#include "util/alloc.h"

struct pool {
    struct pci_value_source offsets, shares;
    const struct pci_string_pool *table;
    uint32_t *shared; /* by rank: length of the common prefix; NULL: no front coding */
    uint64_t next;    /* offset of the next row, for reading offsets in order */
    uint32_t string;  /* rank of the string at offset `start`, for reading bytes in order */
    uint64_t start;
};

/* The bytes of a string that are stored, by its rank. */
static pcol_str stored_bytes(const struct pool *p, uint64_t rank)
{
    pcol_str string = pci_string_pool_get(p->table, p->table->order[rank]);
    uint32_t shared = p->shared ? p->shared[rank] : 0;
    return (pcol_str){string.data + shared, string.size - shared};
}

static pcol_status read_offsets(void *context, uint64_t row, size_t n, int64_t *values,
                                uint8_t *valid, pcol_error *err)
{
    struct pool *p = context;
    (void)err;
    if (row == 0)
        p->next = 0;
    for (size_t i = 0; i < n; i++) {
        values[i] = (int64_t)p->next;
        if (row + i < p->table->count)
            p->next += stored_bytes(p, row + i).size;
    }
    memset(valid, 1, n);
    return PCOL_OK;
}

static pcol_status read_shares(void *context, uint64_t row, size_t n, int64_t *values,
                               uint8_t *valid, pcol_error *err)
{
    const struct pool *p = context;
    (void)err;
    for (size_t i = 0; i < n; i++)
        values[i] = p->shared[row + i];
    memset(valid, 1, n);
    return PCOL_OK;
}

static pcol_status read_bytes(void *context, uint64_t offset, uint8_t *data, size_t size,
                              pcol_error *err)
{
    struct pool *p = context;
    (void)err;
    if (offset == 0)
        p->string = 0, p->start = 0;
    while (size) {
        pcol_str stored = stored_bytes(p, p->string);
        size_t from = (size_t)(offset - p->start), n = stored.size - from;
        if (n > size)
            n = size;
        memcpy(data, stored.data + from, n);
        data += n;
        offset += n;
        size -= n;
        if (from + n == stored.size) {
            p->string++;
            p->start = offset;
        }
    }
    return PCOL_OK;
}

static uint32_t common_prefix(pcol_str a, pcol_str b)
{
    size_t n = a.size < b.size ? a.size : b.size, i = 0;
    n = n < UINT32_MAX ? n : UINT32_MAX;
    while (i < n && a.data[i] == b.data[i])
        i++;
    return (uint32_t)i;
}

/* Compute p->shared if that makes the column smaller; *stored: bytes that remain. */
static pcol_status apply_front_coding(struct pool *p, int is_archive, uint64_t *stored,
                                      pcol_error *err)
{
    size_t count = p->table->count;
    uint32_t *shared = pci_malloc(count, sizeof *shared), most = 0;
    pcol_str before = {"", 0};
    uint64_t saved = 0;
    if (!shared)
        return pci_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        pcol_str string = pci_string_pool_get(p->table, p->table->order[i]);
        shared[i] = i % PCF_FRONT_ROWS ? common_prefix(before, string) : 0;
        most = shared[i] > most ? shared[i] : most;
        saved += shared[i];
        before = string;
    }
    uint64_t cost = count * pci_packed_width(most) / 8 + (PCI_SECTION_BITS + PCI_CHILD_BITS) / 8;
    /* Compression of an archive removes most of the repetition anyway. */
    if (saved <= cost || saved - cost < p->table->size / (is_archive ? 5 : 16)) {
        pci_free(shared);
        return PCOL_OK;
    }
    p->shared = shared;
    *stored -= saved;
    return PCOL_OK;
}

pcol_status pci_encode_strings(const struct pci_string_pool *table, struct pci_container *writer,
                               uint32_t column, pcol_error *err)
{
    struct pool p = {.table = table};
    struct pci_bytes_source bytes = {.rows = table->count,
                                     .offsets = &p.offsets,
                                     .data_size = table->size,
                                     .read = read_bytes,
                                     .context = &p};
    p.offsets = (struct pci_value_source){table->count + 1, PCF_U64, read_offsets, &p, NULL};
    p.shares = (struct pci_value_source){table->count, PCF_U32, read_shares, &p, NULL};
    if (!writer->plain && !writer->quick &&
        (!writer->archive || table->size <= PCF_FRONT_ARCHIVE_BYTES))
        PCI_TRY(apply_front_coding(&p, writer->archive != NULL, &bytes.data_size, err));
    if (p.shared)
        bytes.shared = &p.shares;
    pcol_status status = pci_encode_bytes(writer, column, &bytes, err);
    pci_free(p.shared);
    return status;
}

/*
 * emitter.c - writes cells as JSON values or as slabs of a JSLB container
 *
 * For JSLB, the document and the data of slabs are spilled, since the table of slabs comes first in
 * the file.
 */
#include "formats/firefox/emitter.h"

#include "model/text_rules.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <stdio.h>

#define SPILL_MEMORY (UINT64_C(24) << 20)
#define SLAB_HEADER 20u
#define SLAB_ENTRY 12u

static pcol_status append_to_spill(void *context, const void *data, size_t size, pcol_error *err)
{
    return pci_spill_append(context, data, size, err);
}

pcol_status pci_ff_emit_open(struct pci_ff_emitter *out, const pcol_file *file, pcol_sink sink,
                             int jslb, pcol_error *err)
{
    memset(out, 0, sizeof *out);
    out->file = file;
    out->sink = sink;
    out->jslb = jslb;
    PCI_TRY(pci_spill_store_init(&out->store, SPILL_MEMORY, "/tmp", err));
    pci_spill_init(&out->root, &out->store);
    pci_spill_init(&out->data, &out->store);
    pcol_sink root = {append_to_spill, &out->root};
    pcol_status status =
        pci_json_writer_open(&out->w, jslb ? root : sink, PCI_JSON_POINT | PCI_JSON_REPLACE, err);
    if (status != PCOL_OK)
        pci_ff_emit_close(out);
    return status;
}

void pci_ff_emit_close(struct pci_ff_emitter *out)
{
    pci_json_writer_close(&out->w);
    pci_spill_clear(&out->root);
    pci_spill_clear(&out->data);
    pci_spill_store_close(&out->store);
    pci_free(out->slabs);
    out->slabs = NULL;
}

/* ---- values */

/* Write a double with a decimal point. Numbers with at most six decimals, such as times, are
 * formatted as integers, which is exact and faster. */
static void put_double(struct pci_ff_emitter *out, double value, pcol_error *err)
{
    char text[40];
    double scaled = value * 1e6;
    if (!(scaled > -9e15 && scaled < 9e15) || value == 0) {
        pci_json_put_double(&out->w, value, err);
        return;
    }
    int64_t n = (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    if ((double)n / 1e6 != value) {
        pci_json_put_double(&out->w, value, err);
        return;
    }
    uint64_t digits = n < 0 ? 0 - (uint64_t)n : (uint64_t)n, part = digits % 1000000;
    size_t at = sizeof text, places = 6;
    digits /= 1000000;
    while (places > 1 && part % 10 == 0)
        part /= 10, places--;
    for (; places; places--, part /= 10)
        text[--at] = (char)('0' + part % 10);
    text[--at] = '.';
    do
        text[--at] = (char)('0' + digits % 10);
    while (digits /= 10);
    if (n < 0)
        text[--at] = '-';
    pci_json_put_raw(&out->w, text + at, sizeof text - at, err);
}

pcol_status pci_ff_emit_cell(struct pci_ff_emitter *out, int kind, int64_t value, pcol_error *err)
{
    struct pci_json_writer *w = &out->w;
    double number;
    pcol_str text;
    int follows;
    switch (kind) {
    case PCI_FF_FALSE:
        pci_json_put_raw(w, "false", 5, err);
        break;
    case PCI_FF_TRUE:
        pci_json_put_raw(w, "true", 4, err);
        break;
    case PCI_FF_INT:
        pci_json_put_int(w, value, err);
        break;
    case PCI_FF_DOUBLE:
        memcpy(&number, &value, sizeof number);
        if (number - number != 0) /* a NaN of a typed array, which JSON cannot represent */
            pci_json_put_raw(w, "null", 4, err);
        else
            put_double(out, number, err);
        break;
    case PCI_FF_TEXT:
        PCI_TRY(pci_string(out->file, (uint64_t)value, &text, err));
        pci_json_put_string(w, text, err);
        break;
    case PCI_FF_JSON:
        PCI_TRY(pci_string(out->file, (uint64_t)value, &text, err));
        PCI_TRY(pci_text_follows(out->file, PCI_TEXT_JSON, (uint64_t)value, text, &follows, err));
        if (!follows)
            return pci_fail(err, PCOL_E_CORRUPT, "a text that must be JSON is not");
        pci_json_put_raw(w, text.data, text.size, err);
        break;
    default:
        pci_json_put_raw(w, "null", 4, err);
    }
    return w->status;
}

/* ---- slabs */

/* Columns that are typed arrays in version 70. */
static int slab_type(const char *table, pcol_str column)
{
    static const struct {
        const char *table, *column;
        uint8_t type;
    } types[] = {{"stackTable", "frame", PCI_SLAB_I32},
                 {"stackTable", "prefixOffset", PCI_SLAB_I32},
                 {"frameTable", "func", PCI_SLAB_I32},
                 {"frameTable", "address", PCI_SLAB_I32},
                 {"frameTable", "lib", PCI_SLAB_I32},
                 {"frameTable", "inlineDepth", PCI_SLAB_U8},
                 {"samples", "time", PCI_SLAB_F64},
                 {"samples", "timeDeltas", PCI_SLAB_F64},
                 {"markers", "startTime", PCI_SLAB_F64},
                 {"markers", "endTime", PCI_SLAB_F64},
                 {"jsAllocations", "time", PCI_SLAB_F64},
                 {"nativeAllocations", "time", PCI_SLAB_F64},
                 {"counterSamples", "time", PCI_SLAB_F64},
                 {"counterSamples", "timeDeltas", PCI_SLAB_F64},
                 {"jsAllocations", "timeDeltas", PCI_SLAB_F64},
                 {"nativeAllocations", "timeDeltas", PCI_SLAB_F64}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(types[i].table, table) && pci_str_is(column, types[i].column))
            return types[i].type;
    return PCI_SLAB_JSON;
}

/* Convert a cell to an element of a slab; 0 if it does not fit. */
static int get_element(int type, int kind, int64_t value, uint64_t *bits)
{
    double number = (double)NAN;
    if (type == PCI_SLAB_F64) {
        if (kind == PCI_FF_INT)
            number = (double)value;
        else if (kind == PCI_FF_DOUBLE)
            memcpy(&number, &value, sizeof number);
        else
            return 0;
        memcpy(bits, &number, sizeof number);
        return 1;
    }
    *bits = (uint64_t)value;
    return kind == PCI_FF_INT && (type == PCI_SLAB_U8 ? value >= 0 && value <= UINT8_MAX
                                                      : value >= INT32_MIN && value <= INT32_MAX);
}

static pcol_status put_elements(struct pci_ff_emitter *out, int type, struct pci_ff_cursor *cursor,
                                uint64_t count, int *fits, pcol_error *err)
{
    size_t width = pci_slab_widths[type];
    *fits = 1;
    for (uint64_t i = 0; i < count && *fits; i++) {
        int kind;
        int64_t value;
        uint64_t bits = 0;
        uint8_t bytes[8];
        PCI_TRY(pci_ff_cell(cursor, i, &kind, &value, err));
        *fits = get_element(type, kind, value, &bits);
        for (size_t k = 0; k < width; k++)
            bytes[k] = (uint8_t)(bits >> 8 * k);
        PCI_TRY(pci_spill_append(&out->data, bytes, width, err));
    }
    return PCOL_OK;
}

/* Write a column as a slab and its reference. *done is 0 if some cell does not fit the type. */
static pcol_status put_slab(struct pci_ff_emitter *out, int type, struct pci_ff_cursor *cursor,
                            uint64_t count, int *done, pcol_error *err)
{
    static const uint8_t zeros[8] = {0};
    char text[32];
    uint64_t offset = pci_spill_size(&out->data);
    PCI_TRY(pci_spill_append(&out->data, zeros, (size_t)((0 - offset) & 7), err));
    offset = pci_spill_size(&out->data);
    PCI_TRY(put_elements(out, type, cursor, count, done, err));
    if (!*done)
        return PCOL_OK; /* the bytes so far remain as unused padding */
    PCI_TRY(PCI_GROW(out->slabs, out->slab_capacity, out->slab_count + 1, err));
    struct pci_ff_slab_out slab = {offset, count * pci_slab_widths[type], (uint8_t)type};
    int size = snprintf(text, sizeof text, "{\"$s\":%zu}", out->slab_count);
    out->slabs[out->slab_count++] = slab;
    pci_json_put_raw(&out->w, text, (size_t)size, err);
    return out->w.status;
}

pcol_status pci_ff_emit_column(struct pci_ff_emitter *out, const char *table, pcol_str column,
                               const struct pci_ff_cells *cells, pcol_error *err)
{
    struct pci_ff_cursor *cursor = pci_malloc(1, sizeof *cursor);
    int type = out->jslb ? slab_type(table, column) : PCI_SLAB_JSON, done = 0;
    pcol_status status = cursor ? PCOL_OK : pci_fail_memory(err);
    if (!cursor)
        return status;
    pci_ff_cursor_init(cursor, cells);
    if (type != PCI_SLAB_JSON)
        status = put_slab(out, type, cursor, cells->count, &done, err);
    if (status == PCOL_OK && !done) {
        pci_json_put_begin(&out->w, '[', err);
        for (uint64_t i = 0; i < cells->count && status == PCOL_OK; i++) {
            int kind;
            int64_t value;
            status = pci_ff_cell(cursor, i, &kind, &value, err);
            PCI_THEN(status, pci_ff_emit_cell(out, kind, value, err));
        }
        pci_json_put_end(&out->w, ']', err);
    }
    pci_free(cursor);
    return status;
}

/* ---- the container */

static void set_u32(uint8_t *to, uint64_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static pcol_status write_header(struct pci_ff_emitter *out, uint64_t *first, pcol_error *err)
{
    size_t count = out->slab_count + 1;
    size_t size = SLAB_HEADER + SLAB_ENTRY * count, padded = (size + 7) / 8 * 8;
    uint64_t data = pci_spill_size(&out->data), root = pci_spill_size(&out->root);
    if (padded + data + root > UINT32_MAX)
        return pci_fail(err, PCOL_E_LOSS, "a JSLB file can have at most 4 GiB");
    uint8_t *header;
    PCI_TRY(PCI_CALLOC(header, padded, err));
    memcpy(header, pci_slab_magic, sizeof pci_slab_magic);
    set_u32(header + 8, 1);
    set_u32(header + 12, count);
    set_u32(header + 16, count - 1);
    for (size_t i = 0; i < count; i++) {
        uint8_t *entry = header + SLAB_HEADER + SLAB_ENTRY * i;
        int last = i + 1 == count;
        set_u32(entry, last ? (uint64_t)PCI_SLAB_JSON : out->slabs[i].type);
        set_u32(entry + 4, padded + (last ? data : out->slabs[i].offset));
        set_u32(entry + 8, last ? root : out->slabs[i].size);
    }
    *first = padded;
    pcol_status status = pci_sink_write(out->sink, header, padded, err);
    pci_free(header);
    return status;
}

static pcol_status write_spill(struct pci_ff_emitter *out, const struct pci_spill *spill,
                               pcol_error *err)
{
    uint64_t size = pci_spill_size(spill);
    uint8_t *page = pci_malloc(PCI_PAGE_BYTES, 1);
    pcol_status status = page ? PCOL_OK : pci_fail_memory(err);
    if (!page)
        return status;
    for (uint64_t at = 0; at < size && status == PCOL_OK; at += PCI_PAGE_BYTES) {
        size_t n = size - at < PCI_PAGE_BYTES ? (size_t)(size - at) : PCI_PAGE_BYTES;
        status = pci_spill_read(spill, at, page, n, err);
        PCI_THEN(status, pci_sink_write(out->sink, page, n, err));
    }
    pci_free(page);
    return status;
}

pcol_status pci_ff_emit_finish(struct pci_ff_emitter *out, pcol_error *err)
{
    uint64_t first;
    PCI_TRY(pci_json_writer_finish(&out->w, err));
    if (!out->jslb)
        return PCOL_OK;
    PCI_TRY(write_header(out, &first, err));
    PCI_TRY(write_spill(out, &out->data, err));
    return write_spill(out, &out->root, err);
}

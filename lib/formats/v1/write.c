/*
 * write.c - a profile as the five tables of data model v1, one JSON object
 *
 * The tables come as the model shows them; each row is an object on a line of its own. What v1 has
 * no place for is told as a loss, what it cannot express at all is the model's error.
 */
#include "formats/v1/v1.h"
#include "merge/merge.h"
#include "json/json.h"

#include "util/alloc.h"

#include <inttypes.h>
#include <string.h>

const struct pci_holds pci_v1_holds = {
    .cannot = "v1 has no place for",
    .any = PCI_HOLDS(NAMELESS) /* left out, and counted */ | PCI_HOLDS(UNUSED) |
           PCI_HOLDS(SYSTEM_NAMES) | PCI_HOLDS(FILES) | PCI_HOLDS(START_LINES) | PCI_HOLDS(LINES)};

static void put_cell(struct pci_json_writer *w, const pcol_cells *cells, size_t row,
                     pcol_error *err)
{
    if (!cells->valid[row]) {
        pci_json_put_raw(w, "null", 4, err);
        return;
    }
    switch (cells->type) {
    case PCOL_STRING:
    case PCOL_BYTES:
        pci_json_put_string(w, cells->str[row], err);
        break;
    case PCOL_F64:
        pci_json_put_double(w, cells->f64[row], err);
        break;
    case PCOL_LIST:
        pci_json_put_begin(w, '[', err);
        for (uint64_t i = cells->list[row]; i < cells->list[row + 1]; i++)
            pci_json_put_int(w, cells->list_values[i], err);
        pci_json_put_end(w, ']', err);
        break;
    case PCOL_I64:
    case PCOL_U64:
    case PCOL_U32:
    case PCOL_BOOL:
        pci_json_put_int(w, cells->i64[row], err);
        break;
    }
}

static void put_batch(struct pci_json_writer *w, const pcol_table *table, const pcol_batch *batch,
                      pcol_error *err)
{
    for (size_t row = 0; row < batch->rows; row++) {
        pci_json_put_newline(w);
        pci_json_put_begin(w, '{', err);
        for (uint32_t i = 0; i < batch->column_count; i++) {
            pcol_column_info info;
            pcol_column_describe(pcol_table_column(table, i), &info);
            pci_json_put_key(w, info.name, err);
            put_cell(w, &batch->columns[i], row, err);
        }
        pci_json_put_end(w, '}', err);
    }
}

static pcol_status put_table(struct pci_json_writer *w, const pcol_file *file, uint32_t index,
                             pcol_error *err)
{
    const pcol_table *table;
    pcol_scan *scan;
    pcol_batch batch;
    PCI_TRY(pcol_file_table(file, PCOL_MODEL_V1, index, &table, err));
    PCI_TRY(pcol_scan_new(table, NULL, 0, 0, UINT64_MAX, &scan, err));
    pci_json_put_newline(w);
    pci_json_put_key(w, pcol_table_name(table), err);
    pci_json_put_begin(w, '[', err);
    pcol_status status;
    while ((status = pcol_scan_next(scan, &batch, err)) == PCOL_OK && batch.rows) {
        put_batch(w, table, &batch, err);
        if ((status = w->status) != PCOL_OK)
            break;
    }
    pcol_scan_free(scan);
    pci_json_put_end(w, ']', err);
    return status;
}

static pcol_status put_file(const pcol_file *file, pcol_sink sink, pcol_error *err)
{
    struct pci_json_writer w;
    PCI_TRY(pci_json_writer_open(&w, sink, 0, err));
    pcol_status status = PCOL_OK;
    pci_json_put_begin(&w, '{', err);
    uint32_t count = pcol_file_table_count(file, PCOL_MODEL_V1);
    for (uint32_t i = 0; status == PCOL_OK && i < count; i++)
        status = put_table(&w, file, i, err);
    pci_json_put_newline(&w);
    pci_json_put_end(&w, '}', err);
    if (status == PCOL_OK)
        status = pci_json_writer_finish(&w, err);
    pci_json_writer_close(&w);
    return status;
}

/* ---- what is lost */

static uint64_t physical_rows(const pcol_file *file, const char *table)
{
    const struct pci_table *t = pci_table_find(file, table);
    return t ? t->rows : 0;
}

static uint64_t v1_rows(const pcol_file *file, const char *table)
{
    const pcol_table *t;
    return pcol_file_table_by_name(file, PCOL_MODEL_V1, table, &t, NULL) == PCOL_OK
               ? pcol_table_rows(t)
               : UINT64_MAX;
}

/* The export's own file, or a part of it that is a file of its own. */
static pcol_status tell_losses(const struct pci_export *export, const pcol_file *file,
                               pcol_error *err)
{
    if (physical_rows(file, "sample_types") > 1)
        pci_export_loss(export, "v1 has no place for sample types other than samples/count");
    uint64_t all = physical_rows(file, "samples"), kept = v1_rows(file, "samples");
    if (kept < all)
        pci_export_loss(export, "v1 leaves out %" PRIu64 " samples without a function", all - kept);
    all = physical_rows(file, "locations");
    kept = v1_rows(file, "locations");
    if (kept < all)
        pci_export_loss(export, "v1 leaves out %" PRIu64 " locations without a function",
                        all - kept);
    return pci_export_losses(export, NULL, err);
}

/* ---- one source of several: a file of it alone, in memory */

static pcol_status put_part(const struct pci_export *export, pcol_error *err)
{
    pcol_builder *builder;
    pcol_file *file = NULL;
    void *data = NULL;
    size_t size;
    pcol_open_options options = PCOL_INIT(pcol_open_options);
    options.flags = PCOL_OPEN_UNVERIFIED; /* packed just now */
    PCI_TRY(pcol_builder_new(NULL, &builder, err));
    pcol_status status =
        pci_merge_file(builder, export->file, NULL, export->first_source, export->last_source, err);
    if (status == PCOL_OK)
        status = pcol_builder_write_memory(builder, 0, &data, &size, err);
    if (status == PCOL_OK)
        status = pci_file_open_memory(data, size, &options, export->file->schemas, &file, err);
    if (status == PCOL_OK)
        status = put_file(file, export->sink, err);
    if (status == PCOL_OK)
        status = tell_losses(export, file, err);
    pcol_file_close(file);
    pci_free(data);
    pcol_builder_free(builder);
    return status;
}

pcol_status pci_v1_write(const struct pci_export *export, pcol_error *err)
{
    uint64_t sources = physical_rows(export->file, "sources");
    if (sources && export->last_source - export->first_source + 1 != sources)
        return put_part(export, err);
    PCI_TRY(put_file(export->file, export->sink, err));
    return tell_losses(export, export->file, err);
}

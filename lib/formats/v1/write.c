/*
 * write.c - export of the five tables of data model v1 as one JSON object
 *
 * The tables are those of the model; each row is an object on its own line. Samples of perf sources
 * count 1 each, of the chosen type. Content that v1 cannot represent is reported as a loss, a
 * profile without a v1 form is an error of the model.
 */
#include "formats/json_members.h"
#include "formats/v1/v1.h"
#include "merge/merge.h"
#include "model/v1.h"
#include "util/strbuf.h"
#include "json/json.h"

#include "util/alloc.h"

#include <inttypes.h>

const struct pci_capabilities pci_v1_capabilities = {
    .loss_prefix = "v1 cannot hold",
    .generic = PCI_KIND_BIT(EXACT) | PCI_KIND_BIT(NAMELESS) /* left out, and counted */ |
               PCI_KIND_BIT(UNUSED) | PCI_KIND_BIT(SYSTEM_NAMES) | PCI_KIND_BIT(FILES) |
               PCI_KIND_BIT(START_LINES) | PCI_KIND_BIT(LINES),
    .positive = PCI_KIND_BIT(START_LINES)};

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

/* Count the stacks of a batch of samples, the only rows with lists. */
static pcol_status count_stacks(struct pci_written_stacks *written, const pcol_batch *batch,
                                pcol_error *err)
{
    for (uint32_t i = 0; i < batch->column_count; i++) {
        const pcol_cells *cells = &batch->columns[i];
        for (size_t row = 0; cells->type == PCOL_LIST && row < batch->rows; row++)
            PCI_TRY(pci_written_stacks_add(written, cells->list[row + 1] - cells->list[row], err));
    }
    return PCOL_OK;
}

static void put_batch(struct pci_json_writer *w, const pcol_table *table, const pcol_batch *batch,
                      pcol_error *err)
{
    for (size_t row = 0; row < batch->rows; row++) {
        pci_json_put_newline(w);
        pci_json_put_begin(w, '{', err);
        for (uint32_t i = 0; i < batch->column_count; i++) {
            pci_json_put_key(w, table->columns[i].name, err);
            put_cell(w, &batch->columns[i], row, err);
        }
        pci_json_put_end(w, '}', err);
    }
}

static pcol_status put_rows(struct pci_json_writer *w, const pcol_table *table, pcol_error *err)
{
    pcol_scan *scan;
    pcol_batch batch = PCOL_INIT(pcol_batch);
    struct pci_written_stacks written = pci_written_stacks_begin(table->file, PCI_WRITTEN_FRAMES);
    PCI_TRY(pcol_scan_new(table, NULL, &scan, err));
    pci_json_put_newline(w);
    pci_json_put_begin_member(w, pcol_table_name(table), '[', err);
    pcol_status status;
    while ((status = pcol_scan_next(scan, &batch, err)) == PCOL_OK && batch.rows) {
        status = count_stacks(&written, &batch, err);
        if (status != PCOL_OK)
            break;
        put_batch(w, table, &batch, err);
        if ((status = w->status) != PCOL_OK)
            break;
    }
    pcol_scan_free(scan);
    pci_json_put_end(w, ']', err);
    return status;
}

static pcol_status put_tables(struct pci_v1 *maps, pcol_sink sink, pcol_error *err)
{
    struct pci_json_writer w;
    PCI_TRY(pci_json_writer_open(&w, sink, 0, err));
    pcol_status status = PCOL_OK;
    pci_json_put_begin(&w, '{', err);
    uint32_t count = pcol_file_table_count(maps->file, PCOL_MODEL_V1);
    for (uint32_t i = 0; status == PCOL_OK && i < count; i++) {
        pcol_table *table;
        status = pci_v1_table(maps->file, &maps, i, &table, err);
        PCI_THEN(status, put_rows(&w, table, err));
        pci_table_free(table);
    }
    pci_json_put_newline(&w);
    pci_json_put_end(&w, '}', err);
    PCI_THEN(status, pci_json_writer_finish(&w, err));
    pci_json_writer_close(&w);
    return status;
}

/* ---- losses */

static uint64_t physical_rows(const pcol_file *file, const char *table)
{
    const struct pci_table *t = pci_table_find(file, table);
    return t ? t->rows : 0;
}

/* The maps' file is the export's own or, of one source of several, a file of that alone. */
static pcol_status report_losses(const struct pci_export *export, const struct pci_v1 *maps,
                                 const struct pci_selected_type *counted, pcol_error *err)
{
    int samples = pci_str_is(counted->type, "samples") && pci_str_is(counted->unit, "count");
    uint64_t types = physical_rows(maps->file, "sample_types");
    uint64_t all = physical_rows(maps->file, "samples") - maps->other_samples;
    if (maps->counted && !samples)
        pci_export_loss(export, "v1 cannot hold the sample type %.*s/%.*s: each sample counts 1",
                        (int)counted->type.size, counted->type.data, (int)counted->unit.size,
                        counted->unit.data);
    if (maps->counted && (maps->counted_sources ? maps->other_samples : types > counted->count))
        pci_export_loss_option(export, "sample_type",
                               "v1 cannot hold other sample types: %" PRIu64 " samples left out",
                               maps->other_samples);
    uint64_t held = maps->counted ? counted->count : 0;
    if (maps->has_count_type && !(maps->counted && samples))
        held++;
    if ((!maps->counted || (maps->counted_sources && !maps->is_only_counted)) && types > held)
        pci_export_loss(export, "v1 cannot hold sample types other than samples/count");
    if (maps->sample_count < all)
        pci_export_loss(export, "v1 leaves out %" PRIu64 " samples without a function",
                        all - maps->sample_count);
    all = physical_rows(maps->file, "locations");
    if (maps->location_count < all)
        pci_export_loss(export, "v1 leaves out %" PRIu64 " locations without a function",
                        all - maps->location_count);
    return pci_export_losses(export, NULL, err);
}

/* ---- samples */

/* The values of v1 are counts of samples. Where a row is one sample, those of the chosen type are
 * counted, unless it is samples/count, which folded stacks become in perf text; in other sources
 * the values of samples/count are the counts. Without a choice the type is the default of the
 * counted sources. */
static pcol_status open_maps(const struct pci_export *export, const pcol_file *file,
                             const uint8_t *sources, uint64_t count,
                             struct pci_selected_type *chosen, struct pci_v1 **maps,
                             pcol_error *err)
{
    const char *wanted = export->options->sample_type;
    uint64_t all = physical_rows(file, "sources");
    struct pci_types types;
    PCI_TRY(pci_types_open(file, &types, err));
    pcol_status status = PCOL_OK;
    if (count || (wanted && all))
        status = pci_types_select_among(&types, wanted ? NULL : sources, 0, all - 1,
                                        &(struct pci_requested_type){.name = wanted}, chosen, err);
    pci_types_close(&types);
    int is_count = pci_str_is(chosen->type, "samples") && pci_str_is(chosen->unit, "count");
    if (status == PCOL_OK && !count && wanted && !is_count)
        return pci_fail(err, PCOL_E_LOSS, "v1 can only hold samples of type samples/count");
    struct pci_v1_counted counted = {chosen, count < all ? sources : NULL, wanted && !is_count};
    PCI_THEN(status, pci_v1_open(file, count && chosen->count ? &counted : NULL, maps, err));
    return status;
}

static pcol_status put_file(const struct pci_export *export, const pcol_file *file, pcol_error *err)
{
    struct pci_selected_type chosen = {.rows = NULL};
    struct pci_v1 *maps = NULL;
    uint64_t count = 0;
    uint8_t *sources;
    PCI_TRY(pci_check_row_count(file, "sources", err));
    PCI_TRY(PCI_CALLOC(sources, (size_t)physical_rows(file, "sources") + 1, err));
    pcol_status status = pci_types_counted_sources(file, sources, &count, err);
    PCI_THEN(status, open_maps(export, file, sources, count, &chosen, &maps, err));
    PCI_THEN(status, put_tables(maps, export->sink, err));
    PCI_THEN(status, report_losses(export, maps, &chosen, err));
    pci_v1_free(maps);
    pci_free(sources);
    pci_free(chosen.rows);
    return status;
}

/* ---- one source of several: packed as a separate file in memory */

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
    PCI_THEN(status, pcol_builder_write_memory(builder, 0, NULL, &data, &size, err));
    PCI_THEN(status, pci_file_open_memory(data, size, &options, export->file->schemas, &file, err));
    if (status == PCOL_OK) { /* limits are those of the whole file */
        file->trusted = export->file->trusted;
        file->input_bytes = export->file->input_bytes;
        status = put_file(export, file, err);
    }
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
    return put_file(export, export->file, err);
}

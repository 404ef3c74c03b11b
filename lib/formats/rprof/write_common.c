/*
 * write_common.c - common parts of the exporters of R's profiles (write_common.h)
 */
#include "formats/rprof/write_common.h"

#include "model/table.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <string.h>

/* ---- output ---- */

pcol_status pci_rprof_put_string(struct pci_out *out, const pcol_file *file, int64_t code,
                                 pcol_error *err)
{
    pcol_str text;
    PCI_TRY(pci_string(file, (uint64_t)code, &text, err));
    return pci_out(out, text.data, text.size, err);
}

pcol_status pci_rprof_put_feeds(struct pci_out *out, const uint8_t *text, size_t size, int crlf,
                                pcol_error *err)
{
    while (crlf && size) {
        const uint8_t *feed = memchr(text, '\n', size);
        if (!feed)
            break;
        size_t before = (size_t)(feed - text);
        PCI_TRY(pci_out(out, text, before, err));
        PCI_TRY(pci_out(out, "\r\n", 2, err));
        text += before + 1;
        size -= before + 1;
    }
    return pci_out(out, text, size, err);
}

/* ---- samples ---- */

/* The integers of a type, NULL if the file has none. A type with doubles is another row of
 * sample_types. */
static pcol_status find_value(const struct pci_types *types, const struct pci_rprof_type *type,
                              const struct pci_column **column, pcol_error *err)
{
    *column = NULL;
    for (uint32_t row = 0; row < types->count && !*column; row++) {
        const struct pci_column *values = types->columns[row];
        if (values && values->desc->type != PCF_F64 && !types->ordinal[row] &&
            pci_str_is(types->type[row], type->type) && pci_str_is(types->unit[row], type->unit))
            *column = values;
    }
    return *column ? pci_verify(types->file, *column, err) : PCOL_OK;
}

pcol_status pci_rprof_samples_open(struct pci_rprof_samples *samples, const pcol_file *file,
                                   const struct pci_rprof_type *types, pcol_error *err)
{
    memset(samples, 0, sizeof *samples);
    samples->file = file;
    samples->total = pci_rows(file, "samples");
    if (file->strings)
        PCI_TRY(pci_verify(file, file->strings, err));
    PCI_TRY(pci_find_verified_column(file, "samples", "source", PCI_TYPES_ROW,
                                     &samples->source.column, err));
    PCI_TRY(pci_find_verified_column(file, "samples", "stack", PCI_TYPES_ROW,
                                     &samples->stack.column, err));
    PCI_TRY(pci_find_verified_column(file, "samples", "text", PCI_TYPES_TEXT, &samples->text.column,
                                     err));
    PCI_TRY(pci_types_open(file, &samples->types, err));
    for (int i = 0; types[i].type; i++)
        PCI_TRY(find_value(&samples->types, &types[i], &samples->value[i].column, err));
    return pci_samples_by_source_open(file, samples->source.column, &samples->turns, err);
}

void pci_rprof_samples_close(struct pci_rprof_samples *samples)
{
    pci_samples_by_source_close(&samples->turns);
    pci_types_close(&samples->types);
    pci_free(samples->wanted.rows);
    pci_hash_clear(&samples->files_by_number);
    pci_free(samples->files);
}

pcol_status pci_rprof_note_file(struct pci_rprof_samples *samples, uint32_t source, int64_t number,
                                int64_t path, pcol_error *err)
{
    struct pci_rprof_samples *s = samples;
    uint64_t hash = pci_hash_pair((uint64_t)number, 0);
    size_t at = pci_hash_start(&s->files_by_number, hash), count = s->files_by_number.count;
    uint32_t id = pci_hash_next(&s->files_by_number, hash, &at);
    while (id != PCI_HASH_NONE && s->files[id].number != number)
        id = pci_hash_next(&s->files_by_number, hash, &at);
    if (id == PCI_HASH_NONE) {
        PCI_TRY(PCI_GROW(s->files, s->file_capacity, count + 1, err));
        PCI_TRY(pci_hash_add(&s->files_by_number, hash, (uint32_t)count, err));
        id = (uint32_t)count;
    } else if (s->files[id].path != path && s->files[id].source != source) {
        s->is_misread = 1;
    }
    s->files[id] = (struct pci_rprof_written_file){number, path, source};
    if (number > s->highest_file)
        s->highest_file = number;
    return PCOL_OK;
}

static pcol_status load(const struct pci_rprof_samples *samples, struct pci_rprof_cells *cells,
                        pcol_error *err)
{
    if (!cells->column) /* all null since samples_open() */
        return PCOL_OK;
    return pci_read(samples->file, cells->column, samples->first, samples->rows, cells->value,
                    cells->valid, err);
}

pcol_status pci_rprof_samples_load(struct pci_rprof_samples *samples, uint64_t row, pcol_error *err)
{
    uint64_t left = samples->total - row;
    if (row >= samples->first && row - samples->first < samples->rows)
        return PCOL_OK;
    samples->first = row;
    samples->rows = left < PCI_RPROF_BATCH ? (size_t)left : PCI_RPROF_BATCH;
    if (samples->turns.rows) /* the next requested one may be anywhere */
        samples->rows = 1;
    PCI_TRY(load(samples, &samples->source, err));
    PCI_TRY(load(samples, &samples->stack, err));
    PCI_TRY(load(samples, &samples->text, err));
    for (int i = 0; i < PCI_RPROF_VALUES; i++)
        PCI_TRY(load(samples, &samples->value[i], err));
    return PCOL_OK;
}

pcol_status pci_rprof_samples_next(struct pci_rprof_samples *samples, uint32_t source,
                                   uint64_t *row, pcol_error *err)
{
    struct pci_samples_by_source *turns = &samples->turns;
    if (pci_samples_by_source_find(turns, source, row))
        return *row < samples->total ? pci_rprof_samples_load(samples, *row, err) : PCOL_OK;
    for (; *row < samples->total; ++*row) {
        PCI_TRY(pci_rprof_samples_load(samples, *row, err));
        int64_t has = samples->source.value[*row - samples->first];
        if (has == (int64_t)source)
            return PCOL_OK;
        if (turns->in_order && has > (int64_t)source)
            break;
        PCI_TRY(pci_samples_by_source_skip(turns, *row, err));
    }
    *row = samples->total;
    return PCOL_OK;
}

/* ---- location groups ---- */

pcol_status pci_rprof_locations_open(struct pci_rprof_locations *locations, const pcol_file *file,
                                     pcol_error *err)
{
    struct pci_rprof_locations *l = locations;
    const struct pci_column_request columns[] = {
        {"location_groups", "first_location", PCI_TYPES_ROW, &l->first},
        {"location_groups", "file_number", PCI_TYPES_INT, &l->file_number},
        {"location_groups", "address", PCI_TYPES_INT, &l->address},
        {"location_groups", "mapping", PCI_TYPES_ROW, &l->mapping},
        {"locations", "function", PCI_TYPES_ROW, &l->function},
        {"locations", "line", PCI_TYPES_INT, &l->line},
        {"locations", "column", PCI_TYPES_INT, &l->text_column},
        {"locations", "filename", PCI_TYPES_TEXT, &l->filename},
        {"functions", "name", PCI_TYPES_TEXT, &l->name},
        {"functions", "filename", PCI_TYPES_TEXT, &l->function_file},
        {"functions", "start_line", PCI_TYPES_INT, &l->start_line},
    };
    memset(l, 0, sizeof *l);
    l->file = file;
    PCI_TRY(pci_check_row_count(file, "location_groups", err));
    PCI_TRY(pci_check_row_count(file, "locations", err));
    l->group_count = pci_rows(file, "location_groups");
    l->location_count = pci_rows(file, "locations");
    l->function_count = pci_rows(file, "functions");
    return pci_find_verified_columns(file, columns, sizeof columns / sizeof *columns, err);
}

pcol_status pci_rprof_lines_of(const struct pci_rprof_locations *locations, uint64_t group,
                               uint64_t *first, uint64_t *end, pcol_error *err)
{
    const struct pci_rprof_locations *l = locations;
    int64_t a = (int64_t)group, b = (int64_t)group + 1;
    int valid;
    if (group >= l->group_count)
        return pci_corrupt(err, "location_groups", NULL, group,
                           "a call stack refers to a row that does not exist");
    if (l->first) {
        PCI_TRY(pci_get(l->file, l->first, group, &a, &valid, err));
        b = (int64_t)l->location_count;
        if (group + 1 < l->group_count)
            PCI_TRY(pci_get(l->file, l->first, group + 1, &b, &valid, err));
    }
    if (a < 0 || a > b || (uint64_t)b > l->location_count)
        return pci_corrupt(err, "location_groups", "first_location", group,
                           "lines of a group are not in order or beyond the table");
    *first = (uint64_t)a;
    *end = (uint64_t)b;
    return PCOL_OK;
}

pcol_status pci_rprof_frame_at(const struct pci_rprof_locations *locations, uint64_t location,
                               struct pci_rprof_frame *frame, pcol_error *err)
{
    const struct pci_rprof_locations *l = locations;
    const struct pci_column *file = l->filename;
    uint64_t file_row = location;
    int64_t function, ignored;
    int has_function;
    memset(frame, 0, sizeof *frame);
    PCI_TRY(pci_get(l->file, l->line, location, &frame->line, &frame->has_line, err));
    PCI_TRY(pci_get(l->file, l->text_column, location, &ignored, &frame->has_text_column, err));
    PCI_TRY(pci_get(l->file, l->function, location, &function, &has_function, err));
    if (has_function) {
        uint64_t row = (uint64_t)function;
        if (row >= l->function_count)
            return pci_corrupt(err, "locations", "function", location,
                               "function %" PRIu64 " does not exist", row);
        PCI_TRY(pci_get_str(l->file, l->name, row, &frame->name, &frame->has_name, err));
        PCI_TRY(pci_get(l->file, l->start_line, row, &ignored, &frame->has_start_line, err));
        file = l->function_file;
        file_row = row;
    }
    PCI_TRY(pci_get(l->file, file, file_row, &frame->path, &frame->has_file, err));
    return frame->has_file
               ? pci_get_str(l->file, file, file_row, &frame->filename, &frame->has_file, err)
               : PCOL_OK;
}

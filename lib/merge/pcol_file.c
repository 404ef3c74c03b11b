/*
 * pcol_file.c - copies a pcol file, or part of it, into a builder
 *
 * The order of calls is that of an importer: each source with its types, then stacks, then samples.
 * A single file is reproduced byte for byte, and merged files share equal rows. Derived tables are
 * omitted; the builder derives them again. Tests: suite merge, tests/unit/test_merged_files.c.
 */
#include "merge/added_frames.h"

#include "builder/idle_samples.h"
#include "model/check.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/import_budget.h"
#include "util/strbuf.h"

#include <string.h>

/* ---- names */

/* Reports columns by which a newer version extends tables that are fed row by row. */
static void report_unknown(const struct pci_merge *m, const char *table, const char *const *known)
{
    const struct pci_table *t = pci_table_find(m->file, table);
    for (uint32_t i = 0; m->options && t && i < t->column_count; i++)
        if (!pci_merge_is_one_of(t->columns[i].name, known))
            pci_notice(PCOL_NOTICE_INPUT, "", "", "column %s of table %s is unknown and left out",
                       t->columns[i].name, table);
}

static void report_unknown_columns(const struct pci_merge *m)
{
    static const char *const locations[] = {"function", "line", "column", "filename", NULL},
                             *const stacks[] = {"parent", "group", NULL},
                             *const types[] = {"type", "unit", "level", "ordinal", NULL},
                             *const order[] = {"source", "sample_type", NULL};
    report_unknown(m, "locations", locations);
    report_unknown(m, "stacks", stacks);
    report_unknown(m, "sample_types", types);
    report_unknown(m, "source_types", order);
}

/* ---- sources and their types */

/* The text of a cell, "" if null. */
static pcol_status get_cell_bytes(const pcol_file *file, const char *table, const char *column,
                                  uint64_t row, pcol_str *text, pcol_error *err)
{
    const struct pci_table *t = pci_table_find(file, table);
    const struct pci_column *c = t ? pci_column_find(t, column) : NULL;
    int valid;
    *text = (pcol_str){"", 0};
    return pci_get_str(file, c, row, text, &valid, err);
}

/* The text of a cell as a C string; the caller frees it. */
static pcol_status get_cell_text(const pcol_file *file, const char *table, const char *column,
                                 uint64_t row, char **text, pcol_error *err)
{
    pcol_str string;
    *text = NULL;
    PCI_TRY(get_cell_bytes(file, table, column, row, &string, err));
    if (memchr(string.data, 0, string.size))
        return pci_corrupt(err, table, column, row, "the text contains a NUL byte");
    PCI_TRY(PCI_MALLOC(*text, string.size + 1, err));
    memcpy(*text, string.data, string.size);
    (*text)[string.size] = 0;
    return PCOL_OK;
}

/* Creates the columns of samples that the builder does not know, in the file's order among
 * `value.K`. */
static pcol_status add_sample_columns(struct pci_merge *m, uint32_t before, pcol_error *err)
{
    static const char *const known[] = {"source",   "stack",     "thread", "time",
                                        "duration", "cpu_delta", NULL};
    const struct pci_table *samples = pci_table_find(m->file, "samples");
    for (; samples && m->sample_columns_done < before; m->sample_columns_done++) {
        uint32_t i = m->sample_columns_done;
        const struct pci_column *c = &samples->columns[i];
        if (m->sample_columns[i] != PCOL_NONE || pci_merge_is_one_of(c->name, known) ||
            pci_parse_numbered_name(c->name, "value.") >= 0)
            continue;
        if (m->labels[samples->number] == PCI_LABELS_ROWS && pci_merge_is_label(c->name))
            continue;
        if (!pci_merge_copies_column(m, c))
            continue;
        PCI_TRY(pci_merge_column(m, c, PCI_T_SAMPLES, &m->sample_columns[i], err));
    }
    return PCOL_OK;
}

static pcol_status add_type(struct pci_merge *m, uint64_t row, pcol_error *err)
{
    pcol_str text;
    uint32_t type, unit, gauge, ordinal;
    if (m->selection && m->selection->types && !m->selection->types[row])
        return PCOL_OK;
    const struct pci_column *values = pci_merge_values(m, row);
    unsigned flags = values && values->desc->type == PCF_F64 ? PCOL_SAMPLE_TYPE_DOUBLE : 0;
    if (values)
        PCI_TRY(add_sample_columns(m, (uint32_t)(values - values->table->columns), err));
    /* Names of pprof may contain any bytes, also NUL. */
    PCI_TRY(get_cell_bytes(m->file, "sample_types", "type", row, &text, err));
    PCI_TRY(pci_merge_text(m, PCI_COPY, text, &type, err));
    PCI_TRY(get_cell_bytes(m->file, "sample_types", "unit", row, &text, err));
    PCI_TRY(pci_merge_text(m, PCI_COPY, text, &unit, err));
    PCI_TRY(pci_merge_number(m->file, "sample_types", "level", row, &gauge, err));
    PCI_TRY(pci_merge_number(m->file, "sample_types", "ordinal", row, &ordinal, err));
    if (gauge)
        flags |= PCOL_SAMPLE_TYPE_GAUGE;
    return pci_builder_sample_type(m->builder, type, unit, flags, ordinal, &m->types[row], err);
}

/* Cursor of source_types, whose rows are ordered by source. */
struct type_walk {
    struct pci_cells *cells; /* source, sample_type */
    uint64_t at, rows;
};

/* Adds the types of a source in its order: those in source_types, or all. */
static pcol_status add_source_types(struct pci_merge *m, uint64_t source, struct type_walk *w,
                                    pcol_error *err)
{
    for (uint64_t row = 0; !w->rows && row < m->type_count; row++)
        PCI_TRY(add_type(m, row, err));
    for (; w->at < w->rows; w->at++) {
        uint32_t type_source, type;
        PCI_TRY(pci_cells_row(&w->cells[0], w->at, m->source_count, &type_source, err));
        PCI_TRY(pci_cells_row(&w->cells[1], w->at, m->type_count, &type, err));
        if (type_source > source && type_source != PCOL_NONE)
            break;
        if (type_source == source && type != PCOL_NONE)
            PCI_TRY(add_type(m, type, err));
    }
    return PCOL_OK;
}

static pcol_status set_interval(const struct pci_merge *m, uint64_t row, pcol_error *err)
{
    const struct pci_column *c = pci_column_find(pci_table_find(m->file, "sources"), "interval_ns");
    int64_t interval;
    int valid = 0;
    if (c && c->desc->type == PCF_I64)
        PCI_TRY(pci_get(m->file, c, row, &interval, &valid, err));
    if (valid && m->options)
        pci_builder_record_interval(m->builder, interval);
    return PCOL_OK;
}

/* Sets the bytes of the sources that have, or had, samples to join: those without CPU time. */
static pcol_status find_idle_sources(const struct pci_merge *m, uint8_t *idle, pcol_error *err)
{
    const struct pci_column *source, *cpu, *collapsed;
    int64_t number, value;
    int valid;
    PCI_TRY(pci_find_column(m->file, "sources", "collapsed", PCI_TYPE(PCF_BOOL), &collapsed, err));
    for (uint64_t row = 0; row < m->source_count; row++) {
        PCI_TRY(pci_get(m->file, collapsed, row, &value, &valid, err));
        idle[row] = value != 0;
    }
    PCI_TRY(pci_find_column(m->file, "samples", "source", PCI_TYPES_ROW, &source, err));
    PCI_TRY(pci_find_column(m->file, "samples", "cpu_delta", PCI_TYPES_INT, &cpu, err));
    for (uint64_t row = 0; cpu && row < pci_rows(m->file, "samples"); row++) {
        PCI_TRY(pci_get(m->file, cpu, row, &value, &valid, err));
        if (!valid || value)
            continue;
        PCI_TRY(pci_get(m->file, source, row, &number, &valid, err));
        if ((uint64_t)number < m->source_count)
            idle[number] = 1;
    }
    return PCOL_OK;
}

/* collapsed: its idle samples are joined. */
static pcol_status add_source(struct pci_merge *m, uint64_t row, int collapsed, pcol_error *err)
{
    const pcol_import_options *options = m->options;
    char *type;
    PCI_TRY(set_interval(m, row, err));
    PCI_TRY(get_cell_text(m->file, "sources", "type", row, &type, err));
    const struct pci_format_schema *schema =
        pci_format_schema(m->file, (pcol_str){type, strlen(type)});
    int is_native = !m->selection || !m->selection->added || !schema || !schema->fixed_frames;
    pcol_source source = {.size = sizeof source,
                          .type = is_native ? type : "copy",
                          .flags = collapsed ? PCOL_SOURCE_COLLAPSED : 0};
    if (options) {
        source.uri = options->uri;
        source.timestamp = options->timestamp;
    }
    pcol_status status = pcol_builder_source(m->builder, &source, &m->sources[row], err);
    pci_free(type);
    return status;
}

static pcol_status add_sources(struct pci_merge *m, pcol_error *err)
{
    struct type_walk w = {0};
    PCI_TRY(pci_check_type_counts(m->file, err));
    PCI_TRY(pci_merge_rows(m->file, "source_types", &w.rows, err));
    struct pci_cells *cells = w.cells = pci_malloc(2, sizeof *cells);
    if (!cells)
        return pci_fail_memory(err);
    uint8_t *idle = NULL;
    pcol_status status =
        pci_cells_open(&cells[0], m->file, "source_types", "source", PCI_IS_INT, err);
    PCI_THEN(status,
             pci_cells_open(&cells[1], m->file, "source_types", "sample_type", PCI_IS_INT, err));
    if (pci_merge_collapses_idle(m)) {
        PCI_THEN(status, PCI_CALLOC(idle, (size_t)m->source_count + 1, err));
        PCI_THEN(status, find_idle_sources(m, idle, err));
    }
    for (uint64_t row = m->first_source; status == PCOL_OK && row <= m->last_source; row++) {
        if (!pci_merge_copies_source(m, row))
            continue;
        status = add_source(m, row, idle && idle[row], err);
        PCI_THEN(status, add_source_types(m, row, &w, err));
    }
    pci_free(idle);
    /* Types of no source. */
    for (uint64_t row = 0; status == PCOL_OK && !m->partial && row < m->type_count; row++)
        if (m->types[row] == PCOL_NONE)
            status = add_type(m, row, err);
    pci_free(cells);
    return status;
}

/* ---- remaining cells of sources, after all referenced rows are copied */

static int is_replaced(const struct pci_merge *m, const char *column)
{
    const pcol_import_options *options = m->options;
    if (!strcmp(column, "collapsed"))
        return pci_merge_collapses_idle(m) || pci_merge_expands_idle(m);
    return !strcmp(column, "type") || (options && options->uri && !strcmp(column, "uri")) ||
           (options && options->timestamp && !strcmp(column, "timestamp"));
}

static pcol_status add_source_labels(struct pci_merge *m, const struct pci_table *table,
                                     pcol_error *err)
{
    struct pci_merge_label_rows labels;
    pcol_status status = pci_label_rows_open(&labels, m, table, PCI_T_SOURCES, err);
    for (uint64_t row = m->first_source; row <= m->last_source && status == PCOL_OK; row++)
        if (pci_merge_copies_source(m, row))
            status = pci_label_rows_put(&labels, row, m->sources[row], err);
    pci_label_rows_close(&labels);
    return status;
}

/* Copies all cells except those that options replace. */
static pcol_status add_source_cells(struct pci_merge *m, struct pci_cells *cells, pcol_error *err)
{
    const struct pci_table *table = pci_table_find(m->file, "sources");
    int by_row = m->labels[table->number] == PCI_LABELS_ROWS;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct pci_column *c = &table->columns[i];
        uint32_t number;
        if (is_replaced(m, c->name) || (by_row && pci_merge_is_label(c->name)) ||
            !pci_merge_copies_column(m, c))
            continue;
        PCI_TRY(pci_merge_column(m, c, PCI_T_SOURCES, &number, err));
        PCI_TRY(pci_cells_use(cells, m->file, c, err));
        for (uint64_t row = m->first_source; row <= m->last_source; row++)
            if (pci_merge_copies_source(m, row) &&
                !(m->incomplete_sources && m->incomplete_sources[row] && !strcmp(c->name, "extra")))
                PCI_TRY(pci_merge_cell(m, cells, number, row, m->sources[row], err));
    }
    return by_row ? add_source_labels(m, table, err) : PCOL_OK;
}

static pcol_status add_sources_cells(struct pci_merge *m, pcol_error *err)
{
    struct pci_cells *cells;
    pcol_status status;
    if (!m->source_count)
        return PCOL_OK;
    PCI_TRY(PCI_MALLOC(cells, 1, err));
    status = add_source_cells(m, cells, err);
    pci_free(cells);
    return status;
}

/* ---- the file */

static pcol_status prepare(struct pci_merge *m, uint64_t last_source, pcol_error *err)
{
    const struct pci_table *samples = pci_table_find(m->file, "samples");
    PCI_TRY(pci_merge_rows(m->file, "sources", &m->source_count, err));
    PCI_TRY(pci_merge_rows(m->file, "sample_types", &m->type_count, err));
    if (m->type_count >= PCF_MAX_COLUMNS)
        return pci_fail_cell(err, PCOL_E_LIMIT, "sample_types", NULL, PCOL_POSITION_UNKNOWN,
                             "more sample types than a file can have columns");
    if (!m->source_count) {
        m->first_source = 1;
        m->last_source = 0;
    } else if (last_source >= m->source_count) {
        m->last_source = m->source_count - 1;
    }
    m->partial = m->selection ||
                 (m->source_count && m->last_source - m->first_source + 1 != m->source_count);
    PCI_TRY(pci_merge_map(&m->sources, m->source_count, err));
    PCI_TRY(pci_merge_map(&m->types, m->type_count, err));
    PCI_TRY(pci_merge_map(&m->sample_columns, samples ? samples->column_count : 0, err));
    return pci_merge_plan_tables(m, err);
}

/* Appends the metadata that the options add to a source. */
static pcol_status add_metas(struct pci_merge *m, pcol_error *err)
{
    const pcol_import_options *options = m->options;
    for (uint64_t s = m->first_source; s <= m->last_source; s++) {
        if (m->sources[s] == PCOL_NONE)
            continue;
        PCI_TRY(
            pci_idle_store_tolerance(m->builder, m->sources[s], pci_merge_idle_tolerance(m), err));
        for (size_t i = 0; options && i < options->meta_count; i++)
            PCI_TRY(pcol_builder_source_meta(m->builder, m->sources[s], options->meta[2 * i],
                                             options->meta[2 * i + 1], err));
    }
    return PCOL_OK;
}

/* Fails before the samples are copied if there will be too many; pcol_builder_write() would. */
static pcol_status check_cells(const struct pci_merge *m, uint64_t samples, pcol_error *err)
{
    const pcol_builder *b = m->builder;
    uint64_t count = 0;
    for (uint64_t row = 0; m->copied_samples && row < samples; row++)
        count += m->copied_samples[row] != 0;
    if (!m->copied_samples)
        count = m->partial ? 0 : samples;
    if (pci_merge_collapses_idle(m))
        count = 0;
    return pci_budget_check_cells(pci_thread_budget, b->sample_count + count, b->type_count, err);
}

static pcol_status merge_tables(struct pci_merge *m, uint64_t last_source, pcol_error *err)
{
    const struct pci_table *samples = pci_table_find(m->file, "samples");
    PCI_TRY(prepare(m, last_source, err));
    PCI_TRY(pci_check_before_copy(m->file, !m->partial, err));
    report_unknown_columns(m);
    PCI_TRY(pci_merge_find_documents(m, err));
    PCI_TRY(pci_merge_strings(m, err));
    PCI_TRY(pci_merge_open_maps(m, err));
    if (m->partial)
        PCI_TRY(pci_merge_mark_used(m, err));
    PCI_TRY(pci_merge_report_omitted(m, err));
    PCI_TRY(pci_merge_label_keys(m, err));
    PCI_TRY(add_sources(m, err));
    PCI_TRY(pci_merge_open_bias(m, err));
    PCI_TRY(pci_merge_unify(m, err));
    PCI_TRY(pci_merge_source_meta(m, err));
    PCI_TRY(pci_merge_stacks(m, err));
    PCI_TRY(pci_merge_nodes(m, err));
    PCI_TRY(add_sample_columns(m, samples ? samples->column_count : 0, err));
    PCI_TRY(pci_merge_tables(m, 0, err));
    PCI_TRY(check_cells(m, pci_rows(m->file, "samples"), err));
    PCI_TRY(pci_merge_samples(m, err));
    PCI_TRY(pci_merge_tables(m, 1, err));
    PCI_TRY(add_sources_cells(m, err));
    PCI_TRY(pci_merge_source_orders(m, err));
    if (m->omits_offsets)
        pci_notice(PCOL_NOTICE_LOSS, "offsets of inlined frames", "",
                   "offsets of frames that were inlined with hidden ones are left out");
    return PCOL_OK;
}

static pcol_status merge_sources(pcol_builder *builder, const pcol_file *file,
                                 const pcol_import_options *options,
                                 const struct pci_merge_selection *selection,
                                 const pcol_symbolize_options *symbols, uint64_t first_source,
                                 uint64_t last_source, pcol_error *err)
{
    struct pci_text_memo long_strings[PCI_NAME_COUNT] = {0};
    struct pci_merge m = {.file = file,
                          .builder = builder,
                          .alone = !builder->source_count && !builder->function_count,
                          .options = options,
                          .selection = selection,
                          .symbols = symbols,
                          .first_source = first_source,
                          .last_source = last_source,
                          .long_strings = long_strings};
    pci_builder_begin_input(builder);
    pcol_status status = pci_check_row_counts(file, err);
    PCI_THEN(status, merge_tables(&m, last_source, err));
    if (status == PCOL_E_ARGUMENT) { /* a value that only damage explains */
        status = PCOL_E_CORRUPT;
        if (err)
            err->status = status;
    }
    PCI_THEN(status, add_metas(&m, err));
    pci_placed_stacks_close(m.placed);
    for (size_t i = 0; i < sizeof long_strings / sizeof *long_strings; i++)
        pci_text_memo_clear(&long_strings[i]);
    pci_free(m.strings);
    pci_free(m.functions);
    pci_free(m.groups);
    pci_free(m.stacks);
    pci_free(m.types);
    pci_free(m.sources);
    pci_free(m.mapping_bias);
    pci_free(m.copied_samples_owned);
    pci_free(m.used_stacks);
    pci_free(m.used_groups);
    pci_free(m.used_functions);
    pci_free(m.sample_positions);
    pci_free(m.incomplete_sources);
    pci_free(m.value_labels);
    pci_free(m.programs);
    pci_free(m.document_orders);
    for (uint32_t i = 0; m.used && i < file->index.header.table_count; i++)
        pci_free(m.used[i]);
    pci_free(m.used);
    pci_free(m.tables);
    pci_free(m.base);
    pci_free(m.actions);
    pci_free(m.unify_order);
    pci_free(m.labels);
    for (uint32_t i = 0; m.row_maps && i < file->index.header.table_count; i++)
        pci_free(m.row_maps[i]);
    pci_free(m.row_maps);
    pci_free(m.label_keys);
    pci_free(m.label_shapes);
    pci_free(m.sample_columns);
    return pci_builder_end_input(builder, status);
}

pcol_status pci_merge_file(pcol_builder *builder, const pcol_file *file,
                           const pcol_import_options *options, uint64_t first_source,
                           uint64_t last_source, pcol_error *err)
{
    return merge_sources(builder, file, options, NULL, NULL, first_source, last_source, err);
}

/* Charges a copy to the builder's budget, as an import of the file. */
static struct pci_budget *enter_budget(pcol_builder *builder, const pcol_file *file)
{
    struct pci_budget *budget = &builder->budget;
    budget->used = 1;
    budget->trusted |= file->trusted;
    pci_budget_grant(budget, pcol_file_size(file));
    return pci_budget_enter(budget);
}

pcol_status pci_merge_symbolized(pcol_builder *builder, const pcol_file *file,
                                 const pcol_import_options *options,
                                 const pcol_symbolize_options *symbols, pcol_error *err)
{
    struct pci_budget *enclosing = enter_budget(builder, file);
    pcol_status status =
        merge_sources(builder, file, options, NULL, symbols, 0, UINT64_MAX - 1, err);
    pci_budget_leave(enclosing);
    return status;
}

pcol_status pci_merge_selected(pcol_builder *builder, const pcol_file *file,
                               const struct pci_merge_selection *selection, pcol_error *err)
{
    struct pci_budget *enclosing = enter_budget(builder, file);
    pcol_status status =
        merge_sources(builder, file, NULL, selection, NULL, 0, UINT64_MAX - 1, err);
    pci_budget_leave(enclosing);
    return status;
}

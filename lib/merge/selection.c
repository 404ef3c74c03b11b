/*
 * selection.c - the rows, columns and names of a selection
 *
 * An anonymized copy uses an allow list: a column that `allowed` does not list is omitted, whatever
 * it contains, and so are other tables. Listed columns are numbers, rows of listed tables, or names
 * with pseudonyms. Tests: tests/cli/filter.test, tests/unit/test_model.c.
 */
#include "merge/merge.h"
#include "merge/pseudonyms.h"
#include "util/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pci_merge_is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names))
            return 1;
    return 0;
}

/* ---- anonymized copies */

enum { UNCHANGED = -1, IF_TYPE = -2 };

static const struct {
    const char *table, *column;
    int name; /* kind of pseudonym; UNCHANGED; IF_TYPE: copied if it is the name of a sample type */
} allowed[] = {
    {"sources", "type", UNCHANGED},
    {"sources", "uri", PCI_NAME_SOURCE},
    {"sources", "period", UNCHANGED},
    {"sources", "period_type", IF_TYPE},
    {"sources", "period_unit", PCI_NAME_UNIT},
    {"sources", "interval_ns", UNCHANGED},
    {"sources", "duration_ns", UNCHANGED},
    {"sources", "default_sample_type", IF_TYPE},
    {"sources", "collapsed", UNCHANGED},
    {"sources", "crlf", UNCHANGED},
    {"functions", "name", PCI_NAME_FUNCTION},
    {"functions", "system_name", PCI_NAME_FUNCTION},
    {"functions", "filename", PCI_NAME_FILE},
    {"functions", "start_line", UNCHANGED},
    {"functions", "column", UNCHANGED},
    {"functions", "id", UNCHANGED},
    {"locations", "function", UNCHANGED},
    {"locations", "line", UNCHANGED},
    {"locations", "column", UNCHANGED},
    {"locations", "filename", PCI_NAME_FILE},
    {"location_groups", "first_location", UNCHANGED},
    {"location_groups", "mapping", UNCHANGED},
    {"location_groups", "address", UNCHANGED},
    {"location_groups", "folded", UNCHANGED},
    {"location_groups", "id", UNCHANGED},
    {"location_groups", "file_number", UNCHANGED},
    {"location_groups", "inline_depth", UNCHANGED},
    {"mappings", "start", UNCHANGED},
    {"mappings", "limit", UNCHANGED},
    {"mappings", "file_offset", UNCHANGED},
    {"mappings", "filename", PCI_NAME_MODULE},
    {"mappings", "build_id", PCI_NAME_BUILD},
    {"mappings", "has_functions", UNCHANGED},
    {"mappings", "has_filenames", UNCHANGED},
    {"mappings", "has_line_numbers", UNCHANGED},
    {"mappings", "has_inline_frames", UNCHANGED},
    {"mappings", "id", UNCHANGED},
    {"threads", "source", UNCHANGED},
    {"threads", "name", PCI_NAME_THREAD},
    {"threads", "tid", PCI_NAME_NUMBER},
    {"threads", "pid", PCI_NAME_NUMBER},
    {"threads", "process_name", PCI_NAME_PROCESS},
    {"threads", "tid_is_number", UNCHANGED},
    {"samples", "source", UNCHANGED},
    {"samples", "stack", UNCHANGED},
    {"samples", "thread", UNCHANGED},
    {"samples", "time", UNCHANGED},
    {"samples", "time_ulp", UNCHANGED},
    {"samples", "duration", UNCHANGED},
    {"samples", "cpu_delta", UNCHANGED},
    {"samples", "cpu_cycles", UNCHANGED},
    {"rprof_segments", "source", UNCHANGED},
    {"rprof_segments", "first_sample", UNCHANGED},
    {"rprof_segments", "memory", UNCHANGED},
    {"rprof_segments", "gc", UNCHANGED},
    {"rprof_segments", "line", UNCHANGED},
    {"rprof_segments", "interval_us", UNCHANGED},
    {"rprof_segments", "crlf", UNCHANGED},
    {"rprof_files", "segment", UNCHANGED},
    {"rprof_files", "before_sample", UNCHANGED},
    {"rprof_files", "number", UNCHANGED},
    {"rprof_files", "path", PCI_NAME_FILE},
};

static int find_allowed(const struct pci_column *column, int *name)
{
    const char *table = column->table->name;
    *name = UNCHANGED;
    /* Strings of labels are renamed when labels are read. */
    if (pci_merge_is_label(column->name))
        return !strcmp(table, "samples") || !strcmp(table, "location_groups");
    if (!strcmp(table, "samples") && !strncmp(column->name, "value.", 6))
        return 1;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (!strcmp(allowed[i].table, table) && !strcmp(allowed[i].column, column->name)) {
            *name = allowed[i].name;
            return 1;
        }
    return 0;
}

/* 1 if a text is the name of a sample type of the builder. */
static int is_sample_type(const pcol_builder *b, pcol_str text)
{
    for (size_t i = 0; i < b->type_count; i++) {
        pcol_str type = pci_string_pool_get(&b->strings, b->types[i].type);
        if (type.size == text.size && !memcmp(type.data, text.data, text.size))
            return 1;
    }
    return 0;
}

pcol_status pci_merge_string(const struct pci_merge *merge, struct pci_cells *cells, pcol_str text,
                             uint32_t *string, pcol_error *err)
{
    struct pci_pseudonyms *names = merge->selection ? merge->selection->names : NULL;
    *string = PCOL_NONE;
    if (names && cells->named != cells->column) {
        cells->named = cells->column;
        if (!find_allowed(cells->column, &cells->name))
            cells->name = IF_TYPE;
    }
    if (names && cells->name == IF_TYPE && !is_sample_type(merge->builder, text))
        return PCOL_OK;
    if (names && cells->name >= 0)
        PCI_TRY(pci_pseudonym(names, cells->name, text, &text, err));
    return pcol_builder_string(merge->builder, text.data, text.size, string, err);
}

/* ---- rows */

int pci_merge_copies_source(const struct pci_merge *merge, uint64_t row)
{
    return row >= merge->first_source && row <= merge->last_source && row < merge->source_count &&
           (!merge->selection || !merge->selection->sources || merge->selection->sources[row]);
}

int pci_merge_copies_table(const struct pci_merge *merge, const struct pci_table *table)
{
    static const char *const copied_tables[] = {"mappings", "threads", "rprof_segments",
                                                "rprof_files", NULL};
    if (!merge->selection)
        return 1;
    /* Types of resources are named after frames, which may be omitted. */
    if ((merge->selection->locations || merge->selection->omitted_frames) &&
        !strcmp(table->name, "resource_types"))
        return 0;
    return !merge->selection->names || pci_merge_is_one_of(table->name, copied_tables);
}

/* ---- columns */

/* 1 if the copied samples differ, so that the source's own text of them is no longer true. */
static int changes_samples(const struct pci_merge_selection *selection)
{
    return selection->locations || selection->omitted_frames || selection->types ||
           selection->has_range || selection->idle || selection->names;
}

int pci_merge_copies_column(const struct pci_merge *merge, const struct pci_column *column)
{
    const struct pci_merge_selection *selection = merge->selection;
    const struct pci_table *to = column->references;
    int name, is_of_samples = !strcmp(column->table->name, "samples");
    if (selection && selection->drop_labels && is_of_samples &&
        (pci_merge_is_label(column->name) || !strcmp(column->name, "extra")))
        return 0;
    if (selection && is_of_samples && !strcmp(column->name, "text") && changes_samples(selection))
        return 0;
    /* Frames that were dropped must not be dropped again from stacks that lost other frames. */
    if (selection && selection->omitted_frames && !strcmp(column->table->name, "sources") &&
        (!strcmp(column->name, "drop_frames") || !strcmp(column->name, "keep_frames")))
        return 0;
    if (selection && selection->names && !find_allowed(column, &name))
        return 0;
    if (merge->partial && merge->label_keys && !strncmp(column->name, "label.", 6) &&
        pci_merge_is_label(column->name)) {
        unsigned long k = strtoul(column->name + 6, NULL, 10);
        return k >= merge->label_key_count || merge->label_keys[k] != PCOL_NONE;
    }
    /* References to an omitted table. */
    return !merge->partial || !to || merge->actions[to->number] != PCI_MERGE_APPEND ||
           !merge->used || merge->used[to->number] ||
           (is_of_samples && pci_merge_copies_table(merge, to));
}

/* ---- labels */

int pci_merge_copies_label(const struct pci_merge *merge, const char *table, pcol_str key)
{
    const struct pci_merge_selection *selection = merge->selection;
    if (!selection || strcmp(table, "samples") != 0)
        return 1;
    for (size_t i = 0; i < selection->drop_key_count; i++)
        if (strlen(selection->drop_keys[i]) == key.size &&
            !memcmp(selection->drop_keys[i], key.data, key.size))
            return 0;
    return !selection->drop_labels;
}

int pci_merge_filters_labels(const struct pci_merge *merge, const struct pci_table *table)
{
    const struct pci_merge_selection *selection = merge->selection;
    if (!selection)
        return 0;
    return selection->names || selection->locations || selection->omitted_frames ||
           selection->types || (selection->drop_key_count && !strcmp(table->name, "samples"));
}

/* ---- report of omitted data */

/* Descriptions of columns, and of tables (column ""). A column matches by prefix. */
static const struct {
    const char *table, *column, *words;
} descriptions[] = {
    {"sources", "extra", "data of the source's own format"},
    {"threads", "extra", "data of the source's own format"},
    {"sources", "time", "time of recording"},
    {"threads", "label", "labels of threads"},
    {"samples", "resource_type", "ids of resources"},
    {"resource_types", "", "ids of resources"},
    {"location_groups", "category", "categories of frames"},
    {"location_groups", "subcategory", "categories of frames"},
    {"categories", "", "categories of frames"},
    {"subcategories", "", "categories of frames"},
    {"functions", "code_resource", "kinds of libraries and web sites"},
    {"code_resources", "", "kinds of libraries and web sites"},
    {"mappings", "", "debug names and ids of libraries"},
    {"functions", "is_js", "JavaScript flags of functions"},
    {"functions", "relevant_for_js", "JavaScript flags of functions"},
    {"location_groups", "inner_window_id", "pages of frames"},
    {"functions", "source_file", "versions of source files"},
    {"source_files", "", "versions of source files"},
    {"location_groups", "native_symbol", "symbols of native code"},
    {"native_symbols", "", "symbols of native code"},
};
enum { DESCRIPTION_COUNT = sizeof descriptions / sizeof *descriptions };

/* A list of names as text, truncated to its capacity. */
struct name_list {
    char text[600];
    size_t size;
    const char *used[DESCRIPTION_COUNT];
    size_t used_count;
};

/* Row of `descriptions`; DESCRIPTION_COUNT: none. *again: this description is already in the
 * list. */
static size_t find_description(struct name_list *name_list, const char *table, const char *column,
                               int *is_repeated)
{
    size_t i = 0;
    *is_repeated = 0;
    while (i < DESCRIPTION_COUNT &&
           (strcmp(descriptions[i].table, table) != 0 ||
            strncmp(descriptions[i].column, column, strlen(descriptions[i].column)) != 0))
        i++;
    for (size_t k = 0; i < DESCRIPTION_COUNT && k < name_list->used_count; k++)
        *is_repeated |= !strcmp(name_list->used[k], descriptions[i].words);
    if (i < DESCRIPTION_COUNT && !*is_repeated)
        name_list->used[name_list->used_count++] = descriptions[i].words;
    return i;
}

static void add_name(struct name_list *name_list, const char *table, const char *column)
{
    int again;
    size_t row = find_description(name_list, table, column, &again);
    if (again)
        return;
    if (row < DESCRIPTION_COUNT) {
        table = descriptions[row].words;
        column = "";
    }
    int size = snprintf(name_list->text + name_list->size, sizeof name_list->text - name_list->size,
                        "%s%s%s%s", name_list->size ? ", " : "", table, *column ? "." : "", column);
    if (size > 0 && name_list->size + (size_t)size < sizeof name_list->text)
        name_list->size += (size_t)size;
    else
        name_list->text[name_list->size] = '\0';
}

static int is_derived(const char *table)
{
    static const char *const names[] = {"stack_sums",    "function_sums",    "sample_zones",
                                        "sample_values", "sample_locations", NULL};
    return pci_merge_is_one_of(table, names);
}

static int is_moved(const struct pci_merge *m, const struct pci_table *table)
{
    return m->actions[table->number] == PCI_MERGE_APPEND ||
           m->actions[table->number] == PCI_MERGE_UNIFY;
}

/* Tables that only describe other rows: not reported if none of these is copied. */
static int is_attached(const char *table)
{
    static const char *const names[] = {"categories",
                                        "subcategories",
                                        "code_resources",
                                        "source_files",
                                        "native_symbols",
                                        "mappings",
                                        NULL};
    return pci_merge_is_one_of(table, names);
}

/* 1 if nothing of a table is copied. Tables about the text of the source are not reported. */
static int is_omitted(const struct pci_merge *m, const struct pci_table *table)
{
    if (!table->rows || !is_moved(m, table) || is_derived(table->name) ||
        !strcmp(table->name, "source_columns") || !strcmp(table->name, "source_cells") ||
        (!m->selection->names && is_attached(table->name)))
        return 0;
    return !pci_merge_copies_table(m, table) ||
           (m->actions[table->number] == PCI_MERGE_APPEND && m->used && !m->used[table->number]);
}

void pci_merge_report_omitted(const struct pci_merge *merge)
{
    static const char *const row_tables[] = {"sources",         "functions",      "locations",
                                             "location_groups", "mappings",       "threads",
                                             "samples",         "rprof_segments", "rprof_files"};
    struct name_list name_list = {.size = 0};
    int name, anonymized = merge->selection && merge->selection->names;
    if (!merge->selection || !pci_notices_wanted())
        return;
    for (uint32_t i = 0; i < merge->file->index.header.table_count; i++) {
        const struct pci_table *table = &merge->file->tables[i];
        if (is_omitted(merge, table))
            add_name(&name_list, table->name, "");
        for (size_t f = 0; anonymized && f < sizeof row_tables / sizeof *row_tables; f++)
            for (uint32_t c = 0; !strcmp(table->name, row_tables[f]) && c < table->column_count;
                 c++)
                if (!find_allowed(&table->columns[c], &name))
                    add_name(&name_list, table->name, table->columns[c].name);
    }
    if (!name_list.size)
        return;
    pci_notice(PCOL_NOTICE_SELECTION, "", "left out, since %s: %s",
               anonymized ? "they may contain names" : "no selected sample needs them",
               name_list.text);
}

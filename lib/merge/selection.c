/*
 * selection.c - what of a file's rows, columns and names stays when a part of it is copied
 *
 * A part without names is made of what this file knows: a column that is not in the list below
 * stays behind, whatever it holds, and so do tables. What is in the list is a number, a row of a
 * table that is in the list, or a name that gets a pseudonym.
 */
#include "merge/merge.h"
#include "merge/pseudonyms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- without names */

enum { AS_IT_IS = -1, OF_TYPE = -2 };

static const struct {
    const char *table, *column;
    int name; /* a kind of pseudonym; AS_IT_IS; OF_TYPE: stays if it is the name of a sample type */
} known[] = {
    {"sources", "type", AS_IT_IS},
    {"sources", "uri", PCI_NAME_SOURCE},
    {"sources", "period", AS_IT_IS},
    {"sources", "period_type", OF_TYPE},
    {"sources", "period_unit", PCI_NAME_UNIT},
    {"sources", "interval_ns", AS_IT_IS},
    {"sources", "duration_ns", AS_IT_IS},
    {"sources", "default_sample_type", OF_TYPE},
    {"sources", "collapsed", AS_IT_IS},
    {"sources", "crlf", AS_IT_IS},
    {"functions", "name", PCI_NAME_FUNCTION},
    {"functions", "system_name", PCI_NAME_FUNCTION},
    {"functions", "filename", PCI_NAME_FILE},
    {"functions", "start_line", AS_IT_IS},
    {"functions", "column", AS_IT_IS},
    {"functions", "id", AS_IT_IS},
    {"locations", "function", AS_IT_IS},
    {"locations", "line", AS_IT_IS},
    {"locations", "column", AS_IT_IS},
    {"locations", "filename", PCI_NAME_FILE},
    {"location_groups", "first_location", AS_IT_IS},
    {"location_groups", "mapping", AS_IT_IS},
    {"location_groups", "address", AS_IT_IS},
    {"location_groups", "folded", AS_IT_IS},
    {"location_groups", "id", AS_IT_IS},
    {"location_groups", "file_number", AS_IT_IS},
    {"location_groups", "inline_depth", AS_IT_IS},
    {"mappings", "start", AS_IT_IS},
    {"mappings", "limit", AS_IT_IS},
    {"mappings", "file_offset", AS_IT_IS},
    {"mappings", "filename", PCI_NAME_MODULE},
    {"mappings", "build_id", PCI_NAME_BUILD},
    {"mappings", "has_functions", AS_IT_IS},
    {"mappings", "has_filenames", AS_IT_IS},
    {"mappings", "has_line_numbers", AS_IT_IS},
    {"mappings", "has_inline_frames", AS_IT_IS},
    {"mappings", "id", AS_IT_IS},
    {"threads", "source", AS_IT_IS},
    {"threads", "name", PCI_NAME_THREAD},
    {"threads", "tid", PCI_NAME_NUMBER},
    {"threads", "pid", PCI_NAME_NUMBER},
    {"threads", "process_name", PCI_NAME_PROCESS},
    {"threads", "tid_is_number", AS_IT_IS},
    {"samples", "source", AS_IT_IS},
    {"samples", "stack", AS_IT_IS},
    {"samples", "thread", AS_IT_IS},
    {"samples", "time", AS_IT_IS},
    {"samples", "time_ulp", AS_IT_IS},
    {"samples", "duration", AS_IT_IS},
    {"samples", "cpu_delta", AS_IT_IS},
    {"samples", "cpu_cycles", AS_IT_IS},
    {"rprof_segments", "source", AS_IT_IS},
    {"rprof_segments", "first_sample", AS_IT_IS},
    {"rprof_segments", "memory", AS_IT_IS},
    {"rprof_segments", "gc", AS_IT_IS},
    {"rprof_segments", "line", AS_IT_IS},
    {"rprof_segments", "interval_us", AS_IT_IS},
    {"rprof_segments", "crlf", AS_IT_IS},
    {"rprof_files", "segment", AS_IT_IS},
    {"rprof_files", "before_sample", AS_IT_IS},
    {"rprof_files", "number", AS_IT_IS},
    {"rprof_files", "path", PCI_NAME_FILE},
};

static int find_known(const struct pci_column *column, int *name)
{
    const char *table = column->table->name;
    *name = AS_IT_IS;
    /* Their strings are renamed where labels are read. */
    if (pci_merge_is_label(column->name))
        return !strcmp(table, "samples") || !strcmp(table, "location_groups");
    if (!strcmp(table, "samples") && !strncmp(column->name, "value.", 6))
        return 1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].table, table) && !strcmp(known[i].column, column->name)) {
            *name = known[i].name;
            return 1;
        }
    return 0;
}

/* Whether a text is the name of a sample type of the builder. */
static int is_type(const pcol_builder *b, pcol_str text)
{
    for (size_t i = 0; i < b->type_count; i++) {
        pcol_str type = pci_string_pool_get(&b->strings, b->types[i].type);
        if (type.size == text.size && !memcmp(type.data, text.data, text.size))
            return 1;
    }
    return 0;
}

pcol_status pci_keep_string(const struct pci_merge *merge, struct pci_cells *cells, pcol_str text,
                            uint32_t *string, pcol_error *err)
{
    struct pci_pseudonyms *names = merge->keep ? merge->keep->names : NULL;
    *string = PCOL_NONE;
    if (names && cells->named != cells->column) {
        cells->named = cells->column;
        if (!find_known(cells->column, &cells->name))
            cells->name = OF_TYPE;
    }
    if (names && cells->name == OF_TYPE && !is_type(merge->builder, text))
        return PCOL_OK;
    if (names && cells->name >= 0)
        PCI_TRY(pci_pseudonym(names, cells->name, text, &text, err));
    return pcol_builder_string(merge->builder, text.data, text.size, string, err);
}

/* ---- rows */

int pci_merge_keeps_source(const struct pci_merge *merge, uint64_t row)
{
    return row >= merge->first_source && row <= merge->last_source && row < merge->source_count &&
           (!merge->keep || !merge->keep->sources || merge->keep->sources[row]);
}

int pci_merge_keeps_table(const struct pci_merge *merge, const struct pci_table *table)
{
    static const char *const nameless[] = {"mappings", "threads", "rprof_segments", "rprof_files"};
    if (!merge->keep)
        return 1;
    /* Types of resources are called after frames, of which some may be gone. */
    if ((merge->keep->locations || merge->keep->cut) && !strcmp(table->name, "resource_types"))
        return 0;
    if (!merge->keep->names)
        return 1;
    for (size_t i = 0; i < sizeof nameless / sizeof *nameless; i++)
        if (!strcmp(table->name, nameless[i]))
            return 1;
    return 0;
}

/* ---- columns */

/* Whether samples are not what they were, so that what the source said of them is not true. */
static int changes_samples(const struct pci_keep *keep)
{
    return keep->locations || keep->cut || keep->types || keep->has_range || keep->idle ||
           keep->names;
}

int pci_merge_keeps_column(const struct pci_merge *merge, const struct pci_column *column)
{
    const struct pci_keep *keep = merge->keep;
    const struct pci_table *to = column->references;
    int name, of_samples = !strcmp(column->table->name, "samples");
    if (keep && keep->drop_labels && of_samples &&
        (pci_merge_is_label(column->name) || !strcmp(column->name, "extra")))
        return 0;
    if (keep && of_samples && !strcmp(column->name, "text") && changes_samples(keep))
        return 0;
    /* What was dropped once is not to be dropped again from stacks of which other frames are
     * gone. */
    if (keep && keep->cut && !strcmp(column->table->name, "sources") &&
        (!strcmp(column->name, "drop_frames") || !strcmp(column->name, "keep_frames")))
        return 0;
    if (keep && keep->names && !find_known(column, &name))
        return 0;
    if (merge->partial && merge->label_keys && !strncmp(column->name, "label.", 6) &&
        pci_merge_is_label(column->name)) {
        unsigned long k = strtoul(column->name + 6, NULL, 10);
        return k >= merge->label_key_count || merge->label_keys[k] != PCOL_NONE;
    }
    /* Rows of a table that stays behind. */
    return !merge->partial || !to || merge->how[to->number] != PCI_MERGE_APPEND || !merge->used ||
           merge->used[to->number] || (of_samples && pci_merge_keeps_table(merge, to));
}

/* ---- labels */

int pci_merge_keeps_label(const struct pci_merge *merge, const char *table, pcol_str key)
{
    const struct pci_keep *keep = merge->keep;
    if (!keep || strcmp(table, "samples") != 0)
        return 1;
    for (size_t i = 0; i < keep->drop_key_count; i++)
        if (strlen(keep->drop_keys[i]) == key.size &&
            !memcmp(keep->drop_keys[i], key.data, key.size))
            return 0;
    return !keep->drop_labels;
}

int pci_merge_keeps_by_row(const struct pci_merge *merge, const struct pci_table *table)
{
    const struct pci_keep *keep = merge->keep;
    if (!keep)
        return 0;
    return keep->names || keep->locations || keep->cut || keep->types ||
           (keep->drop_key_count && !strcmp(table->name, "samples"));
}

/* ---- what is said */

/* Columns, and tables ("" for a column), in plain words; a column by how its name begins. */
static const struct {
    const char *table, *column, *words;
} plain[] = {
    {"sources", "extra", "what only the source's own format has"},
    {"threads", "extra", "what only the source's own format has"},
    {"sources", "time", "when it was recorded"},
    {"threads", "label", "what else is said of threads"},
    {"samples", "resource_type", "ids of resources"},
    {"resource_types", "", "ids of resources"},
    {"location_groups", "category", "categories of frames"},
    {"location_groups", "subcategory", "categories of frames"},
    {"categories", "", "categories of frames"},
    {"subcategories", "", "categories of frames"},
    {"functions", "code_resource", "what kind of library or web site code is of"},
    {"code_resources", "", "what kind of library or web site code is of"},
    {"mappings", "", "debug names and ids of libraries"},
    {"functions", "is_js", "which functions are JavaScript"},
    {"functions", "relevant_for_js", "which functions are JavaScript"},
    {"location_groups", "inner_window_id", "which page a frame is of"},
    {"functions", "source_file", "which version of a source file code is of"},
    {"source_files", "", "which version of a source file code is of"},
    {"location_groups", "native_symbol", "symbols of native code"},
    {"native_symbols", "", "symbols of native code"},
};
enum { PLAIN = sizeof plain / sizeof *plain };

/* What is said one behind the other, as far as there is room. */
struct list {
    char text[600];
    size_t size;
    const char *said[PLAIN];
    size_t said_count;
};

/* Row of `plain`; PLAIN: none. Words are said once. */
static size_t plain_of(struct list *list, const char *table, const char *column, int *again)
{
    size_t i = 0;
    *again = 0;
    while (i < PLAIN && (strcmp(plain[i].table, table) != 0 ||
                         strncmp(plain[i].column, column, strlen(plain[i].column)) != 0))
        i++;
    for (size_t k = 0; i < PLAIN && k < list->said_count; k++)
        *again |= !strcmp(list->said[k], plain[i].words);
    if (i < PLAIN && !*again)
        list->said[list->said_count++] = plain[i].words;
    return i;
}

static void add_name(struct list *list, const char *table, const char *column)
{
    int again;
    size_t row = plain_of(list, table, column, &again);
    if (again)
        return;
    if (row < PLAIN) {
        table = plain[row].words;
        column = "";
    }
    int size = snprintf(list->text + list->size, sizeof list->text - list->size, "%s%s%s%s",
                        list->size ? ", " : "", table, *column ? "." : "", column);
    if (size > 0 && list->size + (size_t)size < sizeof list->text)
        list->size += (size_t)size;
    else
        list->text[list->size] = '\0';
}

static int is_derived(const char *table)
{
    static const char *const names[] = {"stack_sums", "function_sums", "sample_zones",
                                        "sample_values", "sample_locations"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(table, names[i]))
            return 1;
    return 0;
}

static int is_moved(const struct pci_merge *m, const struct pci_table *table)
{
    return m->how[table->number] == PCI_MERGE_APPEND || m->how[table->number] == PCI_MERGE_UNIFY;
}

/* Tables that only say more of other rows: where none of these stays, that is not worth a word. */
static int is_attached(const char *table)
{
    static const char *const names[] = {"categories",   "subcategories",  "code_resources",
                                        "source_files", "native_symbols", "mappings"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(table, names[i]))
            return 1;
    return 0;
}

/* Tables of which nothing stays. How a source's tables were written is not worth a word. */
static int is_left(const struct pci_merge *m, const struct pci_table *table)
{
    if (!table->rows || !is_moved(m, table) || is_derived(table->name) ||
        !strcmp(table->name, "source_columns") || !strcmp(table->name, "source_cells") ||
        (!m->keep->names && is_attached(table->name)))
        return 0;
    return !pci_merge_keeps_table(m, table) ||
           (m->how[table->number] == PCI_MERGE_APPEND && m->used && !m->used[table->number]);
}

void pci_keep_tell(const struct pci_merge *merge)
{
    static const char *const fed[] = {"sources",         "functions",      "locations",
                                      "location_groups", "mappings",       "threads",
                                      "samples",         "rprof_segments", "rprof_files"};
    struct list list = {.size = 0};
    char text[700];
    int name, nameless = merge->keep && merge->keep->names;
    if (!merge->keep || !merge->keep->message)
        return;
    for (uint32_t i = 0; i < merge->file->index.header.table_count; i++) {
        const struct pci_table *table = &merge->file->tables[i];
        if (is_left(merge, table))
            add_name(&list, table->name, "");
        for (size_t f = 0; nameless && f < sizeof fed / sizeof *fed; f++)
            for (uint32_t c = 0; !strcmp(table->name, fed[f]) && c < table->column_count; c++)
                if (!find_known(&table->columns[c], &name))
                    add_name(&list, table->name, table->columns[c].name);
    }
    if (!list.size)
        return;
    snprintf(text, sizeof text, "left out, since %s: %s",
             nameless ? "names could be in there" : "none of the selected samples needs it",
             list.text);
    merge->keep->message(merge->keep->context, text);
}

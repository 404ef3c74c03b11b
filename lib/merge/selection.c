/*
 * selection.c - the rows, columns and names of a selection
 *
 * An anonymized copy uses an allow list: a column without a rule in the schema is omitted, whatever
 * it contains, and so are tables without such columns. Tests: tests/cli/filter.test,
 * tests/unit/test_model.c.
 */
#include "merge/merge.h"
#include "merge/pseudonyms.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/strbuf.h"

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

/* 1 if an anonymized copy contains the column. Strings of labels are renamed when they are read. */
static int is_allowed(const struct pci_column *column)
{
    return column->schema->anonymize != PCI_OMIT;
}

/* 1 if it contains columns of such a table. */
static int has_allowed(const struct pci_schema_row *table)
{
    for (const struct pci_schema_row *row = table + 1; row->column; row++)
        if (row->anonymize != PCI_OMIT)
            return 1;
    return 0;
}

/* 1 if a text is the name of a sample type of the builder. */
static int is_sample_type(const pcol_builder *b, pcol_str text)
{
    uint32_t code = pci_string_pool_find(&b->strings, text);
    for (size_t i = 0; i < b->type_count && code != PCI_HASH_NONE; i++)
        if (b->types[i].type == code)
            return 1;
    return 0;
}

/* Of pci_text_memo: a text that anonymized copies leave out. */
#define LEFT_OUT (PCOL_NONE - 1)

pcol_status pci_merge_text(const struct pci_merge *merge, int rule, pcol_str text, uint32_t *string,
                           pcol_error *err)
{
    struct pci_pseudonyms *names = merge->selection ? merge->selection->names : NULL;
    struct pci_text_memo *memo = &merge->long_strings[names ? rule : PCI_COPY];
    int only_types = names && (rule == PCI_OMIT || rule == PCI_IF_TYPE);
    pcol_str copy = text;
    uint32_t known = pci_text_memo_find(memo, text);
    *string = known == LEFT_OUT ? PCOL_NONE : known;
    if (known != PCOL_NONE)
        return PCOL_OK;
    if (only_types && !is_sample_type(merge->builder, text))
        return pci_text_memo_add(memo, text, LEFT_OUT, err);
    if (names && rule > PCI_IF_TYPE)
        PCI_TRY(pci_pseudonym(names, rule, text, &copy, err));
    PCI_TRY(pcol_builder_string(merge->builder, copy.data, copy.size, string, err));
    return pci_text_memo_add(memo, text, *string, err);
}

/* ---- rows */

int pci_merge_copies_source(const struct pci_merge *merge, uint64_t row)
{
    return row >= merge->first_source && row <= merge->last_source && row < merge->source_count &&
           (!merge->selection || !merge->selection->sources || merge->selection->sources[row]);
}

int pci_merge_hides_frames(const struct pci_merge_selection *selection)
{
    return selection && (selection->locations || selection->omitted_frames);
}

/* 1 if rows of the table are not copied, since their names have hidden frames. */
static int names_hidden_frames(const struct pci_merge_selection *selection,
                               const struct pci_table *table)
{
    return pci_merge_hides_frames(selection) && table->schema->table_flags & PCI_TABLE_NAMES_FRAMES;
}

int pci_merge_copies_table(const struct pci_merge *merge, const struct pci_table *table)
{
    if (!merge->selection)
        return 1;
    if (names_hidden_frames(merge->selection, table))
        return 0;
    return !merge->selection->names || has_allowed(table->schema);
}

/* ---- columns */

/* 1 if the copied samples differ, so that the source's own text of them is no longer true. */
static int changes_samples(const struct pci_merge_selection *selection)
{
    return pci_merge_hides_frames(selection) || selection->types || selection->has_range ||
           selection->idle || selection->names || selection->added;
}

int pci_merge_keeps_documents(const struct pci_merge_selection *selection)
{
    return !selection || (selection->all_samples && !changes_samples(selection) &&
                          !selection->drop_labels && !selection->drop_key_count);
}

/* 1 if the samples lose labels that the document of their source needs. */
static int drops_document_labels(const struct pci_merge_selection *selection,
                                 const struct pci_format_schema *schema)
{
    const char *const *label = schema->document_labels;
    for (; label && *label; label++) {
        int is_dropped = selection->drop_labels;
        for (size_t i = 0; i < selection->drop_key_count; i++)
            is_dropped |= !strcmp(selection->drop_keys[i], *label);
        if (is_dropped)
            return 1;
    }
    return 0;
}

/* *has: a sample has a label, or a member of `extra`, of this key. */
static pcol_status has_label(struct pci_label_reader *labels, uint64_t sample, const char *key,
                             int *has, pcol_error *err)
{
    *has = 0;
    PCI_TRY(pci_labels_row(labels, sample, err));
    for (size_t i = 0; i < labels->cell_count && !*has; i++) {
        const struct pci_label_cell *cell = &labels->cells[i];
        struct pci_node_value node;
        if (!cell->key)
            PCI_TRY(pci_node_get(labels->file, cell->node, &node, err));
        *has = pci_str_is(cell->key ? cell->key->key : node.key, key);
    }
    return PCOL_OK;
}

/* Marks sources whose documents cannot lack the values that are not copied: values in a label of
 * the samples' type, and those of some samples of a type, all of which have the same keys. */
static pcol_status find_remaining_values(struct pci_merge *merge, struct pci_label_reader *labels,
                                         pcol_error *err)
{
    const struct pci_column *sources, *types;
    const uint8_t *samples = merge->selection->samples;
    int64_t last_type = -1;
    int last_loses = 0;
    PCI_TRY(pci_find_column(merge->file, "samples", "source", PCI_TYPES_ROW, &sources, err));
    PCI_TRY(pci_find_column(merge->file, "samples", "resource_type", PCI_TYPES_ROW, &types, err));
    for (uint64_t row = 0; row < pci_rows(merge->file, "samples"); row++) {
        int64_t source, type;
        int valid, has, copied, loses, is_own = 1;
        if (samples && !samples[row])
            continue;
        PCI_TRY(pci_get(merge->file, sources, row, &source, &valid, err));
        if ((uint64_t)source >= merge->source_count || !merge->value_labels[source])
            continue;
        PCI_TRY(pci_get(merge->file, types, row, &type, &valid, err));
        PCI_TRY(pci_merge_has_value(merge, row, &has, &copied, err));
        loses = has && !copied;
        if (loses && !(valid && type == last_type))
            PCI_TRY(has_label(labels, row, merge->value_labels[source], &is_own, err));
        if (!is_own || (valid && type == last_type && loses != last_loses))
            merge->incomplete_sources[source] = 1;
        last_type = valid ? type : -1;
        last_loses = loses;
    }
    return PCOL_OK;
}

pcol_status pci_merge_find_documents(struct pci_merge *merge, pcol_error *err)
{
    const struct pci_column *type = NULL, *extra;
    const pcol_file *file = merge->file;
    int is_needed = 0, needs_labels = 0;
    if (pci_merge_keeps_documents(merge->selection))
        return PCOL_OK;
    PCI_TRY(PCI_CALLOC(merge->incomplete_sources, (size_t)merge->source_count + 1, err));
    if (merge->selection->types)
        PCI_TRY(PCI_CALLOC(merge->value_labels, (size_t)merge->source_count + 1, err));
    PCI_TRY(pci_find_column(file, "sources", "type", PCI_TYPES_TEXT, &type, err));
    PCI_TRY(pci_find_column(file, "sources", "extra", PCI_TYPES_ROW, &extra, err));
    for (uint64_t row = 0; type && row < merge->source_count; row++) {
        pcol_str text;
        int valid;
        PCI_TRY(pci_get_str(file, type, row, &text, &valid, err));
        const struct pci_format_schema *schema = valid ? pci_format_schema(file, text) : NULL;
        int is_whole = schema && schema->whole_document, has_document = 0, drops;
        drops = schema && drops_document_labels(merge->selection, schema);
        merge->incomplete_sources[row] = is_whole || drops;
        if (drops && !is_whole && pci_merge_copies_source(merge, row))
            PCI_TRY(pci_get(file, extra, row, &(int64_t){0}, &has_document, err));
        needs_labels |= has_document;
        if (schema && merge->value_labels)
            merge->value_labels[row] = schema->value_label;
        is_needed |= schema && schema->value_label;
    }
    if (needs_labels)
        pci_notice(PCOL_NOTICE_SELECTION, "", "",
                   "left out, since they need the labels: the documents of sources");
    if (!is_needed) { /* no source has such labels */
        pci_free(merge->value_labels);
        merge->value_labels = NULL;
    }
    if (!merge->value_labels)
        return PCOL_OK;
    struct pci_label_reader labels;
    pcol_status status = pci_labels_open(&labels, file, "samples", err);
    PCI_THEN(status, find_remaining_values(merge, &labels, err));
    pci_labels_close(&labels);
    return status;
}

int pci_merge_selects_column(const struct pci_merge *merge, const struct pci_column *column)
{
    const struct pci_merge_selection *selection = merge->selection;
    int is_of_samples = !strcmp(column->table->name, "samples");
    if (selection && selection->drop_labels && is_of_samples &&
        (pci_merge_is_label(column->name) || !strcmp(column->name, "extra")))
        return 0;
    if (selection && is_of_samples && !strcmp(column->name, "text") && changes_samples(selection))
        return 0;
    /* Frames that were dropped must not be dropped again from stacks that lost other frames. */
    if (selection && selection->omitted_frames && !strcmp(column->table->name, "sources") &&
        (!strcmp(column->name, "drop_frames") || !strcmp(column->name, "keep_frames")))
        return 0;
    if (selection && selection->names && !is_allowed(column))
        return 0;
    if (merge->partial && merge->label_keys && !strncmp(column->name, "label.", 6) &&
        pci_merge_is_label(column->name)) {
        unsigned long k = strtoul(column->name + 6, NULL, 10);
        return k >= merge->label_key_count || merge->label_keys[k] != PCOL_NONE;
    }
    return 1;
}

int pci_merge_copies_column(const struct pci_merge *merge, const struct pci_column *column)
{
    const struct pci_table *to = column->references;
    if (!pci_merge_selects_column(merge, column))
        return 0;
    /* References to an omitted table. */
    return !merge->partial || !to || merge->actions[to->number] != PCI_MERGE_APPEND ||
           !merge->used || merge->used[to->number] ||
           (!strcmp(column->table->name, "samples") && pci_merge_copies_table(merge, to));
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

pcol_status pci_merge_has_value(const struct pci_merge *merge, uint64_t sample, int *has,
                                int *copied, pcol_error *err)
{
    const uint8_t *types = merge->selection ? merge->selection->types : NULL;
    *has = *copied = 0;
    for (uint64_t k = 0; k < merge->type_count && !*copied; k++) {
        int64_t bits;
        int valid;
        PCI_TRY(pci_get(merge->file, pci_merge_values(merge, k), sample, &bits, &valid, err));
        *has |= valid;
        *copied = valid && (!types || types[k]);
    }
    return PCOL_OK;
}

/* perf's labels of a group belong to its lines by position: offset to the outermost one,
 * inlined_offsets to the others. *loses: they would be those of other lines. */
static pcol_status loses_offset(struct pci_merge *merge, uint64_t group, pcol_str key, int *loses,
                                pcol_error *err)
{
    const uint8_t *shown = merge->selection->locations;
    const struct pci_column *first;
    int64_t at = 0, rows = (int64_t)pci_rows(merge->file, "locations"), end = rows;
    int is_inlined = pci_str_is(key, "inlined_offsets"), valid;
    if (!is_inlined && !pci_str_is(key, "offset"))
        return PCOL_OK;
    PCI_TRY(pci_find_column(merge->file, "location_groups", "first_location", PCI_TYPES_ROW, &first,
                            err));
    if (!first) /* of one line each */
        return PCOL_OK;
    PCI_TRY(pci_get(merge->file, first, group, &at, &valid, err));
    if (group + 1 < pci_rows(merge->file, "location_groups"))
        PCI_TRY(pci_get(merge->file, first, group + 1, &end, &valid, err));
    if (at >= 0 && end > at && end <= rows) /* else damage, which copying the lines reports */
        *loses = is_inlined ? memchr(shown + at, 0, (size_t)(end - at)) != NULL : !shown[end - 1];
    merge->omits_offsets |= *loses;
    return PCOL_OK;
}

pcol_status pci_merge_loses_label(struct pci_merge *merge, const char *table, uint64_t row,
                                  pcol_str key, int *loses, pcol_error *err)
{
    const struct pci_column *column;
    int64_t source;
    int valid, has, copied;
    *loses = 0;
    if (merge->selection && merge->selection->locations && !strcmp(table, "location_groups"))
        return loses_offset(merge, row, key, loses, err);
    if (!merge->value_labels || strcmp(table, "samples") != 0)
        return PCOL_OK;
    PCI_TRY(pci_find_column(merge->file, "samples", "source", PCI_TYPES_ROW, &column, err));
    PCI_TRY(pci_get(merge->file, column, row, &source, &valid, err));
    const char *label = (uint64_t)source < merge->source_count ? merge->value_labels[source] : NULL;
    if (!label || !pci_str_is(key, label))
        return PCOL_OK;
    PCI_TRY(pci_merge_has_value(merge, row, &has, &copied, err));
    *loses = has && !copied;
    return PCOL_OK;
}

int pci_merge_filters_labels(const struct pci_merge *merge, const struct pci_table *table)
{
    const struct pci_merge_selection *selection = merge->selection;
    if (!selection)
        return 0;
    return selection->names || pci_merge_hides_frames(selection) || selection->types ||
           selection->added || (selection->drop_key_count && !strcmp(table->name, "samples"));
}

/* ---- report of omitted data */

/* A list of names as text, truncated to its capacity. */
struct name_list {
    char text[600];
    size_t size;
};

/* Appends the description of a table (column NULL) or of a column, once, or else its name. */
static void add_name(struct name_list *list, const struct pci_table *table,
                     const struct pci_column *column)
{
    const char *described =
        column && column->schema->omitted ? column->schema->omitted : table->schema->omitted;
    const char *name = column && !described ? column->name : "";
    if (described && strstr(list->text, described))
        return;
    int size = snprintf(list->text + list->size, sizeof list->text - list->size, "%s%s%s%s",
                        list->size ? ", " : "", described ? described : table->name,
                        *name ? "." : "", name);
    if (size > 0 && list->size + (size_t)size < sizeof list->text)
        list->size += (size_t)size;
    else
        list->text[list->size] = '\0';
}

static int is_moved(const struct pci_merge *m, const struct pci_table *table)
{
    return m->actions[table->number] == PCI_MERGE_APPEND ||
           m->actions[table->number] == PCI_MERGE_UNIFY;
}

/* 1 if nothing of a table is copied. Tables about the text of the source are not reported. */
static int is_omitted(const struct pci_merge *m, const struct pci_table *table)
{
    uint32_t unreported = PCI_TABLE_DERIVED | PCI_TABLE_SPELLING;
    if (!m->selection->names)
        unreported |= PCI_TABLE_ATTACHED;
    if (!table->rows || !is_moved(m, table) || table->schema->table_flags & unreported)
        return 0;
    return !pci_merge_copies_table(m, table) ||
           (m->actions[table->number] == PCI_MERGE_APPEND && m->used && !m->used[table->number]);
}

/* The column `source` if it refers to sources: a program's own table may have any of that name. */
static const struct pci_column *find_own_source(const struct pci_table *table)
{
    const struct pci_column *source = pci_column_find(table, "source");
    return source && source->references && !strcmp(source->references->name, "sources") ? source
                                                                                        : NULL;
}

/* The column of a table that refers to a source, or else to a row that does (*owner: its column).
 * NULL: none. */
static const struct pci_column *find_source(const struct pci_table *table,
                                            const struct pci_column **owner)
{
    const struct pci_column *source = find_own_source(table);
    *owner = NULL;
    for (uint32_t c = 0; !source && !*owner && c < table->column_count; c++)
        if (table->columns[c].references && table->columns[c].references != table)
            *owner = find_own_source(table->columns[c].references);
    for (uint32_t c = 0; *owner && c < table->column_count; c++)
        if (table->columns[c].references == (*owner)->table)
            return &table->columns[c];
    return source;
}

/* *has_rows: a row of the table belongs to a copied source, or to none. */
static pcol_status has_copied_rows(const struct pci_merge *m, const struct pci_table *table,
                                   int *has_rows, pcol_error *err)
{
    const struct pci_column *owner, *column = find_source(table, &owner);
    *has_rows = !column;
    for (uint64_t row = 0; row < table->rows && !*has_rows; row++) {
        int64_t source;
        int valid;
        PCI_TRY(pci_get(m->file, column, row, &source, &valid, err));
        if (owner && valid && (uint64_t)source < owner->table->rows)
            PCI_TRY(pci_get(m->file, owner, (uint64_t)source, &source, &valid, err));
        *has_rows = !valid || pci_merge_copies_source(m, (uint64_t)source);
    }
    return PCOL_OK;
}

pcol_status pci_merge_report_omitted(const struct pci_merge *merge, pcol_error *err)
{
    struct name_list list = {.size = 0}, hidden = {.size = 0};
    int anonymized = merge->selection && merge->selection->names;
    if (!merge->selection || !pci_notices_wanted())
        return PCOL_OK;
    for (uint32_t i = 0; i < merge->file->index.header.table_count; i++) {
        const struct pci_table *table = &merge->file->tables[i];
        int is_listed = is_omitted(merge, table);
        if (is_listed)
            PCI_TRY(has_copied_rows(merge, table, &is_listed, err));
        if (is_listed && !anonymized && names_hidden_frames(merge->selection, table))
            add_name(&hidden, table, NULL);
        else if (is_listed)
            add_name(&list, table, NULL);
        for (uint32_t c = 0; anonymized && has_allowed(table->schema) && c < table->column_count;
             c++)
            if (!is_allowed(&table->columns[c]))
                add_name(&list, table, &table->columns[c]);
    }
    if (hidden.size)
        pci_notice(PCOL_NOTICE_LOSS, hidden.text, "",
                   "%s and their documents name frames: hide and show leave them out", hidden.text);
    if (!list.size)
        return PCOL_OK;
    pci_notice(PCOL_NOTICE_SELECTION, "", "", "left out, since %s: %s",
               anonymized ? "they may contain names" : "no selected sample needs them", list.text);
    return PCOL_OK;
}

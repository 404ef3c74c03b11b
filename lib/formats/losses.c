/*
 * losses.c - detection of content that the export target cannot represent
 *
 * The schema assigns each column of a file to a kind of content. If the target lacks the
 * kind, the rows of the exported sources are searched for the first one with content: a value that
 * is neither null, nor an empty text, nor the default of an absent column. Ids, the order of tables
 * and sums are not content. Unknown columns and tables are content. Tests: tests/roundtrip/losses.
 */
#include "formats/losses.h"

#include "builder/rows.h"
#include "formats/format.h"
#include "model/frame_names.h"
#include "model/table.h"
#include "model/types.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/strbuf.h"

#include <string.h>

#define BATCH 256u

static const char *const kind_texts[] = {
#define KIND_WORDS(name, text) [PCI_KIND_##name] = text,
    PCI_KINDS(KIND_WORDS)
#undef KIND_WORDS
};

/* Further flags of a column's content (PCI_DEFAULT_0, ...): only these numbers are content. */
#define NEGATIVE 0x4000u
#define BEYOND_53_BITS 0x8000u
#define INEXACT 0x2000u /* as a double */

/* A scan of the sources of the target's own types, or of all others. */
struct scan {
    const struct pci_export *export;
    const pcol_file *file;
    uint64_t represented; /* kinds */
    uint8_t *sources;     /* by row: 1 = part of this scan */
    uint64_t source_count, selected_count;
    /* Reachability marks by row: used by samples of these sources. NULL: not computed (native). */
    uint8_t *stacks, *locations, *groups, *functions, *mappings;
    uint64_t *reported; /* kinds reported by either scan, shared */
    /* Set by mark_reachable(), thus not in a native scan. */
    struct pci_stacks tree;
    struct pci_frame_namer names; /* without generated names */
};

/* ---- reporting */

/* The member of the selection or of the options by which a user can leave out the content, or
 * export it otherwise. */
static const char *kind_option(enum pci_kind kind)
{
    return kind == PCI_KIND_SOURCES   ? "source"
           : kind == PCI_KIND_THREADS ? "thread"
           : kind == PCI_KIND_TIMES   ? "time_from_ns"
           : kind == PCI_KIND_LABELS  ? "labels"
                                      : "";
}

void pci_export_report_kind(const struct pci_export *export, enum pci_kind kind)
{
    pci_export_loss_option(export, kind_option(kind), "%s %s", export->capabilities->loss_prefix,
                           kind_texts[kind]);
}

static void report(struct scan *s, enum pci_kind kind)
{
    uint64_t before = *s->reported;
    *s->reported |= UINT64_C(1) << kind;
    if (kind == PCI_KIND_RECORDED || kind == PCI_KIND_TIME_NS)
        *s->reported |= PCI_KIND_BIT(RECORDED) | PCI_KIND_BIT(TIME_NS);
    if (!(before >> kind & 1))
        pci_export_report_kind(s->export, kind);
}

/* ---- reachability from the samples of the scan */

static pcol_status mark_stacks(struct scan *s, pcol_error *err)
{
    const struct pci_column *source, *stack;
    uint64_t rows = pci_rows(s->file, "samples");
    PCI_TRY(pci_find_verified_column(s->file, "samples", "source", PCI_TYPES_ROW, &source, err));
    PCI_TRY(pci_find_verified_column(s->file, "samples", "stack", PCI_TYPES_ROW, &stack, err));
    for (uint64_t row = 0; stack && row < rows; row += BATCH) {
        int64_t of[BATCH] = {0}, at[BATCH];
        uint8_t has_source[BATCH], valid[BATCH];
        size_t count = rows - row < BATCH ? (size_t)(rows - row) : BATCH;
        if (source)
            PCI_TRY(pci_read(s->file, source, row, count, of, has_source, err));
        PCI_TRY(pci_read(s->file, stack, row, count, at, valid, err));
        for (size_t i = 0; i < count; i++)
            if (valid[i] && s->sources[of[i]] && (uint64_t)at[i] < s->tree.stacks)
                s->stacks[at[i]] = 1;
    }
    return PCOL_OK;
}

static void mark_cell(uint8_t *marks, int64_t row, int valid)
{
    if (valid)
        marks[row] = 1;
}

static pcol_status mark_code(struct scan *s, pcol_error *err)
{
    const struct pci_stacks *tree = &s->tree;
    const struct pci_column *function = s->names.function, *mapping = s->names.mapping;
    for (uint64_t node = tree->stacks; node-- > 1;) { /* descending: callees before callers */
        uint64_t first, count;
        uint32_t parent;
        int64_t group, cell;
        int valid;
        if (!s->stacks[node])
            continue;
        PCI_TRY(pci_stacks_node(tree, node, &parent, &first, &count, err));
        PCI_TRY(pci_get(s->file, tree->group, node, &group, &valid, err));
        s->stacks[parent] = 1;
        if (s->groups[group]) /* once, or recursion in a group of many lines is quadratic */
            continue;
        s->groups[group] = 1;
        for (uint64_t row = first; row < first + count; row++) {
            s->locations[row] = 1;
            if (function) {
                PCI_TRY(pci_get(s->file, function, row, &cell, &valid, err));
                mark_cell(s->functions, cell, valid);
            }
        }
        if (mapping) {
            PCI_TRY(pci_get(s->file, mapping, (uint64_t)group, &cell, &valid, err));
            mark_cell(s->mappings, cell, valid);
        }
    }
    return PCOL_OK;
}

static pcol_status mark_reachable(struct scan *s, pcol_error *err)
{
    PCI_TRY(pci_frame_namer_open(&s->names, s->file, err));
    PCI_TRY(pci_stacks_open(s->file, &s->tree, err));
    PCI_TRY(pci_stacks_verify(&s->tree, err));
    PCI_TRY(PCI_CALLOC(s->stacks, (size_t)s->tree.stacks + 1, err));
    PCI_TRY(PCI_CALLOC(s->locations, (size_t)s->tree.locations + 1, err));
    PCI_TRY(PCI_CALLOC(s->groups, (size_t)s->tree.groups + 1, err));
    PCI_TRY(PCI_CALLOC(s->functions, (size_t)pci_rows(s->file, "functions") + 1, err));
    PCI_TRY(PCI_CALLOC(s->mappings, (size_t)pci_rows(s->file, "mappings") + 1, err));
    PCI_TRY(mark_stacks(s, err));
    return mark_code(s, err);
}

/* ---- rows */

/* The rows of a table that belong to the scan. */
struct chosen_rows {
    const uint8_t *marks;            /* by row, or by source of the row; NULL: all rows */
    const struct pci_column *source; /* NULL: marks are by row */
    int none;
};

static pcol_status select_rows(const struct scan *s, const struct pci_table *table,
                               struct chosen_rows *rows, pcol_error *err)
{
    const struct {
        const char *table;
        const uint8_t *marks;
    } code[] = {{"sources", s->sources},
                {"functions", s->functions},
                {"locations", s->locations},
                {"location_groups", s->groups},
                {"mappings", s->mappings}};
    *rows = (struct chosen_rows){NULL, NULL, 0};
    if (s->selected_count == s->source_count)
        return PCOL_OK;
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (!strcmp(table->name, code[i].table)) {
            rows->marks = code[i].marks;
            rows->none = !code[i].marks;
            return PCOL_OK;
        }
    rows->marks = s->sources;
    PCI_TRY(pci_find_column(s->file, table->name, "source", PCI_TYPES_ROW, &rows->source, err));
    /* Samples without the column are of source 0. Rows of other tables are reported by the tables
     * that refer to them. */
    if (!rows->source)
        rows->none = strcmp(table->name, "samples") != 0 || !s->sources[0];
    if (!rows->source && !rows->none)
        rows->marks = NULL;
    return PCOL_OK;
}

static pcol_status is_selected(const struct scan *s, const struct chosen_rows *rows, uint64_t row,
                               int *selected, pcol_error *err)
{
    int64_t source = (int64_t)row;
    int valid = 1;
    if (rows->source)
        PCI_TRY(pci_get(s->file, rows->source, row, &source, &valid, err));
    *selected = valid && (!rows->marks || rows->marks[source]);
    return PCOL_OK;
}

/* *same: 1 if a system name is the name, as an absent one is (spec.md, 6.3). */
static pcol_status is_name(const struct scan *s, const struct pci_column *column, uint64_t row,
                           int *same, pcol_error *err)
{
    const struct pci_column *name;
    pcol_str texts[2];
    int valid;
    PCI_TRY(pci_find_verified_column(s->file, "functions", "name", PCI_TYPES_TEXT, &name, err));
    if (!name)
        return PCOL_OK;
    PCI_TRY(pci_get_str(s->file, name, row, &texts[0], &valid, err));
    if (!valid)
        return PCOL_OK;
    PCI_TRY(pci_get_str(s->file, column, row, &texts[1], &valid, err));
    *same = valid && pci_str_equal(texts[0], texts[1]);
    return PCOL_OK;
}

/* *exported: 1 if the file of a location without a function is exported as that of a function is:
 * the code has no function's name, but it is not outside functions. */
static pcol_status is_file_exported(const struct scan *s, uint64_t location, int *exported,
                                    pcol_error *err)
{
    uint64_t group;
    if (!(s->represented & PCI_KIND_BIT(FILES)))
        return PCOL_OK;
    PCI_TRY(pci_stacks_group_of(&s->tree, location, &group, err));
    return pci_frame_namer_is_code(&s->names, (uint32_t)group, exported, err);
}

/* *is_mark: 1 if a limit only says that addresses are offsets, and the target has no addresses. */
static pcol_status is_offset_mark(const struct scan *s, const struct pci_column *column,
                                  uint64_t row, int *is_mark, pcol_error *err)
{
    int64_t value;
    int valid;
    if (s->represented & PCI_KIND_BIT(ADDRESSES))
        return PCOL_OK;
    PCI_TRY(pci_get(s->file, column, row, &value, &valid, err));
    *is_mark = value == PCI_ALL_OFFSETS;
    return PCOL_OK;
}

/* *derived: 1 if the target has the content without the kind: in another place, or so that its
 * readers derive it. */
static pcol_status is_derived(const struct scan *s, const struct pci_column *column,
                              const struct pci_schema_row *content, uint64_t row, int *derived,
                              pcol_error *err)
{
    char own[PCI_UTC_TEXT_BYTES] = "";
    pcol_str text;
    int valid;
    *derived = 0;
    if (content->kind == PCI_KIND_SYSTEM_NAMES)
        return is_name(s, column, row, derived, err);
    if (content->kind == PCI_KIND_RANGES)
        return is_offset_mark(s, column, row, derived, err);
    if (content->kind == PCI_KIND_PLACES)
        return is_file_exported(s, row, derived, err);
    if (content->kind != PCI_KIND_RECORDED || !s->export->capabilities->time)
        return PCOL_OK;
    PCI_TRY(s->export->capabilities->time(s->file, row, own, err));
    PCI_TRY(pci_get_str(s->file, column, row, &text, &valid, err));
    *derived = pci_str_is(text, own);
    return PCOL_OK;
}

static int is_text(const struct pci_column *column)
{
    return (PCI_TYPES_ANY_TEXT >> column->desc->type & 1) != 0;
}

/* Whether a double does not hold the integer. */
static int is_inexact(int64_t value)
{
    double rounded = (double)value;
    return rounded >= 0x1p63 || (int64_t)rounded != value;
}

/* Set has[i] if row `row` + i has content, whether the row belongs to the scan or not. */
static pcol_status find_batch_content(const struct scan *s, const struct pci_column *column,
                                      uint16_t flags, uint64_t row, size_t count, uint8_t *has,
                                      pcol_error *err)
{
    int64_t values[BATCH];
    for (size_t i = 0; is_text(column) && i < count; i++) {
        pcol_str text;
        int valid;
        PCI_TRY(pci_get_str(s->file, column, row + i, &text, &valid, err));
        has[i] = valid && text.size;
    }
    if (is_text(column))
        return PCOL_OK;
    PCI_TRY(pci_read(s->file, column, row, count, values, has, err));
    for (size_t i = 0; i < count; i++)
        has[i] = flags & PCI_NULL_IS_CONTENT ? !has[i]
                 : flags & NEGATIVE          ? has[i] && values[i] < 0
                 : flags & INEXACT           ? has[i] && is_inexact(values[i])
                 : flags & BEYOND_53_BITS    ? has[i] && (uint64_t)values[i] > (uint64_t)1 << 53
                                             : has[i] && (!(flags & PCI_DEFAULT_0) || values[i]);
    return PCOL_OK;
}

/* Find a row of the scan with content. column: NULL if absent, that is null in every row. */
static pcol_status find_content_row(const struct scan *s, const struct pci_table *table,
                                    const struct pci_column *column,
                                    const struct pci_schema_row *content, int *found,
                                    pcol_error *err)
{
    struct chosen_rows rows;
    uint8_t has[BATCH];
    *found = 0;
    PCI_TRY(select_rows(s, table, &rows, err));
    for (uint64_t row = 0; !rows.none && row < table->rows; row += BATCH) {
        size_t count = table->rows - row < BATCH ? (size_t)(table->rows - row) : BATCH;
        memset(has, 1, count);
        if (column)
            PCI_TRY(find_batch_content(s, column, content->flags, row, count, has, err));
        for (size_t i = 0; i < count; i++) {
            int selected = 0, derived = 0;
            if (!has[i])
                continue;
            PCI_TRY(is_selected(s, &rows, row + i, &selected, err));
            if (selected)
                PCI_TRY(is_derived(s, column, content, row + i, &derived, err));
            if (!selected || derived)
                continue;
            *found = 1;
            return PCOL_OK;
        }
    }
    return PCOL_OK;
}

/* ---- columns */

/* Numbers of a kind that the target represents, but not in its range. */
static pcol_status check_range(struct scan *s, const struct pci_column *column, pcol_error *err)
{
    const struct pci_capabilities *target = s->export->capabilities;
    struct pci_schema_row content = *column->schema;
    uint64_t kind = UINT64_C(1) << content.kind;
    int found = 0;
    if (!(s->represented & ~*s->reported & (target->positive | target->below_53_bits) & kind) ||
        is_text(column))
        return PCOL_OK;
    content.flags = target->positive & kind ? NEGATIVE : BEYOND_53_BITS;
    PCI_TRY(find_content_row(s, column->table, column, &content, &found, err));
    if (!found)
        return PCOL_OK;
    *s->reported |= kind;
    pci_export_loss(s->export, "%s %s%s", target->loss_prefix,
                    content.flags == NEGATIVE ? "negative " : kind_texts[content.kind],
                    content.flags == NEGATIVE ? kind_texts[content.kind] : " beyond 53 bits");
    return PCOL_OK;
}

static pcol_status check_column(struct scan *s, const struct pci_column *column, pcol_error *err)
{
    const struct pci_table *table = column->table;
    const struct pci_schema_row *content = column->schema;
    int found;
    if (!column->supported || content->kind == PCI_KIND_NONE)
        return PCOL_OK;
    if (content->kind != PCI_KIND_UNKNOWN)
        PCI_TRY(check_range(s, column, err));
    if (content->kind != PCI_KIND_UNKNOWN && (s->represented | *s->reported) >> content->kind & 1)
        return PCOL_OK;
    PCI_TRY(find_content_row(s, table, column, content, &found, err));
    if (found && content->kind != PCI_KIND_UNKNOWN)
        report(s, (enum pci_kind)content->kind);
    else if (found)
        pci_export_loss(s->export, "%s the column %s of %s", s->export->capabilities->loss_prefix,
                        column->name, table->name);
    return PCOL_OK;
}

static pcol_status check_table(struct scan *s, const struct pci_table *table, pcol_error *err)
{
    if (!table->rows || !table->supported)
        return PCOL_OK;
    if (!table->schema->table) {
        pci_export_loss(s->export, "%s the table %s", s->export->capabilities->loss_prefix,
                        table->name);
        return PCOL_OK;
    }
    for (uint32_t i = 0; i < table->column_count; i++)
        PCI_TRY(check_column(s, &table->columns[i], err));
    return PCOL_OK;
}

/* ---- content beyond single columns */

static pcol_status check_segments(struct scan *s, pcol_error *err)
{
    const struct pci_table *table = pci_table_flagged(s->file, PCI_TABLE_SEGMENTS);
    struct chosen_rows rows;
    uint64_t count = 0;
    if (!table || (s->represented & PCI_KIND_BIT(SEGMENTS)))
        return PCOL_OK;
    PCI_TRY(select_rows(s, table, &rows, err));
    for (uint64_t row = 0; !rows.none && row < table->rows; row++) {
        int selected;
        PCI_TRY(is_selected(s, &rows, row, &selected, err));
        count += selected != 0;
    }
    if (count > s->selected_count)
        report(s, PCI_KIND_SEGMENTS);
    return PCOL_OK;
}

/* Location groups of several lines (inlined calls), and an absent column `function`. */
static pcol_status check_lines(struct scan *s, pcol_error *err)
{
    static const struct pci_schema_row absent = {.flags = PCI_NULL_IS_CONTENT};
    const struct pci_table *locations = pci_table_find(s->file, "locations");
    int found = 0;
    if (!locations)
        return PCOL_OK;
    if (!pci_column_find(locations, "function") && !(s->represented & PCI_KIND_BIT(NAMELESS)))
        PCI_TRY(find_content_row(s, locations, NULL, &absent, &found, err));
    if (found)
        report(s, PCI_KIND_NAMELESS);
    if (s->represented & PCI_KIND_BIT(INLINED))
        return PCOL_OK;
    for (uint64_t node = 1; s->tree.locations > s->tree.groups && node < s->tree.stacks; node++) {
        uint64_t first, count;
        uint32_t parent;
        if (s->stacks && !s->stacks[node])
            continue;
        PCI_TRY(pci_stacks_node(&s->tree, node, &parent, &first, &count, err));
        if (count > 1) {
            report(s, PCI_KIND_INLINED);
            break;
        }
    }
    return PCOL_OK;
}

/* has[i] = 1 if sample `row` + i has a value of any type. */
static pcol_status find_values(const struct scan *s, const struct pci_table *samples, uint64_t row,
                               size_t count, uint8_t has[BATCH], pcol_error *err)
{
    int64_t values[BATCH];
    uint8_t valid[BATCH];
    memset(has, 0, BATCH);
    for (uint32_t c = 0; c < samples->column_count && memchr(has, 0, count); c++) {
        if (strncmp(samples->columns[c].name, "value.", 6) != 0 || is_text(&samples->columns[c]))
            continue;
        PCI_TRY(pci_read(s->file, &samples->columns[c], row, count, values, valid, err));
        for (size_t i = 0; i < count; i++)
            has[i] |= valid[i];
    }
    return PCOL_OK;
}

/* Samples with a call stack but without a value, of which most formats have no place. */
static pcol_status check_values(struct scan *s, pcol_error *err)
{
    const struct pci_table *samples = pci_table_find(s->file, "samples");
    struct chosen_rows rows;
    uint8_t has[BATCH];
    if (!samples || (s->represented & PCI_KIND_BIT(VALUELESS)))
        return PCOL_OK;
    const struct pci_column *stacks = pci_column_find(samples, "stack");
    PCI_TRY(select_rows(s, samples, &rows, err));
    for (uint64_t row = 0; !rows.none && row < samples->rows; row += BATCH) {
        size_t count = samples->rows - row < BATCH ? (size_t)(samples->rows - row) : BATCH;
        PCI_TRY(find_values(s, samples, row, count, has, err));
        for (size_t i = 0; i < count; i++) {
            int selected = 0, has_stack = 0;
            if (!has[i])
                PCI_TRY(is_selected(s, &rows, row + i, &selected, err));
            if (selected)
                PCI_TRY(pci_get(s->file, stacks, row + i, &(int64_t){0}, &has_stack, err));
            if (!has_stack)
                continue;
            report(s, PCI_KIND_VALUELESS);
            return PCOL_OK;
        }
    }
    return PCOL_OK;
}

/* Integers that most formats write as doubles, since their type has doubles, too. */
static pcol_status check_integers(struct scan *s, pcol_error *err)
{
    static const struct pci_schema_row content = {.flags = INEXACT};
    struct pci_types types = {0};
    struct pci_hash doubles = {0};
    int found = 0;
    if (s->represented & PCI_KIND_BIT(EXACT))
        return PCOL_OK;
    pcol_status status = pci_types_open(s->file, &types, err);
    for (uint32_t row = 0; types.any_double && status == PCOL_OK && row < types.count; row++)
        if (types.columns[row] && types.columns[row]->desc->type == PCF_F64)
            status = pci_types_add(&types, &doubles, row, &(uint32_t){0}, err);
    for (uint32_t row = 0; doubles.count && status == PCOL_OK && row < types.count && !found; row++)
        if (types.columns[row] && types.columns[row]->desc->type != PCF_F64 &&
            pci_types_find(&types, &doubles, &types, row) != PCOL_NONE)
            status = find_content_row(s, types.columns[row]->table, types.columns[row], &content,
                                      &found, err);
    if (status == PCOL_OK && found)
        report(s, PCI_KIND_EXACT);
    pci_hash_clear(&doubles);
    pci_types_close(&types);
    return status;
}

static int are_all_marked(const uint8_t *marks, uint64_t rows)
{
    return !rows || !memchr(marks, 0, (size_t)rows);
}

/* Code that no sample refers to, which profile.proto allows. */
static void check_unused(struct scan *s)
{
    if (s->selected_count < s->source_count || (s->represented & PCI_KIND_BIT(UNUSED)))
        return;
    if (!are_all_marked(s->functions, pci_rows(s->file, "functions")) ||
        !are_all_marked(s->locations, pci_rows(s->file, "locations")) ||
        !are_all_marked(s->mappings, pci_rows(s->file, "mappings")))
        report(s, PCI_KIND_UNUSED);
}

/* ---- scans */

/* Sources written unchanged: only META and RECORDED can be lost. */
static pcol_status check_native(struct scan *s, pcol_error *err)
{
    static const char *const tables[] = {"sources", "source_meta"};
    s->represented |= ~(PCI_KIND_BIT(META) | PCI_KIND_BIT(RECORDED));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const struct pci_table *table = pci_table_find(s->file, tables[i]);
        for (uint32_t k = 0; table && k < table->column_count; k++)
            if (table->columns[k].schema->kind != PCI_KIND_UNKNOWN)
                PCI_TRY(check_column(s, &table->columns[k], err));
    }
    return PCOL_OK;
}

static pcol_status check_generic(struct scan *s, pcol_error *err)
{
    PCI_TRY(mark_reachable(s, err));
    for (uint32_t i = 0; i < s->file->index.header.table_count; i++)
        PCI_TRY(check_table(s, &s->file->tables[i], err));
    PCI_TRY(check_lines(s, err));
    check_unused(s);
    PCI_TRY(check_values(s, err));
    PCI_TRY(check_integers(s, err));
    return check_segments(s, err);
}

static int list_contains(const char *types, pcol_str type)
{
    for (const char *at = types; at && *at; at += *at == ' ') {
        size_t size = strcspn(at, " ");
        if (size == type.size && !memcmp(at, type.data, size))
            return 1;
        at += size;
    }
    return types && !*types;
}

/* Select the exported sources of the listed types (own), or all others. */
static pcol_status select_sources(struct scan *s, const char *types, int own, pcol_error *err)
{
    const struct pci_column *type;
    PCI_TRY(pci_find_column(s->file, "sources", "type", PCI_TYPES_TEXT, &type, err));
    s->selected_count = 0;
    for (uint64_t row = 0; row < s->source_count; row++) {
        pcol_str text = {"", 0};
        if (type)
            PCI_TRY(pci_get_str(s->file, type, row, &text, &(int){0}, err));
        s->sources[row] = row >= s->export->first_source && row <= s->export->last_source &&
                          list_contains(types, text) == own;
        s->selected_count += s->sources[row];
    }
    return PCOL_OK;
}

static void free_scan(struct scan *s)
{
    pci_free(s->sources);
    pci_free(s->stacks);
    pci_free(s->locations);
    pci_free(s->groups);
    pci_free(s->functions);
    pci_free(s->mappings);
}

/* One scan of the sources of `types` and one of all others. is_converted: those of `types` are
 * converted, too, and represent `kinds`. */
static pcol_status check_sources(const struct pci_export *export, const char *types,
                                 int is_converted, uint64_t kinds, pcol_error *err)
{
    uint64_t reported = 0, generic = export->capabilities->generic;
    pcol_status status = PCOL_OK;
    for (int own = 0; own < 2 && status == PCOL_OK; own++) {
        struct scan s = {.export = export, .file = export->file, .reported = &reported};
        int native = own && !is_converted;
        s.represented = own ? kinds : generic;
        s.source_count = pci_rows(export->file, "sources");
        s.sources = pci_calloc((size_t)s.source_count + 1, 1);
        status = s.sources ? select_sources(&s, types, own, err) : pci_fail_memory(err);
        if (status == PCOL_OK && (s.selected_count || (!own && !s.source_count)))
            status = native ? check_native(&s, err) : check_generic(&s, err);
        free_scan(&s);
    }
    if (status == PCOL_OK && export->first_source < export->last_source &&
        !(generic & PCI_KIND_BIT(SOURCES)))
        pci_export_report_kind(export, PCI_KIND_SOURCES);
    return status;
}

pcol_status pci_export_losses(const struct pci_export *export, const char *native_types,
                              pcol_error *err)
{
    return check_sources(export, native_types, 0, export->capabilities->native, err);
}

pcol_status pci_export_losses_converted(const struct pci_export *export, const char *types,
                                        uint64_t kinds, pcol_error *err)
{
    return check_sources(export, types, 1, export->capabilities->generic | kinds, err);
}

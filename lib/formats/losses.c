/*
 * losses.c - content of the exported sources against what the target represents
 *
 * One table assigns each column of a file to a kind of content. Of a column whose kind the target
 * lacks, the rows of the exported sources are read up to the first that has content: a value that
 * is neither null, nor an empty text, nor the value of an absent column. Ids, orders of tables and
 * sums are not content. Columns and tables that this version does not know are. Tests:
 * tests/losses.
 */
#include "formats/losses.h"

#include "formats/format.h"
#include "model/row_details.h"
#include "model/table.h"
#include "model/types.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <string.h>

#define BATCH 256u

/* How a row has content, other than by a value. */
enum how {
    VALUE,   /* not null, not "" */
    NONZERO, /* not 0: an absent column is 0 */
    ABSENT   /* null */
};

#define NO_CONTENT PCI_KIND_COUNT

/* column: "NAME", "PREFIX." for all that begin so, or "" for all others of the table. */
static const struct content {
    const char *table, *column;
    uint8_t kind, how;
} contents[] = {
    {"sources", "type", NO_CONTENT, 0},
    {"sources", "uri", NO_CONTENT, 0},
    {"sources", "crlf", NO_CONTENT, 0},
    {"sources", "collapsed", NO_CONTENT, 0},
    {"sources", "timestamp", PCI_KIND_RECORDED, VALUE},
    {"sources", "time_ns", PCI_KIND_TIME_NS, VALUE},
    {"sources", "duration_ns", PCI_KIND_DURATION, VALUE},
    {"sources", "period", PCI_KIND_PERIOD, VALUE},
    {"sources", "period_type", PCI_KIND_PERIOD, VALUE},
    {"sources", "period_unit", PCI_KIND_PERIOD, VALUE},
    {"sources", "interval_ns", PCI_KIND_INTERVAL, VALUE},
    {"sources", "default_sample_type", PCI_KIND_DEFAULT_TYPE, VALUE},
    {"sources", "drop_frames", PCI_KIND_DROP_FRAMES, VALUE},
    {"sources", "keep_frames", PCI_KIND_DROP_FRAMES, VALUE},
    {"sources", "doc_url", PCI_KIND_DOC_URL, VALUE},
    {"sources", "text", PCI_KIND_TEXT, VALUE},
    {"sources", "extra", PCI_KIND_OTHER, VALUE},
    {"source_meta", "key", PCI_KIND_META, VALUE},
    {"source_meta", "", NO_CONTENT, 0},
    {"source_comments", "source", PCI_KIND_COMMENTS, VALUE},
    {"source_comments", "", NO_CONTENT, 0},
    {"functions", "name", NO_CONTENT, 0},
    {"functions", "id", NO_CONTENT, 0},
    {"functions", "system_name", PCI_KIND_SYSTEM_NAMES, VALUE},
    {"functions", "filename", PCI_KIND_FILES, VALUE},
    {"functions", "start_line", PCI_KIND_START_LINES, VALUE},
    {"functions", "column", PCI_KIND_COLUMNS, VALUE},
    {"functions", "is_js", PCI_KIND_FRAME_DETAILS, NONZERO},
    {"functions", "relevant_for_js", PCI_KIND_FRAME_DETAILS, NONZERO},
    {"functions", "original", PCI_KIND_FRAME_DETAILS, VALUE},
    {"functions", "code_resource", PCI_KIND_RESOURCES, VALUE},
    {"functions", "source_file", PCI_KIND_SOURCE_FILES, VALUE},
    {"functions", "extra", PCI_KIND_OTHER, VALUE},
    {"locations", "function", PCI_KIND_NAMELESS, ABSENT},
    {"locations", "line", PCI_KIND_LINES, VALUE},
    {"locations", "column", PCI_KIND_COLUMNS, VALUE},
    {"locations", "filename", PCI_KIND_PLACES, VALUE},
    {"locations", "extra", PCI_KIND_OTHER, VALUE},
    {"location_groups", "first_location", NO_CONTENT, 0},
    {"location_groups", "mapping", NO_CONTENT, 0},
    {"location_groups", "id", NO_CONTENT, 0},
    {"location_groups", "file_number", NO_CONTENT, 0},
    {"location_groups", "label_shape", NO_CONTENT, 0},
    {"location_groups", "address", PCI_KIND_ADDRESSES, VALUE},
    {"location_groups", "folded", PCI_KIND_FOLDED, NONZERO},
    {"location_groups", "label.", PCI_KIND_FRAME_LABELS, VALUE},
    {"location_groups", "inline_depth", PCI_KIND_FRAME_DETAILS, NONZERO},
    {"location_groups", "inner_window_id", PCI_KIND_FRAME_DETAILS, VALUE},
    {"location_groups", "original", PCI_KIND_FRAME_DETAILS, VALUE},
    {"location_groups", "category", PCI_KIND_CATEGORIES, VALUE},
    {"location_groups", "subcategory", PCI_KIND_CATEGORIES, VALUE},
    {"location_groups", "native_symbol", PCI_KIND_SYMBOLS, VALUE},
    {"location_groups", "extra", PCI_KIND_OTHER, VALUE},
    {"mappings", "id", NO_CONTENT, 0},
    {"mappings", "start", PCI_KIND_RANGES, NONZERO},
    {"mappings", "limit", PCI_KIND_RANGES, NONZERO},
    {"mappings", "file_offset", PCI_KIND_RANGES, NONZERO},
    {"mappings", "filename", PCI_KIND_LIBRARIES, VALUE},
    {"mappings", "name", PCI_KIND_LIBRARIES, VALUE},
    {"mappings", "build_id", PCI_KIND_BUILD_IDS, VALUE},
    {"mappings", "breakpad_id", PCI_KIND_DEBUG_FILES, VALUE},
    {"mappings", "debug_name", PCI_KIND_DEBUG_FILES, VALUE},
    {"mappings", "debug_path", PCI_KIND_DEBUG_FILES, VALUE},
    {"mappings", "arch", PCI_KIND_DEBUG_FILES, VALUE},
    {"mappings", "json", PCI_KIND_OTHER, VALUE},
    {"mappings", "has_functions", PCI_KIND_MAPPING_FLAGS, NONZERO},
    {"mappings", "has_filenames", PCI_KIND_MAPPING_FLAGS, NONZERO},
    {"mappings", "has_line_numbers", PCI_KIND_MAPPING_FLAGS, NONZERO},
    {"mappings", "has_inline_frames", PCI_KIND_MAPPING_FLAGS, NONZERO},
    {"mappings", "extra", PCI_KIND_OTHER, VALUE},
    {"threads", "source", NO_CONTENT, 0},
    {"threads", "label_shape", NO_CONTENT, 0},
    {"threads", "name", PCI_KIND_THREADS, VALUE},
    {"threads", "tid", PCI_KIND_THREADS, VALUE},
    {"threads", "pid", PCI_KIND_THREADS, VALUE},
    {"threads", "process_name", PCI_KIND_PROCESSES, VALUE},
    {"threads", "", PCI_KIND_THREAD_LABELS, VALUE},
    {"samples", "source", NO_CONTENT, 0},
    {"samples", "stack", NO_CONTENT, 0},
    {"samples", "value.", NO_CONTENT, 0},
    {"samples", "time_ulp", NO_CONTENT, 0},
    {"samples", "label_shape", NO_CONTENT, 0},
    {"samples", "thread", PCI_KIND_THREADS, VALUE},
    {"samples", "time", PCI_KIND_TIMES, VALUE},
    {"samples", "duration", PCI_KIND_DURATIONS, VALUE},
    {"samples", "cpu_delta", PCI_KIND_CPU, VALUE},
    {"samples", "cpu_cycles", PCI_KIND_CPU, VALUE},
    {"samples", "label.", PCI_KIND_LABELS, VALUE},
    {"samples", "text", PCI_KIND_SPELLING, VALUE},
    {"samples", "resource_type", PCI_KIND_RESOURCE_TYPES, VALUE},
    {"samples", "snapshot", PCI_KIND_SNAPSHOTS, VALUE},
    {"samples", "extra", PCI_KIND_OTHER, VALUE},
    {"resource_types", "", PCI_KIND_RESOURCE_TYPES, VALUE},
    {"resource_arrays", "", PCI_KIND_RESOURCE_TYPES, VALUE},
    {"snapshots", "", PCI_KIND_SNAPSHOTS, VALUE},
    {"models", "", PCI_KIND_MODELS, VALUE},
    {"markers", "", PCI_KIND_MARKERS, VALUE},
    {"allocations", "", PCI_KIND_ALLOCATIONS, VALUE},
    {"counters", "", PCI_KIND_COUNTERS, VALUE},
    {"counter_samples", "", PCI_KIND_COUNTERS, VALUE},
    {"categories", "", PCI_KIND_CATEGORIES, VALUE},
    {"subcategories", "", PCI_KIND_CATEGORIES, VALUE},
    {"code_resources", "", PCI_KIND_RESOURCES, VALUE},
    {"source_files", "", PCI_KIND_SOURCE_FILES, VALUE},
    {"source_locations", "", PCI_KIND_FRAME_DETAILS, VALUE},
    {"native_symbols", "", PCI_KIND_SYMBOLS, VALUE},
    {"source_cells", "", PCI_KIND_OTHER, VALUE},
    {"strings", "", NO_CONTENT, 0},
    {"sample_types", "", NO_CONTENT, 0}, /* exporters know best which one they write */
    {"source_types", "", NO_CONTENT, 0},
    {"stacks", "", NO_CONTENT, 0},
    {"stack_sums", "", NO_CONTENT, 0},
    {"function_sums", "", NO_CONTENT, 0},
    {"sample_zones", "", NO_CONTENT, 0},
    {"sample_values", "", NO_CONTENT, 0},
    {"sample_locations", "", NO_CONTENT, 0},
    {"label_keys", "", NO_CONTENT, 0},
    {"label_shapes", "", NO_CONTENT, 0},
    {"label_shape_keys", "", NO_CONTENT, 0},
    {"nodes", "", NO_CONTENT, 0}, /* reported by the column that refers to them */
    {"node_integers", "", NO_CONTENT, 0},
    {"node_doubles", "", NO_CONTENT, 0},
    {"source_rows", "", NO_CONTENT, 0},
    {"source_columns", "", NO_CONTENT, 0},
    {"rprof_segments", "", NO_CONTENT, 0}, /* reported where a source has several */
    {"rprof_files", "", NO_CONTENT, 0},
};

static const struct content unknown = {NULL, NULL, NO_CONTENT, VALUE};

static const char *const words[] = {
#define KIND_WORDS(name, text) text,
    PCI_KINDS(KIND_WORDS)
#undef KIND_WORDS
};

/* Sources are written in two ways, and each walk is over those of one way. */
struct walk {
    const struct pci_export *export;
    const pcol_file *file;
    uint64_t held;    /* kinds */
    uint8_t *sources; /* by row: 1 = of this walk */
    uint64_t source_count, taken;
    /* What samples of these sources refer to, by row; NULL: everything, since they are all. */
    uint8_t *stacks, *locations, *groups, *functions, *mappings;
    uint64_t *reported; /* kinds, of both walks */
};

/* ---- reporting */

void pci_export_lost(const struct pci_export *export, enum pci_kind kind)
{
    pci_export_loss(export, "%s %s", export->holds->cannot, words[kind]);
}

static void report(struct walk *w, enum pci_kind kind)
{
    uint64_t before = *w->reported;
    *w->reported |= UINT64_C(1) << kind;
    if (kind == PCI_KIND_RECORDED || kind == PCI_KIND_TIME_NS)
        *w->reported |= PCI_HOLDS(RECORDED) | PCI_HOLDS(TIME_NS);
    if (!(before >> kind & 1))
        pci_export_lost(w->export, kind);
}

/* ---- what the samples of some sources refer to */

static pcol_status mark_stacks(struct walk *w, const struct pci_stacks *tree, pcol_error *err)
{
    const struct pci_column *source, *stack;
    uint64_t rows = pci_rows(w->file, "samples");
    PCI_TRY(pci_want_whole(w->file, "samples", "source", PCI_TYPES_ROW, &source, err));
    PCI_TRY(pci_want_whole(w->file, "samples", "stack", PCI_TYPES_ROW, &stack, err));
    for (uint64_t row = 0; stack && row < rows; row += BATCH) {
        int64_t of[BATCH] = {0}, at[BATCH];
        uint8_t has_source[BATCH], valid[BATCH];
        size_t count = rows - row < BATCH ? (size_t)(rows - row) : BATCH;
        if (source)
            PCI_TRY(pci_read(w->file, source, row, count, of, has_source, err));
        PCI_TRY(pci_read(w->file, stack, row, count, at, valid, err));
        for (size_t i = 0; i < count; i++)
            if (valid[i] && w->sources[of[i]] && (uint64_t)at[i] < tree->stacks)
                w->stacks[at[i]] = 1;
    }
    return PCOL_OK;
}

static void mark_cell(uint8_t *marks, int64_t row, int valid)
{
    if (valid)
        marks[row] = 1;
}

static pcol_status mark_code(struct walk *w, const struct pci_stacks *tree, pcol_error *err)
{
    const struct pci_column *function, *mapping;
    PCI_TRY(pci_want_whole(w->file, "locations", "function", PCI_TYPES_ROW, &function, err));
    PCI_TRY(pci_want_whole(w->file, "location_groups", "mapping", PCI_TYPES_ROW, &mapping, err));
    for (uint64_t node = tree->stacks; node-- > 1;) { /* callers come before what they call */
        uint64_t first, count;
        uint32_t parent;
        int64_t group, cell;
        int valid;
        if (!w->stacks[node])
            continue;
        PCI_TRY(pci_stacks_node(tree, node, &parent, &first, &count, err));
        PCI_TRY(pci_get(w->file, tree->group, node, &group, &valid, err));
        w->stacks[parent] = 1;
        w->groups[group] = 1;
        for (uint64_t row = first; row < first + count; row++) {
            w->locations[row] = 1;
            if (function) {
                PCI_TRY(pci_get(w->file, function, row, &cell, &valid, err));
                mark_cell(w->functions, cell, valid);
            }
        }
        if (mapping) {
            PCI_TRY(pci_get(w->file, mapping, (uint64_t)group, &cell, &valid, err));
            mark_cell(w->mappings, cell, valid);
        }
    }
    return PCOL_OK;
}

static pcol_status mark(struct walk *w, pcol_error *err)
{
    struct pci_stacks tree;
    PCI_TRY(pci_stacks_open(w->file, &tree, err));
    PCI_TRY(pci_stacks_verify(&tree, err));
    w->stacks = pci_calloc((size_t)tree.stacks + 1, 1);
    w->locations = pci_calloc((size_t)tree.locations + 1, 1);
    w->groups = pci_calloc((size_t)tree.groups + 1, 1);
    w->functions = pci_calloc((size_t)pci_rows(w->file, "functions") + 1, 1);
    w->mappings = pci_calloc((size_t)pci_rows(w->file, "mappings") + 1, 1);
    if (!w->stacks || !w->locations || !w->groups || !w->functions || !w->mappings)
        return pci_fail_memory(err);
    PCI_TRY(mark_stacks(w, &tree, err));
    return mark_code(w, &tree, err);
}

/* ---- rows */

/* Which rows of a table belong to the walk. */
struct chosen_rows {
    const uint8_t *marks;            /* by row, or by what `source` says of it; NULL: all */
    const struct pci_column *source; /* NULL: by row */
    int none;
};

static pcol_status choose(const struct walk *w, const struct pci_table *table,
                          struct chosen_rows *rows, pcol_error *err)
{
    const struct {
        const char *table;
        const uint8_t *marks;
    } code[] = {{"sources", w->sources},
                {"functions", w->functions},
                {"locations", w->locations},
                {"location_groups", w->groups},
                {"mappings", w->mappings}};
    *rows = (struct chosen_rows){NULL, NULL, 0};
    if (w->taken == w->source_count)
        return PCOL_OK;
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (!strcmp(table->name, code[i].table)) {
            rows->marks = code[i].marks;
            rows->none = !code[i].marks;
            return PCOL_OK;
        }
    rows->marks = w->sources;
    PCI_TRY(pci_want(w->file, table->name, "source", PCI_TYPES_ROW, &rows->source, err));
    /* Samples without it are of source 0; rows of other tables are reported by what refers to
     * them. */
    if (!rows->source)
        rows->none = strcmp(table->name, "samples") != 0 || !w->sources[0];
    if (!rows->source && !rows->none)
        rows->marks = NULL;
    return PCOL_OK;
}

static pcol_status takes_row(const struct walk *w, const struct chosen_rows *rows, uint64_t row,
                             int *taken, pcol_error *err)
{
    int64_t source = (int64_t)row;
    int valid = 1;
    if (rows->source)
        PCI_TRY(pci_get(w->file, rows->source, row, &source, &valid, err));
    *taken = valid && (!rows->marks || rows->marks[source]);
    return PCOL_OK;
}

/* Whether the time of recording comes back from the target's own field. */
static pcol_status is_derived(const struct walk *w, const struct pci_column *column,
                              const struct content *content, uint64_t row, int *derived,
                              pcol_error *err)
{
    char own[PCI_UTC_TEXT_BYTES] = "";
    pcol_str text;
    int valid;
    *derived = 0;
    if (content->kind != PCI_KIND_RECORDED || !w->export->holds->time)
        return PCOL_OK;
    PCI_TRY(w->export->holds->time(w->file, row, own, err));
    PCI_TRY(pci_get_str(w->file, column, row, &text, &valid, err));
    *derived = pci_str_is(text, own);
    return PCOL_OK;
}

static int is_text(const struct pci_column *column)
{
    return (PCI_TYPES_TEXT >> column->desc->type & 1) != 0;
}

/* Whether the rows from `row` on, up to a batch, have content; rows that are not chosen may count,
 * too. */
static pcol_status batch_has(const struct walk *w, const struct pci_column *column, enum how how,
                             uint64_t row, size_t count, uint8_t *has, pcol_error *err)
{
    int64_t values[BATCH];
    for (size_t i = 0; is_text(column) && i < count; i++) {
        pcol_str text;
        int valid;
        PCI_TRY(pci_get_str(w->file, column, row + i, &text, &valid, err));
        has[i] = valid && text.size;
    }
    if (is_text(column))
        return PCOL_OK;
    PCI_TRY(pci_read(w->file, column, row, count, values, has, err));
    for (size_t i = 0; i < count; i++)
        has[i] = how == ABSENT ? !has[i] : has[i] && (how == VALUE || values[i]);
    return PCOL_OK;
}

/* column: NULL for one that is absent, null in every row. */
static pcol_status has_content(const struct walk *w, const struct pci_table *table,
                               const struct pci_column *column, const struct content *content,
                               int *found, pcol_error *err)
{
    struct chosen_rows rows;
    uint8_t has[BATCH];
    *found = 0;
    PCI_TRY(choose(w, table, &rows, err));
    for (uint64_t row = 0; !rows.none && row < table->rows; row += BATCH) {
        size_t count = table->rows - row < BATCH ? (size_t)(table->rows - row) : BATCH;
        memset(has, 1, count);
        if (column)
            PCI_TRY(batch_has(w, column, (enum how)content->how, row, count, has, err));
        for (size_t i = 0; i < count; i++) {
            int taken = 0, derived = 0;
            if (!has[i])
                continue;
            PCI_TRY(takes_row(w, &rows, row + i, &taken, err));
            if (taken)
                PCI_TRY(is_derived(w, column, content, row + i, &derived, err));
            if (!taken || derived)
                continue;
            *found = 1;
            return PCOL_OK;
        }
    }
    return PCOL_OK;
}

/* ---- columns */

static int matches(const struct content *content, const char *table, const char *column)
{
    size_t size = strlen(content->column);
    int begin = !size || content->column[size - 1] == '.';
    return !strcmp(content->table, table) &&
           !strncmp(content->column, column, begin ? size : size + 1);
}

static const struct content *content_of(const char *table, const char *column)
{
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
        if (matches(&contents[i], table, column))
            return &contents[i];
    return NULL;
}

static int is_known_table(const char *table)
{
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
        if (!strcmp(contents[i].table, table))
            return 1;
    return 0;
}

static pcol_status walk_column(struct walk *w, const struct pci_column *column, pcol_error *err)
{
    const struct pci_table *table = column->table;
    const struct content *content = content_of(table->name, column->name);
    int found;
    if (!column->supported || (content && (content->kind == NO_CONTENT ||
                                           ((w->held | *w->reported) >> content->kind & 1))))
        return PCOL_OK;
    PCI_TRY(has_content(w, table, column, content ? content : &unknown, &found, err));
    if (found && content)
        report(w, (enum pci_kind)content->kind);
    else if (found)
        pci_export_loss(w->export, "%s the column %s of %s", w->export->holds->cannot, column->name,
                        table->name);
    return PCOL_OK;
}

static pcol_status walk_table(struct walk *w, const struct pci_table *table, pcol_error *err)
{
    if (!table->rows || !table->supported)
        return PCOL_OK;
    if (!is_known_table(table->name)) {
        pci_export_loss(w->export, "%s the table %s", w->export->holds->cannot, table->name);
        return PCOL_OK;
    }
    for (uint32_t i = 0; i < table->column_count; i++)
        PCI_TRY(walk_column(w, &table->columns[i], err));
    return PCOL_OK;
}

/* ---- what is in no column */

static pcol_status walk_segments(struct walk *w, pcol_error *err)
{
    const struct pci_table *table = pci_table_find(w->file, "rprof_segments");
    struct chosen_rows rows;
    uint64_t count = 0;
    if (!table || (w->held & PCI_HOLDS(SEGMENTS)))
        return PCOL_OK;
    PCI_TRY(choose(w, table, &rows, err));
    for (uint64_t row = 0; !rows.none && row < table->rows; row++) {
        int taken;
        PCI_TRY(takes_row(w, &rows, row, &taken, err));
        count += taken != 0;
    }
    if (count > w->taken)
        report(w, PCI_KIND_SEGMENTS);
    return PCOL_OK;
}

/* Groups of several lines; the absence of the column `function`. */
static pcol_status walk_lines(struct walk *w, pcol_error *err)
{
    const struct pci_table *locations = pci_table_find(w->file, "locations");
    const struct content *function = content_of("locations", "function");
    struct pci_stacks tree;
    int found = 0;
    if (!locations)
        return PCOL_OK;
    if (!pci_column_find(locations, "function") && !(w->held & PCI_HOLDS(NAMELESS)))
        PCI_TRY(has_content(w, locations, NULL, function, &found, err));
    if (found)
        report(w, PCI_KIND_NAMELESS);
    if (w->held & PCI_HOLDS(INLINED))
        return PCOL_OK;
    PCI_TRY(pci_stacks_open(w->file, &tree, err));
    for (uint64_t node = 1; tree.locations > tree.groups && node < tree.stacks; node++) {
        uint64_t first, count;
        uint32_t parent;
        if (w->stacks && !w->stacks[node])
            continue;
        PCI_TRY(pci_stacks_node(&tree, node, &parent, &first, &count, err));
        if (count > 1) {
            report(w, PCI_KIND_INLINED);
            break;
        }
    }
    return PCOL_OK;
}

static int all_marked(const uint8_t *marks, uint64_t rows)
{
    return !rows || !memchr(marks, 0, (size_t)rows);
}

/* Code that is in the file for its own sake, as profile.proto can have it. */
static void walk_unused(struct walk *w)
{
    if (w->taken < w->source_count || (w->held & PCI_HOLDS(UNUSED)))
        return;
    if (!all_marked(w->functions, pci_rows(w->file, "functions")) ||
        !all_marked(w->locations, pci_rows(w->file, "locations")) ||
        !all_marked(w->mappings, pci_rows(w->file, "mappings")))
        report(w, PCI_KIND_UNUSED);
}

/* ---- the whole */

/* Only tables of sources can have what is no part of their formats. */
static pcol_status walk_own(struct walk *w, pcol_error *err)
{
    static const char *const tables[] = {"sources", "source_meta"};
    w->held |= ~(PCI_HOLDS(META) | PCI_HOLDS(RECORDED));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const struct pci_table *table = pci_table_find(w->file, tables[i]);
        for (uint32_t k = 0; table && k < table->column_count; k++)
            if (content_of(table->name, table->columns[k].name))
                PCI_TRY(walk_column(w, &table->columns[k], err));
    }
    return PCOL_OK;
}

static pcol_status walk_any(struct walk *w, pcol_error *err)
{
    PCI_TRY(mark(w, err));
    for (uint32_t i = 0; i < w->file->index.header.table_count; i++)
        PCI_TRY(walk_table(w, &w->file->tables[i], err));
    PCI_TRY(walk_lines(w, err));
    walk_unused(w);
    return walk_segments(w, err);
}

static int is_among(const char *words_of_types, pcol_str type)
{
    for (const char *at = words_of_types; at && *at; at += *at == ' ') {
        size_t size = strcspn(at, " ");
        if (size == type.size && !memcmp(at, type.data, size))
            return 1;
        at += size;
    }
    return words_of_types && !*words_of_types;
}

/* The exported sources that are, or are not, written as they were. */
static pcol_status take_sources(struct walk *w, const char *as_it_was, int own, pcol_error *err)
{
    const struct pci_column *type;
    PCI_TRY(pci_want(w->file, "sources", "type", PCI_TYPES_TEXT, &type, err));
    w->taken = 0;
    for (uint64_t row = 0; row < w->source_count; row++) {
        pcol_str text = {"", 0};
        if (type)
            PCI_TRY(pci_get_str(w->file, type, row, &text, &(int){0}, err));
        int is_own = is_among(as_it_was, text);
        w->sources[row] =
            row >= w->export->first_source && row <= w->export->last_source && is_own == own;
        w->taken += w->sources[row];
    }
    return PCOL_OK;
}

static void clear(struct walk *w)
{
    pci_free(w->sources);
    pci_free(w->stacks);
    pci_free(w->locations);
    pci_free(w->groups);
    pci_free(w->functions);
    pci_free(w->mappings);
}

pcol_status pci_export_losses(const struct pci_export *export, const char *as_it_was,
                              pcol_error *err)
{
    const struct pci_holds *holds = export->holds;
    uint64_t reported = 0;
    pcol_status status = PCOL_OK;
    for (int own = 0; own < 2 && status == PCOL_OK; own++) {
        struct walk w = {.export = export, .file = export->file, .reported = &reported};
        w.held = own ? holds->own : holds->any;
        w.source_count = pci_rows(export->file, "sources");
        w.sources = pci_calloc((size_t)w.source_count + 1, 1);
        status = w.sources ? take_sources(&w, as_it_was, own, err) : pci_fail_memory(err);
        if (status == PCOL_OK && (w.taken || (!own && !w.source_count)))
            status = own ? walk_own(&w, err) : walk_any(&w, err);
        clear(&w);
    }
    if (status == PCOL_OK && export->first_source < export->last_source &&
        !(holds->any & PCI_HOLDS(SOURCES)))
        pci_export_lost(export, PCI_KIND_SOURCES);
    return status;
}

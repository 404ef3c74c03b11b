/*
 * accept.c - checks whether the Firefox Profiler accepts a profile that is restored losslessly
 *
 * pcol preserves data that the front end rejects or misreads, so that a profile is restored with an
 * equal value; the first problem is reported as a warning. A member is required from the version on
 * before which the upgraders of the front end create it. Tests: tests/roundtrip/firefox.
 */
#include "formats/firefox/write_native.h"

#include "util/strbuf.h"

#include <stdarg.h>
#include <stdio.h>

struct accept {
    struct pci_ff_native *native;
    struct pci_node_reader nodes;
    size_t threads; /* number of threads that indexes may refer to */
    char text[160]; /* the first problem */
};

__attribute__((format(printf, 2, 3))) static void set_problem(struct accept *a, const char *format,
                                                              ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!a->text[0])
        vsnprintf(a->text, sizeof a->text, format, arguments);
    va_end(arguments);
}

/* A row of source_columns of the current thread (PCOL_NONE: the document); NULL if there is
 * none. */
static const struct pci_ff_preserved *find_preserved(const struct pci_ff_native *b,
                                                     const char *table, const char *column)
{
    size_t end;
    for (size_t i = pci_ff_preserved_first(b, b->thread, table, &end); i < end; i++)
        if (pci_str_is(b->preserved[i].column, column) && !pci_ff_is_by_use(&b->preserved[i]))
            return &b->preserved[i];
    return NULL;
}

/* Tables of code are in `shared` or in each thread. */
static int has_code_column(struct pci_ff_native *b, const char *table, const char *column)
{
    uint32_t thread = b->thread;
    int has = find_preserved(b, table, column) != NULL;
    b->thread = PCOL_NONE;
    has |= find_preserved(b, table, column) != NULL;
    b->thread = thread;
    return has;
}

static void require_columns(struct accept *a, int is_code)
{
    static const struct {
        const char *table, *column;
        int is_code, since;
    } required[] = {{"samples", "length", 0, 0},
                    {"markers", "data", 0, 0},
                    {"markers", "name", 0, 0},
                    {"markers", "startTime", 0, PCI_FF_SINCE_PHASES},
                    {"markers", "endTime", 0, PCI_FF_SINCE_PHASES},
                    {"markers", "phase", 0, PCI_FF_SINCE_PHASES},
                    {"markers", "category", 0, 24},
                    {"markers", "length", 0, 0},
                    {"stackTable", "frame", 1, 0},
                    {"stackTable", "length", 1, 0},
                    {"frameTable", "func", 1, 0},
                    {"frameTable", "category", 1, 0},
                    {"frameTable", "subcategory", 1, 23},
                    {"frameTable", "innerWindowID", 1, 27},
                    {"frameTable", "length", 1, 0},
                    {"funcTable", "name", 1, 0},
                    {"funcTable", "isJS", 1, 0},
                    {"funcTable", "relevantForJS", 1, 17},
                    {"funcTable", "resource", 1, 0},
                    {"funcTable", "source", 1, 60},
                    {"funcTable", "lineNumber", 1, 4},
                    {"funcTable", "columnNumber", 1, 18},
                    {"funcTable", "length", 1, 0},
                    {"resourceTable", "name", 1, 0},
                    {"resourceTable", "host", 1, 4},
                    {"resourceTable", "type", 1, 0},
                    {"resourceTable", "length", 1, 0}};
    struct pci_ff_native *b = a->native;
    char path[40] = "shared";
    if (b->thread != PCOL_NONE)
        snprintf(path, sizeof path, "threads[%u]", b->thread - b->first_thread);
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (required[i].is_code == is_code && b->version >= required[i].since &&
            !has_code_column(b, required[i].table, required[i].column))
            set_problem(a, "%s.%s has no column %s", path, required[i].table, required[i].column);
}

/* Columns that the reader requires: a file that lacks one was not made by an import. */
static pcol_status check_readable(struct pci_ff_native *b, pcol_error *err)
{
    static const struct {
        int id;
        const char *column, *other;
    } required[] = {{PCI_FF_FRAMES, "func", "func"},
                    {PCI_FF_STACKS, "frame", "frame"},
                    {PCI_FF_STACKS, "prefix", "prefixOffset"}};
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        const char *table = pci_ff_source_tables[required[i].id];
        const struct pci_order *order;
        if (has_code_column(b, table, required[i].column) ||
            has_code_column(b, table, required[i].other))
            continue;
        PCI_TRY(pci_ff_native_order(b, required[i].id, &order, err));
        if (order->count)
            return pci_corrupt(err, "source_columns", "column", PCOL_POSITION_UNKNOWN,
                               "%s has rows, but no %s", table, required[i].column);
    }
    return PCOL_OK;
}

/* ---- samples and markers */

static pcol_status check_times(struct accept *a, size_t number, pcol_error *err)
{
    const struct pci_ff_sample_run *s = &a->native->threads[number].samples;
    const struct pci_column *time;
    int64_t values[PCI_FF_BATCH], last = INT64_MIN;
    uint8_t valid[PCI_FF_BATCH];
    PCI_TRY(pci_find_column(a->native->file, "samples", "time", PCI_TYPES_INT, &time, err));
    for (uint64_t i = 0; time && i < s->count && !a->text[0]; i += PCI_FF_BATCH) {
        size_t n = s->count - i < PCI_FF_BATCH ? (size_t)(s->count - i) : PCI_FF_BATCH;
        PCI_TRY(pci_read(a->native->file, time, s->first + i, n, values, valid, err));
        for (size_t k = 0; k < n; k++) {
            if (valid[k] && values[k] < last)
                set_problem(a, "times of threads[%zu].samples descend at row %llu", number,
                            (unsigned long long)(i + k));
            if (valid[k])
                last = values[k];
        }
    }
    return PCOL_OK;
}

static pcol_status check_phases(struct accept *a, size_t number, pcol_error *err)
{
    const struct pci_ff_sample_run *s = &a->native->threads[number].markers;
    const struct pci_ff_preserved *preserved = find_preserved(a->native, "markers", "phase");
    const struct pci_column *phase;
    PCI_TRY(pci_find_column(a->native->file, "markers", "phase", PCI_TYPES_INT, &phase, err));
    /* cells are preserved only if some are no natural numbers */
    if (preserved && preserved->has_cells && s->count)
        set_problem(a, "threads[%zu].markers.phase has a value that is not a phase", number);
    for (uint64_t i = 0; phase && i < s->count && !a->text[0]; i++) {
        int64_t value;
        int valid;
        PCI_TRY(pci_get(a->native->file, phase, s->first + i, &value, &valid, err));
        if (value < 0 || value > 3)
            set_problem(a, "threads[%zu].markers.phase[%llu] is %lld, beyond 3", number,
                        (unsigned long long)i, (long long)value);
    }
    return PCOL_OK;
}

static pcol_status check_weight_type(struct accept *a, size_t number, const char *table,
                                     pcol_error *err)
{
    const struct pci_ff_preserved *preserved = find_preserved(a->native, table, "weightType");
    int64_t value;
    int valid;
    pcol_str type = {"", 0};
    if (!preserved || !preserved->has_cells)
        return PCOL_OK;
    PCI_TRY(pci_get_named(a->native->file, "source_cells", "text", PCI_TYPE(PCF_STRING),
                          preserved->first, &value, &valid, err));
    if (valid)
        PCI_TRY(pci_string(a->native->file, (uint64_t)value, &type, err));
    if (!pci_str_is(type, "samples") && !pci_str_is(type, "tracing-ms") &&
        !pci_str_is(type, "bytes"))
        set_problem(a, "threads[%zu].%s.weightType is unknown", number, table);
    return PCOL_OK;
}

static pcol_status check_name(struct accept *a, struct pci_label_reader *labels, size_t number,
                              pcol_error *err)
{
    int found = 0;
    PCI_TRY(pci_labels_row(labels, a->native->thread, err));
    for (size_t i = 0; i < labels->cell_count; i++)
        found |= labels->cells[i].key && pci_str_is(labels->cells[i].key->key, "name");
    if (!found)
        set_problem(a, "threads[%zu] has no name", number);
    return PCOL_OK;
}

static pcol_status check_thread(struct accept *a, struct pci_label_reader *labels, size_t number,
                                pcol_error *err)
{
    static const char *const tables[] = {"samples", "jsAllocations", "nativeAllocations"};
    int64_t version = a->native->version;
    if (version < PCI_FF_SINCE_SHARED_CODE) {
        require_columns(a, 1);
        PCI_TRY(check_readable(a->native, err));
    }
    PCI_TRY(check_name(a, labels, number, err));
    require_columns(a, 0);
    PCI_TRY(check_times(a, number, err));
    if (version >= PCI_FF_SINCE_PHASES)
        PCI_TRY(check_phases(a, number, err));
    for (size_t k = 0; k < 3 && version >= PCI_FF_SINCE_WEIGHTS; k++)
        PCI_TRY(check_weight_type(a, number, tables[k], err));
    return PCOL_OK;
}

static pcol_status check_threads(struct accept *a, pcol_error *err)
{
    struct pci_ff_native *b = a->native;
    struct pci_label_reader labels;
    pcol_status status = pci_labels_open(&labels, b->file, "threads", err);
    for (size_t i = 0; i < b->thread_count && !a->text[0] && status == PCOL_OK; i++) {
        b->thread = b->first_thread + (uint32_t)i;
        status = check_thread(a, &labels, i, err);
        pci_ff_native_leave_thread(b);
    }
    pci_labels_close(&labels);
    return status;
}

/* ---- document */

static void check_index(struct accept *a, const char *what, const struct pci_node_value *node)
{
    if (node->tag != PCI_NODE_INTEGER || node->integer < 0 || (uint64_t)node->integer >= a->threads)
        set_problem(a, "%s is not the index of a thread", what);
}

/* Check the elements of a list of thread indexes. */
static pcol_status check_list(struct accept *a, const struct pci_node_value *list, const char *what,
                              pcol_error *err)
{
    struct pci_node_value node;
    uint64_t member;
    int64_t values[PCI_BATCH];
    for (uint64_t i = list->first; list->tag == PCI_NODE_INTEGERS && i < list->end;) {
        size_t n = list->end - i < PCI_BATCH ? (size_t)(list->end - i) : PCI_BATCH;
        PCI_TRY(pci_nodes_elements(&a->nodes, list, i - list->first, n, values, err));
        for (size_t k = 0; k < n; k++)
            if (values[k] < 0 || (uint64_t)values[k] >= a->threads)
                set_problem(a, "%s is not the index of a thread", what);
        i += n;
    }
    if (list->tag != PCI_NODE_ARRAY)
        return PCOL_OK;
    PCI_TRY(pci_nodes_first(&a->nodes, list->row, &member, err));
    while (member != PCI_NO_NODE && !a->text[0]) {
        PCI_TRY(pci_nodes_get(&a->nodes, member, &node, err));
        check_index(a, what, &node);
        PCI_TRY(pci_nodes_next(&a->nodes, list->row, &member, err));
    }
    return PCOL_OK;
}

static pcol_status check_meta(struct accept *a, uint64_t root, pcol_error *err)
{
    static const char *const lists[] = {"initialVisibleThreads", "initialSelectedThreads"};
    struct pci_node_value meta, node;
    int found;
    PCI_TRY(pci_ff_node_member(&a->nodes, root, "meta", &meta, &found, err));
    if (!found)
        return PCOL_OK;
    for (size_t i = 0; i < 2; i++) {
        PCI_TRY(pci_ff_node_member(&a->nodes, meta.row, lists[i], &node, &found, err));
        if (found)
            PCI_TRY(check_list(a, &node, lists[i], err));
    }
    PCI_TRY(pci_ff_node_member(&a->nodes, meta.row, "mainThreadIndex", &node, &found, err));
    if (found)
        check_index(a, "meta.mainThreadIndex", &node);
    PCI_TRY(pci_ff_node_member(&a->nodes, meta.row, "markerSchema", &node, &found, err));
    if (!found && a->native && a->native->version >= PCI_FF_SINCE_SCHEMAS)
        set_problem(a, "meta has no markerSchema");
    return PCOL_OK;
}

static pcol_status check_overhead(struct accept *a, uint64_t root, pcol_error *err)
{
    struct pci_node_value list, node;
    uint64_t member = PCI_NO_NODE;
    int found;
    PCI_TRY(pci_ff_node_member(&a->nodes, root, "profilerOverhead", &list, &found, err));
    if (found)
        PCI_TRY(pci_nodes_first(&a->nodes, list.row, &member, err));
    while (member != PCI_NO_NODE && !a->text[0]) {
        PCI_TRY(pci_ff_node_member(&a->nodes, member, "mainThreadIndex", &node, &found, err));
        if (found)
            check_index(a, "profilerOverhead.mainThreadIndex", &node);
        PCI_TRY(pci_nodes_next(&a->nodes, list.row, &member, err));
    }
    return PCOL_OK;
}

static pcol_status check_counters(struct accept *a, pcol_error *err)
{
    struct pci_ff_native *b = a->native;
    struct pci_label_reader labels;
    struct pci_source_range rows;
    PCI_TRY(pci_source_rows(b->file, "counters", b->source, &rows, err));
    pcol_status status = pci_labels_open(&labels, b->file, "counters", err);
    for (uint64_t row = 0; row < rows.count && status == PCOL_OK && !a->text[0]; row++) {
        status = pci_labels_row(&labels, rows.first + row, err);
        for (size_t i = 0; i < labels.cell_count && status == PCOL_OK; i++) {
            const struct pci_label_cell *cell = &labels.cells[i];
            if (cell->key && pci_str_is(cell->key->key, "mainThreadIndex") &&
                (cell->key->kind != PCI_LABEL_INTEGER || cell->as.i64 < 0 ||
                 (uint64_t)cell->as.i64 >= b->thread_count))
                set_problem(a, "counters[%llu].mainThreadIndex is not the index of a thread",
                            (unsigned long long)row);
        }
    }
    pci_labels_close(&labels);
    return status;
}

static pcol_status find_root(const struct pci_ff_native *b, uint64_t *root, pcol_error *err)
{
    int64_t value;
    int valid;
    PCI_TRY(
        pci_get_named(b->file, "sources", "extra", PCI_TYPES_ROW, b->source, &value, &valid, err));
    *root = valid ? (uint64_t)value : PCI_NO_NODE;
    return PCOL_OK;
}

pcol_status pci_ff_native_numbers_fit(const struct pci_ff_native *native, size_t threads, int *fit,
                                      pcol_error *err)
{
    struct accept a = {.threads = threads};
    uint64_t root;
    PCI_TRY(pci_nodes_open(&a.nodes, native->file, err));
    PCI_TRY(find_root(native, &root, err));
    if (root != PCI_NO_NODE) {
        PCI_TRY(check_meta(&a, root, err));
        PCI_TRY(check_overhead(&a, root, err));
    }
    *fit = !a.text[0];
    return PCOL_OK;
}

pcol_status pci_ff_native_warn(struct pci_ff_native *native, pcol_error *err)
{
    struct accept a = {.native = native, .threads = native->thread_count};
    uint64_t root;
    PCI_TRY(pci_nodes_open(&a.nodes, native->file, err));
    PCI_TRY(find_root(native, &root, err));
    PCI_TRY(pci_ff_native_check_names(native, root, err));
    PCI_TRY(check_meta(&a, root, err));
    if (native->version >= PCI_FF_SINCE_SHARED_CODE) {
        require_columns(&a, 1);
        PCI_TRY(check_readable(native, err));
    }
    PCI_TRY(check_threads(&a, err));
    PCI_TRY(check_counters(&a, err));
    PCI_TRY(check_overhead(&a, root, err));
    if (a.text[0])
        pci_export_warning("written unchanged, but the Firefox Profiler rejects or misreads it: %s",
                           a.text);
    return PCOL_OK;
}

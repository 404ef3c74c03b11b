/*
 * graph.c - the view of a profile that call graphs are written from
 */
#include "formats/callgraph/callgraph.h"

#include "util/alloc.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

pcol_status pci_callgraph_query(const struct pci_callgraph *graph, uint32_t type,
                                pcol_query **query, pcol_error *err)
{
    const struct pci_export *export = graph->export;
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_sample_type exact;
    char source[24];
    *query = NULL;
    selection.keep_dropped = export->options->keep_dropped;
    if (export->options->source_id) {
        snprintf(source, sizeof source, "%" PRIu64, export->options->source_id);
        selection.source = source;
    }
    if (type != PCOL_NONE) {
        exact = (pcol_sample_type){graph->types.type[type], graph->types.unit[type],
                                   (uint32_t)graph->types.ordinal[type]};
        selection.exact_type = &exact;
    }
    pcol_status status = pcol_query_new(export->file, &selection, NULL, query, err);
    if (status == PCOL_E_ARGUMENT && type != PCOL_NONE) /* the file's own name: not read alike */
        status = pci_corrupt(err, "sample_types", "type", type, "the name has changed");
    if (status == PCOL_E_LIMIT) { /* a sum beyond 64 bits */
        status = PCOL_E_LOSS;
        if (err)
            err->status = status;
    }
    return status;
}

static pcol_status open_view(struct pci_callgraph *g, pcol_by by, pcol_error *err)
{
    const struct pci_export *export = g->export;
    pcol_view_options options = PCOL_INIT(pcol_view_options);
    PCI_TRY(PCI_MALLOC(g->out, 1, err));
    pci_out_open(g->out, export->sink);
    PCI_TRY(pci_check_row_count(export->file, "locations", err));
    PCI_TRY(pci_types_open(export->file, &g->types, err));
    PCI_TRY(pci_types_verify(&g->types, err));
    PCI_TRY(pci_types_select(&g->types, export->first_source, export->last_source,
                             export->options->sample_type, &g->chosen, err));
    if (!g->chosen.count && g->types.count)
        return pci_fail(err, PCOL_E_LOSS, "no sample type has values that can be added up");
    PCI_TRY(
        pci_callgraph_query(g, g->chosen.count ? g->chosen.rows[0] : PCOL_NONE, &g->query, err));
    options.by = by;
    return pcol_view_new(g->query, NULL, &options, &g->view, err);
}

pcol_status pci_callgraph_open(struct pci_callgraph *graph, const struct pci_export *export,
                               pcol_by by, pcol_error *err)
{
    *graph = (struct pci_callgraph){.export = export};
    return open_view(graph, by, err);
}

/* *has: the sample has a value that can be added up. */
static pcol_status has_value(const struct pci_callgraph *g, uint64_t row, int *has, pcol_error *err)
{
    *has = 0;
    for (uint32_t i = 0; i < g->types.count && !*has; i++) {
        int64_t value = 0;
        if (!g->types.is_gauge[i])
            PCI_TRY(pci_get(g->export->file, g->types.columns[i], row, &value, has, err));
        *has &= value != 0;
    }
    return PCOL_OK;
}

pcol_status pci_callgraph_leaves_out(const struct pci_callgraph *graph, int *left_out,
                                     pcol_error *err)
{
    const pcol_file *file = graph->export->file;
    const struct pci_column *stack;
    uint64_t rows = pci_rows(file, "samples");
    int64_t stacks[PCI_BATCH], source;
    uint8_t has_stack[PCI_BATCH] = {0};
    int valid;
    PCI_TRY(pci_find_verified_column(file, "samples", "stack", PCI_TYPES_ROW, &stack, err));
    *left_out = 0;
    for (uint64_t row = 0; row < rows && !*left_out; row += PCI_BATCH) {
        size_t n = rows - row < PCI_BATCH ? (size_t)(rows - row) : PCI_BATCH;
        if (stack)
            PCI_TRY(pci_read(file, stack, row, n, stacks, has_stack, err));
        for (size_t i = 0; i < n && !*left_out; i++) {
            if (has_stack[i])
                continue;
            PCI_TRY(pci_get(file, graph->types.source, row + i, &source, &valid, err));
            if ((uint64_t)source >= graph->export->first_source &&
                (uint64_t)source <= graph->export->last_source)
                PCI_TRY(has_value(graph, row + i, left_out, err));
        }
    }
    return PCOL_OK;
}

void pci_callgraph_close(struct pci_callgraph *graph)
{
    pcol_view_free(graph->view);
    pcol_query_free(graph->query);
    pci_free(graph->chosen.rows);
    pci_types_close(&graph->types);
    pci_free(graph->out);
}

int pci_callgraph_has_stacks(const struct pci_callgraph *graph)
{
    const pcol_view *view = graph->view;
    const struct pci_view_side *side = &view->side[0];
    for (uint32_t i = 1; i < view->node_count; i++)
        if (view->parent[i] && view->parent[view->parent[i]] &&
            !pci_amount_is_zero(side->is_double, side->total[i]))
            return 1;
    return 0;
}

pcol_status pci_callgraph_print(const struct pci_callgraph *graph, pcol_error *err,
                                const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return pci_out(graph->out, text, size > 0 ? (size_t)size : 0, err);
}

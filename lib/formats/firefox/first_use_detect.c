/*
 * first_use_detect.c - detects tables whose rows are in the order of their first use
 *
 * Most writers number rows when they first use them: a stack when a sample refers to it (its
 * callers before it), a frame when a stack does, then functions, resources, native symbols,
 * strings. Such an order follows from the builder's rows and needs no source_rows. The detector
 * runs over the source's row numbers: each row is either known or must be the next one.
 *
 *     samples -> stackTable -> frameTable -> funcTable -> resourceTable, sources, stringArray
 *                                        -> nativeSymbols
 *
 * Strings of a function: the name of its resource, then its own. Strings before the first one that
 * a function uses are listed, since markers are often written first.
 */
#include "formats/firefox/read.h"

void pci_ff_record_string_use(struct pci_ff_scope *scope, uint64_t row)
{
    struct pci_ff_uses *u = &scope->uses;
    if (!u->has_string) {
        u->has_string = 1;
        u->first_string = u->next[PCI_FF_STRINGS] = row;
    }
    pci_ff_record_use(scope, PCI_FF_STRINGS, row);
}

/* All new rows up to `row` must be a chain of callers, outermost first. */
void pci_ff_record_stack_use(struct pci_ff *ff, struct pci_ff_scope *scope, uint64_t row)
{
    const uint32_t *map = scope->map[PCI_FF_STACKS];
    const struct pci_node *nodes = ff->b->tree.nodes;
    uint64_t *next = &scope->uses.next[PCI_FF_STACKS];
    if (row < *next)
        return;
    for (uint64_t i = row; i > *next; i--)
        if (nodes[map[i]].parent != map[i - 1]) {
            *next = PCI_FF_UNORDERED;
            return;
        }
    *next = row + 1;
}

void pci_ff_record_stack_uses(struct pci_ff *ff, struct pci_ff_scope *scope, const int64_t *rows,
                              size_t n, int64_t highest)
{
    const uint64_t *next = &scope->uses.next[PCI_FF_STACKS];
    for (size_t i = 0; i < n && *next <= (uint64_t)highest; i++)
        if ((uint64_t)rows[i] >= *next)
            pci_ff_record_stack_use(ff, scope, (uint64_t)rows[i]);
}

/* Number of rows of a table that must be listed in source_rows. */
static uint64_t count_listed(const struct pci_ff *ff, const struct pci_ff_scope *scope, int id)
{
    const struct pci_ff_uses *u = &scope->uses;
    uint64_t rows = scope->rows[id];
    if (u->next[id] != rows || !rows || (id == PCI_FF_STRINGS && scope->has_repeated))
        return rows;
    if (id == PCI_FF_STACKS) /* the stored length shows whether samples were removed */
        for (size_t i = 0; i < ff->thread_count; i++) {
            const struct pci_ff_scope *t = ff->threads[i];
            if (t->tables[PCI_FF_SAMPLES].present && !t->has_length &&
                (scope == t || scope == &ff->shared))
                return rows;
        }
    return id == PCI_FF_STRINGS ? u->first_string : 0;
}

static pcol_status record_order(struct pci_ff *ff, struct pci_ff_scope *scope, int id,
                                pcol_error *err)
{
    struct pci_source_row r = {.source = ff->import->source, .thread = scope->thread};
    const char *name = pci_ff_source_tables[id];
    uint64_t count = count_listed(ff, scope, id);
    uint32_t target, empty;
    if (!scope->rows[id])
        return PCOL_OK;
    PCI_TRY(pcol_builder_table(ff->b, pci_ff_pcol_tables[id], &target, err));
    r.target = target + 1;
    PCI_TRY(pcol_builder_string(ff->b, name, strlen(name), &r.table, err));
    PCI_TRY(pci_builder_source_rows(ff->b, &r, scope->map[id], count, err));
    if (count == scope->rows[id])
        return PCOL_OK;
    PCI_TRY(pcol_builder_string(ff->b, "", 0, &empty, err));
    return pci_ff_preserve(ff, scope->thread, name, empty, PCI_FF_FORM_BY_USE, NULL, err);
}

pcol_status pci_ff_record_orders(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err)
{
    for (int id = 0; id <= PCI_FF_STACKS; id++)
        if (id != PCI_FF_CATEGORIES && scope->tables[id].present)
            PCI_TRY(record_order(ff, scope, id, err));
    return PCOL_OK;
}

/*
 * import_budget.c - import budget: atomic counters with limits
 */
#include "util/import_budget.h"

#include "util/control.h"
#include "util/error.h"

#include <inttypes.h>

#define TRUST "; if you trust the input, import it as trusted"

/* E_LIMIT, in a form that names the flag which lifts the limit. */
#define FAIL_LIMIT(err, ...) \
    pci_error_option(err, "PCOL_IMPORT_TRUSTED", pci_fail(err, PCOL_E_LIMIT, __VA_ARGS__))

PCI_THREAD_LOCAL struct pci_budget *pci_thread_budget;

struct pci_budget *pci_budget_enter(struct pci_budget *budget)
{
    struct pci_budget *enclosing = pci_thread_budget;
    pci_thread_budget = budget;
    return enclosing;
}

void pci_budget_leave(struct pci_budget *enclosing)
{
    pci_thread_budget = enclosing;
}

void pci_budget_grant(struct pci_budget *budget, uint64_t bytes)
{
    if (budget)
        atomic_fetch_add_explicit(&budget->input_bytes, bytes, memory_order_relaxed);
}

static uint64_t input_bytes(struct pci_budget *budget)
{
    return atomic_load_explicit(&budget->input_bytes, memory_order_relaxed);
}

pcol_status pci_budget_charge_expansion(struct pci_budget *budget, uint64_t bytes, pcol_error *err)
{
    if (!budget || budget->trusted)
        return PCOL_OK;
    uint64_t total =
        atomic_fetch_add_explicit(&budget->expanded, bytes, memory_order_relaxed) + bytes;
    if (total <= PCI_BUDGET_EXPANDED ||
        (total - PCI_BUDGET_EXPANDED) / PCI_BUDGET_EXPANDED_PER_BYTE <= input_bytes(budget))
        return PCOL_OK;
    return FAIL_LIMIT(err, "the input expands to more than 64 MiB and %u times its size" TRUST,
                      PCI_BUDGET_EXPANDED_PER_BYTE);
}

pcol_status pci_budget_check_cells(struct pci_budget *budget, uint64_t rows, uint64_t columns,
                                   pcol_error *err)
{
    if (!budget || budget->trusted || columns <= PCI_BUDGET_FREE_COLUMNS)
        return PCOL_OK;
    uint64_t cells = rows * (columns - PCI_BUDGET_FREE_COLUMNS);
    if (cells <= PCI_BUDGET_CELLS ||
        (cells - PCI_BUDGET_CELLS) / PCI_BUDGET_CELLS_PER_BYTE <= input_bytes(budget))
        return PCOL_OK;
    return FAIL_LIMIT(err,
                      "%" PRIu64 " samples of %" PRIu64
                      " sample types are too many for an input of %" PRIu64 " bytes" TRUST,
                      rows, columns, input_bytes(budget));
}

pcol_status pci_budget_check_stacks(struct pci_budget *budget, uint64_t nodes, pcol_error *err)
{
    if (!budget || budget->trusted || nodes <= PCI_BUDGET_STACKS ||
        (nodes - PCI_BUDGET_STACKS) / PCI_BUDGET_STACKS_PER_BYTE <= input_bytes(budget))
        return PCOL_OK;
    return FAIL_LIMIT(err,
                      "%" PRIu64 " nodes of call stacks are too many for an input of %" PRIu64
                      " bytes" TRUST,
                      nodes, input_bytes(budget));
}

/* Memory limit in bytes for total inputs so far. */
static int64_t memory_limit(struct pci_budget *budget)
{
    uint64_t bytes = input_bytes(budget), most = INT64_MAX / 2 / PCI_BUDGET_MEMORY_PER_BYTE;
    return PCI_BUDGET_MEMORY + PCI_BUDGET_MEMORY_PER_BYTE * (int64_t)(bytes < most ? bytes : most);
}

int pci_budget_charge(size_t bytes)
{
    struct pci_budget *budget = pci_thread_budget;
    int64_t more = (int64_t)bytes;
    if (!budget)
        return 0;
    int64_t total = atomic_fetch_add_explicit(&budget->memory, more, memory_order_relaxed) + more;
    if (total <= PCI_BUDGET_MEMORY || budget->trusted || total <= memory_limit(budget))
        return 0;
    pci_budget_credit(bytes);
    atomic_store_explicit(&budget->exceeded, 1, memory_order_relaxed);
    return -1;
}

void pci_budget_charge_unlimited(size_t bytes)
{
    if (pci_thread_budget)
        atomic_fetch_add_explicit(&pci_thread_budget->memory, (int64_t)bytes, memory_order_relaxed);
}

void pci_budget_credit(size_t bytes)
{
    if (pci_thread_budget)
        atomic_fetch_sub_explicit(&pci_thread_budget->memory, (int64_t)bytes, memory_order_relaxed);
}

pcol_status pci_memory_failed(pcol_error *err)
{
    struct pci_budget *budget = pci_thread_budget;
    PCI_TRY(pci_work(0, err)); /* cancelled */
    if (!budget || !atomic_load_explicit(&budget->exceeded, memory_order_relaxed))
        return pci_fail(err, PCOL_E_NO_MEMORY, "out of memory");
    return FAIL_LIMIT(err,
                      "the input takes more than %" PRId64
                      " MiB of memory, which is too much for its %" PRIu64 " bytes" TRUST,
                      memory_limit(budget) >> 20, input_bytes(budget));
}

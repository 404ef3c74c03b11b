/*
 * import_budget.h - import budget: limits of memory and expansion for untrusted input
 *
 * A builder has one budget for all its inputs. Input bytes, as stored (compressed), raise it. Every
 * allocation (alloc.c) of a thread within a scope of the budget is charged to it and credited when
 * it is freed. An allocation beyond the budget fails like one without memory; pci_fail_memory()
 * then reports E_LIMIT. Bytes that an input expands to (gzip, slabs named repeatedly, rows of a
 * pcol file that take no bytes, fields of pprof of fewer bytes than they cost) cost time even
 * without memory: pci_budget_charge_expansion() charges them.
 * Threading: counters are atomic; worker threads inherit the scope of the thread that starts them
 * (thread_pool.c). Tests: tests/unit/test_import_budget.c, tests/hostile/bombs.
 */
#ifndef PCI_UTIL_IMPORT_BUDGET_H
#define PCI_UTIL_IMPORT_BUDGET_H

#include "pcol.h"

#include "util/lock.h"

#include <stdatomic.h>
#include <stddef.h>

#define PCI_BUDGET_MEMORY (INT64_C(256) << 20)
#define PCI_BUDGET_MEMORY_PER_BYTE 64
#define PCI_BUDGET_EXPANDED (UINT64_C(64) << 20)
#define PCI_BUDGET_EXPANDED_PER_BYTE 200u
#define PCI_BUDGET_CELLS (UINT64_C(64) << 20)
#define PCI_BUDGET_CELLS_PER_BYTE 64u
#define PCI_BUDGET_FREE_COLUMNS 64u
#define PCI_BUDGET_STACKS (UINT64_C(4) << 20)
#define PCI_BUDGET_STACKS_PER_BYTE 4u

struct pci_budget {
    _Atomic uint64_t input_bytes;
    _Atomic int64_t memory; /* bytes allocated and not freed within the scopes */
    _Atomic uint64_t expanded;
    _Atomic int exceeded; /* an allocation was rejected */
    int used;             /* an input was added: writing is charged, too */
    int trusted;          /* a trusted input was added: limits are off from then on */
};

/* The budget that this thread charges; NULL: none. */
extern PCI_THREAD_LOCAL struct pci_budget *pci_thread_budget;

/* Enter a scope; returns the budget of the enclosing scope, for pci_budget_leave(). */
struct pci_budget *pci_budget_enter(struct pci_budget *budget);
void pci_budget_leave(struct pci_budget *enclosing);

/* Raise the limits by bytes of input as stored. NULL: no effect. */
void pci_budget_grant(struct pci_budget *budget, uint64_t bytes);
/* Charge bytes that the input expands to. E_LIMIT beyond 64 MiB plus 200 for each byte of input. */
pcol_status pci_budget_charge_expansion(struct pci_budget *budget, uint64_t bytes, pcol_error *err);
/* Cells of columns that can be null in most rows: each takes a bit and time when the table is
 * written, even where the input has nothing. E_LIMIT if those beyond 64 columns are more than 64 Mi
 * plus 64 for each byte of input. rows * columns is below 2^64. */
pcol_status pci_budget_check_cells(struct pci_budget *budget, uint64_t rows, uint64_t columns,
                                   pcol_error *err);

/* Nodes of call stacks: an input may have a byte for thousands, and queries need 140 bytes for
 * each. E_LIMIT if they are more than 4 Mi plus 4 for each byte of input; real profiles have at
 * most 0.6. */
pcol_status pci_budget_check_stacks(struct pci_budget *budget, uint64_t nodes, pcol_error *err);

/* For alloc.c. Charge: 0, or -1 beyond the limit of the thread's budget; note: charge without a
 * limit; credit: bytes freed. */
int pci_budget_charge(size_t bytes);
void pci_budget_charge_unlimited(size_t bytes);
void pci_budget_credit(size_t bytes);

#endif

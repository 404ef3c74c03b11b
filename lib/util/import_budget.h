/*
 * import_budget.h - import budget: the memory and work that an untrusted input may ask for
 *
 * A builder has one budget for all its inputs. Input bytes, counted as they came (compressed),
 * raise it; every allocation of the library (alloc.c) made by a thread within a scope of the budget
 * is charged to it and freeing credits it. An allocation beyond the budget fails as if memory were
 * out, and pci_fail_memory() then reports E_LIMIT. So an importer cannot forget to charge. Bytes
 * that an input expands to (gzip, slabs named repeatedly, rows of a pcol file that take no bytes)
 * take time even where they take no memory: those are charged by pci_budget_expand().
 * Threads: worker threads inherit the scope of the thread that starts them (thread_pool.c); the
 * counters
 * are atomic. Tests: tests/unit/test_budget.c, tests/bombs.
 */
#ifndef PCI_UTIL_IMPORT_BUDGET_H
#define PCI_UTIL_IMPORT_BUDGET_H

#include "pcol.h"

#include <stdatomic.h>
#include <stddef.h>

#define PCI_BUDGET_MEMORY (INT64_C(256) << 20)
#define PCI_BUDGET_MEMORY_PER_BYTE 64
#define PCI_BUDGET_EXPANDED (UINT64_C(64) << 20)
#define PCI_BUDGET_EXPANDED_PER_BYTE 200u

struct pci_budget {
    _Atomic uint64_t input_bytes;
    _Atomic int64_t memory; /* bytes allocated and not freed within the scopes */
    _Atomic uint64_t expanded;
    _Atomic int exceeded; /* an allocation was refused */
    int used;             /* an input was added, so writing is within the budget, too */
    int trusted;          /* a trusted input was added: nothing is refused from then on */
};

/* The budget that this thread charges; NULL: none. */
extern _Thread_local struct pci_budget *pci_budget_now;

/* Begin a scope; returns the budget of the scope around it, for pci_budget_leave(). */
struct pci_budget *pci_budget_enter(struct pci_budget *budget);
void pci_budget_leave(struct pci_budget *before);

/* Bytes of input as they came. No budget (NULL): nothing is done. */
void pci_budget_grant(struct pci_budget *budget, uint64_t bytes);
/* Charge bytes that the input expands to. E_LIMIT beyond 64 MiB and 200 for each byte of input. */
pcol_status pci_budget_expand(struct pci_budget *budget, uint64_t bytes, pcol_error *err);

/* For alloc.c: 0, or -1 if the thread's budget refuses so many bytes more; a charge that is not
 * refused; bytes that were freed. */
int pci_budget_charge(size_t bytes);
void pci_budget_note(size_t bytes);
void pci_budget_credit(size_t bytes);

#endif

/*
 * error.h - constructors of a pcol_error
 *
 * Each returns its status, so that a caller can write
 *     return pci_fail(err, PCOL_E_ARGUMENT, "column %u does not exist", column);
 * `err` may be NULL. Tests: tests/unit/test_util.c.
 */
#ifndef PCI_UTIL_ERROR_H
#define PCI_UTIL_ERROR_H

#include "pcol.h"

#define PCI_PRINTF(f, a) __attribute__((format(printf, f, a), cold))

pcol_status pci_fail(pcol_error *err, pcol_status status, const char *format, ...) PCI_PRINTF(3, 4);
/* Error at a byte offset of the file or input. */
pcol_status pci_fail_at_byte(pcol_error *err, pcol_status status, uint64_t offset,
                             const char *format, ...) PCI_PRINTF(4, 5);
/* Error at line:column of a text, both from 1. */
pcol_status pci_fail_text(pcol_error *err, pcol_status status, uint64_t line, uint64_t column,
                          const char *format, ...) PCI_PRINTF(5, 6);
/* Error at a cell; column may be NULL, row PCOL_POSITION_UNKNOWN. */
pcol_status pci_fail_cell(pcol_error *err, pcol_status status, const char *table,
                          const char *column, uint64_t row, const char *format, ...)
    PCI_PRINTF(6, 7);
#define pci_corrupt(err, ...) pci_fail_cell(err, PCOL_E_CORRUPT, __VA_ARGS__)
/* E_IO with the text of errno: "cannot ACTION: No such file or directory"; E_NO_MEMORY for
 * ENOMEM. */
pcol_status pci_fail_errno(pcol_error *err, const char *action);
/* Set the member of a public struct, or the flag, that an error is about (pcol_error.option):
 *     return pci_error_option(err, "source", pci_fail(err, ...)); */
void pci_error_set_option(pcol_error *err, const char *option) __attribute__((cold));
static inline pcol_status pci_error_option(pcol_error *err, const char *option, pcol_status status)
{
    if (status != PCOL_OK)
        pci_error_set_option(err, option);
    return status;
}
/* Write bytes to a sink of the caller. A failure always fills *err, even if the sink does not. */
/* Copy the error of a call whose status was examined first: `err` is not written on success. */
static inline pcol_status pci_pass_error(pcol_error *err, const pcol_error *error,
                                         pcol_status status)
{
    if (status != PCOL_OK && err)
        *err = *error;
    return status;
}
pcol_status pci_sink_write(pcol_sink sink, const void *data, size_t size, pcol_error *err);
#ifdef __clang_analyzer__
/* Macros for the analyzer, which does not see that error.c returns `s` and thus never PCOL_OK. */
#define pci_fail(e, s, ...) ((void)pci_fail(e, s, __VA_ARGS__), (s))
#define pci_fail_at_byte(e, s, ...) ((void)pci_fail_at_byte(e, s, __VA_ARGS__), (s))
#define pci_fail_text(e, s, ...) ((void)pci_fail_text(e, s, __VA_ARGS__), (s))
#define pci_fail_cell(e, s, ...) ((void)pci_fail_cell(e, s, __VA_ARGS__), (s))
#endif

/* Error of a failed allocation: E_NO_MEMORY, E_LIMIT if it exceeded the import budget
 * (import_budget.h), or E_CANCELLED if the call was cancelled while an array grew. Inline, so that
 * compilers and analyzers see that it is never PCOL_OK. */
pcol_status pci_memory_failed(pcol_error *err) __attribute__((cold));
static inline pcol_status pci_fail_memory(pcol_error *err)
{
    pcol_status status = pci_memory_failed(err);
    return status != PCOL_OK ? status : PCOL_E_NO_MEMORY;
}

/* Return from the calling function if an expression is not PCOL_OK. */
#define PCI_TRY(expression)                    \
    do {                                       \
        pcol_status try_status = (expression); \
        if (try_status != PCOL_OK)             \
            return try_status;                 \
    } while (0)

/* The next step of a sequence that ends with a cleanup: evaluated unless an earlier one failed. */
#define PCI_THEN(status, expression) \
    do {                             \
        if ((status) == PCOL_OK)     \
            (status) = (expression); \
    } while (0)

#endif

/*
 * control.h - progress, cancellation and notices of long calls (pcol_control)
 *
 * A public call enters a scope with the control of its options; calls within it that have none
 * inherit the scope. Central loops (reading cells, input and output, encoding, checksums, walks of
 * the call tree) report their work in bytes; after each PCI_CONTROL_STEP bytes the caller's
 * progress function is asked whether to go on.
 * The caller's functions run outside of all scopes: they may call the library with other handles.
 * Threading: callbacks are called by the caller's thread only. Worker threads inherit the scope
 * (thread_pool.c) and only look at `cancelled`.
 * Tests: tests/unit/test_control.c.
 */
#ifndef PCI_UTIL_CONTROL_H
#define PCI_UTIL_CONTROL_H

#include "util/error.h"
#include "util/lock.h"

#include <stdarg.h>
#include <stdatomic.h>

#define PCI_CONTROL_STEP (UINT64_C(256) << 10)
/* Bytes of work to report for an item of a loop that is looked up in memory or compared. */
#define PCI_ITEM_WORK 64u

struct pci_control {
    pcol_control given;
    const char *phase, *format;
    uint64_t done, total; /* total: 0 if not known */
    uint64_t unreported;  /* bytes of work since the last call of progress */
    atomic_int cancelled;
    unsigned depth; /* number of nested calls within the scope */
    int started;
    struct pci_control *enclosing;
};

/* The scope of this thread; NULL: none. */
extern PCI_THREAD_LOCAL struct pci_control *pci_thread_control;
/* 1 in threads that the library has started. */
extern PCI_THREAD_LOCAL int pci_thread_is_worker;

/* Initializes the scope of a call or of a handle. given NULL: calls in the scope inherit the
 * enclosing one. E_ARGUMENT if the size of *given is not set. */
pcol_status pci_control_init(struct pci_control *scope, const pcol_control *given,
                             const char *phase, pcol_error *err);

/* Enters a scope, also within itself; the first time progress is called. To be left whatever the
 * result is. E_CANCELLED. */
pcol_status pci_control_enter(struct pci_control *scope, pcol_error *err);
void pci_control_leave(struct pci_control *scope);

/* Evaluates `call` within a scope and assigns its status. */
#define PCI_CONTROLLED(scope, status, call, err)          \
    do {                                                  \
        struct pci_control *entered_scope = (scope);      \
        (status) = pci_control_enter(entered_scope, err); \
        if ((status) == PCOL_OK)                          \
            (status) = (call);                            \
        pci_control_leave(entered_scope);                 \
    } while (0)

/* The scopes of a thread while it runs a function of the program. A call that the function makes,
 * of other handles, is one of its own: within the scopes it would call the function again, without
 * end, and its memory would count as the input's. */
struct pci_left_scopes {
    struct pci_control *control;
    struct pci_budget *budget;
};
struct pci_left_scopes pci_leave_scopes(void);
void pci_enter_scopes(struct pci_left_scopes left);

/* The sink of a program as one that leaves all scopes, and has a declared status. *sink is its
 * context. */
pcol_sink pci_program_sink(pcol_sink *sink);
/* Calls the reader of a program outside of all scopes. *got: number of bytes, 0 at the end. */
pcol_status pci_program_read(pcol_reader reader, void *data, size_t size, size_t *got,
                             pcol_error *err);

/* Sets the format that notices of the scope are about. */
void pci_control_set_format(const char *format);

/* Slow path of pci_work(). */
pcol_status pci_control_work(struct pci_control *scope, uint64_t bytes, pcol_error *err);

/* Reports work; E_CANCELLED if the caller has cancelled the call. */
static inline pcol_status pci_work(uint64_t bytes, pcol_error *err)
{
    return pci_thread_control ? pci_control_work(pci_thread_control, bytes, err) : PCOL_OK;
}

/* Reports the bytes of an input that were read, and its size or 0, after each piece.
 * E_CANCELLED. */
pcol_status pci_control_progress(uint64_t done, uint64_t total, pcol_error *err);

/* 1 if the scope takes notices. */
int pci_notices_wanted(void);
/* Formats a sentence, cut at 511 bytes, and passes it to the caller. subject: the kind of content
 * that it is about; option: pcol_notice.option; each "" if none. */
void pci_notice(pcol_notice_code code, const char *subject, const char *option, const char *format,
                ...) __attribute__((format(printf, 4, 5)));
void pci_notice_list(pcol_notice_code code, const char *subject, const char *option,
                     const char *format, va_list arguments) __attribute__((format(printf, 4, 0)));

#endif

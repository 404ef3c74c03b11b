/*
 * control.c - scopes of pcol_control
 */
#include "util/control.h"

#include "util/import_budget.h"
#include "util/sized_struct.h"

#include <stdio.h>

PCI_THREAD_LOCAL struct pci_control *pci_thread_control;
PCI_THREAD_LOCAL int pci_thread_is_worker;

/* The scopes of a thread while it runs a function of the program. */
struct left {
    struct pci_control *control;
    struct pci_budget *budget;
};

/* Leave all scopes: a call that the function makes, of other handles, is one of its own. Within
 * the scope it would call the function again, without end, and its memory would count as the
 * input's. */
static struct left leave_scopes(void)
{
    struct left left = {pci_thread_control, pci_budget_enter(NULL)};
    pci_thread_control = NULL;
    return left;
}

static void enter_again(struct left left)
{
    pci_budget_leave(left.budget);
    pci_thread_control = left.control;
}

static int ask_program(const struct pci_control *scope)
{
    struct left left = leave_scopes();
    int stops =
        scope->given.progress(scope->given.context, scope->phase, scope->done, scope->total);
    enter_again(left);
    return stops;
}

static pcol_status report(struct pci_control *scope, pcol_error *err)
{
    scope->unreported = 0;
    if (scope->given.progress && ask_program(scope))
        atomic_store(&scope->cancelled, 1);
    return atomic_load(&scope->cancelled) ? pci_fail(err, PCOL_E_CANCELLED, "cancelled") : PCOL_OK;
}

pcol_status pci_control_init(struct pci_control *scope, const pcol_control *given,
                             const char *phase, pcol_error *err)
{
    *scope = (struct pci_control){.phase = phase};
    if (given)
        PCI_STRUCT_READ(pcol_control, scope->given, given, err);
    return PCOL_OK;
}

pcol_status pci_control_enter(struct pci_control *scope, pcol_error *err)
{
    if (!scope->given.size)
        return pci_work(0, err);
    if (!scope->depth++) {
        scope->enclosing = pci_thread_control;
        pci_thread_control = scope;
    }
    if (scope->started)
        return pci_control_work(scope, 0, err);
    scope->started = 1;
    return report(scope, err);
}

void pci_control_leave(struct pci_control *scope)
{
    if (scope->depth && !--scope->depth)
        pci_thread_control = scope->enclosing;
}

void pci_control_set_format(const char *format)
{
    if (pci_thread_control && !pci_thread_is_worker)
        pci_thread_control->format = format;
}

pcol_status pci_control_work(struct pci_control *scope, uint64_t bytes, pcol_error *err)
{
    if (atomic_load_explicit(&scope->cancelled, memory_order_relaxed))
        return pci_fail(err, PCOL_E_CANCELLED, "cancelled");
    if (pci_thread_is_worker)
        return PCOL_OK;
    scope->unreported += bytes;
    if (!scope->total)
        scope->done += bytes;
    return scope->unreported >= PCI_CONTROL_STEP ? report(scope, err) : PCOL_OK;
}

pcol_status pci_control_progress(uint64_t done, uint64_t total, pcol_error *err)
{
    struct pci_control *scope = pci_thread_control;
    if (!scope || pci_thread_is_worker)
        return pci_work(0, err);
    scope->done = done;
    scope->total = total;
    return report(scope, err);
}

int pci_notices_wanted(void)
{
    return pci_thread_control && !pci_thread_is_worker && pci_thread_control->given.notice;
}

void pci_notice_list(pcol_notice_code code, const char *subject, const char *option,
                     const char *format, va_list arguments)
{
    char text[512];
    if (!pci_notices_wanted())
        return;
    const struct pci_control *scope = pci_thread_control;
    vsnprintf(text, sizeof text, format, arguments);
    pcol_notice notice = {.size = sizeof notice,
                          .code = code,
                          .format = scope->format ? scope->format : "",
                          .subject = subject,
                          .text = text,
                          .option = option};
    struct left left = leave_scopes();
    scope->given.notice(scope->given.context, &notice);
    enter_again(left);
}

void pci_notice(pcol_notice_code code, const char *subject, const char *option, const char *format,
                ...)
{
    va_list arguments;
    va_start(arguments, format);
    pci_notice_list(code, subject, option, format, arguments);
    va_end(arguments);
}

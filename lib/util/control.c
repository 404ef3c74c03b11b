/*
 * control.c - scopes of pcol_control
 */
#include "util/control.h"

#include "util/import_budget.h"
#include "util/sized_struct.h"

#include <stdio.h>

PCI_THREAD_LOCAL struct pci_control *pci_thread_control;
PCI_THREAD_LOCAL int pci_thread_is_worker;

struct pci_left_scopes pci_leave_scopes(void)
{
    struct pci_left_scopes left = {pci_thread_control, pci_budget_enter(NULL)};
    pci_thread_control = NULL;
    return left;
}

void pci_enter_scopes(struct pci_left_scopes left)
{
    pci_budget_leave(left.budget);
    pci_thread_control = left.control;
}

static pcol_status write_outside(void *context, const void *data, size_t size, pcol_error *err)
{
    const pcol_sink *sink = context;
    struct pci_left_scopes left = pci_leave_scopes();
    pcol_status status = sink->write(sink->context, data, size, err);
    pci_enter_scopes(left);
    return status == PCOL_OK ? PCOL_OK : pcol_error_set(NULL, status, 0, NULL);
}

pcol_sink pci_program_sink(pcol_sink *sink)
{
    return (pcol_sink){write_outside, sink};
}

pcol_status pci_program_read(pcol_reader reader, void *data, size_t size, size_t *got,
                             pcol_error *err)
{
    pcol_error error; /* default, for a reader that fails without filling its error */
    (void)pci_fail(&error, PCOL_E_IO, "cannot read: the reader of the input failed");
    struct pci_left_scopes left = pci_leave_scopes();
    int64_t n = reader.read(reader.context, data, size, &error);
    pci_enter_scopes(left);
    *got = 0;
    if (n < 0) {
        error.status =
            error.status == PCOL_OK ? PCOL_E_IO : pcol_error_set(NULL, error.status, 0, NULL);
        if (err)
            *err = error;
        return error.status;
    }
    if ((uint64_t)n > size)
        return pci_fail(err, PCOL_E_ARGUMENT,
                        "the reader of the input returned more bytes than were requested");
    *got = (size_t)n;
    return PCOL_OK;
}

static int ask_program(const struct pci_control *scope)
{
    struct pci_left_scopes left = pci_leave_scopes();
    int stops =
        scope->given.progress(scope->given.context, scope->phase, scope->done, scope->total);
    pci_enter_scopes(left);
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
        atomic_store(&scope->cancelled, 0); /* an earlier call of the handle was cancelled */
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
    struct pci_left_scopes left = pci_leave_scopes();
    scope->given.notice(scope->given.context, &notice);
    pci_enter_scopes(left);
}

void pci_notice(pcol_notice_code code, const char *subject, const char *option, const char *format,
                ...)
{
    va_list arguments;
    va_start(arguments, format);
    pci_notice_list(code, subject, option, format, arguments);
    va_end(arguments);
}

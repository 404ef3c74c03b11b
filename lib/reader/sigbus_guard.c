/*
 * sigbus_guard.c - SIGBUS handler that turns a fault in a mapped file into an error of that file
 *
 * Reading a map raises SIGBUS if its file was truncated or its disk fails. The handler replaces a
 * registered map by zero pages, sets its `lost` flag and returns; the read continues and the call
 * then fails with E_IO. No longjmp: no lock or memory leaks, and several threads may fault at once.
 * Zeros are safe because values are checked on use. Any other SIGBUS is forwarded to the previous
 * handler. Slots are never freed: a handler may read them at any time. Tests:
 * tests/unit/test_sigbus_guard.c.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, here only */
#include "reader/sigbus_guard.h"

#ifndef PCOL_NO_MMAP

#include "util/alloc.h"
#include "util/lock.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

struct pci_sigbus_slot {
    _Atomic uintptr_t begin; /* 0: the slot is free; written last and cleared first */
    _Atomic uintptr_t end;
    _Atomic uint8_t *_Atomic lost;
};

#define SLOTS 64

struct chunk {
    struct pci_sigbus_slot slots[SLOTS];
    struct chunk *_Atomic next;
};

static struct chunk first_chunk;
/* Protects the variables below and registration; never locked in the handler. */
static pci_mutex lock = PCI_MUTEX_INITIALIZER;
static size_t map_count;
static int installed;
static struct sigaction previous; /* action for a SIGBUS outside of registered maps */

/* ---- in the handler */

static int replace_with_zeros(uintptr_t begin, uintptr_t end)
{
    return mmap((void *)begin, end - begin, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0) != MAP_FAILED;
}

/* Replaces the registered map that contains the address by zeros; 0 if there is none. */
static int handle_address(uintptr_t address)
{
    for (struct chunk *c = &first_chunk; c; c = atomic_load(&c->next)) {
        for (size_t i = 0; i < SLOTS; i++) {
            uintptr_t begin = atomic_load(&c->slots[i].begin);
            if (!begin || address < begin)
                continue;
            uintptr_t end = atomic_load(&c->slots[i].end);
            _Atomic uint8_t *lost = atomic_load(&c->slots[i].lost);
            /* The slot of this thread's file is stable; other slots may change concurrently. */
            if (address >= end || atomic_load(&c->slots[i].begin) != begin)
                continue;
            atomic_store(lost, 1);
            return replace_with_zeros(begin, end);
        }
    }
    return 0;
}

/* Whether the action is default or ignore; both are valid with SA_SIGINFO, too. */
static int is_default_action(const struct sigaction *action)
{
    return action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN;
}

static void forward_signal(int number, siginfo_t *info, void *context)
{
    if (!is_default_action(&previous) && previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
        return;
    }
    if (!is_default_action(&previous)) {
        previous.sa_handler(number);
        return;
    }
    /* SIGBUS from kill() may be ignored; from a memory access it cannot be. */
    if (previous.sa_handler == SIG_IGN && info->si_code <= 0)
        return;
    signal(number, SIG_DFL);
    raise(number); /* delivered when this handler returns */
}

static void handle_sigbus(int number, siginfo_t *info, void *context)
{
    int before = errno;
    int ours = info->si_code > 0 && handle_address((uintptr_t)info->si_addr);
    errno = before;
    if (!ours)
        forward_signal(number, info, context);
}

/* ---- with the lock taken */

static int is_installed(void)
{
    struct sigaction now;
    return !sigaction(SIGBUS, NULL, &now) && now.sa_flags & SA_SIGINFO &&
           now.sa_sigaction == handle_sigbus;
}

static pcol_status install(pcol_error *err)
{
    struct sigaction action, now;
    /* A handler installed after ours may forward to it; installing ours again would make the two
     * call each other. Default or ignore means that ours was removed. */
    if (installed && (sigaction(SIGBUS, NULL, &now) || !is_default_action(&now)))
        return PCOL_OK;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = handle_sigbus;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    if (sigaction(SIGBUS, NULL, &previous) || sigaction(SIGBUS, &action, NULL))
        return pci_fail_errno(err, "set a handler for SIGBUS");
    installed = 1;
    return PCOL_OK;
}

static void uninstall(void)
{
    if (installed && is_installed() && !sigaction(SIGBUS, &previous, NULL))
        installed = 0;
}

static struct pci_sigbus_slot *free_slot(void)
{
    struct chunk *c = &first_chunk;
    for (;;) {
        for (size_t i = 0; i < SLOTS; i++)
            if (!atomic_load(&c->slots[i].begin))
                return &c->slots[i];
        struct chunk *next = atomic_load(&c->next);
        if (!next) {
            next = pci_calloc(1, sizeof *next);
            if (!next)
                return NULL;
            atomic_store(&c->next, next);
        }
        c = next;
    }
}

static pcol_status register_locked(const void *map, size_t size, _Atomic uint8_t *lost,
                                   struct pci_sigbus_slot **slot, pcol_error *err)
{
    struct pci_sigbus_slot *s = free_slot();
    if (!s)
        return pci_fail_memory(err);
    PCI_TRY(install(err));
    atomic_store(&s->lost, lost);
    atomic_store(&s->end, (uintptr_t)map + size);
    atomic_store(&s->begin, (uintptr_t)map);
    map_count++;
    *slot = s;
    return PCOL_OK;
}

/* ---- registration */

pcol_status pci_sigbus_begin(const void *map, size_t size, _Atomic uint8_t *lost,
                             struct pci_sigbus_slot **slot, pcol_error *err)
{
    *slot = NULL;
    pci_mutex_lock(&lock);
    pcol_status status = register_locked(map, size, lost, slot, err);
    pci_mutex_unlock(&lock);
    return status;
}

void pci_sigbus_end(struct pci_sigbus_slot *slot)
{
    if (!slot)
        return;
    pci_mutex_lock(&lock);
    atomic_store(&slot->begin, 0);
    if (!--map_count)
        uninstall();
    pci_mutex_unlock(&lock);
}

#else

pcol_status pci_sigbus_begin(const void *map, size_t size, _Atomic uint8_t *lost,
                             struct pci_sigbus_slot **slot, pcol_error *err)
{
    (void)map, (void)size, (void)lost, (void)slot;
    return pci_fail(err, PCOL_E_UNSUPPORTED, "this build of the library cannot map files");
}

void pci_sigbus_end(struct pci_sigbus_slot *slot)
{
    (void)slot;
}

#endif

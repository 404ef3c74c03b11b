/*
 * sigbus_guard.c - SIGBUS in a mapped file becomes an error of that file
 *
 * A map raises SIGBUS where its file was cut or its disk cannot be read, in the thread that reads.
 * The handler looks whether the address lies in a map that is watched. If so it puts zeros in the
 * place of the whole map, notes that the file is lost, and returns: the reading goes on, ends soon,
 * and every call that reads the file fails from then on. Nothing is jumped over, so no lock stays
 * taken and nothing leaks, and several threads may meet the fault at once. Zeros are safe because
 * every value is checked when it is used; one fault is all that a lost file costs.
 *
 * Any other SIGBUS goes to the handler that was there before ours, or does what it would have done.
 * The maps stand in slots that are never freed, because a handler may look at them at any time.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, here only */
#include "reader/sigbus_guard.h"

#include "util/alloc.h"

#include <errno.h>
#include <pthread.h>
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
static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* for all below; never taken in the handler */
static size_t watched;
static int installed;
static struct sigaction earlier; /* what is done with a SIGBUS that is not ours */

/* ---- in the handler */

static int replace_with_zeros(uintptr_t begin, uintptr_t end)
{
    return mmap((void *)begin, end - begin, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0) != MAP_FAILED;
}

/* Whether the address lies in a map of ours, which then is zeros. */
static int take(uintptr_t address)
{
    for (struct chunk *c = &first_chunk; c; c = atomic_load(&c->next)) {
        for (size_t i = 0; i < SLOTS; i++) {
            uintptr_t begin = atomic_load(&c->slots[i].begin);
            if (!begin || address < begin)
                continue;
            uintptr_t end = atomic_load(&c->slots[i].end);
            _Atomic uint8_t *lost = atomic_load(&c->slots[i].lost);
            /* Ours is open while this thread reads it. Another slot may change under our eyes. */
            if (address >= end || atomic_load(&c->slots[i].begin) != begin)
                continue;
            atomic_store(lost, 1);
            return replace_with_zeros(begin, end);
        }
    }
    return 0;
}

/* With SA_SIGINFO, too, these two are what they are. */
static int is_no_handler(const struct sigaction *action)
{
    return action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    if (!is_no_handler(&earlier) && earlier.sa_flags & SA_SIGINFO) {
        earlier.sa_sigaction(number, info, context);
        return;
    }
    if (!is_no_handler(&earlier)) {
        earlier.sa_handler(number);
        return;
    }
    /* Sent by a process: it may be ignored. Raised by an access: it never is. */
    if (earlier.sa_handler == SIG_IGN && info->si_code <= 0)
        return;
    signal(number, SIG_DFL);
    raise(number); /* waits until this handler returns */
}

static void on_bus(int number, siginfo_t *info, void *context)
{
    int before = errno;
    int ours = info->si_code > 0 && take((uintptr_t)info->si_addr);
    errno = before;
    if (!ours)
        pass_on(number, info, context);
}

/* ---- with the lock taken */

static int is_ours(void)
{
    struct sigaction now;
    return !sigaction(SIGBUS, NULL, &now) && now.sa_flags & SA_SIGINFO &&
           now.sa_sigaction == on_bus;
}

static pcol_status install(pcol_error *err)
{
    struct sigaction action, now;
    /* One that was set after ours may hand on to it: above that, the two would call each other.
     * Where there is none at all any more, ours is gone. */
    if (installed && (sigaction(SIGBUS, NULL, &now) || !is_no_handler(&now)))
        return PCOL_OK;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = on_bus;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    if (sigaction(SIGBUS, NULL, &earlier) || sigaction(SIGBUS, &action, NULL))
        return pci_fail_errno(err, "set a handler for SIGBUS");
    installed = 1;
    return PCOL_OK;
}

static void uninstall(void)
{
    if (installed && is_ours() && !sigaction(SIGBUS, &earlier, NULL))
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

static pcol_status begin_locked(const void *map, size_t size, _Atomic uint8_t *lost,
                                struct pci_sigbus_slot **slot, pcol_error *err)
{
    struct pci_sigbus_slot *s = free_slot();
    if (!s)
        return pci_fail_memory(err);
    PCI_TRY(install(err));
    atomic_store(&s->lost, lost);
    atomic_store(&s->end, (uintptr_t)map + size);
    atomic_store(&s->begin, (uintptr_t)map);
    watched++;
    *slot = s;
    return PCOL_OK;
}

/* ---- for file.c */

pcol_status pci_sigbus_begin(const void *map, size_t size, _Atomic uint8_t *lost,
                             struct pci_sigbus_slot **slot, pcol_error *err)
{
    *slot = NULL;
    pthread_mutex_lock(&lock);
    pcol_status status = begin_locked(map, size, lost, slot, err);
    pthread_mutex_unlock(&lock);
    return status;
}

void pci_sigbus_end(struct pci_sigbus_slot *slot)
{
    if (!slot)
        return;
    pthread_mutex_lock(&lock);
    atomic_store(&slot->begin, 0);
    if (!--watched)
        uninstall();
    pthread_mutex_unlock(&lock);
}

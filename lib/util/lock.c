/*
 * lock.c - recursive mutexes, bounded waits, and threads that leave signals to the caller
 */
#include "util/lock.h"

#ifndef PCOL_NO_THREADS

#include <signal.h>
#include <stddef.h>
#include <time.h>

/* Enough for all code that runs here; the default of 8 MB would count against limits of address
 * space. */
#define STACK_BYTES ((size_t)1 << 20)
#define POLL_NS 10000000L

int pci_mutex_init_recursive(pci_mutex *mutex)
{
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0)
        return -1;
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    int failed = pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return failed;
}

int pci_condition_wait_briefly(pci_condition *condition, pci_mutex *mutex)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += POLL_NS;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    return pthread_cond_timedwait(condition, mutex, &until);
}

int pci_thread_start(pci_thread *thread, void *(*run)(void *), void *context)
{
    static const int synchronous[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
    sigset_t blocked, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return -1;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof synchronous / sizeof *synchronous; i++)
        sigdelset(&blocked, synchronous[i]);
    int result = pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (result == 0)
        result = pthread_sigmask(SIG_SETMASK, &blocked, &before);
    if (result == 0) {
        result = pthread_create(thread, &attributes, run, context);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return result == 0 ? 0 : -1;
}

#else

int pci_mutex_init_recursive(pci_mutex *mutex)
{
    return pci_mutex_init(mutex);
}

int pci_condition_wait_briefly(pci_condition *condition, pci_mutex *mutex)
{
    pci_condition_wait(condition, mutex);
    return 0;
}

int pci_thread_start(pci_thread *thread, void *(*run)(void *), void *context)
{
    *thread = 0;
    (void)run, (void)context;
    return -1;
}

#endif

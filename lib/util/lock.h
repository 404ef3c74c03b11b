/*
 * lock.h - mutexes, condition variables, threads and thread-local variables
 *
 * The only header of the library that includes pthread.h. With PCOL_NO_THREADS the library is for
 * programs of one thread: no thread starts, mutexes are empty, and nothing waits for a condition.
 * Functions that return int: 0, or an error number. Tests: tests/unit/test_thread_pool.c.
 */
#ifndef PCI_UTIL_LOCK_H
#define PCI_UTIL_LOCK_H

#ifndef PCOL_NO_THREADS

#include <pthread.h>

#define PCI_THREAD_LOCAL _Thread_local
#define PCI_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER

typedef pthread_mutex_t pci_mutex;
typedef pthread_cond_t pci_condition;
typedef pthread_t pci_thread;

static inline int pci_mutex_init(pci_mutex *mutex)
{
    return pthread_mutex_init(mutex, NULL);
}

static inline void pci_mutex_destroy(pci_mutex *mutex)
{
    pthread_mutex_destroy(mutex);
}

static inline void pci_mutex_lock(pci_mutex *mutex)
{
    pthread_mutex_lock(mutex);
}

static inline void pci_mutex_unlock(pci_mutex *mutex)
{
    pthread_mutex_unlock(mutex);
}

static inline int pci_condition_init(pci_condition *condition)
{
    return pthread_cond_init(condition, NULL);
}

static inline void pci_condition_destroy(pci_condition *condition)
{
    pthread_cond_destroy(condition);
}

static inline void pci_condition_signal(pci_condition *condition)
{
    pthread_cond_signal(condition);
}

static inline void pci_condition_broadcast(pci_condition *condition)
{
    pthread_cond_broadcast(condition);
}

static inline void pci_condition_wait(pci_condition *condition, pci_mutex *mutex)
{
    pthread_cond_wait(condition, mutex);
}

static inline void pci_thread_join(pci_thread thread)
{
    pthread_join(thread, NULL);
}

#else

#include <stdlib.h>

#define PCI_THREAD_LOCAL
#define PCI_MUTEX_INITIALIZER 0

typedef char pci_mutex;
typedef char pci_condition;
typedef char pci_thread;

static inline int pci_mutex_init(pci_mutex *mutex)
{
    *mutex = PCI_MUTEX_INITIALIZER;
    return 0;
}

static inline void pci_mutex_destroy(pci_mutex *mutex)
{
    (void)mutex;
}

static inline void pci_mutex_lock(pci_mutex *mutex)
{
    (void)mutex;
}

static inline void pci_mutex_unlock(pci_mutex *mutex)
{
    (void)mutex;
}

static inline int pci_condition_init(pci_condition *condition)
{
    *condition = 0;
    return 0;
}

static inline void pci_condition_destroy(pci_condition *condition)
{
    (void)condition;
}

static inline void pci_condition_signal(pci_condition *condition)
{
    (void)condition;
}

static inline void pci_condition_broadcast(pci_condition *condition)
{
    (void)condition;
}

/* Never called: no other thread exists that could make the condition true. */
static inline void pci_condition_wait(pci_condition *condition, pci_mutex *mutex)
{
    (void)condition, (void)mutex;
    abort();
}

static inline void pci_thread_join(pci_thread thread)
{
    (void)thread;
}

#endif

/* A mutex that its owner may lock again. */
int pci_mutex_init_recursive(pci_mutex *mutex);

/* Waits up to 10 ms; non-zero if the time passed without a signal. */
int pci_condition_wait_briefly(pci_condition *condition, pci_mutex *mutex);

/* Starts a thread that blocks all signals, so that the caller's threads handle them, except for
 * synchronous ones, which the kernel delivers to the thread that caused them. -1: none started. */
int pci_thread_start(pci_thread *thread, void *(*run)(void *), void *context);

#endif

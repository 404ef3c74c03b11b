/*
 * cli_lock.h - threads of the command: the only place that includes pthread.h
 *
 * With PCOL_NO_THREADS neither the command nor the library starts a thread.
 */
#ifndef PCOL_TOOLS_CLI_LOCK_H
#define PCOL_TOOLS_CLI_LOCK_H

#ifndef PCOL_NO_THREADS

#include <pthread.h>

#define CLI_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define CLI_ONCE_INITIALIZER PTHREAD_ONCE_INIT

typedef pthread_mutex_t cli_mutex;
typedef pthread_once_t cli_once;

static inline void cli_mutex_lock(cli_mutex *mutex)
{
    pthread_mutex_lock(mutex);
}

static inline void cli_mutex_unlock(cli_mutex *mutex)
{
    pthread_mutex_unlock(mutex);
}

/* Call the function unless it was called with this variable before. */
static inline void cli_call_once(cli_once *once, void (*function)(void))
{
    pthread_once(once, function);
}

#else

#define CLI_MUTEX_INITIALIZER 0
#define CLI_ONCE_INITIALIZER 0

typedef char cli_mutex;
typedef char cli_once;

static inline void cli_mutex_lock(cli_mutex *mutex)
{
    (void)mutex;
}

static inline void cli_mutex_unlock(cli_mutex *mutex)
{
    (void)mutex;
}

static inline void cli_call_once(cli_once *once, void (*function)(void))
{
    if (!*once)
        function();
    *once = 1;
}

#endif

#endif

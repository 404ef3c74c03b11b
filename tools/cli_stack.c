/*
 * cli_stack.c - a thread with a sufficient stack, independent of `ulimit -s`
 *
 * The library reads columns in blocks of 1024 rows on its stack, some of them nested: less than
 * 128 KiB. Limits below that are set against recursive programs.
 */
#include "cli.h"
#include "cli_folder.h"
#include "cli_lock.h"

#ifdef PCOL_NO_THREADS

int cli_with_stack(int (*function)(void *context), void *context)
{
    return function(context);
}

#else

#include <sys/resource.h>

enum { ENOUGH_BYTES = 256 << 10, STACK_BYTES = 1 << 20 };

struct work {
    int (*run)(void *context);
    void *context;
    sigset_t signals;
    int code;
};

static void *run(void *context)
{
    struct work *work = context;

    cli_signals_release(&work->signals);
    work->code = work->run(work->context);
    return NULL;
}

static int is_small(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           limit.rlim_cur < ENOUGH_BYTES;
}

/* Run the function on a thread with its own stack, or here if no thread starts. This thread takes
 * no signals meanwhile, as the other one must be able to hold them. */
int cli_with_stack(int (*function)(void *context), void *context)
{
    struct work work = {.run = function, .context = context, .code = CLI_OK};
    pthread_attr_t attributes;
    pthread_t thread;
    int failed = 1;

    if (!is_small() || pthread_attr_init(&attributes) != 0)
        return function(context);
    cli_signals_hold(&work.signals);
    if (pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0)
        failed = pthread_create(&thread, &attributes, run, &work);
    pthread_attr_destroy(&attributes);
    if (failed == 0)
        pthread_join(thread, NULL);
    cli_signals_release(&work.signals);
    return failed ? function(context) : work.code;
}

#endif

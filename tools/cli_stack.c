/*
 * cli_stack.c - a stack that is large enough, whatever `ulimit -s` says
 *
 * The library reads columns by blocks of 1024 rows that lie on its stack, some of them within one
 * another: less than 128 KiB. Whoever limits stacks to less does so for programs that recurse.
 */
#include "cli.h"

#include <pthread.h>
#include <sys/resource.h>

enum { ENOUGH_BYTES = 256 << 10, STACK_BYTES = 1 << 20 };

struct work {
    int (*run)(void *context);
    void *context;
    int code;
};

static void *run(void *context)
{
    struct work *work = context;

    work->code = work->run(work->context);
    return NULL;
}

static int is_small(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           limit.rlim_cur < ENOUGH_BYTES;
}

/* A thread has the stack that it is given. Without one the command does with what there is. */
int cli_with_stack(int (*function)(void *context), void *context)
{
    struct work work = {function, context, CLI_OK};
    pthread_attr_t attributes;
    pthread_t thread;
    int failed = 1;

    if (!is_small() || pthread_attr_init(&attributes) != 0)
        return function(context);
    if (pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0)
        failed = pthread_create(&thread, &attributes, run, &work);
    pthread_attr_destroy(&attributes);
    if (failed)
        return function(context);
    pthread_join(thread, NULL);
    return work.code;
}

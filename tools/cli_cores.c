/*
 * cli_cores.c - how many threads the library may start for a command
 *
 * A machine may have more cores than this process is allowed to use (taskset, containers): those
 * are not counted, because threads on them would only take turns.
 */
#define _GNU_SOURCE /* sched_getaffinity(), here only */
#include "cli.h"

#include <sched.h>
#include <unistd.h>

#define MOST 8u /* by default: beyond, nothing that pcol does gains from more */

static unsigned usable_cores(void)
{
#ifdef __linux__
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (unsigned)(cores < 1024 ? cores : 1024) : 1;
}

unsigned cli_threads(const struct cli_args *args)
{
    if (args->threads != 0)
        return args->threads < 1024 ? (unsigned)args->threads : 1024;
    unsigned cores = usable_cores();
    return cores < MOST ? cores : MOST;
}

/*
 * cli_cores.c - the number of threads that the library may start for a command
 *
 * Only cores available to this process count (taskset, containers): threads on others would share
 * the available ones.
 */
#define _GNU_SOURCE /* declares sched_getaffinity(), in this file only */
#include "cli.h"

#include <sched.h>
#include <unistd.h>

#define MOST 8u /* default maximum: pcol gains nothing from more threads */

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

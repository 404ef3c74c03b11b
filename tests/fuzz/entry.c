/*
 * entry.c - one target as a program for libFuzzer or AFL++: -DFUZZ_TARGET='"open"'
 */
#include "targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void); /* NOLINT: the sanitizer's own name */

/* What is freed waits 2 MB long, not 256, which keeps it in the cache; and stacks of allocations are
 * short: twice as many executions. A replay has the defaults, for a report that tells all. */
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=2:thread_local_quarantine_size_kb=32:malloc_context_size=2:"
           "max_malloc_fill_size=256:allocator_release_to_os_interval_ms=-1";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct fuzz_target *target;
    if (!target) {
        target = fuzz_find(FUZZ_TARGET);
        fuzz_sparingly();
    }
    if (target)
        fuzz_run(target, data, size);
    return 0;
}

/*
 * entry.c - one target as a program for libFuzzer or AFL++: -DFUZZ_TARGET=open, or for a format
 * -DFUZZ_TARGET=import -DFUZZ_FORMAT=_rprof
 */
#include "targets.h"

#include <malloc.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void); /* NOLINT: the sanitizer's own name */

/* A quarantine of 2 MB for freed memory, not 256, stays in the cache; and stacks of allocations are
 * short: twice as many executions. A replay has the defaults, for a complete report. */
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=2:thread_local_quarantine_size_kb=32:malloc_context_size=2:"
           "max_malloc_fill_size=256:allocator_release_to_os_interval_ms=-1";
}

#define NAME_OF(target) #target
#define NAME(target) NAME_OF(target)
#define RUN_OF(target) fuzz_##target
#define RUN(target) RUN_OF(target)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef FUZZ_FORMAT
    static const struct fuzz_target target = {.name = NAME(FUZZ_TARGET) NAME(FUZZ_FORMAT),
                                              .run_format = RUN(FUZZ_TARGET)};
#else
    static const struct fuzz_target target = {.name = NAME(FUZZ_TARGET), .run = RUN(FUZZ_TARGET)};
#endif
    static int begun;
    if (!begun) {
        begun = 1;
        fuzz_sparingly();
        /* Memory that one input gave back is the next one's: no page is faulted in twice. */
        (void)mallopt(M_TRIM_THRESHOLD, 512 << 20);
        (void)mallopt(M_MMAP_THRESHOLD, 64 << 20);
    }
    fuzz_run(&target, data, size);
    return 0;
}

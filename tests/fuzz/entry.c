/*
 * entry.c - one target as a program for libFuzzer or AFL++: -DFUZZ_TARGET='"open"'
 */
#include "targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct fuzz_target *target;
    if (!target)
        target = fuzz_find(FUZZ_TARGET);
    if (target)
        fuzz_run(target, data, size);
    return 0;
}

/*
 * entropy.c - random bytes of the system: getrandom(), elsewhere getentropy()
 */
#define _DEFAULT_SOURCE /* getrandom() and getentropy(), here only */
#include "util/entropy.h"

#ifdef __linux__
#include <sys/random.h>
#include <sys/types.h>

int pci_random_bytes(void *bytes, size_t size)
{
    return getrandom(bytes, size, GRND_NONBLOCK) == (ssize_t)size ? 0 : -1;
}

#else
#include <sys/random.h>

int pci_random_bytes(void *bytes, size_t size)
{
    return getentropy(bytes, size);
}

#endif

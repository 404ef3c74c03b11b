/*
 * utf8.h - validation of UTF-8 characters
 */
#ifndef PCI_UTF8_H
#define PCI_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Size of the UTF-8 character at p, or 0 if it is invalid. surrogates: also accept the three bytes
 * of an encoded surrogate (WTF-8). */
static inline size_t pci_utf8_size(const uint8_t *p, size_t size, int surrogates)
{
    uint8_t c = p[0];
    size_t length = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (length < 2 || length > size)
        return length == 1;
    uint8_t least = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    uint8_t most = c == 0xed && !surrogates ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < least || p[1] > most)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

#endif

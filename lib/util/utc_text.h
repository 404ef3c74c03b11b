/*
 * utc_text.h - a point in time as ISO 8601 text in UTC
 */
#ifndef PCI_UTIL_UTC_TEXT_H
#define PCI_UTIL_UTC_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define PCI_UTC_TEXT_BYTES 48

/* "2024-05-01T12:00:00.125Z" of seconds since 1970 and nanoseconds (0 to 999,999,999) with `digits`
 * digits of the fraction; -1: without trailing zeros. */
void pci_utc_text(int64_t second, uint32_t nanosecond, int digits, char text[PCI_UTC_TEXT_BYTES]);

/* The same for nanoseconds since 1970, with as many digits as are not 0. */
void pci_utc_text_ns(int64_t ns, char text[PCI_UTC_TEXT_BYTES]);

#endif

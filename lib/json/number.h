/*
 * number.h - exact conversion of decimal text to double and back, independent of machine and locale
 */
#ifndef PCI_NUMBER_H
#define PCI_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define PCI_NUMBER_SIZE 32 /* longest text of a double, including the NUL */

/* The double nearest to a decimal number `[-]digits[.digits][e[+-]digits]`, ties to even; overflow
 * yields infinity. `text` must have this form and need not be terminated. `scratch` has at least
 * size + 1 bytes, for numbers of unusual size. */
double pci_number_parse(const char *text, size_t size, char *scratch);

/* strtod() in the C locale, regardless of the locale of the program. */
double pci_number_strtod(const char *text, char **end);

/* 10^0 to 10^19, all powers that fit 64 bits. */
#define PCI_MAX_POWER 19
extern const uint64_t pci_powers_of_ten[PCI_MAX_POWER + 1];

/* The double nearest to digits * 10^power, |power| <= 19, ties to even. */
double pci_number_scale(uint64_t digits, int power);

/* Shortest text that parses to the same double, "inf", "-inf" or "nan"; returns its length. */
size_t pci_number_format(double value, char text[PCI_NUMBER_SIZE]);

#endif

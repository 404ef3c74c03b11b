/*
 * number.h - decimal text to double and back, the same on every machine and in every locale
 */
#ifndef PCI_NUMBER_H
#define PCI_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define PCI_NUMBER_SIZE 32 /* the longest text of a double, with its end */

/* The double nearest to a decimal number `[-]digits[.digits][e[+-]digits]`, ties to even; too large
 * gives an infinity. @text need not be terminated and must be of that form. @scratch is for numbers
 * of unusual size: at least @size + 1 bytes. */
double pci_number_parse(const char *text, size_t size, char *scratch);

/* As strtod() in the C locale, whatever the locale of the program. */
double pci_number_read(const char *text, char **end);

/* 10^0 to 10^19, all that 64 bits hold. */
#define PCI_MAX_POWER 19
extern const uint64_t pci_powers_of_ten[PCI_MAX_POWER + 1];

/* The double nearest to digits * 10^power, |power| <= 19, ties to even. */
double pci_number_scale(uint64_t digits, int power);

/* The shortest text that gives the same double back; returns its length. Others than finite numbers
 * are "inf", "-inf" and "nan". */
size_t pci_number_format(double value, char text[PCI_NUMBER_SIZE]);

#endif

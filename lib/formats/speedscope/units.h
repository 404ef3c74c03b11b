/*
 * units.h - units of speedscope's values and their sample types
 */
#ifndef PCI_SPEEDSCOPE_UNITS_H
#define PCI_SPEEDSCOPE_UNITS_H

#include <stdint.h>

struct pci_speedscope_unit {
    const char *name;        /* in the file */
    const char *type, *unit; /* sample type */
    int64_t ns;              /* nanoseconds in one; 0: not a time */
};

#define PCI_SPEEDSCOPE_UNITS 6
extern const struct pci_speedscope_unit pci_speedscope_units[PCI_SPEEDSCOPE_UNITS];

#endif

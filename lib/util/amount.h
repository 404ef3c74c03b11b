/*
 * amount.h - arithmetic on values that are int64 or double
 *
 * The caller passes the kind as a flag, so that one loop serves both. Overflow is reported:
 * integers never wrap, and finite doubles never add up to infinity. (Infinite values do.)
 */
#ifndef PCI_AMOUNT_H
#define PCI_AMOUNT_H

#include "util/error.h"

#include <math.h>
#include <string.h>

/* *sum += value; non-zero on overflow. */
static inline int pci_add_doubles(double *sum, double value)
{
    double before = *sum;
    *sum += value;
    return isinf(*sum) && isfinite(before) && isfinite(value);
}

static inline int pci_amount_add(int is_double, pcol_amount *sum, pcol_amount value)
{
    if (is_double)
        return pci_add_doubles(&sum->f64, value.f64);
    return __builtin_add_overflow(sum->i64, value.i64, &sum->i64);
}

static inline int pci_amount_is_zero(int is_double, pcol_amount value)
{
    return is_double ? value.f64 == 0 : value.i64 == 0;
}

static inline double pci_amount_to_double(pcol_amount amount, int is_double)
{
    return is_double ? amount.f64 : (double)amount.i64;
}

/* Absolute value as an unsigned number; defined for INT64_MIN. */
static inline uint64_t pci_amount_magnitude(pcol_amount value)
{
    return value.i64 < 0 ? 0 - (uint64_t)value.i64 : (uint64_t)value.i64;
}

/* Sort key that orders amounts of one kind by magnitude. */
static inline uint64_t pci_amount_sort_key(int is_double, pcol_amount value)
{
    uint64_t bits;
    if (!is_double)
        return pci_amount_magnitude(value);
    value.f64 = fabs(value.f64); /* IEEE 754 doubles without a sign order like their bits */
    memcpy(&bits, &value.f64, sizeof bits);
    return bits;
}

/* Compares magnitudes: -1, 0 or 1. */
static inline int pci_amount_compare(int is_double, pcol_amount a, pcol_amount b)
{
    uint64_t x = pci_amount_sort_key(is_double, a), y = pci_amount_sort_key(is_double, b);
    return (x > y) - (x < y);
}

/* "a sum of 'TYPE' does not fit into 64 bits" */
pcol_status pci_amount_overflow(pcol_str type, pcol_error *err);

#endif

/*
 * amount.h - arithmetic on values that are int64 or double, by a flag beside them
 *
 * One set of loops serves both kinds. Integer sums that do not fit are noticed, never wrapped.
 */
#ifndef PCI_AMOUNT_H
#define PCI_AMOUNT_H

#include "util/error.h"

#include <math.h>
#include <string.h>

/* *sum += value; non-zero if it does not fit. */
static inline int pci_amount_add(int is_double, pcol_amount *sum, pcol_amount value)
{
    if (is_double) {
        sum->f64 += value.f64;
        return 0;
    }
    return __builtin_add_overflow(sum->i64, value.i64, &sum->i64);
}

static inline int pci_amount_is_zero(int is_double, pcol_amount value)
{
    return is_double ? value.f64 == 0 : value.i64 == 0;
}

/* The magnitude as an unsigned number: INT64_MIN has one, too. */
static inline uint64_t pci_amount_magnitude(pcol_amount value)
{
    return value.i64 < 0 ? 0 - (uint64_t)value.i64 : (uint64_t)value.i64;
}

/* A number that orders amounts of one kind by magnitude. */
static inline uint64_t pci_amount_key(int is_double, pcol_amount value)
{
    uint64_t bits;
    if (!is_double)
        return pci_amount_magnitude(value);
    value.f64 = fabs(value.f64); /* without a sign the bits are in order, too */
    memcpy(&bits, &value.f64, sizeof bits);
    return bits;
}

/* Order by magnitude: -1, 0, 1. */
static inline int pci_amount_compare(int is_double, pcol_amount a, pcol_amount b)
{
    uint64_t x = pci_amount_key(is_double, a), y = pci_amount_key(is_double, b);
    return (x > y) - (x < y);
}

/* "the sums of TYPE do not fit into 64 bits" */
pcol_status pci_amount_overflow(pcol_str type, pcol_error *err);

#endif

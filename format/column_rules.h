/*
 * column_rules.h - validation of a column's sections, children and parameters (internal to format/)
 *
 * index.c validates ranges, names and references; column_rules.c validates each column against its
 * type and encoding. The functions that report a fault in the index are shared by both.
 */
#ifndef PCF_COLUMN_RULES_H
#define PCF_COLUMN_RULES_H

#include "format/index.h"

/* The index being validated, and where to report a fault. */
struct pcf_check {
    const struct pcf_index *index;
    struct pcf_fault *fault;
};

/* Report PCF_FAULT_CORRUPT at a byte of the index, at the record of a column or section; always
 * return -1. */
int pcf_fault_index(const struct pcf_check *check, uint32_t index_offset, const char *message);
int pcf_fault_column(const struct pcf_check *check, uint32_t column, const char *message);
int pcf_fault_section(const struct pcf_check *check, uint32_t section, const char *message);

/* Whether the type, encoding, flags and sections of a column are known; children are ignored. */
int pcf_column_known(const struct pcf_index *index, uint32_t column);

/* Validates a known column. The ranges of its sections and children must have been checked.
 * Returns 0, or -1 with a fault. */
int pcf_column_check(const struct pcf_check *check, uint32_t column);

#endif

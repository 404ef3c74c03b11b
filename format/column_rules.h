/*
 * column_rules.h - what a column may consist of: inside of index.c, split off for its size
 *
 * index.c proves that every record and every section lies where it may; column_rules.c that a
 * column
 * has the sections, sizes and children which its type and encoding need.
 */
#ifndef PCF_COLUMN_RULES_H
#define PCF_COLUMN_RULES_H

#include "format/index.h"

/* The index under check, and where a fault in it is told. */
struct pcf_check {
    const struct pcf_index *index;
    struct pcf_fault *fault;
};

/* Fill the fault; always -1. */
int pcf_fault_set(struct pcf_fault *fault, enum pcf_fault_kind kind, uint64_t offset,
                  const char *message);

/* What is wrong at a byte of the index, with a column, with a section; always -1. */
int pcf_fault_place(const struct pcf_check *check, uint32_t place, const char *message);
int pcf_fault_column(const struct pcf_check *check, uint32_t column, const char *message);
int pcf_fault_section(const struct pcf_check *check, uint32_t section, const char *message);

/* Whether type, encoding, flags and sections of the column itself are known, children aside. */
int pcf_column_known(const struct pcf_index *index, uint32_t column);

/* The rules of a known column. Its section and child ranges must have been checked. 0 or -1. */
int pcf_column_check(const struct pcf_check *check, uint32_t column);

#endif

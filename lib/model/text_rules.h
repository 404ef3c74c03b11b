/*
 * text_rules.h - rules of strings of a file that are written into JSON as they are
 *
 * All functions may be called by several threads at once.
 */
#ifndef PCI_MODEL_TEXT_RULES_H
#define PCI_MODEL_TEXT_RULES_H

#include "reader/file.h"

enum pci_text_rule {
    PCI_TEXT_INTEGER, /* an integer of any size */
    PCI_TEXT_JSON,    /* a JSON value, without white space around it or not */
};

/* Whether string `code`, whose text the caller has read, follows a rule. A string that does is
 * examined once per open file, in O(its size): a few bytes of a file can refer to a long string any
 * number of times. */
pcol_status pci_text_follows(const pcol_file *file, enum pci_text_rule rule, uint64_t code,
                             pcol_str text, int *follows, pcol_error *err);

#endif

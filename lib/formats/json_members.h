/*
 * json_members.h - members of JSON objects, for exporters: a key and a value in one call
 */
#ifndef PCI_FORMATS_JSON_MEMBERS_H
#define PCI_FORMATS_JSON_MEMBERS_H

#include "json/json.h"

#include <string.h>

static inline void pci_json_put_string_member(struct pci_json_writer *w, const char *key,
                                              pcol_str text, pcol_error *err)
{
    pci_json_put_key(w, key, err);
    pci_json_put_string(w, text, err);
}

static inline void pci_json_put_text_member(struct pci_json_writer *w, const char *key,
                                            const char *text, pcol_error *err)
{
    pci_json_put_string_member(w, key, (pcol_str){text, strlen(text)}, err);
}

static inline void pci_json_put_int_member(struct pci_json_writer *w, const char *key,
                                           int64_t value, pcol_error *err)
{
    pci_json_put_key(w, key, err);
    pci_json_put_int(w, value, err);
}

/* The value is an array or object, which follows. bracket: [ or {. */
static inline void pci_json_put_begin_member(struct pci_json_writer *w, const char *key,
                                             char bracket, pcol_error *err)
{
    pci_json_put_key(w, key, err);
    pci_json_put_begin(w, bracket, err);
}

#endif

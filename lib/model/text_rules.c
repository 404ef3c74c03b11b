/*
 * text_rules.c - rules of strings of a file that are written into JSON as they are
 *
 * A byte per string has a bit for each rule that the string is known to follow.
 * Tests: tests/unit/test_json.c, suite bombs.
 */
#include "model/text_rules.h"

#include "util/alloc.h"
#include "util/integer.h"
#include "json/json.h"

#define SHORT_TEXT 64u /* examined each time: the lookup would take as long */

/* The bytes of all strings, allocated on first use; NULL if memory runs out. */
static _Atomic uint8_t *open_known_rules(pcol_file *file)
{
    _Atomic uint8_t *known = atomic_load_explicit(&file->known_text_rules, memory_order_acquire);
    if (known)
        return known;
    _Atomic uint8_t *made = pci_calloc((size_t)file->strings->desc->rows, sizeof *made);
    if (!made ||
        atomic_compare_exchange_strong_explicit(&file->known_text_rules, &known, made,
                                                memory_order_acq_rel, memory_order_acquire))
        return made;
    pci_free((void *)(uintptr_t)made);
    return known;
}

static pcol_status examine(enum pci_text_rule rule, pcol_str text, int *follows, pcol_error *err)
{
    if (rule == PCI_TEXT_JSON)
        return pci_json_is_value(text, follows, err);
    *follows = pci_is_integer(text.data, text.size);
    return PCOL_OK;
}

pcol_status pci_text_follows(const pcol_file *file, enum pci_text_rule rule, uint64_t code,
                             pcol_str text, int *follows, pcol_error *err)
{
    const uint8_t bit = (uint8_t)(1u << rule);
    if (rule == PCI_TEXT_INTEGER && text.size <= SHORT_TEXT)
        return examine(rule, text, follows, err);
    _Atomic uint8_t *known = open_known_rules((pcol_file *)(uintptr_t)file);
    if (!known)
        return pci_fail_memory(err);
    *follows = (atomic_load_explicit(&known[code], memory_order_relaxed) & bit) != 0;
    if (*follows)
        return PCOL_OK;
    PCI_TRY(examine(rule, text, follows, err));
    if (*follows)
        atomic_fetch_or_explicit(&known[code], bit, memory_order_relaxed);
    return PCOL_OK;
}

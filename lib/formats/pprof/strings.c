/*
 * strings.c - import of the string table
 *
 * Distinct texts are stored once and become strings of the file at their first use, so that unused
 * entries take no space there.
 */
#include "formats/pprof/read.h"
#include "util/alloc.h"

#include <inttypes.h>

pcol_status pci_pprof_add_string(struct pci_pprof_reader *r, const struct pci_pprof_message *m,
                                 const struct pci_pprof_field *field, pcol_error *err)
{
    if (!r->text_count && field->size)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, pci_pprof_offset(m, field->key),
                                "Profile.string_table: the first string is not empty");
    PCI_TRY(PCI_GROW(r->text_of, r->text_capacity, r->text_count + 1, err));
    PCI_TRY(pci_string_pool_intern(&r->texts, (const char *)field->data, field->size,
                                   &r->text_of[r->text_count], err));
    r->text_count++;
    return PCOL_OK;
}

pcol_status pci_pprof_strings_end(struct pci_pprof_reader *r, pcol_error *err)
{
    if (!r->text_count)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX,
                                r->import->input->offset + r->import->input->size,
                                "Profile.string_table is missing");
    PCI_TRY(PCI_MALLOC(r->string_of, r->texts.count, err));
    for (size_t i = 0; i < r->texts.count; i++)
        r->string_of[i] = PCOL_NONE;
    return PCOL_OK;
}

/* Input offset of the last field `number` of a message. */
static uint64_t find_field_offset(const struct pci_pprof_message *message, unsigned number)
{
    struct pci_pprof_message m = *message;
    struct pci_pprof_field field;
    uint64_t offset = m.offset;
    m.p = m.begin;
    while (m.p < m.end && pci_pprof_next(&m, &field, NULL) == PCOL_OK)
        if (field.number == number)
            offset = pci_pprof_offset(&m, field.key);
    return offset;
}

pcol_status pci_pprof_string(struct pci_pprof_reader *r, uint64_t index,
                             const struct pci_pprof_message *m, unsigned number, uint32_t *string,
                             pcol_error *err)
{
    *string = PCOL_NONE;
    if (!index)
        return PCOL_OK;
    if (index >= r->text_count)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, find_field_offset(m, number),
                                "%s.%s: string %" PRId64 " does not exist, the table has %zu",
                                m->name, pci_pprof_field_name(m->name, number), (int64_t)index,
                                r->text_count);
    uint32_t text = r->text_of[index];
    if (r->string_of[text] == PCOL_NONE) {
        pcol_str s = pci_string_pool_get(&r->texts, text);
        PCI_TRY(pcol_builder_string(r->b, s.data, s.size, &r->string_of[text], err));
    }
    *string = r->string_of[text];
    return PCOL_OK;
}

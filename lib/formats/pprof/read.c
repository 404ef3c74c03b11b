/*
 * read.c - import of a profile: the order of its steps (read.h)
 */
#include "formats/pprof/read.h"
#include "formats/pprof/field_scanner.h"
#include "formats/pprof/pprof.h"
#include "util/alloc.h"

enum { P_SAMPLE_TYPE = 1, P_SAMPLE, P_MAPPING, P_LOCATION, P_FUNCTION, P_STRING_TABLE };

/* First pass: append each field to its queue. */
static pcol_status collect(struct pci_pprof_reader *r, pcol_error *err)
{
    struct pci_pprof_queue *queues[] = {NULL,         &r->types,     &r->samples,
                                        &r->mappings, &r->locations, &r->functions};
    struct pci_pprof_scanner scanner = {.input = r->import->input};
    struct pci_pprof_message m;
    const struct pci_pprof_field *field = &scanner.field;
    for (;;) {
        int end;
        PCI_TRY(pci_pprof_scanner_next(&scanner, &end, err));
        if (end)
            return PCOL_OK;
        if (field->number < P_SAMPLE_TYPE || field->number > P_STRING_TABLE) {
            m = pci_pprof_message("Profile", field->key, (size_t)(scanner.message.p - field->key),
                                  pci_pprof_offset(&scanner.message, field->key));
            PCI_TRY(pci_pprof_queue_append(&r->top, &m, err));
            continue;
        }
        if (field->type != PCI_PB_BYTES)
            return pci_pprof_wrong_type(&scanner.message, field, err);
        if (field->number == P_STRING_TABLE) {
            PCI_TRY(pci_pprof_add_string(r, &scanner.message, field, err));
            continue;
        }
        m = pci_pprof_inner("", &scanner.message, field);
        PCI_TRY(pci_pprof_queue_append(queues[field->number], &m, err));
    }
}

static int guess_stacks(void *context)
{
    struct pci_pprof_reader *r = context;
    return pci_pprof_stacks_guess(&r->stacks);
}

static pcol_status read_profile(struct pci_pprof_reader *r, pcol_error *err)
{
    struct pci_input *input = r->import->input;
    if (!input->size && input->end)
        return pci_fail(err, PCOL_E_SYNTAX, "input is empty");
    PCI_TRY(pci_pprof_stacks_init(&r->stacks, r, err));
    input->meanwhile_context = r;
    input->meanwhile = guess_stacks;
    pcol_status status = collect(r, err);
    input->meanwhile = NULL;
    if (status != PCOL_OK)
        return status;
    PCI_TRY(pci_pprof_strings_end(r, err));
    PCI_TRY(pci_pprof_read_header(r, err));
    PCI_TRY(pci_pprof_read_tables(r, err));
    return pci_pprof_read_samples(r, err);
}

pcol_status pci_pprof_read(struct pci_import *import, pcol_error *err)
{
    struct pci_pprof_reader r = {.import = import, .b = import->builder};
    struct pci_pprof_queue *queues[] = {&r.types,     &r.samples,   &r.mappings,
                                        &r.locations, &r.functions, &r.top};
    static const char *const names[] = {"ValueType", "Sample",   "Mapping",
                                        "Location",  "Function", "Profile"};
    for (size_t i = 0; i < 6; i++)
        pci_pprof_queue_init(queues[i], names[i], r.b);
    pcol_status status = read_profile(&r, err);
    for (size_t i = 0; i < 6; i++)
        pci_pprof_queue_clear(queues[i]);
    pci_pprof_stacks_clear(&r.stacks);
    pci_string_pool_clear(&r.texts);
    pci_pprof_unknown_clear(&r.unknown);
    pci_pprof_ids_clear(&r.mapping_ids);
    pci_pprof_ids_clear(&r.function_ids);
    pci_pprof_ids_clear(&r.location_ids);
    pci_free(r.text_of);
    pci_free(r.string_of);
    pci_free(r.lines);
    pci_free(r.type_rows);
    pci_free(r.values);
    pci_free(r.labels);
    return status;
}

/*
 * profile.c - construction of the common profile (profile.h)
 */
#include "formats/gperftools/profile.h"

#include "util/alloc.h"

#include <string.h>

void pci_gp_clear(struct pci_gp_profile *p)
{
    pci_free(p->samples);
    pci_free(p->values);
    pci_free(p->stack);
    pci_free(p->locations);
    pci_hash_clear(&p->location_hash);
    pci_free(p->order);
    pci_free(p->mappings);
    pci_free(p->functions);
    pci_hash_clear(&p->function_hash);
    pci_free(p->texts);
    memset(p, 0, sizeof *p);
}

uint32_t pci_gp_find_location(const struct pci_gp_profile *p, uint64_t address)
{
    uint64_t hash = pci_hash_pair(address, 0);
    size_t at = pci_hash_start(&p->location_hash, hash);
    uint32_t number;
    do
        number = pci_hash_next(&p->location_hash, hash, &at);
    while (number != PCI_HASH_NONE && p->locations[number].address != address);
    return number;
}

/* Number of the location of an address, which is added if absent. */
static pcol_status get_location(struct pci_gp_profile *p, uint64_t address, uint32_t *number,
                                pcol_error *err)
{
    *number = pci_gp_find_location(p, address);
    if (*number != PCI_HASH_NONE)
        return PCOL_OK;
    if (p->location_count >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 addresses");
    PCI_TRY(PCI_GROW(p->locations, p->location_capacity, p->location_count + 1, err));
    *number = (uint32_t)p->location_count;
    PCI_TRY(pci_hash_add(&p->location_hash, pci_hash_pair(address, 0), *number, err));
    p->locations[p->location_count++] = (struct pci_gp_location){.address = address};
    return PCOL_OK;
}

pcol_status pci_gp_push(struct pci_gp_profile *p, uint64_t address, pcol_error *err)
{
    uint32_t number;
    PCI_TRY(get_location(p, address, &number, err));
    PCI_TRY(PCI_GROW(p->stack, p->stack_capacity, p->stack_count + 1, err));
    p->stack[p->stack_count++] = number;
    return PCOL_OK;
}

pcol_status pci_gp_sample(struct pci_gp_profile *p, const int64_t *values, pcol_error *err)
{
    size_t count = p->type_count + (p->has_bytes != 0);
    PCI_TRY(PCI_GROW(p->samples, p->sample_capacity, p->sample_count + 1, err));
    PCI_TRY(PCI_GROW(p->values, p->value_capacity, p->value_count + count, err));
    memcpy(p->values + p->value_count, values, count * sizeof *values);
    p->value_count += count;
    size_t first = p->sample_count ? p->samples[p->sample_count - 1].end : 0;
    p->samples[p->sample_count++] = (struct pci_gp_sample){first, p->stack_count};
    return PCOL_OK;
}

pcol_status pci_gp_text(struct pci_gp_profile *p, const void *data, size_t size,
                        struct pci_gp_text *text, pcol_error *err)
{
    PCI_TRY(PCI_GROW(p->texts, p->text_capacity, p->text_count + size + 1, err));
    if (size)
        memcpy(p->texts + p->text_count, data, size);
    *text = (struct pci_gp_text){p->text_count, size};
    p->text_count += size;
    return PCOL_OK;
}

pcol_status pci_gp_add_function(struct pci_gp_profile *p, const uint8_t *name, size_t name_size,
                                const uint8_t *file, size_t file_size, uint32_t *number,
                                pcol_error *err)
{
    uint64_t hash = pci_hash_bytes(name, name_size);
    size_t at = pci_hash_start(&p->function_hash, hash);
    while ((*number = pci_hash_next(&p->function_hash, hash, &at)) != PCI_HASH_NONE) {
        const struct pci_gp_text *other = &p->functions[*number].name;
        if (other->size == name_size &&
            (!name_size || !memcmp(p->texts + other->at, name, name_size)))
            return PCOL_OK;
    }
    struct pci_gp_add_function function;
    PCI_TRY(PCI_GROW(p->functions, p->function_capacity, p->function_count + 1, err));
    PCI_TRY(pci_gp_text(p, name, name_size, &function.name, err));
    PCI_TRY(pci_gp_text(p, file, file_size, &function.file, err));
    *number = (uint32_t)p->function_count;
    PCI_TRY(pci_hash_add(&p->function_hash, hash, *number, err));
    p->functions[p->function_count++] = function;
    return PCOL_OK;
}

pcol_status pci_gp_number_locations(struct pci_gp_profile *p, pcol_error *err)
{
    PCI_TRY(PCI_GROW(p->order, p->order_capacity, p->location_count + 1, err));
    for (size_t s = 0; s < p->sample_count; s++)
        for (size_t i = p->samples[s].first; i < p->samples[s].end; i++) {
            struct pci_gp_location *location = &p->locations[p->stack[i]];
            if (location->id)
                continue;
            p->order[p->order_count++] = p->stack[i];
            location->id = (uint32_t)p->order_count;
        }
    return PCOL_OK;
}

void pci_gp_drop_double_leaves(struct pci_gp_profile *p)
{
    for (size_t s = 0; s < p->sample_count; s++) {
        struct pci_gp_sample *sample = &p->samples[s];
        if (sample->end - sample->first < 2)
            continue;
        uint32_t *stack = p->stack + sample->first;
        if (p->locations[stack[0]].address == p->locations[stack[1]].address + 1) {
            stack[1] = stack[0];
            sample->first++;
        }
    }
}

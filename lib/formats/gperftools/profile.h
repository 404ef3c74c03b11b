/*
 * profile.h - a profile of one of the older formats, before it becomes profile.proto
 *
 * These formats know addresses and, at the end, which file was mapped where. All of them are read
 * into this: stacks as numbers of locations, a location for each address. What a profile means is
 * known only at its end, so everything is held; a sample costs about as much as its text.
 */
#ifndef PCI_GPERFTOOLS_PROFILE_H
#define PCI_GPERFTOOLS_PROFILE_H

#include "formats/format.h"
#include "util/hash.h"

#define PCI_GP_MAX_TYPES 4u

struct pci_gp_text { /* in `texts` */
    size_t at, size;
};

struct pci_gp_sample {
    size_t first, end; /* in `stack`, leaf first */
};

struct pci_gp_location {
    uint64_t address;
    uint32_t id;       /* 1.. in order of first use; 0: no sample has it */
    uint32_t mapping;  /* number + 1; 0: none */
    uint32_t function; /* the same */
    int64_t line;
};

struct pci_gp_mapping {
    uint64_t start, limit, offset;
    struct pci_gp_text file, build_id;
};

struct pci_gp_function {
    struct pci_gp_text name, file;
};

struct pci_gp_type {
    const char *type, *unit;
};

struct pci_gp_profile {
    struct pci_gp_type types[PCI_GP_MAX_TYPES], period_type;
    char type_text[256]; /* of the profiles that name their type or unit */
    unsigned type_count;
    int hide_addresses;
    int has_bytes; /* samples carry the size of a block: label `bytes` */
    int64_t period, duration_ns;
    const char *drop_frames, *keep_frames;

    struct pci_gp_sample *samples;
    size_t sample_count, sample_capacity;
    int64_t *values; /* type_count for each sample, one more if has_bytes */
    size_t value_count, value_capacity;
    uint32_t *stack;
    size_t stack_count, stack_capacity;

    struct pci_gp_location *locations;
    size_t location_count, location_capacity;
    struct pci_hash location_hash; /* by address as read */
    uint32_t *order;               /* numbers of locations by id */
    size_t order_count, order_capacity;

    struct pci_gp_mapping *mappings;
    size_t mapping_count, mapping_capacity;
    struct pci_gp_function *functions;
    size_t function_count, function_capacity;
    struct pci_hash function_hash; /* by name */
    uint8_t *texts;
    size_t text_count, text_capacity;
};

void pci_gp_clear(struct pci_gp_profile *profile);

/* Number of the location at an address: PCI_HASH_NONE if there is none, a new one. */
uint32_t pci_gp_find_location(const struct pci_gp_profile *profile, uint64_t address);
pcol_status pci_gp_location(struct pci_gp_profile *profile, uint64_t address, uint32_t *number,
                            pcol_error *err);
/* Put one more address on the stack of the sample that pci_gp_sample() will close. */
pcol_status pci_gp_push(struct pci_gp_profile *profile, uint64_t address, pcol_error *err);
/* A sample of all that was pushed since the last one. values: type_count, one more if has_bytes. */
pcol_status pci_gp_sample(struct pci_gp_profile *profile, const int64_t *values, pcol_error *err);
pcol_status pci_gp_text(struct pci_gp_profile *profile, const void *data, size_t size,
                        struct pci_gp_text *text, pcol_error *err);
/* Function of that name; equal names are one function, which has the first one's file. */
pcol_status pci_gp_function(struct pci_gp_profile *profile, const uint8_t *name, size_t name_size,
                            const uint8_t *file, size_t file_size, uint32_t *number,
                            pcol_error *err);

/* Give locations their ids; to be called when the stacks are what they should be. */
pcol_status pci_gp_number_locations(struct pci_gp_profile *profile, pcol_error *err);
/* Signal handlers see the innermost address twice, once as a return address: drop the second. */
void pci_gp_drop_double_leaves(struct pci_gp_profile *profile);

/* As profile.proto, uncompressed. *data is freed by pci_free(). */
pcol_status pci_gp_encode(const struct pci_gp_profile *profile, uint8_t **data, size_t *size,
                          pcol_error *err);

#endif

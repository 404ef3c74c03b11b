/*
 * profile.h - common in-memory profile of the older formats, before its encoding as profile.proto
 *
 * Stacks are arrays of location numbers, with one location for each address. The memory map, which
 * assigns files to addresses, follows the samples: the whole profile is in memory, about the size
 * of its text.
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
    uint32_t id;       /* from 1 in order of first use; 0: unused */
    uint32_t mapping;  /* number + 1; 0: none */
    uint32_t function; /* the same */
    int64_t line;
};

struct pci_gp_mapping {
    uint64_t start, limit, offset;
    struct pci_gp_text file, build_id;
};

struct pci_gp_add_function {
    struct pci_gp_text name, file;
};

struct pci_gp_type {
    const char *type, *unit;
};

struct pci_gp_profile {
    struct pci_gp_type types[PCI_GP_MAX_TYPES], period_type;
    char type_text[256]; /* type or unit named in the profile */
    unsigned type_count;
    int hide_addresses;
    int has_bytes; /* samples have the size of a block: label `bytes` */
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
    struct pci_gp_add_function *functions;
    size_t function_count, function_capacity;
    struct pci_hash function_hash; /* by name */
    uint8_t *texts;
    size_t text_count, text_capacity;
};

void pci_gp_clear(struct pci_gp_profile *profile);

/* Number of the location of an address, or PCI_HASH_NONE. */
uint32_t pci_gp_find_location(const struct pci_gp_profile *profile, uint64_t address);
/* Push an address on the stack of the current sample. */
pcol_status pci_gp_push(struct pci_gp_profile *profile, uint64_t address, pcol_error *err);
/* Finish the current sample. values: type_count, one more if has_bytes. */
pcol_status pci_gp_sample(struct pci_gp_profile *profile, const int64_t *values, pcol_error *err);
pcol_status pci_gp_text(struct pci_gp_profile *profile, const void *data, size_t size,
                        struct pci_gp_text *text, pcol_error *err);
/* Find or add a function by name; the file is that of the first one. */
pcol_status pci_gp_add_function(struct pci_gp_profile *profile, const uint8_t *name,
                                size_t name_size, const uint8_t *file, size_t file_size,
                                uint32_t *number, pcol_error *err);

/* Assign ids to locations, after the stacks are final. */
pcol_status pci_gp_number_locations(struct pci_gp_profile *profile, pcol_error *err);
/* Remove the second frame where a signal handler recorded the innermost address twice, once as a
 * return address. */
void pci_gp_drop_double_leaves(struct pci_gp_profile *profile);

/* Encode as profile.proto, uncompressed. The caller frees *data with pci_free(). */
pcol_status pci_gp_encode(const struct pci_gp_profile *profile, uint8_t **data, size_t *size,
                          pcol_error *err);

#endif

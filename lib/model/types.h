/*
 * types.h - the sample types of a file, and where the values of each lie
 */
#ifndef PCI_TYPES_H
#define PCI_TYPES_H

#include "model/table.h"

struct pci_types {
    const pcol_file *file;
    uint32_t count;                    /* rows of sample_types */
    const struct pci_column **columns; /* samples.value.K, NULL if there is none */
    pcol_str *type, *unit;             /* "" for a null */
    int64_t *ordinal;
    uint8_t *level;
    int any_double, any_ordinal;
    /* Which types a source has, in its order: rows of source_types; all if those are NULL. */
    const struct pci_column *list_source, *list_type;
    uint64_t list_rows;
    const struct pci_column *source; /* samples.source; NULL: 0 */
};

pcol_status pci_types_open(const pcol_file *file, struct pci_types *types, pcol_error *err);
/* Of name, unit and ordinal. */
uint64_t pci_types_hash(const struct pci_types *types, uint32_t row);
void pci_types_close(struct pci_types *types);
/* Compare the checksums of all values, before they are read whole. */
pcol_status pci_types_verify(const struct pci_types *types, pcol_error *err);
/* The types of a source, at most types->count, in its order. */
pcol_status pci_types_of(const struct pci_types *types, uint64_t source, uint32_t *list,
                         uint32_t *count, pcol_error *err);

/* The samples of one source after the other. Merged files have them in the order of sources; there
 * no sample is looked at for each of the sources. In others they are put in order first, but for
 * files so large that this would take memory beyond measure. */
struct pci_interleaved {
    int in_order;
    uint64_t next;   /* in order: no sample before it is of this or a later source; else 0 */
    uint64_t passed; /* else: samples that were looked at and are of other sources */
    uint64_t sources;
    uint32_t
        *first; /* put in order: of each source, and one behind the last, the place in `rows` */
    uint32_t *rows;
};

/* source: samples.source, NULL if all are of the first. To be closed, also after a failure. */
pcol_status pci_interleaved_open(const pcol_file *file, const struct pci_column *source,
                                 struct pci_interleaved *turns, pcol_error *err);
void pci_interleaved_close(struct pci_interleaved *turns);
/* Are they put in order? Then the source's first sample from *row on, or UINT64_MAX. */
int pci_interleaved_find(const struct pci_interleaved *turns, uint64_t source, uint64_t *row);
/* A sample is of another source than the one that is asked for. E_LIMIT after 2^32 in a file that
 * is neither in order nor put in it, where a few bytes may stand for any number of them. */
pcol_status pci_interleaved_pass(struct pci_interleaved *turns, uint64_t row, pcol_error *err);

/* One sample type as an answer needs it: rows of sample_types that agree in type and unit (integers
 * and doubles are two rows). */
struct pci_chosen {
    uint32_t *rows; /* the caller frees it */
    uint32_t count;
    pcol_str type, unit;
    int is_double;
};

/* What a source is asked about if nobody says what: out of its list of types the one that it names
 * itself, else for pprof the last, else the first; a level only if there is nothing else; PCOL_NONE
 * if the list is empty. */
pcol_status pci_types_default(const struct pci_types *types, uint64_t source, const uint32_t *list,
                              uint32_t count, uint32_t *row, pcol_error *err);

/* What several sources together are asked about: like pprof where it merges profiles, the type that
 * the first pprof names itself, if only pprofs come before it; else the default of the first source
 * that has one which is not a level; a level only if there is nothing else.
 * selected: a byte for each source; NULL: all from `first` to before `end`. */
pcol_status pci_types_first_default(const struct pci_types *types, const uint8_t *selected,
                                    uint64_t first, uint64_t end, uint32_t *row, int *named,
                                    pcol_error *err);
/* Rows of sample_types that differ in nothing but how their values are stored. */
int pci_types_alike(const struct pci_types *types, uint32_t a, uint32_t b);

/* The type that sources first..last are asked about. `wanted`: "TYPE" or "TYPE/UNIT"; NULL: that of
 * pci_types_first_default(), if it is not a level.
 * Errors: E_NOT_FOUND (the message lists the types), E_ARGUMENT for a level, which is never
 * summed. */
pcol_status pci_types_choose(const struct pci_types *types, uint64_t first, uint64_t last,
                             const char *wanted, struct pci_chosen *chosen, pcol_error *err);

/* Whether sources first..last have values of types that are not among the chosen. */
pcol_status pci_types_others(const struct pci_types *types, uint64_t first, uint64_t last,
                             const struct pci_chosen *chosen, int *others, pcol_error *err);
/* A double of samples' row `row` as the nearest integer, halves away from zero, for targets that
 * have
 * no other numbers; *fraction is set if that is another number. E_LOSS if no integer of 64 bits is
 * near: NaN, infinity, 1e300. */
pcol_status pci_types_whole(int64_t bits, uint64_t row, const char *target, int64_t *whole,
                            int *fraction, pcol_error *err);

#endif

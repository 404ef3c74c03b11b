/*
 * types.h - sample types of a file and the columns of their values
 */
#ifndef PCI_TYPES_H
#define PCI_TYPES_H

#include "model/table.h"
#include "util/hash.h"

struct pci_types {
    const pcol_file *file;
    uint32_t count;                    /* rows of sample_types */
    const struct pci_column **columns; /* samples.value.K, NULL if absent */
    pcol_str *type, *unit;             /* "" if null */
    int64_t *ordinal;
    uint8_t *is_gauge;
    uint64_t *hash; /* of type, unit and ordinal, the same in all files */
    int any_double, any_ordinal;
    /* Types by source in its order: rows of source_types; NULL: all types. */
    const struct pci_column *list_source, *list_type;
    uint64_t list_rows;
    const struct pci_column *source; /* samples.source; NULL: all 0 */
};

pcol_status pci_types_open(const pcol_file *file, struct pci_types *types, pcol_error *err);
void pci_types_close(struct pci_types *types);
/* Verifies the checksums of all values, before a full read. */
pcol_status pci_types_verify(const struct pci_types *types, pcol_error *err);
/* The types of a source in its order, at most types->count. */
pcol_status pci_types_of_source(const struct pci_types *types, uint64_t source, uint32_t *list,
                                uint32_t *count, pcol_error *err);

/* Iteration over samples source by source. If samples are ordered by source, as in merged files, no
 * sample is skipped. Otherwise a counting sort by source is made, unless the file is too large for
 * that. */
struct pci_samples_by_source {
    int in_order;
    uint64_t next;   /* ordered: no sample before it belongs to this or a later source; else 0 */
    uint64_t passed; /* otherwise: skipped samples of other sources, and their limit */
    uint64_t most;
    uint64_t sources;
    uint32_t *first; /* sorted: by source, and the end, offset in `rows` */
    uint32_t *rows;
};

/* source: samples.source, NULL: all samples belong to the first source. The caller closes it, also
 * after a failure. */
pcol_status pci_samples_by_source_open(const pcol_file *file, const struct pci_column *source,
                                       struct pci_samples_by_source *turns, pcol_error *err);
void pci_samples_by_source_close(struct pci_samples_by_source *turns);
/* 1 if sorted: *row is the source's first sample from *row on, or UINT64_MAX. */
int pci_samples_by_source_find(const struct pci_samples_by_source *turns, uint64_t source,
                               uint64_t *row);
/* Called for each sample of another source. E_LIMIT in a file that is neither ordered nor sorted,
 * after 2^28 and 64 for each of its bytes: a few bytes may encode any number of samples. */
pcol_status pci_samples_by_source_skip(struct pci_samples_by_source *turns, uint64_t row,
                                       pcol_error *err);

/* A selected sample type: rows of sample_types with equal type and unit (integers and doubles are
 * two rows). */
struct pci_selected_type {
    uint32_t *rows; /* the caller frees it */
    uint32_t count;
    pcol_str type, unit;
    int is_double;
};

/* The default type of several sources: as in a merge by pprof, the type that the first pprof source
 * declares, if only pprof sources precede it; else the default of the first source whose default is
 * not a gauge; a gauge only if there is no other. selected: a byte for each source; NULL: all of
 * first..end - 1. */
pcol_status pci_types_first_default(const struct pci_types *types, const uint8_t *selected,
                                    uint64_t first, uint64_t end, uint32_t *row, int *named,
                                    pcol_error *err);
/* 1 if two rows of sample_types differ only in the storage of their values. */
int pci_types_equal(const struct pci_types *types, uint32_t a, uint32_t b);
/* Of `rows`, rows of `types`: the one that differs from row `row` of `others`, which may be of
 * another file, only in the storage of its values; PCOL_NONE if there is none. */
uint32_t pci_types_find(const struct pci_types *types, const struct pci_hash *rows,
                        const struct pci_types *others, uint32_t row);
/* Adds a row unless there is one like it; *first: that one, or the row. */
pcol_status pci_types_add(const struct pci_types *types, struct pci_hash *rows, uint32_t row,
                          uint32_t *first, pcol_error *err);

enum { PCI_TYPES_LIST_SIZE = 240 };
enum pci_types_listing {
    PCI_LIST_NAMES,      /* a, b */
    PCI_LIST_AND_MEMORY, /* the same and the derived type: a, b, memory */
    PCI_LIST_UNITS,      /* a/unit, b/unit */
};
/* Lists the additive types, each once. in_use: by row, 1 for those to list; NULL: all. */
void pci_types_list(const struct pci_types *types, const uint32_t *in_use,
                    enum pci_types_listing listing, char text[PCI_TYPES_LIST_SIZE]);
/* Fails with "PROBLEM 'NAME'; use one of: LIST". */
pcol_status pci_types_fail(const struct pci_types *types, const uint32_t *in_use,
                           pcol_status status, const char *problem, pcol_str name, int memory,
                           pcol_error *err);

/* The sample type that a caller requests. name: "TYPE" or "TYPE/UNIT", both of which may contain
 * any bytes. Neither name nor exact: the default. */
struct pci_requested_type {
    const char *name;              /* of repeated types the first */
    const pcol_sample_type *exact; /* has precedence */
};
int pci_types_is_requested(const struct pci_types *types, uint32_t row,
                           const struct pci_requested_type *requested);
/* Sets *chosen, at first PCOL_NONE, to the row if it is requested; of a gauge and a sum the sum is
 * chosen. E_ARGUMENT if a type of another unit was chosen before. */
pcol_status pci_types_choose(const struct pci_types *types, uint32_t row,
                             const struct pci_requested_type *requested, uint32_t *chosen,
                             pcol_error *err);
/* Fails since a name is that of two types in different units. */
pcol_status pci_types_fail_units(const char *name, pcol_str type, pcol_str unit,
                                 pcol_str other_type, pcol_str other_unit, pcol_error *err);
/* The name of the requested type, for messages; made in `text` if needed. */
enum { PCI_TYPE_NAME_SIZE = 128 };
pcol_str pci_requested_name(const struct pci_requested_type *requested,
                            char text[PCI_TYPE_NAME_SIZE]);

/* Selects the type of sources first..last. wanted: "TYPE" or "TYPE/UNIT"; NULL:
 * pci_types_first_default(), if it is not a gauge. E_NOT_FOUND lists the types; E_ARGUMENT for a
 * gauge, which is never summed. */
pcol_status pci_types_select(const struct pci_types *types, uint64_t first, uint64_t last,
                             const char *wanted, struct pci_selected_type *chosen, pcol_error *err);
/* The same among sources only: a byte for each source, 1 for those to select from; NULL: all. */
pcol_status pci_types_select_among(const struct pci_types *types, const uint8_t *sources,
                                   uint64_t first, uint64_t last,
                                   const struct pci_requested_type *requested,
                                   struct pci_selected_type *chosen, pcol_error *err);

/* *others: 1 if sources first..last have values of types that are not selected. */
pcol_status pci_types_has_others(const struct pci_types *types, uint64_t first, uint64_t last,
                                 const struct pci_selected_type *chosen, int *others,
                                 pcol_error *err);
/* Sets a byte for each source whose rows of samples are one sample each, whatever their values;
 * *count: their number. */
pcol_status pci_types_counted_sources(const pcol_file *file, uint8_t *counted, uint64_t *count,
                                      pcol_error *err);
/* How values are written in a format that has only integers. */
struct pci_integer_form {
    const char *format; /* its name, for errors */
    double scale;       /* of the values: a whole number of at least 1 */
    int are_sums;       /* the values are sums of doubles, which are less exact than these */
};
/* *whole: the value of sample `row`, scaled and rounded to the nearest integer, halves away from
 * zero; *fraction is set if that changes it by more than its error. E_LOSS beyond 64 bits: NaN,
 * 1e300. */
pcol_status pci_types_to_integer(int64_t bits, int is_double, const struct pci_integer_form *form,
                                 uint64_t row, int64_t *whole, int *fraction, pcol_error *err);

#endif

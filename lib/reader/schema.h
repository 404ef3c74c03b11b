/*
 * schema.h - schema of the physical tables: one constant row for each table and column that the
 * format (spec.md, sections 6 and 16) defines
 *
 * Each open table and column points to its row, so that no rule compares names. schema.c has the
 * tables that several formats share; the tables of one outside format are in its directory, in the
 * struct pci_format_schema that the registry passes to each file that is opened.
 */
#ifndef PCI_READER_SCHEMA_H
#define PCI_READER_SCHEMA_H

#include "pcol.h"

#include <stdint.h>

/* ---- content that an export may lose (formats/losses.h) */

#define PCI_KINDS(X)                                                                \
    X(SOURCES, "the source of each sample")                                         \
    X(META, "keys that were added to the metadata")                                 \
    X(RECORDED, "the time of recording")                                            \
    X(TIME_NS, "the time of recording")                                             \
    X(DURATION, "the duration")                                                     \
    X(PERIOD, "the period")                                                         \
    X(INTERVAL, "the sampling interval")                                            \
    X(DEFAULT_TYPE, "the default sample type")                                      \
    X(DROP_FRAMES, "drop_frames and keep_frames")                                   \
    X(DOC_URL, "the URL of the documentation")                                      \
    X(COMMENTS, "comments")                                                         \
    X(TEXT, "comment lines")                                                        \
    X(OTHER, "data that only the source's own format has")                          \
    X(SEGMENTS, "the segments of the Rprof file")                                   \
    X(UNUSED, "code that no sample refers to")                                      \
    X(NAMELESS, "locations without a function: they get the names that pcol shows") \
    X(PLACES, "files of code outside functions")                                    \
    X(SYSTEM_NAMES, "system names of functions")                                    \
    X(FILES, "files of functions")                                                  \
    X(START_LINES, "start lines of functions")                                      \
    X(START_COLUMNS, "start columns of functions")                                  \
    X(LINES, "lines of the code")                                                   \
    X(COLUMNS, "columns in source lines")                                           \
    X(INLINED, "inlining: inlined calls become ordinary calls")                     \
    X(ADDRESSES, "addresses of the code")                                           \
    X(FOLDED, "which locations were folded")                                        \
    X(FRAME_LABELS, "offsets and other labels of frames")                           \
    X(FRAME_DETAILS, "Firefox's attributes of functions and frames")                \
    X(ORIGINALS, "original positions of compiled code")                             \
    X(CATEGORIES, "categories of frames")                                           \
    X(RESOURCES, "what kind of library or web site code is of")                     \
    X(SOURCE_FILES, "ids of source files")                                          \
    X(SYMBOLS, "symbols of native code")                                            \
    X(LIBRARIES, "names of libraries")                                              \
    X(LIBRARY_MEMBERS, "further attributes of libraries")                           \
    X(RANGES, "address ranges of mappings")                                         \
    X(BUILD_IDS, "build ids of mappings")                                           \
    X(MAPPING_FLAGS, "flags of mappings")                                           \
    X(DEBUG_FILES, "debug files of libraries")                                      \
    X(THREADS, "threads of samples")                                                \
    X(PROCESSES, "names of processes")                                              \
    X(THREAD_LABELS, "further attributes of threads")                               \
    X(TIMES, "times of samples")                                                    \
    X(DURATIONS, "durations of samples")                                            \
    X(CPU, "CPU use of samples")                                                    \
    X(LABELS, "labels of samples")                                                  \
    X(VALUELESS, "samples without a value")                                         \
    X(EXACT, "integers beyond 53 bits of types with doubles: they are rounded")     \
    X(SPELLING, "the original text of lines in unusual notation")                   \
    X(RESOURCE_TYPES, "types of resources")                                         \
    X(SNAPSHOTS, "snapshots")                                                       \
    X(MODELS, "models")                                                             \
    X(MARKERS, "markers")                                                           \
    X(ALLOCATIONS, "allocations")                                                   \
    X(COUNTERS, "counters")

/* The kind of content of a column, for exports. */
enum pci_kind {
    PCI_KIND_NONE,    /* ids, orders, sums: no content */
    PCI_KIND_UNKNOWN, /* a column that this version does not know; reported by its name */
#define PCI_KIND_NAME(name, words) PCI_KIND_##name,
    PCI_KINDS(PCI_KIND_NAME)
#undef PCI_KIND_NAME
        PCI_KIND_COUNT
};
_Static_assert(PCI_KIND_COUNT <= 64, "a kind is a bit");

/* ---- anonymized copies */

/* The part of a column that an anonymized copy contains: an allow list. */
enum pci_anonymize {
    PCI_OMIT,
    PCI_COPY,    /* unchanged: numbers, rows of tables with a rule */
    PCI_IF_TYPE, /* unchanged if it is the name of a sample type */
    /* a pseudonym: */
    PCI_NAME_FUNCTION, /* f1 */
    PCI_NAME_FILE,     /* file1.R */
    PCI_NAME_MODULE,   /* module1: name of a mapping */
    PCI_NAME_BUILD,    /* build1 */
    PCI_NAME_THREAD,   /* thread1 */
    PCI_NAME_PROCESS,  /* process1 */
    PCI_NAME_NUMBER,   /* 1: ids of threads and processes; they are read as numbers */
    PCI_NAME_KEY,      /* key1: keys of labels */
    PCI_NAME_VALUE,    /* value1 */
    PCI_NAME_UNIT,     /* unit1 */
    PCI_NAME_SOURCE,   /* source1: a URI */
    PCI_NAME_COUNT
};

/* ---- tables and columns */

#define PCI_TYPE(t) (1u << (t)) /* of enum pcf_type */
#define PCI_TYPES_INT (PCI_TYPE(PCF_I64) | PCI_TYPE(PCF_U64) | PCI_TYPE(PCF_U32))
#define PCI_TYPES_ROW (PCI_TYPE(PCF_U32) | PCI_TYPE(PCF_U64) | PCI_TYPE(PCF_I64))
#define PCI_TYPES_TEXT PCI_TYPE(PCF_STRING)
#define PCI_TYPES_ANY_TEXT (PCI_TYPES_TEXT | PCI_TYPE(PCF_BYTES)) /* of columns not in a schema */

/* Flags of a column. */
#define PCI_REQUIRED 1u /* exists if the table has rows, and has no nulls */
/* Rules for the values of a column that partitions another table: verified when it is read. */
#define PCI_ORDER_ASCENDING 2u /* non-decreasing */
#define PCI_ORDER_STRICT 4u    /* strictly ascending */
#define PCI_ORDER_FROM_0 8u    /* the first value is 0 */
#define PCI_ORDERS (PCI_ORDER_ASCENDING | PCI_ORDER_STRICT | PCI_ORDER_FROM_0)
/* Rules for the order of values that `check` verifies. */
#define PCI_SORTED 16u
#define PCI_SORTED_STRICT 32u
#define PCI_SAMPLE_POSITION 64u /* row of samples, or one past the last: not a reference */
#define PCI_OWNER 128u          /* rows are copied with the row that this column refers to */
#define PCI_DEFAULT_0 256u      /* an absent column is 0: only other values are content */
#define PCI_NULL_IS_CONTENT 512u
#define PCI_TIME 1024u     /* ns; logical tables show ms */
#define PCI_NO_NULLS 2048u /* may be absent, but has no nulls */

/* Flags of a table. */
#define PCI_TABLE_INTERNAL 1u  /* the data model shows its content, or only its reader needs it */
#define PCI_TABLE_SPECIAL 2u   /* copied through functions of the builder, or derived by it */
#define PCI_TABLE_MAPPED 4u    /* special, and references to its rows can be translated */
#define PCI_TABLE_DERIVED 8u   /* computed from other tables */
#define PCI_TABLE_ATTACHED 16u /* only describes rows of other tables */
#define PCI_TABLE_SPELLING 32u /* how the source wrote its tables, column by column */
#define PCI_TABLE_NAMES_FRAMES 64u /* named after frames, which a copy may lack */
#define PCI_TABLE_SEGMENTS 128u    /* a row for each part of a recording; source, first_sample */
#define PCI_TABLE_VERIFIED 256u    /* checksums are verified before it is copied */
#define PCI_TABLE_OF_SAMPLES 512u  /* a selection of samples copies only what they lead to */

/* A list of rows: the row of a table, then those of its columns; it ends with a row of neither. */
struct pci_schema_row {
    const char *column; /* NULL: the row of a table; "PREFIX.": with a number */
    uint16_t types;     /* mask of PCI_TYPE(); 0: not checked */
    uint16_t flags;
    uint8_t anonymize;      /* enum pci_anonymize */
    uint8_t kind;           /* enum pci_kind; of a table: that of the columns without a row */
    const char *references; /* the table whose row numbers are the values; NULL: none */
    const char *omitted;    /* its content, in reports of omitted data; NULL: its name */
    const char *table;
    uint32_t table_flags;
};

/* Properties of the sources of an outside format. */
struct pci_format_schema {
    const char *source_type; /* the text of sources.type */
    /* Tables of a source whose order its exporter needs, each with the table of the file that has
     * its rows: "function", "functions", ..., NULL. When sources are merged, the order of a source
     * that was alone in its file is written to source_rows. NULL: none. */
    const char *const *ordered_tables;
    const struct pci_schema_row *tables; /* further physical tables; NULL: none */
    unsigned last_type_is_default : 1;   /* of a source without default_sample_type */
    unsigned renames_functions : 1;      /* data model v1 names functions as R does */
    unsigned row_is_sample : 1;          /* a row is one sample, whatever its values are */
    unsigned program_first : 1;          /* its first mapping is the program */
    unsigned
        whole_document : 1; /* sources.extra describes all samples: selections of some omit it */
    /* Keys of samples' labels that its document needs: a copy without them has no document. A list
     * that ends in NULL; NULL: none. */
    const char *const *document_labels;
    /* The key of a label of samples that may repeat their value, to keep how it was written: it is
     * copied only with the value. NULL: none. */
    const char *value_label;
    /* The table of a source that its document numbers: copies with the document have its order of
     * location_groups in source_rows. NULL: none. */
    const char *document_order;
    unsigned fixed_frames : 1; /* its exporter knows only frames of the source: a copy with added
                                  frames is of another type */
};

/* Columns that any table may have unless its name begins with x_; ends like a list of rows. */
extern const struct pci_schema_row pci_common_columns[];

/* The row of a table among the shared ones and those of the formats (a list that ends in NULL; may
 * be NULL). A row without a table if it is unknown. */
const struct pci_schema_row *pci_schema_table(const struct pci_format_schema *const *formats,
                                              const char *table);
/* The row of a column of the table; the table's own row if the column has none. */
const struct pci_schema_row *pci_schema_column(const struct pci_schema_row *table,
                                               const char *column);
/* The schema of a source type; NULL if it has none. */
const struct pci_format_schema *pci_format_schema(const pcol_file *file, pcol_str source_type);

#endif

/*
 * schema.h - schema shared by reader and writer of Firefox profiles
 *
 * Defines the tables of a profile, which of their columns correspond to columns of pcol, and the
 * conversion of each.
 */
#ifndef PCI_FIREFOX_SCHEMA_H
#define PCI_FIREFOX_SCHEMA_H

#include "formats/firefox/versions.h"
#include "pcol.h"

#include <math.h>
#include <string.h>

enum pci_ff_table_id {
    PCI_FF_STRINGS,
    PCI_FF_LIBS,
    PCI_FF_CATEGORIES, /* of meta */
    PCI_FF_SOURCES,
    PCI_FF_SOURCE_LOCATIONS, /* sourceLocationTable */
    PCI_FF_RESOURCES,
    PCI_FF_SYMBOLS,
    PCI_FF_FUNCTIONS,
    PCI_FF_FRAMES,
    PCI_FF_STACKS,
    PCI_FF_SAMPLES,
    PCI_FF_MARKERS,
    PCI_FF_JS_ALLOCATIONS,
    PCI_FF_NATIVE_ALLOCATIONS,
    PCI_FF_TABLES
};
/* Names of the source's tables, "stringArray", "libs", ..., and of the pcol tables that hold their
 * rows, "strings", ... */
extern const char *const pci_ff_source_tables[PCI_FF_TABLES];
extern const char *const pci_ff_pcol_tables[PCI_FF_TABLES];

/* Kinds of preserved cells (source_cells.kind). */
enum pci_ff_kind {
    PCI_FF_NULL,
    PCI_FF_FALSE,
    PCI_FF_TRUE,
    PCI_FF_INT,
    PCI_FF_DOUBLE,
    PCI_FF_TEXT,
    PCI_FF_JSON /* an array, an object or a big number, as JSON text */
};

enum pci_ff_cpu_unit { PCI_FF_CPU_US, PCI_FF_CPU_NS, PCI_FF_CPU_CYCLES };

/* Conversions between a cell of the source and a cell of pcol, in both directions. */
enum pci_ff_conversion {
    PCI_FF_AS_STRING,   /* index of a string <-> the string; null <-> null */
    PCI_FF_AS_INT,      /* an integer; null <-> null */
    PCI_FF_AS_NATURAL,  /* an integer that fits a u32 */
    PCI_FF_AS_INT_NONE, /* an integer; -1 <-> null */
    PCI_FF_AS_BOOL,     /* true or false */
    PCI_FF_AS_ROW,      /* row of a table <-> row of the pcol table; null <-> null */
    PCI_FF_AS_ROW_NONE, /* the same; -1 <-> null */
    PCI_FF_AS_TEXT,     /* a string; null <-> null */
    PCI_FF_AS_NUMBER    /* a double; integral numbers are integers in the source */
};

struct pci_ff_spec {
    const char *name; /* column of the source */
    uint8_t conversion;
    uint8_t target; /* enum pci_ff_table_id of the table that rows refer to */
    /* an index that names no string is an error; otherwise the cell is preserved */
    uint8_t strict;
    const char *column; /* pcol column */
    pcol_type type;
    const char *references; /* pcol table, or NULL */
};

struct pci_ff_layout {
    const char *table; /* pcol table */
    const struct pci_ff_spec *specs;
    size_t count;
};
/* By table; count 0 for tables with conversion code of their own. */
extern const struct pci_ff_layout pci_ff_schema[PCI_FF_TABLES];
extern const struct pci_ff_spec pci_ff_counter_specs[2];

/* Form of a column whose numbers all have a decimal point, as some writers write them. */
#define PCI_FF_FORM_REAL "real"
/* Form of a scalar member. */
#define PCI_FF_FORM_VALUE "value"
/* Form of a member `length` that equals the number of rows. */
#define PCI_FF_FORM_ROWS "rows"
/* Form of a column whose cells are all equal: one is stored. */
#define PCI_FF_FORM_SAME "same"
/* Form of a row of source_columns with an empty column name: the rows of the table that source_rows
 * does not list are in the order of their first use. */
#define PCI_FF_FORM_BY_USE "by use"

/* Column with the ulps of differences of times, where the source has these. */
#define PCI_FF_DELTA_ULP "time_delta_ulp"

/* Milliseconds from ns and ulps: the double ns / 1e6, moved by `ulps` units in the last place. */
static inline double pci_ff_ms(int64_t ns, int64_t ulps)
{
    double ms = (double)ns / 1e6;
    int64_t bits;
    memcpy(&bits, &ms, sizeof bits);
    bits = (int64_t)((uint64_t)bits + (uint64_t)ulps);
    memcpy(&ms, &bits, sizeof ms);
    return ms;
}

/* Whether a double is an integral number that the source writes as an integer. */
static inline int pci_ff_whole(double value)
{
    return value >= -9007199254740992.0 && value <= 9007199254740992.0 &&
           value == (double)(int64_t)value && !(value == 0 && signbit(value));
}

/* Writers of early versions did not give all columns of these tables the same length. */
static inline int pci_ff_is_uneven(int id, int64_t version)
{
    return (id == PCI_FF_RESOURCES && version < PCI_FF_SINCE_EVEN_RESOURCES) ||
           (id == PCI_FF_MARKERS && version < PCI_FF_SINCE_EVEN_MARKERS);
}

/* Indexes into the specs of functions and frames. Cells from FURTHER on are stored in columns of
 * their own. */
enum {
    PCI_FF_FN_NAME,
    PCI_FF_FN_FILE,
    PCI_FF_FN_LINE,
    PCI_FF_FN_SOURCE,
    PCI_FF_FN_RESOURCE,
    PCI_FF_FN_FURTHER = PCI_FF_FN_SOURCE
};
enum {
    PCI_FF_FR_FUNC,
    PCI_FF_FR_ADDRESS,
    PCI_FF_FR_LINE,
    PCI_FF_FR_COLUMN,
    PCI_FF_FR_LIB,
    PCI_FF_FR_FURTHER,
    PCI_FF_FR_CATEGORY = PCI_FF_FR_FURTHER + 1,
    PCI_FF_FR_SUBCATEGORY,
    PCI_FF_FR_SYMBOL = PCI_FF_FR_FURTHER + 3
};
#define PCI_FF_MAX_FIELDS 16

#endif

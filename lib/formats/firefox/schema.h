/*
 * schema.h - what the reader and the writer of Firefox profiles must agree on
 *
 * Which tables a profile has, which columns of them follow from which columns of ours, and how.
 */
#ifndef PCI_FIREFOX_SCHEMA_H
#define PCI_FIREFOX_SCHEMA_H

#include "pcol.h"

#include <math.h>
#include <string.h>

#define PCI_FF_NEWEST 70  /* version of processed profiles that is known */
#define PCI_FF_WRITTEN 60 /* version that profiles of other formats are written as */

enum pci_ff_table_id {
    PCI_FF_STRINGS,
    PCI_FF_LIBS,
    PCI_FF_CATEGORIES, /* of meta */
    PCI_FF_SOURCES,
    PCI_FF_PLACES, /* sourceLocationTable */
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
/* The source's names: "stringArray", "libs", ...; ours that their rows become: "strings", ... */
extern const char *const pci_ff_names[PCI_FF_TABLES];
extern const char *const pci_ff_ours[PCI_FF_TABLES];

/* Kinds of cells that are kept as they were (source_cells.kind). */
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

/* How a cell of the source and one of ours follow from each other. */
enum pci_ff_conversion {
    PCI_FF_AS_STRING,   /* number of a string: the string; null: null */
    PCI_FF_AS_INT,      /* an integer, null: null */
    PCI_FF_AS_NATURAL,  /* an integer that a u32 holds */
    PCI_FF_AS_INT_NONE, /* an integer, -1: null */
    PCI_FF_AS_BOOL,     /* true or false */
    PCI_FF_AS_ROW,      /* row of a table: our row; null: null */
    PCI_FF_AS_ROW_NONE, /* the same; -1: null */
    PCI_FF_AS_TEXT,     /* a string, null: null */
    PCI_FF_AS_NUMBER    /* a double; whole numbers are integers in the source */
};

struct pci_ff_spec {
    const char *name; /* the source's column */
    uint8_t way;
    uint8_t target; /* enum pci_ff_table_id, of rows */
    uint8_t strict; /* a number that names no string is an error, not another use of the column */
    const char *column; /* ours */
    pcol_type type;
    const char *references; /* our table, or NULL */
};

struct pci_ff_layout {
    const char *table; /* ours */
    const struct pci_ff_spec *specs;
    size_t count;
};
/* By table; count 0 for those with a way of their own. */
extern const struct pci_ff_layout pci_ff_schema[PCI_FF_TABLES];
extern const struct pci_ff_spec pci_ff_counter_specs[2];

/* Form of a column whose numbers all have a point, as some writers do. */
#define PCI_FF_FORM_REAL "real"
/* Form of a member that is no array. */
#define PCI_FF_FORM_VALUE "value"
/* Form of a member `length` that is the number of rows. */
#define PCI_FF_FORM_ROWS "rows"
/* Form of a column whose cells are all the same: one is kept. */
#define PCI_FF_FORM_SAME "same"
/* Form of a column without a name: the rows of the table that source_rows does not have stand in
 * the order of their first use. */
#define PCI_FF_FORM_BY_USE "by use"

/* The time of `ns` and `ulps`, in ms: ns / 1e6, and that many doubles further. */
static inline double pci_ff_ms(int64_t ns, int64_t ulps)
{
    double ms = (double)ns / 1e6;
    int64_t bits;
    memcpy(&bits, &ms, sizeof bits);
    bits = (int64_t)((uint64_t)bits + (uint64_t)ulps);
    memcpy(&ms, &bits, sizeof ms);
    return ms;
}

/* Whether a double is a whole number that an integer of the source stands for. */
static inline int pci_ff_whole(double value)
{
    return value >= -9007199254740992.0 && value <= 9007199254740992.0 &&
           value == (double)(int64_t)value && !(value == 0 && signbit(value));
}

/* Writers of the first years did not keep all columns of these tables equally long. */
static inline int pci_ff_is_uneven(int id, int64_t version)
{
    return (id == PCI_FF_RESOURCES && version < 60) || (id == PCI_FF_MARKERS && version < 20);
}

/* Places in the list of functions and frames whose cells are no further columns. */
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

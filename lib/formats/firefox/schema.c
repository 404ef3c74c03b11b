/*
 * schema.c - tables of Firefox profiles of all versions, and the pcol columns that theirs
 * correspond to
 */
#include "formats/firefox/schema.h"

const char *const pci_ff_source_tables[PCI_FF_TABLES] = {
    [PCI_FF_STRINGS] = "stringArray",
    [PCI_FF_LIBS] = "libs",
    [PCI_FF_CATEGORIES] = "categories",
    [PCI_FF_SOURCES] = "sources",
    [PCI_FF_SOURCE_LOCATIONS] = "sourceLocationTable",
    [PCI_FF_RESOURCES] = "resourceTable",
    [PCI_FF_SYMBOLS] = "nativeSymbols",
    [PCI_FF_FUNCTIONS] = "funcTable",
    [PCI_FF_FRAMES] = "frameTable",
    [PCI_FF_STACKS] = "stackTable",
    [PCI_FF_SAMPLES] = "samples",
    [PCI_FF_MARKERS] = "markers",
    [PCI_FF_JS_ALLOCATIONS] = "jsAllocations",
    [PCI_FF_NATIVE_ALLOCATIONS] = "nativeAllocations",
};

const char *const pci_ff_pcol_tables[PCI_FF_TABLES] = {
    [PCI_FF_STRINGS] = "strings",
    [PCI_FF_LIBS] = "mappings",
    [PCI_FF_CATEGORIES] = "categories",
    [PCI_FF_SOURCES] = "source_files",
    [PCI_FF_SOURCE_LOCATIONS] = "source_locations",
    [PCI_FF_RESOURCES] = "code_resources",
    [PCI_FF_SYMBOLS] = "native_symbols",
    [PCI_FF_FUNCTIONS] = "functions",
    [PCI_FF_FRAMES] = "location_groups",
    [PCI_FF_STACKS] = "stacks",
    [PCI_FF_SAMPLES] = "samples",
    [PCI_FF_MARKERS] = "markers",
    [PCI_FF_JS_ALLOCATIONS] = "allocations",
    [PCI_FF_NATIVE_ALLOCATIONS] = "allocations",
};

#define STRING(name, column, strict)                                 \
    {                                                                \
        name, PCI_FF_AS_STRING, 0, strict, column, PCOL_STRING, NULL \
    }
#define INT(name, column)                                 \
    {                                                     \
        name, PCI_FF_AS_INT, 0, 1, column, PCOL_I64, NULL \
    }
#define ROW(name, conversion, target, column, table)         \
    {                                                        \
        name, conversion, target, 1, column, PCOL_U32, table \
    }

/* The front end has used names, string indexes and numbers of its own as the id of a source. */
static const struct pci_ff_spec sources[] = {
    STRING("filename", "filename", 1),  STRING("id", "id", 0),
    STRING("uuid", "uuid", 0),          STRING("sourceMapURL", "source_map_url", 0),
    STRING("content", "content", 0),    INT("startLine", "start_line"),
    INT("startColumn", "start_column"),
};

static const struct pci_ff_spec places[] = {
    ROW("source", PCI_FF_AS_ROW, PCI_FF_SOURCES, "source_file", "source_files"),
    INT("line", "line"),
    INT("column", "column"),
};

static const struct pci_ff_spec resources[] = {
    ROW("lib", PCI_FF_AS_ROW, PCI_FF_LIBS, "mapping", "mappings"),
    STRING("name", "name", 1),
    STRING("host", "host", 1),
    INT("type", "type"),
};

static const struct pci_ff_spec symbols[] = {
    ROW("libIndex", PCI_FF_AS_ROW, PCI_FF_LIBS, "mapping", "mappings"),
    INT("address", "address"),
    STRING("name", "name", 1),
    INT("functionSize", "function_size"),
};

static const struct pci_ff_spec functions[] = {
    [PCI_FF_FN_NAME] = STRING("name", NULL, 1),
    [PCI_FF_FN_FILE] = STRING("fileName", NULL, 1),
    [PCI_FF_FN_LINE] = INT("lineNumber", NULL),
    [PCI_FF_FN_SOURCE] =
        ROW("source", PCI_FF_AS_ROW, PCI_FF_SOURCES, "source_file", "source_files"),
    [PCI_FF_FN_RESOURCE] =
        ROW("resource", PCI_FF_AS_ROW_NONE, PCI_FF_RESOURCES, "code_resource", "code_resources"),
    INT("columnNumber", "column"),
    {"isJS", PCI_FF_AS_BOOL, 0, 1, "is_js", PCOL_BOOL, NULL},
    {"relevantForJS", PCI_FF_AS_BOOL, 0, 1, "relevant_for_js", PCOL_BOOL, NULL},
    ROW("originalLocation", PCI_FF_AS_ROW, PCI_FF_SOURCE_LOCATIONS, "original", "source_locations"),
};

static const struct pci_ff_spec frames[] = {
    [PCI_FF_FR_FUNC] = ROW("func", PCI_FF_AS_ROW, PCI_FF_FUNCTIONS, NULL, NULL),
    [PCI_FF_FR_ADDRESS] = {"address", PCI_FF_AS_INT_NONE, 0, 1, NULL, PCOL_I64, NULL},
    [PCI_FF_FR_LINE] = INT("line", NULL),
    [PCI_FF_FR_COLUMN] = INT("column", NULL),
    [PCI_FF_FR_LIB] = ROW("lib", PCI_FF_AS_ROW_NONE, PCI_FF_LIBS, NULL, NULL),
    {"inlineDepth", PCI_FF_AS_NATURAL, 0, 1, "inline_depth", PCOL_U32, NULL},
    ROW("category", PCI_FF_AS_ROW, PCI_FF_CATEGORIES, "category", "categories"),
    INT("subcategory", "subcategory"),
    [PCI_FF_FR_SYMBOL] =
        ROW("nativeSymbol", PCI_FF_AS_ROW, PCI_FF_SYMBOLS, "native_symbol", "native_symbols"),
    INT("innerWindowID", "inner_window_id"),
    ROW("originalLocation", PCI_FF_AS_ROW, PCI_FF_SOURCE_LOCATIONS, "original", "source_locations"),
};

static const struct pci_ff_spec markers[] = {
    STRING("name", "name", 1),
    {"phase", PCI_FF_AS_NATURAL, 0, 1, "phase", PCOL_U32, NULL},
    ROW("category", PCI_FF_AS_ROW, PCI_FF_CATEGORIES, "category", "categories"),
};

#define TEXT(name, column)                                    \
    {                                                         \
        name, PCI_FF_AS_TEXT, 0, 1, column, PCOL_STRING, NULL \
    }

static const struct pci_ff_spec allocations[] = {
    ROW("stack", PCI_FF_AS_ROW, PCI_FF_STACKS, "stack", "stacks"),
    {"weight", PCI_FF_AS_NUMBER, 0, 1, "weight", PCOL_F64, NULL},
    TEXT("className", "class_name"),
    TEXT("typeName", "type_name"),
    TEXT("coarseType", "coarse_type"),
    {"inNursery", PCI_FF_AS_BOOL, 0, 1, "in_nursery", PCOL_BOOL, NULL},
    INT("memoryAddress", "memory_address"),
    INT("threadId", "thread_id"),
};

const struct pci_ff_spec pci_ff_counter_specs[2] = {
    INT("number", "number"),
    {"count", PCI_FF_AS_NUMBER, 0, 1, "count", PCOL_F64, NULL},
};

#define LAYOUT(pcol_table, list)                       \
    {                                                  \
        pcol_table, list, sizeof list / sizeof list[0] \
    }

const struct pci_ff_layout pci_ff_schema[PCI_FF_TABLES] = {
    [PCI_FF_SOURCES] = LAYOUT("source_files", sources),
    [PCI_FF_SOURCE_LOCATIONS] = LAYOUT("source_locations", places),
    [PCI_FF_RESOURCES] = LAYOUT("code_resources", resources),
    [PCI_FF_SYMBOLS] = LAYOUT("native_symbols", symbols),
    [PCI_FF_FUNCTIONS] = LAYOUT("functions", functions),
    [PCI_FF_FRAMES] = LAYOUT("location_groups", frames),
    [PCI_FF_MARKERS] = LAYOUT("markers", markers),
    [PCI_FF_JS_ALLOCATIONS] = LAYOUT("allocations", allocations),
    [PCI_FF_NATIVE_ALLOCATIONS] = LAYOUT("allocations", allocations),
};

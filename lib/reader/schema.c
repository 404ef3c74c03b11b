/*
 * schema.c - the physical tables that several formats share, and lookup of tables and columns
 *
 * Tests: suites golden, losses, filter; tests/unit/test_check.c.
 */
#include "reader/schema.h"

#include "reader/file.h"

#include <string.h>

#define I64 PCI_TYPE(PCF_I64)
#define U64 PCI_TYPE(PCF_U64)
#define U32 PCI_TYPE(PCF_U32)
#define F64 PCI_TYPE(PCF_F64)
#define BOOL PCI_TYPE(PCF_BOOL)
#define BYTES PCI_TYPE(PCF_BYTES)
#define TEXT PCI_TYPES_TEXT

static const struct pci_schema_row shared[] = {
    {.table = "strings", .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPECIAL},
    {"value", BYTES, .flags = PCI_REQUIRED},
    {.table = "sources",
     .table_flags = PCI_TABLE_SPECIAL | PCI_TABLE_MAPPED,
     .kind = PCI_KIND_UNKNOWN},
    {"type", TEXT, PCI_REQUIRED, .anonymize = PCI_COPY},
    {"uri", TEXT, .anonymize = PCI_NAME_SOURCE},
    {"timestamp", TEXT, .kind = PCI_KIND_RECORDED, .omitted = "time of recording"},
    {"period", I64, .anonymize = PCI_COPY, .kind = PCI_KIND_PERIOD},
    {"period_type", TEXT, .anonymize = PCI_IF_TYPE, .kind = PCI_KIND_PERIOD},
    {"period_unit", TEXT, .anonymize = PCI_NAME_UNIT, .kind = PCI_KIND_PERIOD},
    {"interval_ns", I64, .anonymize = PCI_COPY, .kind = PCI_KIND_INTERVAL},
    {"duration_ns", I64, .anonymize = PCI_COPY, .kind = PCI_KIND_DURATION},
    {"default_sample_type", TEXT, .anonymize = PCI_IF_TYPE, .kind = PCI_KIND_DEFAULT_TYPE},
    {"collapsed", BOOL, PCI_NO_NULLS, .anonymize = PCI_COPY},
    {"crlf", BOOL, PCI_NO_NULLS, .anonymize = PCI_COPY},
    {"call_chains", BOOL, PCI_NO_NULLS, .anonymize = PCI_COPY},
    {"frame_form", .anonymize = PCI_COPY},
    {"time_ns", .kind = PCI_KIND_TIME_NS, .omitted = "time of recording"},
    {"drop_frames", .kind = PCI_KIND_DROP_FRAMES},
    {"keep_frames", .kind = PCI_KIND_DROP_FRAMES},
    {"doc_url", .kind = PCI_KIND_DOC_URL},
    {"text", .kind = PCI_KIND_TEXT},
    {"extra", .kind = PCI_KIND_OTHER, .omitted = "data of the source's own format"},
    {.table = "source_meta", .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_VERIFIED},
    {"source", U32, PCI_REQUIRED | PCI_OWNER, .references = "sources"},
    {"key", TEXT, PCI_REQUIRED, .kind = PCI_KIND_META},
    {"value", TEXT, .flags = PCI_REQUIRED},
    {.table = "sample_types", .table_flags = PCI_TABLE_SPECIAL | PCI_TABLE_MAPPED},
    {"type", TEXT, .flags = PCI_REQUIRED},
    {"unit", TEXT, .flags = PCI_REQUIRED},
    {"level", BOOL, .flags = PCI_NO_NULLS},
    {"ordinal", U32, .flags = PCI_NO_NULLS},
    {.table = "source_types",
     .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPECIAL | PCI_TABLE_VERIFIED},
    {"source", U32, PCI_REQUIRED | PCI_SORTED, .references = "sources"},
    {"sample_type", U32, PCI_REQUIRED, .references = "sample_types"},
    {.table = "functions",
     .table_flags = PCI_TABLE_SPECIAL | PCI_TABLE_MAPPED,
     .kind = PCI_KIND_UNKNOWN},
    {"name", TEXT, .anonymize = PCI_NAME_FUNCTION},
    {"system_name", TEXT, .anonymize = PCI_NAME_FUNCTION, .kind = PCI_KIND_SYSTEM_NAMES},
    {"filename", TEXT, .anonymize = PCI_NAME_FILE, .kind = PCI_KIND_FILES},
    {"start_line", I64, .anonymize = PCI_COPY, .kind = PCI_KIND_START_LINES},
    {"id", U64, .anonymize = PCI_COPY},
    {"code_resource", U32, .kind = PCI_KIND_RESOURCES, .references = "code_resources",
     .omitted = "kinds of libraries and web sites"},
    {"source_file", U32, .kind = PCI_KIND_SOURCE_FILES, .references = "source_files",
     .omitted = "versions of source files"},
    {"original", U32, .kind = PCI_KIND_ORIGINALS, .references = "source_locations"},
    {"column", .anonymize = PCI_COPY, .kind = PCI_KIND_START_COLUMNS},
    {"is_js", BOOL, PCI_DEFAULT_0 | PCI_NO_NULLS, .kind = PCI_KIND_FRAME_DETAILS,
     .omitted = "JavaScript flags of functions"},
    {"relevant_for_js", BOOL, PCI_DEFAULT_0 | PCI_NO_NULLS, .kind = PCI_KIND_FRAME_DETAILS,
     .omitted = "JavaScript flags of functions"},
    {"extra", .kind = PCI_KIND_OTHER},
    {.table = "locations", .table_flags = PCI_TABLE_SPECIAL, .kind = PCI_KIND_UNKNOWN},
    {"function", U32, PCI_NULL_IS_CONTENT, PCI_COPY, .kind = PCI_KIND_NAMELESS,
     .references = "functions"},
    {"line", I64, .anonymize = PCI_COPY, .kind = PCI_KIND_LINES},
    {"column", I64, .anonymize = PCI_COPY, .kind = PCI_KIND_COLUMNS},
    {"filename", TEXT, .anonymize = PCI_NAME_FILE, .kind = PCI_KIND_PLACES},
    {"extra", .kind = PCI_KIND_OTHER},
    {.table = "location_groups",
     .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPECIAL | PCI_TABLE_MAPPED | PCI_TABLE_VERIFIED,
     .kind = PCI_KIND_UNKNOWN},
    {"first_location", U32, PCI_NO_NULLS | PCI_ORDER_STRICT | PCI_ORDER_FROM_0, PCI_COPY,
     .references = "locations"},
    {"mapping", U32, .anonymize = PCI_COPY, .references = "mappings"},
    {"address", U64, .anonymize = PCI_COPY, .kind = PCI_KIND_ADDRESSES},
    {"folded", BOOL, PCI_DEFAULT_0 | PCI_NO_NULLS, PCI_COPY, .kind = PCI_KIND_FOLDED},
    {"id", U64, .anonymize = PCI_COPY},
    {"file_number", I64, .anonymize = PCI_COPY},
    {"category", U32, .kind = PCI_KIND_CATEGORIES, .references = "categories",
     .omitted = "categories of frames"},
    {"native_symbol", U32, .kind = PCI_KIND_SYMBOLS, .references = "native_symbols",
     .omitted = "symbols of native code"},
    {"original", U32, .kind = PCI_KIND_ORIGINALS, .references = "source_locations"},
    {"label_shape", .anonymize = PCI_COPY},
    {"label.", .anonymize = PCI_COPY, .kind = PCI_KIND_FRAME_LABELS},
    {"inline_depth", 0, PCI_DEFAULT_0, PCI_COPY, .kind = PCI_KIND_FRAME_DETAILS},
    {"inner_window_id", .kind = PCI_KIND_FRAME_DETAILS, .omitted = "pages of frames"},
    {"subcategory", .kind = PCI_KIND_CATEGORIES, .omitted = "categories of frames"},
    {"extra", .kind = PCI_KIND_OTHER},
    {.table = "mappings",
     .table_flags = PCI_TABLE_ATTACHED,
     .kind = PCI_KIND_UNKNOWN,
     .omitted = "debug names and ids of libraries"},
    {"start", U64, PCI_DEFAULT_0, PCI_COPY, .kind = PCI_KIND_RANGES},
    {"limit", U64, PCI_DEFAULT_0, PCI_COPY, .kind = PCI_KIND_RANGES},
    {"file_offset", U64, PCI_DEFAULT_0, PCI_COPY, .kind = PCI_KIND_RANGES},
    {"filename", TEXT, .anonymize = PCI_NAME_MODULE, .kind = PCI_KIND_LIBRARIES},
    {"build_id", TEXT, .anonymize = PCI_NAME_BUILD, .kind = PCI_KIND_BUILD_IDS},
    {"has_functions", BOOL, PCI_DEFAULT_0 | PCI_NO_NULLS, PCI_COPY, .kind = PCI_KIND_MAPPING_FLAGS},
    {"has_filenames", BOOL, PCI_DEFAULT_0 | PCI_NO_NULLS, PCI_COPY, .kind = PCI_KIND_MAPPING_FLAGS},
    {"has_line_numbers", BOOL, PCI_DEFAULT_0 | PCI_NO_NULLS, PCI_COPY,
     .kind = PCI_KIND_MAPPING_FLAGS},
    {"has_inline_frames", BOOL, PCI_DEFAULT_0 | PCI_NO_NULLS, PCI_COPY,
     .kind = PCI_KIND_MAPPING_FLAGS},
    {"id", U64, .anonymize = PCI_COPY},
    {"name", .kind = PCI_KIND_LIBRARIES},
    {"breakpad_id", .kind = PCI_KIND_DEBUG_FILES},
    {"debug_name", .kind = PCI_KIND_DEBUG_FILES},
    {"debug_path", .kind = PCI_KIND_DEBUG_FILES},
    {"arch", .kind = PCI_KIND_DEBUG_FILES},
    {"json", .kind = PCI_KIND_LIBRARY_MEMBERS},
    {"extra", .kind = PCI_KIND_OTHER},
    {.table = "threads", .kind = PCI_KIND_THREAD_LABELS},
    {"source", U32, PCI_REQUIRED, PCI_COPY, .references = "sources"},
    {"name", TEXT, .anonymize = PCI_NAME_THREAD, .kind = PCI_KIND_THREADS},
    {"tid", TEXT, .anonymize = PCI_NAME_NUMBER, .kind = PCI_KIND_THREADS},
    {"pid", TEXT, .anonymize = PCI_NAME_NUMBER, .kind = PCI_KIND_THREADS},
    {"process_name", TEXT, .anonymize = PCI_NAME_PROCESS, .kind = PCI_KIND_PROCESSES},
    {"label_shape", .omitted = "labels of threads"},
    {"tid_is_number", .anonymize = PCI_COPY, .kind = PCI_KIND_THREAD_LABELS},
    {"label.", .kind = PCI_KIND_THREAD_LABELS, .omitted = "labels of threads"},
    {"extra", .kind = PCI_KIND_THREAD_LABELS, .omitted = "data of the source's own format"},
    {.table = "stacks", .table_flags = PCI_TABLE_SPECIAL | PCI_TABLE_MAPPED},
    {"parent", U32, PCI_REQUIRED, .references = "stacks"},
    {"group", U32, PCI_REQUIRED, .references = "location_groups"},
    {.table = "stack_sums",
     .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPECIAL | PCI_TABLE_DERIVED},
    {"stack", U32, PCI_REQUIRED | PCI_ORDER_STRICT | PCI_SORTED_STRICT, .references = "stacks"},
    {.table = "function_sums",
     .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPECIAL | PCI_TABLE_DERIVED},
    {"location", U32, .references = "locations"},
    {.table = "samples",
     .table_flags = PCI_TABLE_SPECIAL | PCI_TABLE_MAPPED,
     .kind = PCI_KIND_UNKNOWN},
    {"source", U32, PCI_NO_NULLS, PCI_COPY, .references = "sources"},
    {"stack", U32, .anonymize = PCI_COPY, .references = "stacks"},
    {"thread", U32, .anonymize = PCI_COPY, .kind = PCI_KIND_THREADS, .references = "threads"},
    {"time", I64, .anonymize = PCI_COPY, .kind = PCI_KIND_TIMES},
    {"duration", I64, .anonymize = PCI_COPY, .kind = PCI_KIND_DURATIONS},
    {"cpu_delta", I64, .anonymize = PCI_COPY, .kind = PCI_KIND_CPU},
    {"memory_growth", I64, .anonymize = PCI_COPY},
    {"text", TEXT, .kind = PCI_KIND_SPELLING},
    {"resource_type", U32, .kind = PCI_KIND_RESOURCE_TYPES, .references = "resource_types",
     .omitted = "types of resources"},
    {"snapshot", U32, .kind = PCI_KIND_SNAPSHOTS, .references = "snapshots"},
    {"value.", .anonymize = PCI_COPY},
    {"time_ulp", .anonymize = PCI_COPY},
    {"time_delta_ulp", .anonymize = PCI_COPY},
    {"label_shape", .anonymize = PCI_COPY},
    {"cpu_cycles", .anonymize = PCI_COPY, .kind = PCI_KIND_CPU},
    {"label.", .anonymize = PCI_COPY, .kind = PCI_KIND_LABELS},
    {"extra", .kind = PCI_KIND_OTHER},
    {.table = "sample_zones",
     .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPECIAL | PCI_TABLE_DERIVED},
    {"location_row", U64, .flags = PCI_REQUIRED | PCI_SORTED},
    {"value_row", U64, .flags = PCI_REQUIRED | PCI_SORTED},
    {.table = "sample_values", .table_flags = PCI_TABLE_SPECIAL | PCI_TABLE_DERIVED},
    {"sample", U64, PCI_REQUIRED, .references = "samples"},
    {"sample_type", U32, PCI_REQUIRED, .references = "sample_types"},
    {"value", I64 | F64, .flags = PCI_REQUIRED},
    {.table = "sample_locations", .table_flags = PCI_TABLE_SPECIAL | PCI_TABLE_DERIVED},
    {"sample", U64, PCI_REQUIRED, .references = "samples"},
    {"depth", U32, .flags = PCI_REQUIRED},
    {"location", U32, PCI_REQUIRED, .references = "locations"},
    {.table = "label_keys",
     .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPECIAL | PCI_TABLE_MAPPED},
    {"table", TEXT, .flags = PCI_REQUIRED},
    {"key", TEXT, .flags = PCI_REQUIRED},
    {"kind", TEXT, .flags = PCI_REQUIRED},
    {"unit", .types = TEXT},
    {"occurrence", U32, .flags = PCI_NO_NULLS},
    {.table = "label_shapes",
     .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPECIAL | PCI_TABLE_MAPPED},
    {"first_key", U64, .flags = PCI_REQUIRED | PCI_ORDER_ASCENDING | PCI_ORDER_FROM_0},
    {.table = "label_shape_keys", .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPECIAL},
    {"label_key", U32, .references = "label_keys"},
    {"joined", BOOL, .flags = PCI_NO_NULLS},
    {.table = "nodes",
     .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPECIAL | PCI_TABLE_MAPPED | PCI_TABLE_VERIFIED},
    {"parent", U64, .references = "nodes"},
    {"key", .types = TEXT},
    {"tag", U32, .flags = PCI_REQUIRED},
    {"integer", .types = I64},
    {"number", .types = F64},
    {"text", .types = TEXT},
    {"first", .types = U64},
    {.table = "node_integers",
     .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPECIAL | PCI_TABLE_VERIFIED},
    {"value", I64, .flags = PCI_REQUIRED},
    {.table = "node_doubles",
     .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPECIAL | PCI_TABLE_VERIFIED},
    {"value", F64, .flags = PCI_REQUIRED},
    {.table = "source_rows", .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPECIAL},
    {"source", U32, PCI_REQUIRED, .references = "sources"},
    {"thread", U32, .references = "threads"},
    {"table", TEXT, .flags = PCI_REQUIRED},
    {"target", TEXT, .flags = PCI_REQUIRED},
    {"ordinal", U64, .flags = PCI_REQUIRED},
    {"row", U64, .flags = PCI_REQUIRED},
    {"id", .types = U64},
    {.table = "source_columns", .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPELLING},
    {"source", U32, PCI_REQUIRED, .references = "sources"},
    {"thread", U32, .references = "threads"},
    {"table", TEXT, .flags = PCI_REQUIRED},
    {"column", TEXT, .flags = PCI_REQUIRED},
    {"form", .types = TEXT},
    {"first_cell", U64, .references = "source_cells"},
    {"cells", .types = U64},
    {.table = "source_cells",
     .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SPELLING,
     .kind = PCI_KIND_OTHER},
    {"kind", U32, PCI_REQUIRED, .kind = PCI_KIND_OTHER},
    {"integer", .types = I64, .kind = PCI_KIND_OTHER},
    {"number", .types = F64, .kind = PCI_KIND_OTHER},
    {"text", .types = TEXT, .kind = PCI_KIND_OTHER},
    {.table = NULL},
};

const struct pci_schema_row pci_common_columns[] = {
    {"label_shape", U32, .references = "label_shapes"},
    {"extra", U64, .references = "nodes"},
    {.table = NULL},
};

static const struct pci_schema_row unknown[] = {{.kind = PCI_KIND_UNKNOWN}, {.table = NULL}};

static const struct pci_schema_row *find_table(const struct pci_schema_row *rows, const char *name)
{
    for (; rows && (rows->table || rows->column); rows++)
        if (rows->table && *rows->table == *name && !strcmp(rows->table, name))
            return rows;
    return NULL;
}

const struct pci_schema_row *pci_schema_table(const struct pci_format_schema *const *formats,
                                              const char *table)
{
    const struct pci_schema_row *found = find_table(shared, table);
    for (; !found && formats && *formats; formats++)
        found = find_table((*formats)->tables, table);
    return found ? found : unknown;
}

/* 1 if a column has the name `schema`; "PREFIX." is followed by digits. */
static int is_named(const char *schema, const char *column)
{
    size_t size = strlen(schema);
    if (schema[size - 1] != '.')
        return !strcmp(schema, column);
    return !strncmp(schema, column, size) && column[size] &&
           strspn(column + size, "0123456789") == strlen(column + size);
}

const struct pci_schema_row *pci_schema_column(const struct pci_schema_row *table,
                                               const char *column)
{
    for (const struct pci_schema_row *row = table + 1; row->column; row++)
        if (is_named(row->column, column))
            return row;
    return table;
}

const struct pci_format_schema *pci_format_schema(const pcol_file *file, pcol_str source_type)
{
    for (const struct pci_format_schema *const *schema = file->schemas; schema && *schema; schema++)
        if (strlen((*schema)->source_type) == source_type.size &&
            !memcmp((*schema)->source_type, source_type.data, source_type.size))
            return *schema;
    return NULL;
}

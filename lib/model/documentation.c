/*
 * documentation.c - descriptions and units of the columns of logical tables, one line each
 */
#include "model/joins.h"

#include <string.h>

#define ANY NULL
#define ID_OF_SOURCE "id in the source"

static const struct about {
    const char *table, *column, *unit, *text;
} abouts[] = {
    {"sources", "source_id", NULL, "number of the source, from 1"},
    {"sources", "source_type", NULL, "format of the input"},
    {"sources", "source_uri", NULL, "path or URL of the input"},
    {"sources", "source_timestamp", NULL, "time of the recording, as stored in the source"},
    {"sources", ".period", NULL, "sampling period in .period_unit"},
    {"sources", ".period_type", NULL, "quantity that the period counts"},
    {"sources", ".period_unit", NULL, "unit of .period"},
    {"sources", ".interval_ns", "ns", "requested time between two samples"},
    {"sources", ".duration_ns", "ns", "length of the recording"},
    {"sources", ".time_ns", "ns", "start of the recording, since 1970"},
    {"sources", ".default_sample_type", NULL, "default sample type"},
    {"sources", ".collapsed", NULL, "idle samples were joined"},
    {"sources", ".call_chains", NULL, "text of call chains, although all have one frame"},
    {"sources", ".crlf", NULL, "lines end in CR LF"},
    {"sources", ".frame_form", NULL, "form of its frames that have a file and a line"},
    {"sources", ".text", NULL, "comment lines of the source"},
    {"sources", ".drop_frames", NULL, "expression for frames that pprof removes"},
    {"sources", ".keep_frames", NULL, "expression for frames that pprof keeps"},
    {"sources", ".doc_url", NULL, "URL of a description of the profile"},
    {"samples", "sample_id", NULL, "number of the sample, from 1, in the source's order"},
    {"samples", ".time", "ms", "on the clock of its source"},
    {"samples", ".duration", "ms", "time that the sample covers, starting at .time"},
    {"samples", ".cpu_delta", "ms", "CPU time of its thread since the previous sample"},
    {"samples", ".memory_growth", "bytes", "of memory since a previous sample that is left out"},
    {"samples", ".cpu_cycles", "cycles", "CPU cycles of its thread since the previous sample"},
    {"samples", ".thread_id", NULL, "row of threads, from 0"},
    {"samples", ".stack_id", NULL, "row of stacks, from 0"},
    {"samples", ".text", NULL, "text of the sample in the source"},
    {"samples", ".resource_type", NULL, "row of resource_types, from 0"},
    {"samples", ".snapshot", NULL, "row of snapshots, from 0"},
    {"sample_values", "type", NULL, "measured quantity"},
    {"sample_values", "unit", NULL, "unit of value"},
    {"sample_values", "value", NULL, "the value, in the unit of column unit"},
    {"sample_values", ".ord", NULL, "distinguishes repeated types of one source"},
    {"sample_locations", "depth", NULL, "1 is the innermost call"},
    {"locations", "location_id", NULL, "number of the location, from 1"},
    {"locations", "function_id", NULL, "null: unknown function"},
    {"locations", "line", NULL, "line of filename"},
    {"locations", ".filename", NULL, "file of code outside functions"},
    {"locations", ".group_id", NULL, "equal for calls inlined at one location"},
    {"locations", ".mapping_id", NULL, "row of mappings, from 0: the binary or library"},
    {"locations", ".address", NULL, "address of the instruction"},
    {"locations", ".inline", NULL, "the call is inlined into the next location"},
    {"locations", ".inline_depth", NULL, "0: a call that is not inlined"},
    {"locations", ".folded", NULL, "represents several locations"},
    {"locations", ".file_number", NULL, "number of its file in the Rprof file"},
    {"locations", ".category", NULL, "row of categories, from 0"},
    {"locations", ".subcategory", NULL, "number among the category's subcategories"},
    {"locations", ".inner_window_id", NULL, "page of the code"},
    {"functions", "function_id", NULL, "number of the function, from 1"},
    {"functions", "name", NULL, "as shown"},
    {"functions", "system_name", NULL, "name for the linker"},
    {"functions", "filename", NULL, "source file"},
    {"functions", "start_line", NULL, "line where the function begins"},
    {"functions", ".is_js", NULL, "a JavaScript function"},
    {"functions", ".code_resource", NULL, "row of code_resources, from 0"},
    {"threads", "name", NULL, "name of the thread"},
    {"threads", "tid", NULL, "id of the thread in the operating system"},
    {"threads", "pid", NULL, "id of its process"},
    {"threads", ".label.registerTime", "ms", "on the clock of its source"},
    {"threads", ".label.unregisterTime", "ms", "on the clock of its source"},
    {"threads", ".label.processStartupTime", "ms", "on the clock of its source"},
    {"threads", ".label.processShutdownTime", "ms", "on the clock of its source"},
    {"sample_types", "level", NULL, "a gauge such as a heap size, never summed"},
    {"sample_types", "ordinal", NULL, "distinguishes repeated types of one source"},
    {"mappings", "filename", NULL, "binary or library"},
    {"mappings", "start", NULL, "first address"},
    {"mappings", "limit", NULL, "address after the last"},
    {"mappings", "file_offset", NULL, "offset of start in the file"},
    {"stacks", "parent", NULL, "row of the caller's stack; row 0 is the empty stack"},
    {"stacks", "group", NULL, "the innermost call: .group_id of its locations"},
    {"markers", "start", "ms", "on the clock of its source"},
    {"markers", "end", "ms", "on the clock of its source"},
    {"markers", "phase", NULL, "0 instant, 1 interval, 2 begin, 3 end of one"},
    {"allocations", "kind", NULL, "js or native"},
    {"allocations", "weight", "bytes", "negative: freed"},
    {"counter_samples", "counter", NULL, "row of counters, from 0"},
    {"counter_samples", "count", NULL, "change of the counter"},
    {"counter_samples", "number", NULL, "number of events"},
    {ANY, "time", "ms", "on the clock of its source"},
    {ANY, "row", NULL, "number of the row, from 0"},
    {ANY, "source_id", NULL, "number of its source"},
    {ANY, "sample_id", NULL, "number of its sample"},
    {ANY, "location_id", NULL, "number of its location"},
    {ANY, "function_id", NULL, "its function"},
    {ANY, "thread", NULL, "row of threads, from 0"},
    {ANY, "stack", NULL, "row of stacks, from 0"},
    {ANY, "category", NULL, "row of categories, from 0"},
    {ANY, "mapping", NULL, "row of mappings, from 0"},
    {ANY, "id", NULL, ID_OF_SOURCE},
    {ANY, ".id", NULL, ID_OF_SOURCE},
    {ANY, ".column", NULL, "column of the line"},
    {ANY, ".hash", NULL, "of the content: equal in all files; 32 hexadecimal digits"},
    {ANY, "extra", NULL, "other data of the source: a row of the physical table nodes"},
    {ANY, ".extra", NULL, "other data of the source: a row of the physical table nodes"},
};

void pci_column_document(const pcol_column *column, const char **unit, const char **text)
{
    const char *name = column->name, *table = column->table->name;
    *unit = column->unit;
    *text = column->join ? column->join->documentation : NULL;
    if (*text)
        return;
    for (size_t i = 0; i < sizeof abouts / sizeof *abouts; i++)
        if (strcmp(abouts[i].column, name) == 0 &&
            (abouts[i].table == ANY || strcmp(abouts[i].table, table) == 0)) {
            *unit = abouts[i].unit;
            *text = abouts[i].text;
            return;
        }
    if (strncmp(name, ".label.", 7) == 0)
        *text = "a label of the source";
    else if (name[0] == '.' && strcmp(table, "sources") == 0)
        *text = "metadata of the source, or added at import";
    else if (name[0] == '.' && strstr(name, "_ulp") != NULL)
        *text = "remainder of rounding the source's double to ns, in units of its last bit";
}

/*
 * registry.c - the table of outside formats, and importing and exporting by it
 *
 * A format is a row: what it is called, and its room's three functions. An input is recognised by
 * its first bytes; where they leave it open, by its name's suffix.
 */
#include "stream/deflate.h"
#include "stream/input_open.h"
#include "formats/unsupported.h"
#include "model/check.h"
#include "model/table.h"

#include "util/alloc.h"
#include "util/thread_pool.h"
#include "builder/builder.h"
#include "reader/file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SNIFF_SIZE 4096u

static const struct pci_format formats[] = {
    {{"rprof", "R's Rprof() output", ".Rprof .out .prof",
      "everything: a file that R wrote comes back byte for byte", 1, 1},
     pci_rprof_sniff,
     pci_rprof_read,
     pci_rprof_write,
     &pci_rprof_holds},
    {{"rprofmem", "R's Rprofmem() log of allocations", ".Rprofmem",
      "everything: a log that R wrote comes back byte for byte", 1, 1},
     pci_rprofmem_sniff,
     pci_rprofmem_read,
     pci_rprofmem_write,
     &pci_rprofmem_holds},
    {{"v1", "the five tables of the profile data model v1 as JSON", ".v1.json",
      "samples, locations and functions of a profile that counts samples", 1, 1},
     pci_v1_sniff,
     pci_v1_read,
     pci_v1_write,
     &pci_v1_holds},
    {{"perf", "text of Linux perf script", ".perf.txt .perfscript",
      "every field and call stack; what perf lays out by default comes back byte for byte", 1, 1},
     pci_perf_sniff,
     pci_perf_read,
     pci_perf_write,
     &pci_perf_holds},
    {{"speedscope", "JSON of the viewer speedscope", ".speedscope.json",
      "not read; stacks and weights of each thread and sample type, files of functions", 0, 1},
     NULL,
     NULL,
     pci_speedscope_write,
     &pci_speedscope_holds},
    {{"pprof", "profile.proto, what pprof reads and writes", ".pb .pprof",
      "everything but the order of the string table and the form on the wire", 1,
      PCOL_WRITES_COMPRESSED},
     pci_pprof_sniff,
     pci_pprof_read,
     pci_pprof_write,
     &pci_pprof_holds},
    {{"perun", "a Perun profile, plain or as an object of its store", ".perf .perun",
      "everything: the same JSON value comes back, with the order of keys", 1, 1},
     pci_perun_sniff,
     pci_perun_read,
     pci_perun_write,
     &pci_perun_holds},
    {{"gperftools",
      "older profiles that pprof reads: of gperftools (CPU, heap, growth, contention, threads), "
      "text of Go (debug=1) and Java",
      ".heap", "what pprof keeps: samples, addresses, mappings, names in Java's", 1, 0},
     pci_gperftools_sniff,
     pci_gperftools_read,
     NULL,
     NULL},
    {{"firefox", "processed profile of the Firefox Profiler, JSON", ".json",
      "everything: a profile comes back in its version, with an equal JSON value", 1, 1},
     pci_firefox_sniff,
     pci_firefox_read,
     pci_firefox_write,
     &pci_firefox_holds},
    {{"jslb", "processed profile of the Firefox Profiler, binary", ".jslb",
      "everything: a profile of version 70 comes back with an equal value", 1, 1},
     pci_jslb_sniff,
     pci_jslb_read,
     pci_jslb_write,
     &pci_firefox_holds},
    {{"pcol", "a pcol file", ".pcol", "everything", 1, 0},
     pci_pcol_sniff,
     pci_pcol_read,
     NULL,
     NULL},
    {{"folded", "folded stacks: frames;in;a;line COUNT", ".folded .collapsed .stacks",
      "everything: the text comes back byte for byte", 1, 1},
     pci_folded_sniff,
     pci_folded_read,
     pci_folded_write,
     &pci_folded_holds},
};

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

const pcol_format *pcol_format_at(size_t index)
{
    return index < FORMAT_COUNT ? &formats[index].info : NULL;
}

static const struct pci_format *find_format(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (!strcmp(formats[i].info.name, name))
            return &formats[i];
    return NULL;
}

/* Only what a source could leave unsaid: tables that importers always write source_rows for (those
 * of each thread, say) need not be here. */
static const struct source_orders {
    const char *type;
    const char *const *tables; /* the source's name, ours, ..., NULL */
} source_orders[] = {
    {"pprof", (const char *const[]){"mapping", "mappings", "location", "location_groups",
                                    "function", "functions", NULL}},
};

const char *const *pci_source_orders(const char *type, size_t size)
{
    for (size_t i = 0; i < sizeof source_orders / sizeof *source_orders; i++)
        if (strlen(source_orders[i].type) == size && !memcmp(source_orders[i].type, type, size))
            return source_orders[i].tables;
    return NULL;
}

/* "rprof, v1 or pcol": the formats that can be read or written. */
static void list_formats(int writable, char *text, size_t size)
{
    size_t used = 0, left = 0;
    text[0] = 0;
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        left += (writable ? formats[i].info.writes : formats[i].info.reads) != 0;
    for (size_t i = 0; i < FORMAT_COUNT && used < size; i++) {
        if (!(writable ? formats[i].info.writes : formats[i].info.reads))
            continue;
        left--;
        const char *behind = left > 1 ? ", " : left ? " or " : "";
        int n = snprintf(text + used, size - used, "%s%s", formats[i].info.name, behind);
        used += n > 0 ? (size_t)n : size;
    }
}

/* ---- recognising */

/* Whether a name ends in one of the blank-separated suffixes, letters of either case; a ".gz" at
 * its end does not count. */
static int has_suffix(const char *name, const char *suffixes)
{
    size_t size = strlen(name);
    if (size > 3 && !strcasecmp(name + size - 3, ".gz"))
        size -= 3;
    for (const char *at = suffixes; *at;) {
        size_t length = strcspn(at, " ");
        if (length < size && !strncasecmp(name + size - length, at, length))
            return 1;
        at += length;
        at += *at == ' ';
    }
    return 0;
}

static pcol_status recognise(struct pci_input *input, const struct pci_format **format,
                             pcol_error *err)
{
    char names[160];
    const struct pci_format *maybe = NULL, *named = NULL;
    *format = NULL;
    while (input->size < SNIFF_SIZE && !input->end)
        PCI_TRY(pci_input_more(input, 0, err));
    const char *other = pci_unsupported(input->data, input->size, input->end, 1);
    for (size_t i = 0; !other && i < FORMAT_COUNT; i++) {
        int sure = input->size && formats[i].sniff
                       ? formats[i].sniff(input->data, input->size, input->end)
                       : 0;
        if (sure > 1) {
            *format = &formats[i];
            return PCOL_OK;
        }
        int suffix = formats[i].read && has_suffix(input->name, formats[i].info.suffixes);
        if (sure && suffix && !maybe)
            maybe = &formats[i];
        if (suffix && !named)
            named = &formats[i];
    }
    if (!other && !maybe)
        other = pci_unsupported(input->data, input->size, input->end, 0);
    if (other)
        return pci_fail(err, PCOL_E_FORMAT, "this is %s", other);
    *format = maybe ? maybe : named; /* its reader then says what is wrong with the content */
    if (*format)
        return PCOL_OK;
    if (!input->size)
        return pci_fail(err, PCOL_E_FORMAT, "input is empty");
    list_formats(0, names, sizeof names);
    return pci_fail(err, PCOL_E_FORMAT,
                    "format not recognised: it looks like none of %s; if it is one all the same, "
                    "--from says which",
                    names);
}

/* ---- importing */

/* Options as this version knows them: what the caller's lacks is 0. */
static pcol_status import_options(const pcol_import_options *given, pcol_import_options *options,
                                  pcol_error *err)
{
    memset(options, 0, sizeof *options);
    if (given) {
        if (given->size < sizeof given->size)
            return pci_fail(err, PCOL_E_ARGUMENT, "options without a size");
        memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
    }
    options->size = sizeof *options;
    if (options->format && !strcmp(options->format, "auto"))
        options->format = NULL;
    for (size_t i = 0; i < options->meta_count; i++)
        if (!options->meta || !options->meta[2 * i] || !options->meta[2 * i + 1])
            return pci_fail(err, PCOL_E_ARGUMENT, "a key or value of the options is NULL");
    if (options->start_size && !options->start)
        return pci_fail(err, PCOL_E_ARGUMENT, "the options have a size but no start");
    if (options->flags & ~PCOL_IMPORT_TRUSTED)
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown flags of an import: 0x%x", options->flags);
    return PCOL_OK;
}

static pcol_status choose(struct pci_input *input, const char *name,
                          const struct pci_format **format, pcol_error *err)
{
    char names[160];
    if (!name)
        return recognise(input, format, err);
    *format = find_format(name);
    if (*format && (*format)->read)
        return PCOL_OK;
    list_formats(0, names, sizeof names);
    return pci_fail(err, PCOL_E_NOT_FOUND, "format '%s' cannot be read (%s can)", name, names);
}

static pcol_status import_input(pcol_builder *builder, struct pci_input *input,
                                const pcol_import_options *options, pcol_error *err)
{
    const struct pci_format *format;
    pcol_status status = choose(input, options->format, &format, err);
    if (status == PCOL_OK) {
        struct pci_import import = {builder, input, options, format->info.name, PCOL_NONE};
        status = format->read(&import, err);
        if (status == PCOL_E_LIMIT && err && err->offset == PCOL_NOWHERE && !err->line &&
            builder->budget.exceeded)
            err->offset = input->offset;
        if (status != PCOL_OK)
            pci_input_place(input, err);
    }
    pci_input_close(input);
    return status;
}

/* Where the bytes come from. */
struct origin {
    const char *path, *name;
    const void *data;
    size_t size;
    int fd;
};

static pcol_status open_origin(struct pci_input *input, const struct origin *from,
                               const struct pci_input_options *how, pcol_error *err)
{
    return from->path   ? pci_input_open_path(input, from->path, how, err)
           : from->data ? pci_input_open_memory(input, from->data, from->size, from->name, how, err)
                        : pci_input_open_fd(input, from->fd, from->name, how, err);
}

/* All that an import allocates and frees is within one scope of the builder's budget. */
static pcol_status import_within(pcol_builder *builder, const struct origin *from,
                                 const pcol_import_options *given, pcol_error *err)
{
    pcol_import_options options;
    struct pci_input input;
    struct pci_budget *budget = &builder->budget;
    PCI_TRY(import_options(given, &options, err));
    struct pci_input_options how = {.max_bytes = options.max_input_bytes,
                                    .progress = options.progress,
                                    .context = options.context,
                                    .threads = options.threads,
                                    .budget = budget,
                                    .start = options.start,
                                    .start_size = options.start_size};
    budget->used = 1;
    budget->trusted |= (options.flags & PCOL_IMPORT_TRUSTED) != 0;
    struct pci_budget *before = pci_budget_enter(budget);
    pcol_status status = open_origin(&input, from, &how, err);
    if (status == PCOL_OK)
        status = import_input(builder, &input, &options, err);
    pci_budget_leave(before);
    return status;
}

pcol_status pcol_import_path(pcol_builder *builder, const char *path,
                             const pcol_import_options *options, pcol_error *err)
{
    if (!builder || !path)
        return pci_fail(err, PCOL_E_ARGUMENT, "no builder or no path");
    PCI_TRY(pci_builder_check_open(builder, err));
    return import_within(builder, &(struct origin){.path = path}, options, err);
}

pcol_status pcol_import_fd(pcol_builder *builder, int fd, const char *name,
                           const pcol_import_options *options, pcol_error *err)
{
    PCI_TRY(pci_builder_check_open(builder, err));
    return import_within(builder, &(struct origin){.fd = fd, .name = name}, options, err);
}

pcol_status pcol_import_memory(pcol_builder *builder, const void *data, size_t size,
                               const char *name, const pcol_import_options *options,
                               pcol_error *err)
{
    if (!builder || (!data && size))
        return pci_fail(err, PCOL_E_ARGUMENT, "no builder or no data");
    PCI_TRY(pci_builder_check_open(builder, err));
    struct origin from = {.data = data ? data : "", .size = size, .name = name};
    return import_within(builder, &from, options, err);
}

pcol_status pci_import_source(struct pci_import *import, pcol_source *source, pcol_error *err)
{
    const pcol_import_options *options = import->options;
    source->size = sizeof *source;
    if (!source->type)
        source->type = import->type;
    if (options->uri)
        source->uri = options->uri;
    else if (!source->uri)
        source->uri = import->input->name;
    if (options->timestamp)
        source->timestamp = options->timestamp;
    PCI_TRY(pcol_builder_source(import->builder, source, &import->source, err));
    if (source->has_interval)
        pci_import_interval(import, source->interval_ns);
    for (size_t i = 0; i < options->meta_count; i++)
        PCI_TRY(pcol_builder_source_meta(import->builder, import->source, options->meta[2 * i],
                                         options->meta[2 * i + 1], err));
    return PCOL_OK;
}

void pci_import_interval(const struct pci_import *import, int64_t interval_ns)
{
    pcol_builder *b = import->builder;
    if (b->interval_ns == 0)
        b->interval_ns = interval_ns;
    if (b->interval_ns == interval_ns || b->intervals_differ)
        return;
    b->intervals_differ = 1;
    pci_import_message(import,
                       "sampled every %" PRId64 " us, an earlier source every %" PRId64
                       " us: numbers of samples of both do not compare",
                       interval_ns / 1000, b->interval_ns / 1000);
}

__attribute__((format(printf, 3, 0))) static void say(pcol_message_fn function, void *context,
                                                      const char *format, va_list arguments)
{
    char text[512];
    if (!function)
        return;
    vsnprintf(text, sizeof text, format, arguments);
    function(context, text);
}

void pci_import_message(const struct pci_import *import, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(import->options->message, import->options->context, format, arguments);
    va_end(arguments);
}

/* ---- exporting */

void pci_export_loss(const struct pci_export *export, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(export->options->loss, export->options->context, format, arguments);
    va_end(arguments);
}

void pci_export_warning(const struct pci_export *export, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(export->options->warning, export->options->context, format, arguments);
    va_end(arguments);
}

#define PIECE_BEHIND ((size_t)1 << 16)
#define PIECES_BEHIND 8u

/* The target writes to a ring, and another thread takes from there to the sink. */
static pcol_status write_beside(const struct pci_format *target, struct pci_export *export,
                                pcol_error *err)
{
    struct pci_write_pipe *behind;
    PCI_TRY(pci_write_pipe_new(export->sink, PIECE_BEHIND, PIECES_BEHIND, &behind, err));
    export->sink = pci_write_pipe_sink(behind);
    pcol_status status = target->write(export, err);
    if (status == PCOL_OK)
        status = pci_write_pipe_finish(behind, err);
    pci_write_pipe_free(behind);
    return status;
}

static pcol_status write_compressed(const struct pci_format *target, struct pci_export *export,
                                    pcol_error *err)
{
    struct pci_gzip_writer *gz;
    int beside =
        export->options->threads > 1 && pcol_file_size(export->file) >= PCI_PARALLEL_MIN_BYTES / 4;
    PCI_TRY(pci_gzip_writer_new(export->sink, &gz, err));
    export->sink = pci_gzip_writer_sink(gz);
    pcol_status status = beside ? write_beside(target, export, err) : target->write(export, err);
    if (status == PCOL_OK)
        status = pci_gzip_writer_finish(gz, err);
    pci_gzip_writer_free(gz);
    return status;
}

const struct pci_holds *pci_format_holds(const char *format)
{
    const struct pci_format *target = find_format(format);
    return target ? target->holds : NULL;
}

pcol_status pci_export(const pcol_file *file, const char *format,
                       const pcol_export_options *options, pcol_sink sink, pcol_error *err)
{
    char names[160];
    pcol_export_options known = {0};
    if (!file || !format || !sink.write)
        return pci_fail(err, PCOL_E_ARGUMENT, "no file, no format or no sink");
    if (options && options->size < sizeof options->size)
        return pci_fail(err, PCOL_E_ARGUMENT, "options without a size");
    if (options)
        memcpy(&known, options, options->size < sizeof known ? options->size : sizeof known);
    if (known.compress > PCOL_COMPRESS_GZIP)
        return pci_fail(err, PCOL_E_ARGUMENT, "no such compression: %u", known.compress);
    const struct pci_format *target = find_format(format);
    if (!target || !target->write) {
        list_formats(1, names, sizeof names);
        return pci_fail(err, PCOL_E_NOT_FOUND, "format '%s' cannot be written (%s can)", format,
                        names);
    }
    PCI_TRY(pci_plausible_all(file, err));
    PCI_TRY(pci_schema_verify(file, err));
    const struct pci_table *sources = pci_table_find(file, "sources");
    uint64_t count = sources ? sources->rows : 0;
    if (known.source_id > count)
        return pci_fail(err, PCOL_E_NOT_FOUND,
                        "there is no source %" PRIu64 ": the file has %" PRIu64, known.source_id,
                        count);
    struct pci_export export = {file, &known, 0, (uint32_t)count - 1, sink, target->holds};
    if (!count)
        export.first_source = 1, export.last_source = 0;
    if (known.source_id)
        export.first_source = export.last_source = (uint32_t)known.source_id - 1;
    int gzip = known.compress == PCOL_COMPRESS_AUTO ? target->info.writes == PCOL_WRITES_COMPRESSED
                                                    : known.compress == PCOL_COMPRESS_GZIP;
    PCI_TRY(gzip ? write_compressed(target, &export, err) : target->write(&export, err));
    return pci_kept(file, err);
}

/*
 * read.c - imports a processed profile of the Firefox Profiler, JSON or JSLB, into a builder
 *
 * Drives the import: the document (read_document.c), then threads, counters and preserved columns.
 * Threads are converted while the document is read if all shared tables precede them. Tests:
 * tests/roundtrip/firefox, tests/unit/test_firefox.c.
 */
#include "formats/firefox/read.h"
#include "formats/firefox/firefox.h"

#include "builder/idle_samples.h"
#include "util/alloc.h"
#include "util/utc_text.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- format detection */

static int has_text(const uint8_t *data, size_t size, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= size; i++) {
        const uint8_t *p = memchr(data + i, text[0], size - length - i + 1);
        if (!p)
            return 0;
        if (!memcmp(p, text, length))
            return 1;
        i = (size_t)(p - data);
    }
    return 0;
}

static size_t skip_bom_and_blanks(const uint8_t *data, size_t size)
{
    size_t at = size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (at < size &&
           (data[at] == ' ' || data[at] == '\t' || data[at] == '\n' || data[at] == '\r'))
        at++;
    return at;
}

int pci_firefox_sniff(const uint8_t *data, size_t size, int all)
{
    /* Keys that no other JSON format of profiles has near its beginning. */
    static const char *const unambiguous_keys[] = {"\"preprocessedProfileVersion\"",
                                                   "\"stackTable\"", "\"frameTable\"",
                                                   "\"threadCPUDelta\"", "\"breakpadId\""};
    size_t at = skip_bom_and_blanks(data, size);
    (void)all;
    if (at >= size || data[at] != '{')
        return 0;
    for (size_t i = 0; i < sizeof unambiguous_keys / sizeof unambiguous_keys[0]; i++)
        if (has_text(data, size, unambiguous_keys[i]))
            return 2;
    if (has_text(data, size, "\"meta\"") &&
        (has_text(data, size, "\"processType\"") || has_text(data, size, "\"markerSchema\"")))
        return 2;
    return has_text(data, size, "\"meta\"") || has_text(data, size, "\"threads\"");
}

int pci_jslb_sniff(const uint8_t *data, size_t size, int all)
{
    (void)all;
    return size >= sizeof pci_slab_magic && !memcmp(data, pci_slab_magic, sizeof pci_slab_magic)
               ? 2
               : 0;
}

/* ---- source */

int pci_ff_time_text(double ms, char text[PCI_UTC_TEXT_BYTES])
{
    if (!(ms > 0 && ms < 253402300800000.0)) /* up to the year 9999 */
        return 0;
    int64_t all = (int64_t)ms;
    pci_utc_text(all / 1000, (uint32_t)(all % 1000) * 1000000, 3, text);
    return 1;
}

static pcol_status add_source(struct pci_ff *ff, pcol_error *err)
{
    char text[PCI_UTC_TEXT_BYTES];
    pcol_source source = {.size = sizeof source};
    if (ff->has_start && pci_ff_time_text(ff->start_ms, text))
        source.timestamp = text;
    if (ff->has_interval && ff->interval_ms > 0 && ff->interval_ms < 9e12) {
        source.flags |= PCOL_SOURCE_HAS_INTERVAL;
        source.interval_ns = (int64_t)(ff->interval_ms * 1e6 + 0.5);
    }
    if (ff->duration_ms > 0 && ff->duration_ms < 9e12) {
        source.flags |= PCOL_SOURCE_HAS_DURATION;
        source.duration_ns = (int64_t)(ff->duration_ms * 1e6 + 0.5);
    }
    pci_set_flag(&source.flags, PCOL_SOURCE_COLLAPSED, ff->import->options->collapse_idle);
    PCI_TRY(pci_import_source(ff->import, &source, err));
    if (source.flags & PCOL_SOURCE_COLLAPSED)
        PCI_TRY(pci_idle_store_tolerance(ff->b, ff->import->source,
                                         ff->import->options->idle_tolerance_ns, err));
    return pci_builder_extra(ff->b, PCI_T_SOURCES, ff->import->source, ff->root, err);
}

/* ---- threads */

/* Copy a member of a thread to a text column; a number becomes its decimal digits. */
static pcol_status set_text_column(struct pci_ff *ff, const struct pci_ff_scope *scope,
                                   const char *key, const char *column, pcol_error *err)
{
    char text[32];
    uint32_t number;
    PCI_TRY(pci_builder_column(ff->b, PCI_T_THREADS, column, PCOL_STRING, 0, &number, err));
    for (size_t i = 0; i < scope->label_count; i++) {
        const struct pci_label *l = &scope->labels[i];
        pcol_str name = pci_string_pool_get(&ff->b->strings, l->key);
        if (name.size != strlen(key) || memcmp(name.data, key, name.size) != 0)
            continue;
        if (l->kind == PCI_LABEL_STRING)
            return pci_builder_set_bits(ff->b, number, scope->thread, l->text, err);
        if (l->kind == PCI_LABEL_INTEGER) {
            int size = snprintf(text, sizeof text, "%" PRId64, l->as.i64);
            return pcol_builder_set_str(ff->b, number, scope->thread, text, (size_t)size, err);
        }
    }
    return PCOL_OK;
}

static pcol_status add_thread(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err)
{
    uint32_t column;
    uint64_t row = pci_builder_rows(ff->b, PCI_T_THREADS);
    if (row >= PCOL_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "more than 4294967294 threads");
    scope->thread = (uint32_t)row;
    PCI_TRY(pci_builder_column(ff->b, PCI_T_THREADS, "source", PCOL_U32, PCI_T_SOURCES + 1, &column,
                               err));
    PCI_TRY(pcol_builder_set_i64(ff->b, column, row, ff->import->source, err));
    PCI_TRY(set_text_column(ff, scope, "name", "name", err));
    PCI_TRY(set_text_column(ff, scope, "tid", "tid", err));
    PCI_TRY(set_text_column(ff, scope, "pid", "pid", err));
    PCI_TRY(set_text_column(ff, scope, "processName", "process_name", err));
    PCI_TRY(pci_builder_labels(ff->b, PCI_T_THREADS, row, scope->labels, scope->label_count,
                               &scope->extra, err));
    return scope->extra == PCI_NO_NODE
               ? PCOL_OK
               : pci_builder_extra(ff->b, PCI_T_THREADS, row, scope->extra, err);
}

/* ---- counters */

static pcol_status finish_counters(struct pci_ff *ff, pcol_error *err)
{
    uint32_t table, column;
    if (!ff->counter_count)
        return PCOL_OK;
    PCI_TRY(pcol_builder_table(ff->b, "counters", &table, err));
    PCI_TRY(pci_builder_column(ff->b, table, "source", PCOL_U32, PCI_T_SOURCES + 1, &column, err));
    for (size_t i = 0; i < ff->counter_count; i++) {
        PCI_TRY(pcol_builder_set_i64(ff->b, column, ff->counters[i]->row, ff->import->source, err));
        if (ff->counters[i]->samples.present)
            PCI_TRY(pci_ff_append_counter_samples(ff, ff->counters[i], i, err));
    }
    return PCOL_OK;
}

/* ---- conversion */

static pcol_status map_categories(struct pci_ff *ff, pcol_error *err)
{
    uint32_t *map;
    PCI_TRY(PCI_MALLOC(map, (size_t)ff->category_count + 1, err));
    for (uint64_t i = 0; i < ff->category_count; i++)
        map[i] = (uint32_t)(ff->category_base + i);
    ff->shared.map[PCI_FF_CATEGORIES] = map;
    ff->shared.rows[PCI_FF_CATEGORIES] = ff->category_count;
    return PCOL_OK;
}

pcol_status pci_ff_convert_shared(struct pci_ff *ff, pcol_error *err)
{
    ff->shared_converted = 1;
    PCI_TRY(add_source(ff, err));
    PCI_TRY(map_categories(ff, err));
    ff->first_thread = (uint32_t)pci_builder_rows(ff->b, PCI_T_THREADS);
    return pci_ff_resolve(ff, &ff->shared, err);
}

pcol_status pci_ff_convert_thread(struct pci_ff *ff, struct pci_ff_scope *scope, pcol_error *err)
{
    PCI_TRY(add_thread(ff, scope, err));
    PCI_TRY(pci_ff_resolve(ff, scope, err));
    if (scope->tables[PCI_FF_SAMPLES].present)
        PCI_TRY(pci_ff_append_samples(ff, scope, err));
    pci_ff_table_release_cells(&scope->tables[PCI_FF_SAMPLES]);
    return pci_ff_record_orders(ff, scope, err);
}

/* Samples before markers: the sample types of a profile are in the order of its threads. */
static pcol_status finish_threads(struct pci_ff *ff, pcol_error *err)
{
    uint64_t marker = ff->marker_base;
    if (!ff->shared_converted) {
        PCI_TRY(pci_ff_convert_shared(ff, err));
        for (size_t i = 0; i < ff->thread_count; i++)
            PCI_TRY(pci_ff_convert_thread(ff, ff->threads[i], err));
    }
    PCI_TRY(pci_ff_finish_types(ff, err));
    PCI_TRY(pci_ff_record_orders(ff, &ff->shared, err));
    for (size_t i = 0; i < ff->thread_count; i++) {
        struct pci_ff_scope *scope = ff->threads[i];
        if (scope->tables[PCI_FF_MARKERS].present)
            PCI_TRY(pci_ff_append_markers(ff, scope, marker, err));
        marker += scope->tables[PCI_FF_MARKERS].rows;
        for (int id = PCI_FF_JS_ALLOCATIONS; id <= PCI_FF_NATIVE_ALLOCATIONS; id++)
            if (scope->tables[id].present)
                PCI_TRY(pci_ff_append_allocations(ff, scope, id, err));
    }
    return PCOL_OK;
}

/* Close the input before tables are converted: frees the bytes of a container in memory. */
static void close_input(struct pci_ff *ff)
{
    struct pci_slabs *slabs = ff->in.slabs;
    pci_ff_stream_close(&ff->in);
    if (slabs)
        pci_slabs_close(slabs);
}

static pcol_status read_all(struct pci_ff *ff, pcol_error *err)
{
    uint32_t markers;
    PCI_TRY(pcol_builder_table(ff->b, "markers", &markers, err));
    ff->marker_base = pci_builder_rows(ff->b, markers);
    PCI_TRY(pci_ff_read_document(ff, err));
    close_input(ff);
    PCI_TRY(finish_threads(ff, err));
    PCI_TRY(finish_counters(ff, err));
    PCI_TRY(pci_ff_write_source_columns(ff, err));
    if (ff->import->options->collapse_idle)
        pci_import_message("%" PRIu64 " idle samples joined to the previous ones", ff->joined_rows);
    return PCOL_OK;
}

static void clear_scope(struct pci_ff_scope *scope)
{
    for (int i = 0; i < PCI_FF_TABLES; i++) {
        pci_ff_table_clear(&scope->tables[i]);
        pci_free(scope->map[i]);
    }
    pci_free(scope->repeated);
    pci_free(scope->file_names);
    pci_free(scope->resource_lib);
    pci_free(scope->resource_names);
    pci_free(scope->function_lib);
    pci_free(scope->labels);
}

static void free_reader(struct pci_ff *ff)
{
    pci_ff_prefetch_free(ff->prefetch);
    pci_ff_stream_close(&ff->in);
    clear_scope(&ff->shared);
    for (size_t i = 0; i < ff->thread_count; i++) {
        clear_scope(ff->threads[i]);
        pci_free(ff->threads[i]);
    }
    for (size_t i = 0; i < ff->counter_count; i++) {
        pci_ff_table_clear(&ff->counters[i]->samples);
        pci_free(ff->counters[i]);
    }
    for (int i = 0; i < PCI_FF_TABLES; i++)
        pci_ff_duplicates_clear(&ff->duplicates[i]);
    pci_ff_cloner_free(ff);
    pci_free(ff->threads);
    pci_free(ff->key_thread);
    pci_free(ff->counters);
    pci_free(ff->subcategories);
    pci_free(ff->marks);
    pci_free(ff->clones);
    pci_free(ff->equals);
    pci_free(ff->text.data);
    pci_free(ff->source_columns);
    pci_free(ff);
}

/* Append the path of the current part of the profile to an error of the JSON reader. */
static void add_path(const struct pci_ff *ff, pcol_error *err)
{
    size_t size = err ? strlen(err->message) : 0;
    if (size && ff->in.path[0] && (err->line || err->offset != PCOL_POSITION_UNKNOWN) &&
        !strstr(err->message, ff->in.path))
        snprintf(err->message + size, sizeof err->message - size, " (in %s)", ff->in.path);
}

static pcol_status read_profile(struct pci_import *import, struct pci_slabs *slabs, pcol_error *err)
{
    struct pci_ff *ff;
    PCI_TRY(PCI_CALLOC(ff, 1, err));
    ff->import = import;
    ff->b = import->builder;
    ff->shared.thread = PCOL_NONE;
    ff->shared.extra = PCI_NO_NODE;
    pcol_status status = pci_ff_stream_open(&ff->in, import->input, slabs, err);
    PCI_THEN(status, read_all(ff, err));
    if (status == PCOL_E_SYNTAX || status == PCOL_E_LIMIT)
        add_path(ff, err);
    free_reader(ff);
    return status;
}

pcol_status pci_firefox_read(struct pci_import *import, pcol_error *err)
{
    return read_profile(import, NULL, err);
}

pcol_status pci_jslb_read(struct pci_import *import, pcol_error *err)
{
    struct pci_slabs slabs;
    PCI_TRY(pci_slabs_open(&slabs, import->input, err));
    pcol_status status = read_profile(import, &slabs, err);
    pci_slabs_close(&slabs);
    return status;
}

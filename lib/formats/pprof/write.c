/*
 * write.c - export of a pprof profile: header, sources, sample types
 *
 * Fields are written in the order sample types, samples, referenced tables, strings, header, so
 * that only the numbering of the tables is in memory until the end.
 */
#include "formats/pprof/write.h"
#include "formats/pprof/pprof.h"

#include "query/labels.h"
#include "util/alloc.h"
#include "util/long_texts.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { F_SAMPLE_TYPE = 1 };

static const pcol_str NANOSECONDS = {"nanoseconds", 11};

/* ---- cells ---- */

pcol_status pci_pprof_cell_index(struct pci_pprof_export *e, const struct pci_column *column,
                                 uint64_t row, int64_t *index, pcol_error *err)
{
    pcol_str text;
    int valid = 0;
    *index = 0;
    PCI_TRY(pci_get_str(e->file, column, row, &text, &valid, err));
    return valid ? pci_pprof_index(&e->w, text, index, err) : PCOL_OK;
}

/* ---- the sources ---- */

struct source_columns {
    const struct pci_column *type, *uri, *period, *period_type, *period_unit, *interval, *duration,
        *default_type, *time, *drop, *keep, *doc, *extra;
};

struct header {
    PciPprof__Profile message;
    PciPprof__ValueType period_type;
    struct source_columns columns;
    int64_t *comments;
    size_t comment_count, comment_capacity;
    struct pci_hash comment_hash;
    pcol_str drop, keep; /* of the first source */
    uint64_t long_texts; /* bytes of long comments */
};

static pcol_status open_sources(struct pci_pprof_export *e, struct source_columns *c,
                                pcol_error *err)
{
    const struct pci_column_request columns[] = {
        {"sources", "type", PCI_TYPES_TEXT, &c->type},
        {"sources", "uri", PCI_TYPES_TEXT, &c->uri},
        {"sources", "period", PCI_TYPES_INT, &c->period},
        {"sources", "period_type", PCI_TYPES_TEXT, &c->period_type},
        {"sources", "period_unit", PCI_TYPES_TEXT, &c->period_unit},
        {"sources", "interval_ns", PCI_TYPES_INT, &c->interval},
        {"sources", "duration_ns", PCI_TYPES_INT, &c->duration},
        {"sources", "default_sample_type", PCI_TYPES_TEXT, &c->default_type},
        {"sources", "time_ns", PCI_TYPES_INT, &c->time},
        {"sources", "drop_frames", PCI_TYPES_TEXT, &c->drop},
        {"sources", "keep_frames", PCI_TYPES_TEXT, &c->keep},
        {"sources", "doc_url", PCI_TYPES_TEXT, &c->doc},
        {"sources", "extra", PCI_TYPES_ROW, &c->extra},
    };
    return pci_find_columns(e->file, columns, sizeof columns / sizeof *columns, err);
}

/* Was the source imported from profile.proto, or converted to it? */
static int has_pprof_schema(const pcol_file *file, pcol_str type)
{
    const struct pci_format_schema *schema = pci_format_schema(file, type);
    return schema && schema->last_type_is_default;
}

static pcol_status read_source_type(struct pci_pprof_export *e, const struct source_columns *c,
                                    uint32_t source, pcol_str *type, pcol_error *err)
{
    int valid = 0;
    *type = (pcol_str){"", 0};
    return pci_get_str(e->file, c->type, source, type, &valid, err);
}

/* Add texts of a source that the header lacks. Like pprof, take drop_frames of the first only. */
static pcol_status add_texts(struct pci_pprof_export *e, struct header *h, uint32_t source,
                             int is_first, pcol_error *err)
{
    PciPprof__Profile *m = &h->message;
    const struct source_columns *c = &h->columns;
    struct {
        const struct pci_column *column;
        int64_t *value;
        protobuf_c_boolean *has;
    } texts[] = {{is_first ? c->drop : NULL, &m->drop_frames, &m->has_drop_frames},
                 {is_first ? c->keep : NULL, &m->keep_frames, &m->has_keep_frames},
                 {e->is_native ? c->default_type : NULL, &m->default_sample_type,
                  &m->has_default_sample_type},
                 {c->doc, &m->doc_url, &m->has_doc_url}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!*texts[i].has) {
            PCI_TRY(pci_pprof_cell_index(e, texts[i].column, source, texts[i].value, err));
            *texts[i].has = *texts[i].value != 0;
        }
    return PCOL_OK;
}

/* Detect sources whose frames the expressions of the first do not remove as their own would. */
static pcol_status compare_drops(struct pci_pprof_export *e, struct header *h, uint32_t source,
                                 int is_first, pcol_error *err)
{
    pcol_str drop, keep;
    int valid;
    PCI_TRY(pci_get_str(e->file, h->columns.drop, source, &drop, &valid, err));
    PCI_TRY(pci_get_str(e->file, h->columns.keep, source, &keep, &valid, err));
    if (is_first) {
        h->drop = drop;
        h->keep = keep;
    } else if (!pci_str_equal(h->drop, drop) || !pci_str_equal(h->keep, keep)) {
        e->lost |= PCI_PPROF_LOSS_DROPS;
    }
    return PCOL_OK;
}

/* The period of a source. */
struct period {
    int64_t value, type, unit;
    int valid;
};

/* Read the period of a source, or its sampling interval instead. */
static pcol_status read_period(struct pci_pprof_export *e, const struct source_columns *c,
                               uint32_t source, struct period *p, pcol_error *err)
{
    pcol_str kind;
    PCI_TRY(pci_get(e->file, c->period, source, &p->value, &p->valid, err));
    PCI_TRY(pci_pprof_cell_index(e, c->period_type, source, &p->type, err));
    PCI_TRY(pci_pprof_cell_index(e, c->period_unit, source, &p->unit, err));
    if (p->valid || e->is_native)
        return PCOL_OK;
    PCI_TRY(pci_get(e->file, c->interval, source, &p->value, &p->valid, err));
    if (!p->valid || p->type || p->unit)
        return PCOL_OK;
    PCI_TRY(read_source_type(e, c, source, &kind, err));
    const char *name = pci_str_is(kind, "rprof") ? "cpu" : "wall";
    PCI_TRY(pci_pprof_index_text(&e->w, name, strlen(name), &p->type, err));
    return pci_pprof_index_text(&e->w, "nanoseconds", 11, &p->unit, err);
}

/* Merge the period of a source: the first period type, and the longest period of that type. */
static pcol_status add_period(struct pci_pprof_export *e, struct header *h, uint32_t source,
                              int is_first, pcol_error *err)
{
    PciPprof__Profile *m = &h->message;
    PciPprof__ValueType *t = &h->period_type;
    struct period period;
    PCI_TRY(read_period(e, &h->columns, source, &period, err));
    if (!is_first && !e->has_pprof_source &&
        (m->has_period != period.valid || (period.valid && m->period != period.value)))
        e->lost |= PCI_PPROF_LOSS_INTERVALS;
    if (!t->has_type && !t->has_unit) {
        t->type = period.type;
        t->unit = period.unit;
        t->has_type = t->type != 0;
        t->has_unit = t->unit != 0;
        if (t->has_type || t->has_unit) {
            m->period_type = t;
            m->has_period = 0; /* discards a period without a type */
            m->period = 0;
        }
    }
    if (!period.valid || period.type != t->type || period.unit != t->unit)
        return PCOL_OK;
    if (!m->has_period || period.value > m->period)
        m->period = period.value;
    m->has_period = 1;
    return PCOL_OK;
}

/* Merge the times of a source: the earliest time, the sum of the durations. */
static pcol_status add_times(struct pci_pprof_export *e, struct header *h, uint32_t source,
                             pcol_error *err)
{
    PciPprof__Profile *m = &h->message;
    int64_t value;
    int valid;
    PCI_TRY(pci_get(e->file, h->columns.time, source, &value, &valid, err));
    if (valid && (!m->has_time_nanos || value < m->time_nanos))
        m->time_nanos = value;
    m->has_time_nanos = m->has_time_nanos || valid;
    PCI_TRY(pci_get(e->file, h->columns.duration, source, &value, &valid, err));
    if (valid && __builtin_add_overflow(m->duration_nanos, value, &m->duration_nanos))
        m->duration_nanos = INT64_MAX;
    m->has_duration_nanos = m->has_duration_nanos || valid;
    return PCOL_OK;
}

/* ---- comments ---- */

/* Append a comment. Like pprof, distinct comments only when profiles are merged. */
static pcol_status add_comment(struct pci_pprof_export *e, struct header *h, int64_t index,
                               pcol_error *err)
{
    uint64_t hash = pci_hash_pair((uint64_t)index, 0);
    size_t at = pci_hash_start(&h->comment_hash, hash);
    uint32_t id;
    while (!e->is_native && (id = pci_hash_next(&h->comment_hash, hash, &at)) != PCI_HASH_NONE)
        if (h->comments[id] == index)
            return PCOL_OK;
    if (!e->is_native)
        PCI_TRY(pci_hash_add(&h->comment_hash, hash, (uint32_t)h->comment_count, err));
    PCI_TRY(PCI_GROW(h->comments, h->comment_capacity, h->comment_count + 1, err));
    h->comments[h->comment_count++] = index;
    h->message.comment = h->comments;
    h->message.n_comment = h->comment_count;
    return PCOL_OK;
}

static pcol_status add_comments(struct pci_pprof_export *e, struct header *h, pcol_error *err)
{
    const struct pci_column *source, *text;
    uint64_t rows = pci_rows(e->file, "source_comments");
    if (!rows)
        return PCOL_OK;
    PCI_TRY(pci_require_column(e->file, "source_comments", "source", PCI_TYPES_ROW, &source, err));
    PCI_TRY(pci_require_column(e->file, "source_comments", "text", PCI_TYPES_TEXT, &text, err));
    for (uint64_t row = 0; row < rows; row++) {
        int64_t owner, index;
        int valid;
        PCI_TRY(pci_get(e->file, source, row, &owner, &valid, err));
        if ((uint64_t)owner >= e->source_count || !e->is_exported[owner])
            continue;
        PCI_TRY(pci_pprof_cell_index(e, text, row, &index, err));
        PCI_TRY(add_comment(e, h, index, err));
    }
    return PCOL_OK;
}

/* Add the comment "rprof run.Rprof", the origin of the samples, unless the export is native. */
static pcol_status add_origin_comment(struct pci_pprof_export *e, struct header *h, uint32_t source,
                                      pcol_error *err)
{
    pcol_str type, uri = {"", 0};
    int64_t index;
    int valid = 0;
    PCI_TRY(read_source_type(e, &h->columns, source, &type, err));
    PCI_TRY(pci_get_str(e->file, h->columns.uri, source, &uri, &valid, err));
    size_t size = type.size + 1 + uri.size;
    char *line;
    PCI_TRY(pci_count_long_text(&h->long_texts, size, err));
    PCI_TRY(PCI_MALLOC(line, size, err));
    memcpy(line, type.data, type.size);
    line[type.size] = ' ';
    if (uri.size)
        memcpy(line + type.size + 1, uri.data, uri.size);
    pcol_status status =
        pci_pprof_index_text(&e->w, line, uri.size ? size : type.size, &index, err);
    pci_free(line);
    return status == PCOL_OK ? add_comment(e, h, index, err) : status;
}

/* ---- default sample type ---- */

/* The first written type with the name of a row: that which readers take for the name. */
static uint32_t find_first_named(const struct pci_pprof_export *e, uint32_t row)
{
    for (uint32_t i = 0; i < e->type_count; i++) {
        uint32_t other = e->types_out[i].row;
        if (other != PCOL_NONE && pci_str_same(e->types.type[other], e->types.type[row]))
            return other;
    }
    return row;
}

/* Set the default sample type as in answers of queries. A single type needs none, nor does the last
 * one, which is the default anyway, if its name is that of another one. */
static pcol_status add_default(struct pci_pprof_export *e, struct header *h, pcol_error *err)
{
    uint32_t row;
    int named;
    int64_t *index = &h->message.default_sample_type;
    PCI_TRY(
        pci_types_first_default(&e->types, e->is_exported, 0, e->source_count, &row, &named, err));
    if (!e->type_count || (!named && e->type_count < 2))
        return PCOL_OK;
    if (row == PCOL_NONE || e->types.is_gauge[row])
        row = e->types_out[0].row;
    if (row != PCOL_NONE && !pci_types_equal(&e->types, find_first_named(e, row), row)) {
        uint32_t last = e->types_out[e->type_count - 1].row;
        if (last != PCOL_NONE && pci_types_equal(&e->types, last, row))
            return PCOL_OK;
        pci_export_report_kind(e->export, PCI_KIND_DEFAULT_TYPE);
    }
    PCI_TRY(pci_pprof_index(&e->w, row == PCOL_NONE ? PCI_MEMORY_TYPE : e->types.type[row], index,
                            err));
    h->message.has_default_sample_type = *index != 0;
    return PCOL_OK;
}

static pcol_status build_header(struct pci_pprof_export *e, struct header *h, pcol_error *err)
{
    int is_first = 1;
    for (uint32_t source = 0; source < e->source_count; source++) {
        if (!e->is_exported[source])
            continue;
        PCI_TRY(add_texts(e, h, source, is_first, err));
        PCI_TRY(compare_drops(e, h, source, is_first, err));
        PCI_TRY(add_period(e, h, source, is_first, err));
        is_first = 0;
        PCI_TRY(add_times(e, h, source, err));
        if (!e->is_native)
            PCI_TRY(add_origin_comment(e, h, source, err));
    }
    if (e->lost & PCI_PPROF_LOSS_INTERVALS) {
        h->message.has_period = 0;
        h->message.period_type = NULL;
    }
    if (!e->is_native)
        PCI_TRY(add_default(e, h, err));
    return add_comments(e, h, err);
}

/* ---- sample types ---- */

/* Add a row of sample_types unless present. */
static void add_part(struct pci_pprof_export *e, uint8_t *is_added, uint32_t row)
{
    const struct pci_column *column = e->types.columns[row];
    if (e->types.is_gauge[row] && !e->is_native)
        e->lost |= PCI_PPROF_LOSS_LEVELS;
    else if (!is_added[row])
        e->parts[e->part_count++] =
            (struct pci_pprof_part){.row = row,
                                    .is_double = column && column->desc->type == PCF_F64,
                                    .form = {"pprof", 1, 0}};
    is_added[row] = 1;
}

/* Find the scales of doubles, by the first row of sample_types that differs only in its storage. */
static pcol_status find_scales(struct pci_pprof_export *e, struct pci_hash *rows, double *scales,
                               pcol_error *err)
{
    for (uint32_t p = 0; p < e->part_count; p++) {
        struct pci_pprof_part *part = &e->parts[p];
        PCI_TRY(pci_types_add(&e->types, rows, part->row, &part->type, err));
        pcol_str unit = e->types.unit[part->row];
        if (part->is_double)
            scales[part->type] = pci_label_integer_scale(1, &unit);
    }
    return PCOL_OK;
}

/* Set the scale of each part: of times, if a part of the same name has doubles. */
static pcol_status scale_parts(struct pci_pprof_export *e, pcol_error *err)
{
    struct pci_hash rows = {0};
    double *scales = pci_calloc((size_t)e->types.count + 1, sizeof *scales);
    pcol_status status = scales ? find_scales(e, &rows, scales, err) : pci_fail_memory(err);
    for (uint32_t p = 0; p < e->part_count && status == PCOL_OK; p++)
        if (scales[e->parts[p].type] > 1)
            e->parts[p].form.scale = scales[e->parts[p].type];
    pci_free(scales);
    pci_hash_clear(&rows);
    return status;
}

static int is_type(const struct pci_pprof_export *e, uint32_t type, uint32_t row, pcol_str unit)
{
    const struct pci_pprof_out_type *out = &e->types_out[type];
    return pci_str_same(e->types.type[out->row], e->types.type[row]) &&
           pci_str_equal(out->unit, unit) && e->types.ordinal[out->row] == e->types.ordinal[row];
}

/* Find or add the type of each part; native: each part has its own. */
static pcol_status number_types(struct pci_pprof_export *e, struct pci_hash *names, pcol_error *err)
{
    for (uint32_t p = 0; p < e->part_count; p++) {
        struct pci_pprof_part *part = &e->parts[p];
        pcol_str name = e->types.type[part->row], unit = e->types.unit[part->row];
        uint32_t type = PCI_HASH_NONE;
        if (part->form.scale > 1)
            unit = NANOSECONDS;
        int is_scaled = pci_str_equal(unit, NANOSECONDS); /* also at an address of the file */
        uint64_t hash =
            pci_hash_pair(pci_hash_place(name) ^ pci_hash_place(is_scaled ? NANOSECONDS : unit),
                          (uint64_t)e->types.ordinal[part->row]);
        size_t at = pci_hash_start(names, hash);
        do
            type = e->is_native ? PCI_HASH_NONE : pci_hash_next(names, hash, &at);
        while (type != PCI_HASH_NONE && !is_type(e, type, part->row, unit));
        if (type == PCI_HASH_NONE) {
            type = e->type_count++;
            e->types_out[type] = (struct pci_pprof_out_type){part->row, unit};
            PCI_TRY(pci_hash_add(names, hash, type, err));
        } else if (!pci_str_same(e->types.unit[e->types_out[type].row], e->types.unit[part->row])) {
            e->lost |= PCI_PPROF_LOSS_ALL_UNITS;
        }
        part->type = type;
    }
    return PCOL_OK;
}

static pcol_status choose_types(struct pci_pprof_export *e, uint32_t *list, uint8_t *is_added,
                                pcol_error *err)
{
    struct pci_hash names = {0};
    pcol_status status = PCOL_OK;
    uint32_t count;
    for (uint32_t source = 0; source < e->source_count; source++) {
        if (!e->is_exported[source])
            continue;
        PCI_TRY(pci_types_of_source(&e->types, source, list, &count, err));
        for (uint32_t i = 0; i < count; i++)
            add_part(e, is_added, list[i]);
    }
    if (!e->is_native)
        status = scale_parts(e, err);
    PCI_THEN(status, number_types(e, &names, err));
    pci_hash_clear(&names);
    /* The growth of heap gauges can be summed. */
    e->memory_type = PCOL_NONE;
    if (e->lost & PCI_PPROF_LOSS_LEVELS && pci_memory_find(&e->types, e->memory_levels)) {
        e->memory_type = 0;
        while (e->memory_type < e->type_count &&
               !pci_memory_is_type(&e->types, e->types_out[e->memory_type].row))
            e->memory_type++;
        if (e->memory_type == e->type_count)
            e->types_out[e->type_count++] = (struct pci_pprof_out_type){PCOL_NONE, PCI_MEMORY_UNIT};
    }
    return status;
}

static pcol_status put_types(struct pci_pprof_export *e, uint64_t root, pcol_error *err)
{
    char path[32];
    for (uint32_t t = 0; t < e->type_count; t++) {
        PciPprof__ValueType m = PCI_PPROF__VALUE_TYPE__INIT;
        uint32_t row = e->types_out[t].row;
        pcol_str name = row == PCOL_NONE ? PCI_MEMORY_TYPE : e->types.type[row];
        PCI_TRY(pci_pprof_index(&e->w, name, &m.type, err));
        PCI_TRY(pci_pprof_index(&e->w, e->types_out[t].unit, &m.unit, err));
        m.has_type = m.type != 0;
        m.has_unit = m.unit != 0;
        e->unknown_bytes.size = 0;
        snprintf(path, sizeof path, "1.%" PRIu32 ".", t);
        if (root != PCI_NO_NODE)
            PCI_TRY(pci_pprof_append_unknown(e, root, path, &e->unknown_bytes, err));
        PCI_TRY(pci_pprof_put(&e->w, F_SAMPLE_TYPE, &m.base, e->unknown_bytes.data,
                              e->unknown_bytes.size, err));
    }
    return PCOL_OK;
}

/* ---- losses ---- */

static pcol_status time_of(const pcol_file *file, uint64_t source, char text[PCI_UTC_TEXT_BYTES],
                           pcol_error *err)
{
    int64_t ns = 0;
    int valid = 0;
    PCI_TRY(pci_get_named(file, "sources", "time_ns", PCI_TYPES_INT, source, &ns, &valid, err));
    if (valid)
        pci_utc_text_ns(ns, text);
    return PCOL_OK;
}

const struct pci_capabilities pci_pprof_capabilities = {
    .loss_prefix = "pprof cannot hold",
    .time = time_of,
    .generic = PCI_KIND_BIT(TIME_NS) | PCI_KIND_BIT(DURATION) | PCI_KIND_BIT(PERIOD) |
               PCI_KIND_BIT(INTERVAL) | PCI_KIND_BIT(DEFAULT_TYPE) | PCI_KIND_BIT(DROP_FRAMES) |
               PCI_KIND_BIT(DOC_URL) | PCI_KIND_BIT(COMMENTS) | PCI_KIND_BIT(NAMELESS) |
               PCI_KIND_BIT(PLACES) /* OUTSIDE */ | PCI_KIND_BIT(SYSTEM_NAMES) |
               PCI_KIND_BIT(FILES) | PCI_KIND_BIT(START_LINES) | PCI_KIND_BIT(LINES) |
               PCI_KIND_BIT(COLUMNS) | PCI_KIND_BIT(INLINED) | PCI_KIND_BIT(ADDRESSES) |
               PCI_KIND_BIT(FOLDED) | PCI_KIND_BIT(LIBRARIES) | PCI_KIND_BIT(RANGES) |
               PCI_KIND_BIT(BUILD_IDS) | PCI_KIND_BIT(MAPPING_FLAGS) | PCI_KIND_BIT(THREADS) |
               PCI_KIND_BIT(PROCESSES) | PCI_KIND_BIT(LABELS) | PCI_KIND_BIT(EXACT) |
               PCI_KIND_BIT(VALUELESS) /* reported as samples of 0 */};

static pcol_status report_losses(const struct pci_pprof_export *e, pcol_error *err)
{
    static const struct pci_loss losses[] = {
        {"gauges such as heap sizes; Rprof's are written as memory, what they grew by", ""},
        {"fractions of values: they are rounded", ""},
        {"labels that are neither text nor whole numbers: they become text", ""},
        {"the difference between samples without a call stack and with an empty one", ""},
        {"samples whose values are all 0", ""},
        {"code outside functions: it gets one", ""},
        {"different drop_frames and keep_frames of sources: those of the first apply to all",
         "source"},
        {"different sampling intervals of sources: it gets none", "source"},
        {"files of lines without a function, and readers reject these lines", ""},
        {"values of one sample in several units of a type: they are added up", ""},
        {"addresses that are 0: they become none", ""},
        {"labels that are lists, objects or call stacks", ""},
        {"several units of time of a sample type: they become one of nanoseconds", ""},
        {"labels named thread, tid, pid or process apart from those that threads become", ""},
    };
    pci_export_report(e->export, losses, sizeof losses / sizeof *losses, e->lost);
    return pci_export_losses(e->export, e->is_native ? "" : NULL, err);
}

/* ---- export ---- */

static pcol_status open_export(struct pci_pprof_export *e, struct header *h, pcol_error *err)
{
    const struct pci_export *x = e->export;
    pcol_str type;
    PCI_TRY(open_sources(e, &h->columns, err));
    e->source_count = (uint32_t)pci_rows(e->file, "sources");
    e->written = pci_written_stacks_begin(e->file, PCI_WRITTEN_FRAMES);
    PCI_TRY(PCI_CALLOC(e->is_exported, e->source_count, err));
    for (uint32_t i = x->first_source; i <= x->last_source && i < e->source_count; i++) {
        e->is_exported[i] = 1;
        PCI_TRY(read_source_type(e, &h->columns, i, &type, err));
        e->has_pprof_source |= has_pprof_schema(e->file, type);
    }
    e->is_native = e->has_pprof_source && x->first_source == x->last_source;
    PCI_TRY(pci_types_open(e->file, &e->types, err));
    size_t types = (size_t)e->types.count + 1;
    PCI_TRY(PCI_MALLOC(e->types_out, types, err));
    PCI_TRY(PCI_MALLOC(e->parts, types, err));
    uint32_t *list = pci_malloc(types, sizeof *list);
    uint8_t *is_added = pci_calloc(types, sizeof *is_added);
    pcol_status status =
        list && is_added ? choose_types(e, list, is_added, err) : pci_fail_memory(err);
    pci_free(list);
    pci_free(is_added);
    PCI_THEN(status, pci_nodes_open(&e->nodes, e->file, err));
    PCI_THEN(status, pci_pprof_entries_open(e, err));
    return status == PCOL_OK ? pci_pprof_tree_open(e, err) : status;
}

static pcol_status put_profile(struct pci_pprof_export *e, struct header *h, pcol_error *err)
{
    uint64_t root = PCI_NO_NODE;
    int64_t extra;
    int valid = 0;
    PCI_TRY(open_export(e, h, err));
    if (e->is_native) {
        PCI_TRY(pci_get(e->file, h->columns.extra, e->export->first_source, &extra, &valid, err));
        root = valid ? (uint64_t)extra : PCI_NO_NODE;
    }
    PCI_TRY(put_types(e, root, err));
    PCI_TRY(pci_pprof_put_samples(e, err));
    PCI_TRY(pci_pprof_put_tables(e, err));
    PCI_TRY(build_header(e, h, err));
    e->unknown_bytes.size = 0;
    if (root != PCI_NO_NODE) {
        PCI_TRY(pci_pprof_append_unknown(e, root, "11.", &e->unknown_bytes, err));
        struct pci_strbuf inner = e->unknown_bytes;
        e->unknown_bytes = (struct pci_strbuf){0};
        pcol_status status = PCOL_OK;
        if (inner.size || h->message.period_type)
            status = pci_pprof_append(&e->unknown_bytes, 11, &h->period_type.base, &inner, err);
        pci_strbuf_clear(&inner);
        PCI_TRY(status);
        h->message.period_type = NULL;
        PCI_TRY(pci_pprof_append_unknown(e, root, "", &e->unknown_bytes, err));
    }
    return pci_pprof_put_end(&e->w, &h->message, e->unknown_bytes.data, e->unknown_bytes.size, err);
}

static void close_entries(struct pci_pprof_entries *entries)
{
    pci_free(entries->ids);
    pci_free(entries->is_listed);
    pci_free(entries->order);
    pci_hash_clear(&entries->by_id);
}

pcol_status pci_pprof_write(const struct pci_export *export, pcol_error *err)
{
    struct header h = {.message = PCI_PPROF__PROFILE__INIT,
                       .period_type = PCI_PPROF__VALUE_TYPE__INIT};
    struct pci_pprof_export *e;
    PCI_TRY(PCI_CALLOC(e, 1, err));
    e->export = export;
    e->file = export->file;
    pci_pprof_writer_init(&e->w, export->sink);
    pcol_status status = put_profile(e, &h, err);
    PCI_THEN(status, report_losses(e, err));
    close_entries(&e->mappings);
    close_entries(&e->functions);
    close_entries(&e->groups);
    pci_types_close(&e->types);
    pci_pprof_writer_clear(&e->w);
    pci_hash_clear(&e->toplevel_hash);
    pci_pprof_unknown_cache_clear(&e->unknown_cache);
    pci_free(h.comments);
    pci_hash_clear(&h.comment_hash);
    pci_free(e->toplevel_code);
    pci_free(e->types_out);
    pci_free(e->parts);
    pci_free(e->is_exported);
    pci_free(e->parent);
    pci_free(e->group);
    pci_free(e->stack_ids);
    pci_free(e->has_functions);
    pci_strbuf_clear(&e->labels);
    pci_strbuf_clear(&e->unknown_bytes);
    pci_free(e);
    return status;
}

/*
 * header.c - the source of a profile: sample types, times, period, comments, unknown fields
 */
#include "formats/pprof/read.h"
#include "util/alloc.h"
#include "util/utc_text.h"

enum {
    F_DROP_FRAMES = 7,
    F_KEEP_FRAMES = 8,
    F_TIME_NANOS = 9,
    F_DURATION_NANOS = 10,
    F_PERIOD_TYPE = 11,
    F_PERIOD = 12,
    F_COMMENT = 13,
    F_DEFAULT_SAMPLE_TYPE = 14,
    F_DOC_URL = 15,
    F_COUNT
};

/* Last value of each non-repeated field. */
struct header {
    int64_t number[F_COUNT];
    uint32_t string[F_COUNT];
    uint32_t period_type, period_unit;
    uint32_t comment_source, comment_text; /* columns */
    uint64_t comments;
};

/* ---- fields of the profile ---- */

static pcol_status read_period_type(struct pci_pprof_reader *r, struct header *h,
                                    const struct pci_pprof_message *outer,
                                    const struct pci_pprof_field *field, pcol_error *err)
{
    struct pci_pprof_message m = pci_pprof_inner("ValueType", outer, field);
    uint64_t values[3];
    unsigned seen;
    PCI_TRY(pci_pprof_read_numbers(
        &m, 2, values, &seen, (struct pci_pprof_path){F_PERIOD_TYPE, SIZE_MAX}, &r->unknown, err));
    PCI_TRY(pci_pprof_string(r, values[1], &m, 1, &h->period_type, err));
    return pci_pprof_string(r, values[2], &m, 2, &h->period_unit, err);
}

static pcol_status add_comment(struct pci_pprof_reader *r, struct header *h, uint64_t index,
                               const struct pci_pprof_message *m, pcol_error *err)
{
    uint32_t string;
    PCI_TRY(pci_pprof_string(r, index, m, F_COMMENT, &string, err));
    if (string == PCOL_NONE)
        PCI_TRY(pcol_builder_string(r->b, "", 0, &string, err));
    PCI_TRY(pci_column_buffer_set(r->b->columns[h->comment_source], h->comments, r->b->source_count,
                                  err));
    PCI_TRY(pci_column_buffer_set(r->b->columns[h->comment_text], h->comments, string, err));
    h->comments++;
    return PCOL_OK;
}

static pcol_status read_comments(struct pci_pprof_reader *r, struct header *h,
                                 const struct pci_pprof_message *m,
                                 const struct pci_pprof_field *field, pcol_error *err)
{
    const uint8_t *p = field->data, *end = p + field->size;
    uint64_t index;
    if (field->type == PCI_PB_VARINT)
        return add_comment(r, h, field->value, m, err);
    if (field->type != PCI_PB_BYTES)
        return pci_pprof_wrong_type(m, field, err);
    while (p < end) {
        const uint8_t *at = p;
        p = pci_pprof_varint(p, end, &index);
        if (!p)
            return pci_fail_at_byte(err, PCOL_E_SYNTAX, pci_pprof_offset(m, at),
                                    "Profile.comment: bad varint");
        PCI_TRY(add_comment(r, h, index, m, err));
    }
    return PCOL_OK;
}

static pcol_status read_field(struct pci_pprof_reader *r, struct header *h,
                              struct pci_pprof_message *m, pcol_error *err)
{
    struct pci_pprof_field field;
    PCI_TRY(pci_pprof_next(m, &field, err));
    if (field.number < F_DROP_FRAMES || field.number >= F_COUNT)
        return pci_pprof_add_unknown(&r->unknown, PCI_PB_ROW, m, &field, err);
    if (field.number == F_TIME_NANOS && h->number[F_TIME_NANOS])
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, m->offset,
                                "Profile.time_nanos occurs twice: several profiles in one file");
    if (field.number == F_COMMENT)
        return read_comments(r, h, m, &field, err);
    if (field.type != (field.number == F_PERIOD_TYPE ? PCI_PB_BYTES : PCI_PB_VARINT))
        return pci_pprof_wrong_type(m, &field, err);
    switch (field.number) {
    case F_TIME_NANOS:
    case F_DURATION_NANOS:
    case F_PERIOD:
        h->number[field.number] = (int64_t)field.value;
        return PCOL_OK;
    case F_PERIOD_TYPE:
        return read_period_type(r, h, m, &field, err);
    default:
        return pci_pprof_string(r, field.value, m, (unsigned)field.number, &h->string[field.number],
                                err);
    }
}

/* ---- the source ---- */

static pcol_status set_cell(struct pci_pprof_reader *r, const char *name, pcol_type type,
                            int is_set, int64_t value, pcol_error *err)
{
    uint32_t column;
    if (!is_set)
        return PCOL_OK;
    PCI_TRY(pci_builder_column(r->b, PCI_T_SOURCES, name, type, 0, &column, err));
    return pci_column_buffer_set(r->b->columns[column], r->import->source, value, err);
}

static pcol_status add_source(struct pci_pprof_reader *r, const struct header *h, pcol_error *err)
{
    static const struct {
        const char *name;
        unsigned number;
    } texts[] = {{"default_sample_type", F_DEFAULT_SAMPLE_TYPE},
                 {"drop_frames", F_DROP_FRAMES},
                 {"keep_frames", F_KEEP_FRAMES},
                 {"doc_url", F_DOC_URL}};
    pcol_source source = PCOL_INIT(pcol_source);
    char time[64];
    int64_t time_ns = h->number[F_TIME_NANOS];
    pci_utc_text_ns(time_ns, time);
    source.timestamp = time_ns ? time : NULL;
    pci_set_flag(&source.flags, PCOL_SOURCE_HAS_PERIOD, h->number[F_PERIOD] != 0);
    source.period = h->number[F_PERIOD];
    pci_set_flag(&source.flags, PCOL_SOURCE_HAS_DURATION, h->number[F_DURATION_NANOS] != 0);
    source.duration_ns = h->number[F_DURATION_NANOS];
    PCI_TRY(pci_import_source(r->import, &source, err));
    PCI_TRY(
        set_cell(r, "period_type", PCOL_STRING, h->period_type != PCOL_NONE, h->period_type, err));
    PCI_TRY(
        set_cell(r, "period_unit", PCOL_STRING, h->period_unit != PCOL_NONE, h->period_unit, err));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        uint32_t string = h->string[texts[i].number];
        PCI_TRY(set_cell(r, texts[i].name, PCOL_STRING, string != PCOL_NONE, string, err));
    }
    return set_cell(r, "time_ns", PCOL_I64, time_ns != 0, time_ns, err);
}

/* A type and a unit, and the number of equal pairs so far if it is the first one. */
struct type_name {
    uint32_t words[2], count;
};

/* Number of earlier pairs equal to the one at `k`. */
static pcol_status find_ordinal(struct pci_hash *known, struct type_name *types, size_t k,
                                uint32_t *ordinal, pcol_error *err)
{
    const uint32_t *words = types[k].words;
    uint64_t hash = pci_hash_pair(words[0], words[1]);
    size_t at = pci_hash_start(known, hash);
    for (uint32_t id; (id = pci_hash_next(known, hash, &at)) != PCI_HASH_NONE;) {
        if (types[id].words[0] == words[0] && types[id].words[1] == words[1]) {
            *ordinal = types[id].count++;
            return PCOL_OK;
        }
    }
    *ordinal = 0;
    types[k].count = 1;
    return pci_hash_add(known, hash, (uint32_t)k, err);
}

static pcol_status add_types(struct pci_pprof_reader *r, struct type_name *types,
                             struct pci_hash *known, pcol_error *err)
{
    struct pci_pprof_message m;
    uint64_t values[3];
    uint32_t ordinal;
    unsigned seen;
    for (int end;; r->type_count++) {
        size_t k = r->type_count;
        PCI_TRY(pci_pprof_queue_take(&r->types, &m, &end, err));
        if (end)
            return PCOL_OK;
        PCI_TRY(pci_pprof_read_numbers(&m, 2, values, &seen, (struct pci_pprof_path){1, k},
                                       &r->unknown, err));
        for (unsigned i = 0; i < 2; i++) {
            uint32_t *word = &types[k].words[i];
            PCI_TRY(pci_pprof_string(r, values[i + 1], &m, i + 1, word, err));
            if (*word == PCOL_NONE)
                PCI_TRY(pcol_builder_string(r->b, "", 0, word, err));
        }
        PCI_TRY(find_ordinal(known, types, k, &ordinal, err));
        PCI_TRY(pci_builder_sample_type(r->b, types[k].words[0], types[k].words[1], 0, ordinal,
                                        &r->type_rows[k], err));
    }
}

static pcol_status read_types(struct pci_pprof_reader *r, pcol_error *err)
{
    if (r->types.count >= PCF_MAX_COLUMNS / 2)
        return pci_fail(err, PCOL_E_LIMIT, "more than %u sample types", PCF_MAX_COLUMNS / 2);
    size_t count = (size_t)r->types.count;
    struct type_name *types = pci_malloc(count, sizeof *types);
    struct pci_hash known = {0};
    r->type_rows = pci_malloc(count, sizeof *r->type_rows);
    r->values = pci_malloc(count, sizeof *r->values);
    pcol_status status = types && r->type_rows && r->values ? add_types(r, types, &known, err)
                                                            : pci_fail_memory(err);
    pci_hash_clear(&known);
    pci_free(types);
    return status;
}

pcol_status pci_pprof_read_header(struct pci_pprof_reader *r, pcol_error *err)
{
    struct header h = {.period_type = PCOL_NONE, .period_unit = PCOL_NONE};
    struct pci_pprof_message m;
    uint32_t table;
    uint64_t extra = PCI_NO_NODE;
    for (int i = 0; i < F_COUNT; i++)
        h.string[i] = PCOL_NONE;
    PCI_TRY(pcol_builder_table(r->b, "source_comments", &table, err));
    PCI_TRY(pci_builder_column(r->b, table, "source", PCOL_U32, PCI_T_SOURCES + 1,
                               &h.comment_source, err));
    PCI_TRY(pci_builder_column(r->b, table, "text", PCOL_STRING, 0, &h.comment_text, err));
    r->b->columns[h.comment_source]->drop = PCI_DROP_NEVER;
    r->b->columns[h.comment_text]->drop = PCI_DROP_NEVER;
    h.comments = r->b->columns[h.comment_source]->rows;
    for (int end;;) {
        PCI_TRY(pci_pprof_queue_take(&r->top, &m, &end, err));
        if (end)
            break;
        PCI_TRY(read_field(r, &h, &m, err));
    }
    PCI_TRY(add_source(r, &h, err));
    PCI_TRY(read_types(r, err));
    PCI_TRY(pci_pprof_flush_unknown(&r->unknown, r->b, &extra, err));
    if (extra != PCI_NO_NODE)
        PCI_TRY(pci_builder_extra(r->b, PCI_T_SOURCES, r->import->source, extra, err));
    return PCOL_OK;
}

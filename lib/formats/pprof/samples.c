/*
 * samples.c - samples of a profile without their stacks
 *
 * Samples are most of the bytes of a profile and are decoded directly from the wire. Stacks are
 * read by stacks.c: in another thread if there are several, else alternately, TURN samples each.
 */
#include "formats/pprof/read.h"
#include "util/alloc.h"
#include "util/thread_pool.h"

#include <string.h>

enum { S_LOCATION_ID = 1, S_VALUE, S_LABEL };
enum { L_KEY = 1, L_STR, L_NUM, L_UNIT };

struct sample {
    size_t value_count, label_count, entries; /* entries: number of r->labels */
};

/* ---- numbers, packed or not ---- */

static pcol_status bad_packed(const struct pci_pprof_message *m, const uint8_t *at,
                              const char *field_name, pcol_error *err)
{
    return pci_fail_at_byte(err, PCOL_E_SYNTAX, pci_pprof_offset(m, at), "Sample.%s: bad varint",
                            field_name);
}

/* Values beyond the number of sample types are only counted: the sample is rejected later. */
static void add_value(struct pci_pprof_reader *r, struct sample *s, uint64_t value)
{
    if (s->value_count < r->type_count)
        r->values[s->value_count].as.i64 = (int64_t)value;
    s->value_count++;
}

static pcol_status add_values(struct pci_pprof_reader *r, struct sample *s,
                              const struct pci_pprof_message *m,
                              const struct pci_pprof_field *field, pcol_error *err)
{
    const uint8_t *p = field->data, *end = p + field->size;
    if (field->type == PCI_PB_VARINT)
        add_value(r, s, field->value);
    else if (field->type != PCI_PB_BYTES)
        return pci_pprof_wrong_type(m, field, err);
    while (p < end) {
        const uint8_t *at = p;
        uint64_t value;
        p = pci_pprof_varint(p, end, &value);
        if (!p)
            return bad_packed(m, at, "value", err);
        add_value(r, s, value);
    }
    return PCOL_OK;
}

/* ---- labels ---- */

/* Read the varints of a label. Fast path for keys and numbers of a byte or two, as in nearly all
 * labels; anything else starts again with the general reader. */
static pcol_status read_label_numbers(struct pci_pprof_reader *r, const struct sample *s,
                                      struct pci_pprof_message *m, uint64_t *values, unsigned *seen,
                                      pcol_error *err)
{
    const uint8_t *p = m->p, *end = m->end;
    memset(values, 0, (L_UNIT + 1) * sizeof *values);
    *seen = 0;
    while (p && p < end) {
        unsigned key = *p++;
        unsigned number = key >> 3;
        if (key & 7 || number < L_KEY || number > L_UNIT) {
            p = NULL;
            break;
        }
        *seen |= 1u << number;
        if (p < end && *p < 128)
            values[number] = *p++;
        else
            p = pci_pprof_varint(p, end, &values[number]);
    }
    if (p == end)
        return PCOL_OK;
    return pci_pprof_read_numbers(m, L_UNIT, values, seen,
                                  (struct pci_pprof_path){S_LABEL, s->label_count}, &r->unknown,
                                  err);
}

/* Append a label: two entries, marked as joined, if it has a text and a number. */
static pcol_status add_label(struct pci_pprof_reader *r, struct sample *s,
                             struct pci_pprof_message m, pcol_error *err)
{
    uint64_t values[L_UNIT + 1];
    unsigned seen;
    uint32_t key, text;
    PCI_TRY(read_label_numbers(r, s, &m, values, &seen, err));
    PCI_TRY(PCI_GROW(r->labels, r->label_capacity, s->entries + 2, err));
    PCI_TRY(pci_pprof_string(r, values[L_KEY], &m, L_KEY, &key, err));
    if (key == PCOL_NONE)
        PCI_TRY(pcol_builder_string(r->b, "", 0, &key, err));
    int number = values[L_NUM] || values[L_UNIT];
    if (values[L_STR]) {
        PCI_TRY(pci_pprof_string(r, values[L_STR], &m, L_STR, &text, err));
        r->labels[s->entries++] = (struct pci_label){.key = key,
                                                     .unit = PCOL_NONE,
                                                     .kind = PCI_LABEL_STRING,
                                                     .joined = number != 0,
                                                     .text = text};
    } else {
        number = number || seen >> L_NUM & 1;
    }
    if (number || !values[L_STR]) {
        struct pci_label *l = &r->labels[s->entries++];
        *l = (struct pci_label){.key = key,
                                .unit = PCOL_NONE,
                                .kind = number ? PCI_LABEL_INTEGER : PCI_LABEL_EMPTY,
                                .as.i64 = number ? (int64_t)values[L_NUM] : 1};
        PCI_TRY(pci_pprof_string(r, values[L_UNIT], &m, L_UNIT, &l->unit, err));
    }
    s->label_count++;
    return PCOL_OK;
}

/* ---- samples ---- */

static pcol_status store_labels(struct pci_pprof_reader *r, const struct sample *s, uint64_t row,
                                pcol_error *err)
{
    uint64_t extra = PCI_NO_NODE;
    if (s->entries)
        PCI_TRY(pci_builder_labels(r->b, PCI_T_SAMPLES, row, r->labels, s->entries, &extra, err));
    PCI_TRY(pci_pprof_flush_unknown(&r->unknown, r->b, &extra, err));
    if (extra != PCI_NO_NODE)
        PCI_TRY(pci_builder_extra(r->b, PCI_T_SAMPLES, row, extra, err));
    return PCOL_OK;
}

static pcol_status read_sample(struct pci_pprof_reader *r, struct pci_pprof_message *m,
                               pcol_error *err)
{
    struct sample s = {0};
    struct pci_pprof_field field;
    pcol_sample sample = PCOL_INIT(pcol_sample);
    uint64_t row;
    while (m->p < m->end) {
        PCI_TRY(pci_pprof_next(m, &field, err));
        if (field.number == S_LOCATION_ID)
            continue; /* stacks.c */
        if (field.number == S_VALUE)
            PCI_TRY(add_values(r, &s, m, &field, err));
        else if (field.number != S_LABEL)
            PCI_TRY(pci_pprof_add_unknown(&r->unknown, PCI_PB_ROW, m, &field, err));
        else if (field.type == PCI_PB_BYTES)
            PCI_TRY(add_label(r, &s, pci_pprof_inner("Label", m, &field), err));
        else
            return pci_pprof_wrong_type(m, &field, err);
    }
    r->values_short = s.value_count != r->type_count;
    if (r->values_short)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, m->offset,
                                "Sample has %zu values where the profile has %zu sample types",
                                s.value_count, r->type_count);
    sample.source = r->import->source;
    sample.thread = PCOL_NONE;
    sample.values = r->values;
    sample.value_count = r->type_count;
    sample.stack = PCOL_NONE;
    PCI_TRY(pcol_builder_sample(r->b, &sample, &row, err));
    if (s.entries || r->unknown.count)
        return store_labels(r, &s, row, err);
    return PCOL_OK;
}

/* ---- both readers ---- */

/* Samples per turn in a single thread: still in its cache for the second reader. */
#define TURN 512u

struct readers {
    struct pci_pprof_reader *r;
    struct pci_pprof_stacks *stacks;
    _Atomic uint64_t stop; /* number of the first sample with an error: later ones are not read */
    uint64_t count;        /* of samples */
    pcol_status status;
    pcol_error error;
    uint64_t failed;
};

static pcol_status read_next_sample(struct readers *both, int *end, pcol_error *err)
{
    struct pci_pprof_reader *r = both->r;
    struct pci_pprof_message m;
    PCI_TRY(pci_pprof_queue_read(&r->samples, &r->samples.reader, &m, end, err));
    if (*end)
        return PCOL_OK;
    if (!r->type_count)
        return pci_fail_at_byte(err, PCOL_E_SYNTAX, m.offset,
                                "Sample without sample types: Profile.sample_type is missing");
    return read_sample(r, &m, err);
}

/* Release the part of the queue that both have read. */
static void release_read(struct readers *both)
{
    struct pci_pprof_queue *q = &both->r->samples;
    uint64_t seen = atomic_load(&both->stacks->seen);
    pci_spill_drop(&q->spill, q->reader.offset < seen ? q->reader.offset : seen);
}

/* Read all but the stacks, up to sample number `end` or the last. */
static void read_values(struct readers *both, uint64_t end)
{
    struct pci_pprof_stack_helper *helper = both->stacks->helper;
    for (int at_end = 0; both->count < end && both->count <= atomic_load(&both->stop);) {
        if (helper && both->count % PCI_PPROF_BLOCK == 0)
            pci_pprof_stack_helper_mark(helper, &both->r->samples.reader);
        both->status = read_next_sample(both, &at_end, &both->error);
        if (both->status != PCOL_OK) {
            both->failed = both->count;
            if (both->failed < atomic_load(&both->stop))
                atomic_store(&both->stop, both->failed);
        }
        if (at_end && helper)
            pci_pprof_stack_helper_run(helper, both->stacks);
        if (at_end || both->status != PCOL_OK)
            return;
        both->count++;
        if (both->count % TURN == 0)
            release_read(both);
    }
}

static pcol_status run_reader(void *context, size_t number, pcol_error *err)
{
    struct readers *both = context;
    (void)err;
    if (number) /* the caches of this processor contain the data for stacks */
        read_values(both, UINT64_MAX);
    else
        pci_pprof_stacks_run(both->stacks, UINT64_MAX, &both->stop);
    return PCOL_OK;
}

static void read_alternately(struct readers *both)
{
    for (uint64_t end = TURN; both->status == PCOL_OK && both->count + TURN == end; end += TURN) {
        pci_pprof_stacks_run(both->stacks, end, &both->stop);
        read_values(both, end);
    }
}

/* The error that a single sequential reader would report first. */
static pcol_status choose_error(const struct readers *both, pcol_error *err)
{
    const struct pci_pprof_stacks *s = both->stacks;
    int is_stack_error = s->status != PCOL_OK;
    if (is_stack_error && both->status != PCOL_OK && s->failed >= both->failed)
        is_stack_error = s->failed == both->failed && s->failed_in_field &&
                         (both->r->values_short || s->error.offset < both->error.offset);
    if (err && (is_stack_error || both->status != PCOL_OK))
        *err = is_stack_error ? s->error : both->error;
    return is_stack_error ? s->status : both->status;
}

pcol_status pci_pprof_read_samples(struct pci_pprof_reader *r, pcol_error *err)
{
    struct readers both = {.r = r, .stacks = &r->stacks, .stop = UINT64_MAX};
    unsigned threads = r->import->options->threads;
    pcol_status status = pci_pprof_stacks_check_guess(&r->stacks, r, err);
    for (size_t i = 0; i < r->type_count; i++)
        r->values[i].sample_type = r->type_rows[i];
    int is_parallel =
        threads > 1 && pci_spill_size(&r->samples.spill) >= PCI_PARALLEL_MIN_BYTES / 4;
    if (status == PCOL_OK && is_parallel)
        status = pci_pprof_stack_helper_new(&r->stacks.helper, err);
    if (status == PCOL_OK && is_parallel)
        status = pci_parallel_for(2, 2, run_reader, &both, err);
    else if (status == PCOL_OK)
        read_alternately(&both);
    pci_pprof_stack_helper_free(r->stacks.helper);
    r->stacks.helper = NULL;
    return status == PCOL_OK ? choose_error(&both, err) : status;
}

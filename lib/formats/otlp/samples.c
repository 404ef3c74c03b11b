/*
 * samples.c - profiles of OpenTelemetry: the source, threads, labels and samples
 *
 * A sample of the message becomes a sample for each of its timestamps, without any for each of its
 * values. Attributes of a sample and of its resource are threads and labels.
 */
#include "formats/otlp/otlp.h"

#include "util/alloc.h"

#include <inttypes.h>

struct profile {
    const uint8_t *at;
    uint64_t type[3], period_type[3]; /* by field: strings */
    uint64_t time, duration, period;
    uint32_t sample_type;
};

/* ---- profile */

static pcol_status read_header(const struct pci_otlp *r, struct pci_otlp_span message,
                               struct profile *profile, pcol_error *err)
{
    struct pci_otlp_field field;
    *profile = (struct profile){.at = message.data};
    while (message.size) {
        PCI_TRY(pci_otlp_next(r, &message, &field, err));
        if (field.number == 1 || field.number == 5) {
            PCI_TRY(pci_otlp_expect(r, &field, PCI_OTLP_BYTES, err));
            PCI_TRY(pci_otlp_numbers(
                r, field.bytes, 2, field.number == 1 ? profile->type : profile->period_type, err));
        } else if (field.number == 3) {
            PCI_TRY(pci_otlp_expect(r, &field, PCI_OTLP_FIXED64, err));
            profile->time = field.value;
        } else if (field.number == 4 || field.number == 6) {
            PCI_TRY(pci_otlp_expect(r, &field, PCI_OTLP_VARINT, err));
            *(field.number == 4 ? &profile->duration : &profile->period) = field.value;
        }
    }
    return PCOL_OK;
}

/* The texts of a ValueType, terminated, which the caller frees. */
static pcol_status read_type(struct pci_otlp *r, const uint8_t *at, const uint64_t *values,
                             char *texts[2], pcol_error *err)
{
    texts[0] = texts[1] = NULL;
    for (int i = 0; i < 2; i++) {
        uint32_t string;
        struct pci_otlp_span text = {at, 0};
        PCI_TRY(pci_otlp_string(r, at, values[i + 1], &string, err));
        if (string != PCOL_NONE)
            text = r->tables[PCI_OTLP_STRINGS].entries[values[i + 1]];
        if (memchr(text.data, 0, text.size))
            return pci_otlp_fail(r, at, err, "a type or unit with the byte 0");
        /* Any number of profiles may copy one text. */
        PCI_TRY(pci_budget_charge_expansion(pci_thread_budget, text.size, err));
        PCI_TRY(PCI_CALLOC(texts[i], text.size + 1, err));
        memcpy(texts[i], text.data, text.size);
    }
    return PCOL_OK;
}

/* Add the source, with the time, duration and period of the first profile. */
static pcol_status add_source(struct pci_otlp *r, const struct profile *first, char *texts[2],
                              pcol_error *err)
{
    pcol_source source = PCOL_INIT(pcol_source);
    uint32_t column;
    if (first->period && texts[0][0]) {
        source.period = (int64_t)first->period;
        source.period_type = texts[0];
        source.period_unit = texts[1];
        source.flags = PCOL_SOURCE_HAS_PERIOD;
    }
    if (first->duration && first->duration <= INT64_MAX) {
        source.duration_ns = (int64_t)first->duration;
        source.flags |= PCOL_SOURCE_HAS_DURATION;
    }
    r->has_source = 1;
    PCI_TRY(pci_import_source(r->import, &source, err));
    if (!first->time || first->time > INT64_MAX)
        return PCOL_OK;
    PCI_TRY(pci_builder_column(r->builder, PCI_T_SOURCES, "time_ns", PCOL_I64, 0, &column, err));
    return pcol_builder_set_i64(r->builder, column, r->import->source, (int64_t)first->time, err);
}

static pcol_status add_types(struct pci_otlp *r, struct profile *profile, pcol_error *err)
{
    char *texts[2];
    pcol_status status = PCOL_OK;
    if (!r->has_source) {
        status = read_type(r, profile->at, profile->period_type, texts, err);
        PCI_THEN(status, add_source(r, profile, texts, err));
        pci_free(texts[0]);
        pci_free(texts[1]);
    }
    PCI_TRY(status);
    status = read_type(r, profile->at, profile->type, texts, err);
    if (status == PCOL_OK) {
        int is_empty = !texts[0][0] && !texts[1][0];
        status = pcol_builder_sample_type(r->builder, is_empty ? "samples" : texts[0],
                                          is_empty ? "count" : texts[1], 0, 0,
                                          &profile->sample_type, err);
    }
    pci_free(texts[0]);
    pci_free(texts[1]);
    return status;
}

/* ---- threads and labels */

static pcol_status add_label(struct pci_otlp *r, const struct pci_label *label, pcol_error *err)
{
    PCI_TRY(PCI_GROW(r->labels, r->label_capacity, r->label_count + 1, err));
    r->labels[r->label_count++] = *label;
    return PCOL_OK;
}

static pcol_status add_attribute(struct pci_otlp *r, const struct pci_otlp_attribute *attribute,
                                 struct pci_import_thread *thread, pcol_error *err)
{
    switch (attribute->role) {
    case PCI_OTLP_THREAD_ID:
        thread->tid = attribute->text;
        break;
    case PCI_OTLP_THREAD_NAME:
        thread->name = attribute->text;
        break;
    case PCI_OTLP_PROCESS_ID:
        thread->pid = attribute->text;
        break;
    case PCI_OTLP_PROCESS_NAME:
        thread->process_name = attribute->text;
        break;
    case PCI_OTLP_LABEL:
    case PCI_OTLP_BUILD_ID:
        return add_label(r, &attribute->label, err);
    case PCI_OTLP_NO_COLUMN:
        break;
    }
    return PCOL_OK;
}

#define LONGEST_ID 32 /* bytes */

/* Add an id as label: hexadecimal, as JSON has it. */
static pcol_status add_id(struct pci_otlp *r, const char *key, struct pci_otlp_span id,
                          pcol_error *err)
{
    char hex[2 * LONGEST_ID];
    size_t size = 0;
    struct pci_label label = {.kind = PCI_LABEL_STRING, .unit = PCOL_NONE};
    for (; !r->is_json && size < id.size * 2; size++)
        hex[size] = "0123456789abcdef"[id.data[size / 2] >> (size % 2 ? 0 : 4) & 15];
    if (r->is_json && id.size)
        memcpy(hex, id.data, size = id.size);
    PCI_TRY(pcol_builder_string(r->builder, key, strlen(key), &label.key, err));
    PCI_TRY(pcol_builder_string(r->builder, hex, size, &label.text, err));
    return add_label(r, &label, err);
}

/* The ids of a link as labels; the last ones, if it has several. */
static pcol_status add_link(struct pci_otlp *r, const uint8_t *at, uint64_t index, pcol_error *err)
{
    static const char *const keys[] = {NULL, "trace_id", "span_id"};
    struct pci_otlp_span ids[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    const struct pci_otlp_table *links = &r->tables[PCI_OTLP_LINKS];
    struct pci_otlp_field field;
    if (!index)
        return PCOL_OK;
    if (index >= links->count)
        return pci_otlp_fail(r, at, err, "index %" PRId64 ", but link_table has %zu entries",
                             (int64_t)index, links->count);
    struct pci_otlp_span message = links->entries[index];
    /* Any number of samples may read one link. */
    PCI_TRY(pci_budget_charge_expansion(pci_thread_budget, message.size, err));
    while (message.size) {
        PCI_TRY(pci_otlp_next(r, &message, &field, err));
        if (field.number > 2)
            continue;
        PCI_TRY(pci_otlp_expect(r, &field, PCI_OTLP_BYTES, err));
        if (field.bytes.size > LONGEST_ID)
            return pci_otlp_fail(r, field.at, err, "an id of more than 32 bytes");
        ids[field.number] = field.bytes;
    }
    for (int i = 1; i < 3; i++)
        if (ids[i].data)
            PCI_TRY(add_id(r, keys[i], ids[i], err));
    return PCOL_OK;
}

/* ---- samples */

/* Add the rows of a sample whose lists are collected. */
static pcol_status add_rows(struct pci_otlp *r, const uint8_t *at, const struct profile *profile,
                            pcol_sample *sample, pcol_error *err)
{
    size_t count = r->times.count ? r->times.count : r->values.count;
    if (!count)
        return pci_otlp_fail(r, at, err, "a sample without values and timestamps");
    if (r->times.count && r->values.count && r->times.count != r->values.count)
        return pci_otlp_fail(r, at, err, "%zu values, but %zu timestamps", r->values.count,
                             r->times.count);
    /* A sample of many timestamps and many labels has more cells than bytes. */
    PCI_TRY(pci_budget_charge_expansion(pci_thread_budget,
                                        (count - 1) * r->label_count * sizeof *r->labels, err));
    for (size_t i = 0; i < count; i++) {
        pcol_value value = {.sample_type = profile->sample_type, .as.i64 = 1};
        uint64_t row;
        if (r->values.count)
            value.as.i64 = (int64_t)r->values.values[i];
        if (r->times.count) {
            if (r->times.values[i] > INT64_MAX)
                return pci_otlp_fail(r, at, err, "a timestamp beyond 63 bits");
            sample->time_ns = (int64_t)r->times.values[i];
            sample->flags = PCOL_SAMPLE_HAS_TIME;
        }
        sample->values = &value;
        sample->value_count = 1;
        PCI_TRY(pcol_builder_sample(r->builder, sample, &row, err));
        if (r->label_count)
            PCI_TRY(pci_builder_labels(r->builder, PCI_T_SAMPLES, row, r->labels, r->label_count,
                                       NULL, err));
    }
    return PCOL_OK;
}

/* Collect the fields of a sample in the layout of the input. */
static pcol_status collect_fields(struct pci_otlp *r, struct pci_otlp_span message, uint64_t *stack,
                                  uint64_t *link, pcol_error *err)
{
    static const uint8_t layouts[2][6] = {{0, 's', 'a', 'l', 'v', 't'},
                                          {0, 's', 'v', 'a', 'l', 't'}};
    struct pci_otlp_field field;
    r->indices.count = r->values.count = r->times.count = 0;
    *stack = *link = 0;
    while (message.size) {
        PCI_TRY(pci_otlp_next(r, &message, &field, err));
        uint8_t role = field.number < 6 ? layouts[r->has_old_samples][field.number] : 0;
        if (role == 'a')
            PCI_TRY(pci_otlp_collect(r, &field, PCI_OTLP_VARINT, &r->indices, err));
        else if (role == 'v')
            PCI_TRY(pci_otlp_collect(r, &field, PCI_OTLP_VARINT, &r->values, err));
        else if (role == 't')
            PCI_TRY(pci_otlp_collect(r, &field, PCI_OTLP_FIXED64, &r->times, err));
        else if (role) {
            PCI_TRY(pci_otlp_expect(r, &field, PCI_OTLP_VARINT, err));
            *(role == 's' ? stack : link) = field.value;
        }
    }
    return PCOL_OK;
}

/* The row of a thread; PCOL_NONE if nothing of it is known. */
static pcol_status find_thread(struct pci_otlp *r, const struct pci_import_thread *t, uint32_t *row,
                               pcol_error *err)
{
    size_t place = (t->tid * 5u + t->name * 3u + t->pid) % PCI_OTLP_RECENT_THREADS;
    const struct pci_import_thread *known = &r->recent[place].thread;
    *row = PCOL_NONE;
    if ((t->tid & t->name & t->pid & t->process_name) == PCOL_NONE)
        return PCOL_OK;
    *row = r->recent[place].row_plus_1 - 1;
    if (r->recent[place].row_plus_1 && known->tid == t->tid && known->name == t->name &&
        known->pid == t->pid && known->process_name == t->process_name)
        return PCOL_OK;
    PCI_TRY(pci_import_thread(r->import, t, row, err));
    r->recent[place].thread = *t;
    r->recent[place].row_plus_1 = *row + 1;
    return PCOL_OK;
}

static pcol_status read_sample(struct pci_otlp *r, struct pci_otlp_span message,
                               const struct profile *profile, pcol_error *err)
{
    struct pci_import_thread thread = {PCOL_NONE, PCOL_NONE, PCOL_NONE, PCOL_NONE, 0};
    pcol_sample sample = PCOL_INIT(pcol_sample);
    const uint8_t *at = message.data;
    uint64_t stack, link;
    PCI_TRY(collect_fields(r, message, &stack, &link, err));
    r->label_count = 0;
    /* All samples of a resource read its attributes, those without a column, too. */
    PCI_TRY(
        pci_budget_charge_expansion(pci_thread_budget, r->resource_count * sizeof *r->labels, err));
    for (size_t i = 0; i < r->resource_count; i++)
        PCI_TRY(add_attribute(r, &r->resource[i], &thread, err));
    for (size_t i = 0; i < r->indices.count; i++) {
        uint64_t index = r->indices.values[i];
        if (index && index >= r->tables[PCI_OTLP_ATTRIBUTES].count)
            return pci_otlp_fail(r, at, err,
                                 "index %" PRId64 ", but attribute_table has %zu entries",
                                 (int64_t)index, r->tables[PCI_OTLP_ATTRIBUTES].count);
        if (index < r->tables[PCI_OTLP_ATTRIBUTES].count)
            PCI_TRY(add_attribute(r, &r->attributes[index], &thread, err));
    }
    PCI_TRY(add_link(r, at, link, err));
    sample.source = r->import->source;
    PCI_TRY(pci_otlp_row(r, at, PCI_OTLP_STACKS, stack, &sample.stack, err));
    if (sample.stack == PCOL_NONE)
        sample.stack = 0;
    PCI_TRY(find_thread(r, &thread, &sample.thread, err));
    return add_rows(r, at, profile, &sample, err);
}

static pcol_status read_profile(struct pci_otlp *r, struct pci_otlp_span message, pcol_error *err)
{
    struct pci_otlp_field field;
    struct profile profile;
    PCI_TRY(read_header(r, message, &profile, err));
    PCI_TRY(add_types(r, &profile, err));
    while (message.size) {
        PCI_TRY(pci_otlp_next(r, &message, &field, err));
        if (field.number != 2)
            continue;
        PCI_TRY(pci_otlp_expect(r, &field, PCI_OTLP_BYTES, err));
        PCI_TRY(read_sample(r, field.bytes, &profile, err));
    }
    return PCOL_OK;
}

/* ---- resources */

/* Read the attributes of the resource of ResourceProfiles. */
static pcol_status read_resource(struct pci_otlp *r, struct pci_otlp_span message, pcol_error *err)
{
    struct pci_otlp_field field, member;
    r->resource_count = 0;
    while (message.size) {
        PCI_TRY(pci_otlp_next(r, &message, &field, err));
        if (field.number != 1)
            continue;
        PCI_TRY(pci_otlp_expect(r, &field, PCI_OTLP_BYTES, err));
        while (field.bytes.size) {
            PCI_TRY(pci_otlp_next(r, &field.bytes, &member, err));
            if (member.number != 1)
                continue;
            PCI_TRY(pci_otlp_expect(r, &member, PCI_OTLP_BYTES, err));
            PCI_TRY(PCI_GROW(r->resource, r->resource_capacity, r->resource_count + 1, err));
            PCI_TRY(
                pci_otlp_read_attribute(r, member.bytes, 0, &r->resource[r->resource_count], err));
            r->resource_count++;
        }
    }
    return PCOL_OK;
}

pcol_status pci_otlp_read_samples(struct pci_otlp *r, struct pci_otlp_span message, pcol_error *err)
{
    struct pci_otlp_field resource, scope, profile;
    while (message.size) {
        PCI_TRY(pci_otlp_next(r, &message, &resource, err));
        if (resource.number != 1)
            continue;
        PCI_TRY(pci_otlp_expect(r, &resource, PCI_OTLP_BYTES, err));
        PCI_TRY(read_resource(r, resource.bytes, err));
        while (resource.bytes.size) {
            PCI_TRY(pci_otlp_next(r, &resource.bytes, &scope, err));
            if (scope.number != 2)
                continue;
            PCI_TRY(pci_otlp_expect(r, &scope, PCI_OTLP_BYTES, err));
            while (scope.bytes.size) {
                PCI_TRY(pci_otlp_next(r, &scope.bytes, &profile, err));
                if (profile.number != 2)
                    continue;
                PCI_TRY(pci_otlp_expect(r, &profile, PCI_OTLP_BYTES, err));
                PCI_TRY(read_profile(r, profile.bytes, err));
            }
        }
    }
    return PCOL_OK;
}

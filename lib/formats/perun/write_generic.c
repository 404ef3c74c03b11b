/*
 * write_generic.c - generic writer: converts profiles of any source to Perun's current form
 *
 * Samples are aggregated: one type of resources for each stack and sample type, with one amount.
 * The trace is the stack, innermost frame first; its first frame is the uid, as in Perun's memory
 * collector.
 */
#include "formats/json_members.h"
#include "formats/perun/type_naming.h"
#include "formats/perun/write.h"

#include "model/frame_names.h"
#include "model/types.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BATCH 1024u
/* Limit of the texts of uids: one long name may be that of many functions, of a uid each. */
#define UID_BYTES ((uint64_t)64 << 20)
#define UID_BYTES_PER_BYTE 64u
/* Limit of the texts of frames that are kept; further ones are made again. */
#define FRAME_BYTES ((uint64_t)16 << 20)
#define FRAME_BYTES_PER_BYTE 16u

/* The frames of a group as JSON, in generic_writer.made; size 0: not made yet. */
struct frame_text {
    size_t start, size;
};

struct type {
    pcol_str name, unit;
    const struct pci_column *values;
    uint64_t row; /* of sample_types */
    int64_t ordinal;
    int is_double;
};

/* Sum of a type's values over the samples of one stack. */
union sum {
    int64_t i64;
    double f64;
};

struct generic_writer {
    const struct pci_export *export;
    const pcol_file *file;
    struct pci_json_writer json;
    struct pci_stacks tree;
    struct pci_frame_namer names;
    struct pci_written_stacks written;
    const struct pci_column *source, *stack; /* of samples */
    uint64_t samples;
    struct pci_types all_types;
    struct type *types; /* those that are written */
    size_t type_count;
    union sum *sums; /* by stack; the last one: samples without a stack */
    uint8_t *has;
    int has_default;          /* a sample has a value of the first type */
    int lost_line, lost_null; /* lines without a file; files without a line */
    struct pci_perun_type_rule rule;
    struct pci_strbuf text;
    struct frame_text *frames; /* by group */
    struct pci_strbuf made;
    struct pci_json_writer maker; /* appends to `made` */
    int64_t stacks[BATCH], sources[BATCH], values[BATCH];
    uint8_t stack_valid[BATCH], source_valid[BATCH], valid[BATCH];
};

/* ---- opening */

/* Move the default sample type to the front: it becomes the header's type and that of the first
 * resources, from which the reader takes the default. */
static pcol_status move_default_first(struct generic_writer *f, pcol_error *err)
{
    uint32_t row;
    size_t at = 0;
    int named;
    PCI_TRY(pci_types_first_default(&f->all_types, NULL, f->export->first_source,
                                    (uint64_t)f->export->last_source + 1, &row, &named, err));
    while (at < f->type_count && f->types[at].row != row)
        at++;
    if (at == f->type_count || row == PCOL_NONE)
        return PCOL_OK;
    const struct type type = f->types[at];
    memmove(f->types + 1, f->types, at * sizeof *f->types);
    f->types[0] = type;
    return PCOL_OK;
}

/* A type of resources is only a name: omit types with the name of an earlier one but another unit
 * or ordinal. Integers and doubles of one type have the same name. */
static void omit_ambiguous_types(struct generic_writer *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->type_count; i++) {
        size_t k = 0;
        while (k < kept && !(pci_str_same(f->types[k].name, f->types[i].name) &&
                             (!pci_str_same(f->types[k].unit, f->types[i].unit) ||
                              f->types[k].ordinal != f->types[i].ordinal)))
            k++;
        if (k == kept)
            f->types[kept++] = f->types[i];
    }
    if (kept < f->type_count)
        pci_export_loss(f->export, "%s several sample types of one name",
                        f->export->capabilities->loss_prefix);
    f->type_count = kept;
}

static pcol_status open_types(struct generic_writer *f, pcol_error *err)
{
    const struct pci_types *all = &f->all_types;
    int has_gauges = 0;
    PCI_TRY(pci_types_open(f->file, &f->all_types, err));
    PCI_TRY(PCI_CALLOC(f->types, (size_t)all->count + 1, err));
    for (uint32_t row = 0; row < all->count; row++) {
        has_gauges |= all->is_gauge[row];
        if (all->is_gauge[row] || !all->columns[row])
            continue;
        f->types[f->type_count++] =
            (struct type){.name = all->type[row],
                          .unit = all->unit[row],
                          .values = all->columns[row],
                          .row = row,
                          .ordinal = all->ordinal[row],
                          .is_double = all->columns[row]->desc->type == PCF_F64};
    }
    if (has_gauges)
        pci_export_loss(f->export, "%s gauges (they are not amounts)",
                        f->export->capabilities->loss_prefix);
    PCI_TRY(move_default_first(f, err));
    omit_ambiguous_types(f);
    return PCOL_OK;
}

static pcol_status append_made(void *context, const void *data, size_t size, pcol_error *err)
{
    return pci_strbuf_append(context, data, size, err);
}

static pcol_status open_writer(struct generic_writer *f, pcol_error *err)
{
    const unsigned flags = PCI_JSON_BARE_NONFINITE | PCI_JSON_POINT | PCI_JSON_WTF8;
    PCI_TRY(pci_find_column(f->file, "samples", "source", PCI_TYPES_ROW, &f->source, err));
    PCI_TRY(pci_find_column(f->file, "samples", "stack", PCI_TYPES_ROW, &f->stack, err));
    PCI_TRY(pci_frame_namer_open(&f->names, f->file, err));
    f->names.libraries = 1;
    PCI_TRY(pci_stacks_open(f->file, &f->tree, err));
    PCI_TRY(pci_check_row_count(f->file, "stacks", err));
    f->samples = pci_rows(f->file, "samples");
    f->written = pci_written_stacks_begin(f->file, PCI_PRINTED_FRAMES);
    PCI_TRY(pci_check_row_count(f->file, "location_groups", err));
    PCI_TRY(PCI_CALLOC(f->frames, (size_t)pci_rows(f->file, "location_groups") + 1, err));
    PCI_TRY(pci_json_writer_open(&f->maker, (pcol_sink){append_made, &f->made}, flags, err));
    PCI_TRY(PCI_MALLOC(f->sums, (size_t)f->tree.stacks + 1, err));
    PCI_TRY(PCI_MALLOC(f->has, (size_t)f->tree.stacks + 1, err));
    PCI_TRY(open_types(f, err));
    return pci_json_writer_open(&f->json, f->export->sink, flags, err);
}

/* ---- sums */

static pcol_status add_value(struct generic_writer *f, const struct type *t, size_t i, uint64_t row,
                             pcol_error *err)
{
    uint64_t stack = f->stack_valid[i] ? (uint64_t)f->stacks[i] : f->tree.stacks;
    double number;
    if (stack > f->tree.stacks)
        return pci_corrupt(err, "samples", "stack", row, "the stack does not exist");
    union sum *sum = &f->sums[stack];
    if (!f->has[stack]) {
        memset(sum, 0, sizeof *sum);
        f->has[stack] = 1;
    }
    if (t->is_double) {
        memcpy(&number, &f->values[i], sizeof number);
        sum->f64 += number;
    } else if (__builtin_add_overflow(sum->i64, f->values[i], &sum->i64)) {
        return pci_fail_cell(err, PCOL_E_LOSS, "samples", NULL, row,
                             "the sum of a stack's values does not fit into 64 bits");
    }
    return PCOL_OK;
}

static pcol_status read_cells(struct generic_writer *f, const struct pci_column *column,
                              uint64_t row, size_t n, int64_t *values, uint8_t *valid,
                              pcol_error *err)
{
    if (column)
        return pci_read(f->file, column, row, n, values, valid, err);
    memset(values, 0, n * sizeof *values);
    memset(valid, 0, n);
    return PCOL_OK;
}

static pcol_status sum_values(struct generic_writer *f, const struct type *t, pcol_error *err)
{
    memset(f->has, 0, (size_t)f->tree.stacks + 1);
    for (uint64_t row = 0; row < f->samples; row += BATCH) {
        size_t n = f->samples - row < BATCH ? (size_t)(f->samples - row) : BATCH;
        PCI_TRY(read_cells(f, f->source, row, n, f->sources, f->source_valid, err));
        PCI_TRY(read_cells(f, f->stack, row, n, f->stacks, f->stack_valid, err));
        PCI_TRY(read_cells(f, t->values, row, n, f->values, f->valid, err));
        for (size_t i = 0; i < n; i++)
            if (f->valid[i] && (uint64_t)f->sources[i] >= f->export->first_source &&
                (uint64_t)f->sources[i] <= f->export->last_source)
                PCI_TRY(add_value(f, t, i, row + i, err));
    }
    return PCOL_OK;
}

/* ---- frames */

static pcol_status put_frame(struct generic_writer *f, struct pci_json_writer *w,
                             const struct pci_name *p, pcol_error *err)
{
    f->lost_line |= p->has_line && !p->has_filename;
    f->lost_null |= p->has_filename && !p->has_line;
    pci_json_put_begin(w, '{', err);
    if (p->has_filename) {
        pci_json_put_string_member(w, "source", p->filename, err);
        pci_json_put_string_member(w, "function", p->name, err);
        pci_json_put_int_member(w, "line", p->has_line ? p->line : 0, err);
    } else {
        pci_json_put_string_member(w, "func", p->name, err);
    }
    pci_json_put_end(w, '}', err);
    return w->status;
}

/* Get the innermost line of a stack; an empty name for the empty stack. */
static pcol_status get_innermost(struct generic_writer *f, uint64_t stack, struct pci_name *name,
                                 pcol_error *err)
{
    uint64_t begin = 0, count = 0;
    int64_t group = 0;
    uint32_t parent;
    int valid;
    memset(name, 0, sizeof *name);
    name->name = name->filename = (pcol_str){"", 0};
    if (!stack)
        return PCOL_OK;
    PCI_TRY(pci_stacks_node(&f->tree, stack, &parent, &begin, &count, err));
    PCI_TRY(pci_get(f->file, f->tree.group, stack, &group, &valid, err));
    return count ? pci_frame_namer_get(&f->names, begin, (uint32_t)group, name, err) : PCOL_OK;
}

static pcol_status put_frames(struct generic_writer *f, struct pci_json_writer *w, uint64_t begin,
                              uint64_t count, int64_t group, pcol_error *err)
{
    for (uint64_t i = 0; i < count; i++) {
        struct pci_name name;
        PCI_TRY(pci_frame_namer_get(&f->names, begin + i, (uint32_t)group, &name, err));
        PCI_TRY(put_frame(f, w, &name, err));
    }
    return PCOL_OK;
}

/* Make the text of a group: frames are repeated in many stacks. */
static pcol_status make_frames(struct generic_writer *f, uint64_t begin, uint64_t count,
                               int64_t group, pcol_error *err)
{
    struct frame_text *text = &f->frames[group];
    text->start = f->made.size;
    f->maker.comma = 0;
    PCI_TRY(put_frames(f, &f->maker, begin, count, group, err));
    PCI_TRY(pci_json_writer_finish(&f->maker, err));
    f->made.size--; /* the line feed */
    text->size = f->made.size - text->start;
    return PCOL_OK;
}

/* Write the lines of a stack, innermost first. */
static pcol_status put_trace(struct generic_writer *f, uint64_t stack, pcol_error *err)
{
    uint64_t most = pci_file_limit(f->file, FRAME_BYTES, FRAME_BYTES_PER_BYTE);
    uint64_t frames = 0, begin, count;
    int64_t group;
    uint32_t parent;
    int valid;
    for (; stack; stack = parent) {
        PCI_TRY(pci_stacks_node(&f->tree, stack, &parent, &begin, &count, err));
        PCI_TRY(pci_get(f->file, f->tree.group, stack, &group, &valid, err));
        PCI_TRY(pci_stacks_check_frames(&f->tree, frames += count, err));
        const struct frame_text *text = &f->frames[group];
        if (count && !text->size && f->made.size < most)
            PCI_TRY(make_frames(f, begin, count, group, err));
        if (text->size)
            pci_json_put_raw(&f->json, f->made.data + text->start, text->size, err);
        else
            PCI_TRY(put_frames(f, &f->json, begin, count, group, err));
    }
    PCI_TRY(pci_written_stacks_add(&f->written, frames, err));
    return f->json.status;
}

/* ---- document */

/* Make the type's name by Perun's rule. */
static pcol_status name_type(struct generic_writer *f, const struct pci_name *uid, pcol_error *err)
{
    char line[PCI_FLAT_NUMBER];
    f->text.size = 0;
    if (uid->has_filename) {
        PCI_TRY(pci_strbuf_append(&f->text, uid->filename.data, uid->filename.size, err));
        PCI_TRY(pci_strbuf_append(&f->text, ":", 1, err));
    }
    PCI_TRY(pci_strbuf_append(&f->text, uid->name.data, uid->name.size, err));
    if (uid->has_filename) {
        PCI_TRY(pci_strbuf_append(&f->text, ":", 1, err));
        size_t size = pci_flat_integer(uid->has_line ? uid->line : 0, line);
        PCI_TRY(pci_strbuf_append(&f->text, line, size, err));
    }
    if (f->rule.uids.size + f->text.size > pci_file_limit(f->file, UID_BYTES, UID_BYTES_PER_BYTE))
        return pci_fail(err, PCOL_E_LIMIT, "the uids of resources take implausibly many bytes");
    return pci_perun_type_rule_next(&f->rule, &f->text, err);
}

/* Write the entry of a stack in the map, or its amount. */
static pcol_status put_type(struct generic_writer *f, const struct type *t, uint64_t row,
                            int amounts, pcol_error *err)
{
    struct pci_json_writer *w = &f->json;
    struct pci_name uid;
    uint64_t stack = row < f->tree.stacks ? row : 0;
    PCI_TRY(get_innermost(f, stack, &uid, err));
    PCI_TRY(name_type(f, &uid, err));
    pci_json_put_key_bytes(w, (pcol_str){f->text.data, f->text.size}, err);
    pci_json_put_begin(w, '{', err);
    if (amounts) {
        pci_json_put_begin_member(w, "amount", '[', err);
        if (t->is_double)
            pci_json_put_double(w, f->sums[row].f64, err);
        else
            pci_json_put_int(w, f->sums[row].i64, err);
        pci_json_put_end(w, ']', err);
    } else {
        pci_json_put_key(w, "uid", err);
        if (uid.has_filename)
            PCI_TRY(put_frame(f, w, &uid, err));
        else
            pci_json_put_string(w, uid.name, err);
        pci_json_put_string_member(w, "type", t->name, err);
        if (row < f->tree.stacks) {
            pci_json_put_begin_member(w, "trace", '[', err);
            PCI_TRY(put_trace(f, stack, err));
            pci_json_put_end(w, ']', err);
        }
    }
    pci_json_put_end(w, '}', err);
    return w->status;
}

static pcol_status put_types(struct generic_writer *f, int amounts, pcol_error *err)
{
    pci_perun_type_rule_clear(&f->rule);
    memset(&f->rule, 0, sizeof f->rule);
    pci_json_put_begin_member(&f->json, amounts ? "resources" : "resource_type_map", '{', err);
    for (size_t i = 0; i < f->type_count; i++) {
        PCI_TRY(sum_values(f, &f->types[i], err));
        for (uint64_t row = 0; row <= f->tree.stacks; row++)
            if (f->has[row]) {
                f->has_default |= i == 0;
                PCI_TRY(put_type(f, &f->types[i], row, amounts, err));
            }
    }
    pci_json_put_end(&f->json, '}', err);
    return f->json.status;
}

static void put_header(struct generic_writer *f, pcol_error *err)
{
    struct pci_json_writer *w = &f->json;
    pci_json_put_begin_member(w, "header", '{', err);
    pci_json_put_string_member(w, "type", f->type_count ? f->types[0].name : (pcol_str){"", 0},
                               err);
    pci_json_put_text_member(w, "cmd", "", err);
    pci_json_put_text_member(w, "args", "", err);
    pci_json_put_text_member(w, "workload", "", err);
    pci_json_put_begin_member(w, "units", '{', err);
    for (size_t i = 0; i < f->type_count; i++) {
        size_t k = 0; /* a type that occurs as integers and as doubles has one unit */
        while (k < i && !pci_str_same(f->types[k].name, f->types[i].name))
            k++;
        if (k < i)
            continue;
        pci_json_put_key_bytes(w, f->types[i].name, err);
        pci_json_put_string(w, f->types[i].unit, err);
    }
    pci_json_put_end(w, '}', err);
    pci_json_put_end(w, '}', err);
    pci_json_put_begin_member(w, "collector_info", '{', err);
    pci_json_put_text_member(w, "name", "pcol", err);
    pci_json_put_begin_member(w, "params", '{', err);
    pci_json_put_end(w, '}', err);
    pci_json_put_end(w, '}', err);
    pci_json_put_begin_member(w, "postprocessors", '[', err);
    pci_json_put_end(w, ']', err);
}

/* Report a default type that the reader does not derive from the first resource. */
static pcol_status check_default(const struct generic_writer *f, pcol_error *err)
{
    const struct pci_column *column;
    PCI_TRY(pci_find_verified_column(f->file, "sources", "default_sample_type", PCI_TYPES_TEXT,
                                     &column, err));
    for (uint64_t row = f->export->first_source; column && row <= f->export->last_source; row++) {
        pcol_str text;
        int valid;
        PCI_TRY(pci_get_str(f->file, column, row, &text, &valid, err));
        if (!valid || !text.size || (f->has_default && pci_str_equal(text, f->types[0].name)))
            continue;
        pci_export_report_kind(f->export, PCI_KIND_DEFAULT_TYPE);
        break;
    }
    return PCOL_OK;
}

static pcol_status write_document(struct generic_writer *f, pcol_error *err)
{
    PCI_TRY(open_writer(f, err));
    pci_json_put_begin(&f->json, '{', err);
    put_header(f, err);
    PCI_TRY(put_types(f, 0, err));
    PCI_TRY(put_types(f, 1, err));
    pci_json_put_begin_member(&f->json, "models", '[', err);
    pci_json_put_end(&f->json, ']', err);
    pci_json_put_end(&f->json, '}', err);
    PCI_TRY(pci_json_writer_finish(&f->json, err));
    if (f->lost_line)
        pci_export_loss(f->export, "%s lines whose file is not known",
                        f->export->capabilities->loss_prefix);
    if (f->lost_null)
        pci_export_loss(f->export, "%s files without a line: it becomes 0",
                        f->export->capabilities->loss_prefix);
    if (f->json.replaced || f->maker.replaced)
        pci_export_loss(f->export, "%s bytes that are not UTF-8: they become lone surrogates",
                        f->export->capabilities->loss_prefix);
    PCI_TRY(check_default(f, err));
    return pci_export_losses(f->export, NULL, err);
}

pcol_status pci_perun_write_generic(const struct pci_export *export, pcol_error *err)
{
    struct generic_writer *f;
    PCI_TRY(PCI_CALLOC(f, 1, err));
    f->export = export;
    f->file = export->file;
    pcol_status status = write_document(f, err);
    pci_json_writer_close(&f->json);
    pci_json_writer_close(&f->maker);
    pci_strbuf_clear(&f->made);
    pci_free(f->frames);
    pci_frame_namer_close(&f->names);
    pci_types_close(&f->all_types);
    pci_perun_type_rule_clear(&f->rule);
    pci_strbuf_clear(&f->text);
    pci_free(f->types);
    pci_free(f->sums);
    pci_free(f->has);
    pci_free(f);
    return status;
}

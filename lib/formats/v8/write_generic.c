/*
 * write_generic.c - export of any profile to V8's CPU and heap profiles
 *
 * Each node of the call tree that a sample uses becomes a node of V8, an inlined line one of its
 * own. A CPU profile has an entry for each row of samples, in order, or as many as its count as
 * long as the counts are few in all, with the time that the row represents: its value if that is a
 * time, else its duration, else the sampling interval for each count, else a millisecond. A reader
 * takes the average for the last entry: if that is wrong, an entry of the root follows it.
 *
 * hitCount is the sum of counts; of other values, the time in the largest unit of which the times
 * of all rows are multiples, since DevTools divides the duration of the profile by hits.
 */
#include "formats/json_members.h"
#include "formats/v8/write.h"

#include "model/frame_names.h"
#include "model/types.h"
#include "query/labels.h"
#include "util/alloc.h"
#include "util/integer.h"
#include "util/strbuf.h"
#include "json/json.h"

#include <math.h>

/* Sum of counts up to which each has an entry: a few bytes of input can have any count. */
#define MAX_ENTRIES (UINT64_C(1) << 20)

#define NANOSECOND 1e-3 /* in microseconds */

enum {
    LOSS_NOT_POSITIVE = 1,
    LOSS_UNIT = 2,
    LOSS_TYPES = 4,
    LOSS_FRACTION = 8,
    LOSS_BYTES = 16,
    LOSS_ENTRIES = 32,
    LOSS_NO_STACK = 64,
    LOSS_TIMES = 128,
    LOSS_MICROSECONDS = 256,
    LOSS_AMOUNTS = 512
};

static const struct pci_loss losses[] = {
    {"values that are not positive", ""},
    {"the name and unit of the sample type: they become its own", ""},
    {"more than one sample type", "sample_type"},
    {"fractions of values", ""},
    {"bytes that are not UTF-8: they become U+FFFD", ""},
    {"each of more than 1048576 counts as a sample: one for each row, with all of its time, and "
     "hitCount with the count",
     ""},
    {"the difference between samples without a call stack and with an empty one", ""},
    {"samples without times: each count lasts a millisecond", ""},
    {"fractions of microseconds", ""},
    {"values that are neither times nor counts: each row is one sample", ""},
};

struct node {
    uint64_t value;          /* hits, bytes, or ns of time until they are hits */
    uint32_t id;             /* of its outermost line; 0: not used */
    uint32_t child, sibling; /* 0: none */
    uint32_t parent;
};

struct writer {
    const struct pci_export *export;
    const pcol_file *file;
    int is_heap;
    struct pci_json_writer json;
    struct pci_types types;
    struct pci_selected_type chosen;
    struct pci_frame_namer names;
    struct pci_stacks tree;
    const struct pci_column *stack, *duration, *column, *interval;
    struct node *nodes;
    double us; /* microseconds of one unit of a time; 0: not a time */
    int is_count;
    uint64_t hit_ns;  /* time of a hit, if hits are not counts */
    uint64_t entries; /* sum of counts */
    double now;       /* sum of times, microseconds */
    int64_t previous; /* the same at the entry before, rounded */
    int64_t written;  /* entries */
    unsigned lost;
};

/* ---- rows ---- */

struct row {
    uint32_t stack;
    int64_t value; /* rounded */
    double us;
};

/* Duration of a unit of time in microseconds; 0 for other units. */
static double unit_us(pcol_str unit)
{
    double ns;
    return pci_label_unit_size(unit, &ns) == 't' ? ns / 1e3 : 0;
}

/* The value of a row; *has is 0 if it has none that is positive. */
static pcol_status read_value(struct writer *w, uint64_t row, double *value, int64_t *whole,
                              int *has, pcol_error *err)
{
    const struct pci_integer_form form = {"V8's profiles", 1, 0};
    *has = 0;
    for (uint32_t i = 0; i < w->chosen.count && !*has; i++) {
        const struct pci_column *column = w->types.columns[w->chosen.rows[i]];
        int64_t bits;
        int fraction = 0;
        if (!column)
            continue;
        PCI_TRY(pci_get(w->file, column, row, &bits, has, err));
        if (!*has)
            continue;
        int is_double = column->desc->type == PCF_F64;
        *value = pci_number_value(bits, is_double);
        PCI_TRY(pci_types_to_integer(bits, is_double, &form, row, whole, &fraction, err));
        if (fraction && w->us <= 0)
            w->lost |= LOSS_FRACTION;
    }
    if (*has && !(*value > 0)) {
        w->lost |= LOSS_NOT_POSITIVE;
        *has = 0;
    }
    return PCOL_OK;
}

static pcol_status set_time(struct writer *w, uint64_t row, uint64_t source, double value,
                            struct row *out, pcol_error *err)
{
    int64_t ns = 0;
    int valid = 0;
    if (w->us > 0) {
        out->us = value * w->us;
        return PCOL_OK;
    }
    if (w->duration)
        PCI_TRY(pci_get(w->file, w->duration, row, &ns, &valid, err));
    if (valid) {
        out->us = (double)ns / 1e3;
        return PCOL_OK;
    }
    if (w->interval)
        PCI_TRY(pci_get(w->file, w->interval, source, &ns, &valid, err));
    if (!valid || ns <= 0) {
        w->lost |= LOSS_TIMES;
        ns = 1000000;
    }
    out->us = (double)ns / 1e3 * (w->is_count ? value : 1);
    return PCOL_OK;
}

/* Visit the rows of the sources. */
static pcol_status each_row(struct writer *w,
                            pcol_status (*visit)(struct writer *, const struct row *, pcol_error *),
                            pcol_error *err)
{
    uint64_t rows = pci_rows(w->file, "samples");
    for (uint64_t row = 0; row < rows; row++) {
        struct row out;
        int64_t source = 0, stack = 0;
        double value = 0;
        int has;
        PCI_TRY(pci_get(w->file, w->types.source, row, &source, &(int){0}, err));
        if (source < (int64_t)w->export->first_source || source > (int64_t)w->export->last_source)
            continue;
        PCI_TRY(read_value(w, row, &value, &out.value, &has, err));
        if (!has)
            continue;
        PCI_TRY(pci_get(w->file, w->stack, row, &stack, &has, err));
        w->lost |= has ? 0u : LOSS_NO_STACK;
        out.stack = has && w->stack ? (uint32_t)stack : 0;
        if (out.stack && (uint64_t)out.stack >= w->tree.stacks)
            return pci_corrupt(err, "samples", "stack", row, "the stack does not exist");
        if (!w->is_heap)
            PCI_TRY(set_time(w, row, (uint64_t)source, value, &out, err));
        PCI_TRY(visit(w, &out, err));
    }
    return PCOL_OK;
}

static pcol_status add_time(struct writer *w, const struct row *row, pcol_error *err)
{
    w->now += row->us;
    return w->now < 9e15 ? PCOL_OK
                         : pci_fail(err, PCOL_E_LOSS,
                                    "the sum of times is beyond the integers of JavaScript");
}

static pcol_status add_value(struct writer *w, const struct row *row, pcol_error *err)
{
    struct node *node = &w->nodes[row->stack];
    uint64_t value = (uint64_t)row->value;
    if (!w->is_heap)
        PCI_TRY(add_time(w, row, err));
    if (w->is_count) {
        w->entries += value < MAX_ENTRIES ? value : MAX_ENTRIES;
    } else if (!w->is_heap) {
        value = row->us > 0 ? (uint64_t)llround(row->us * 1e3) : 0;
        w->hit_ns = pci_gcd(value, w->hit_ns);
    }
    node->id = 1;
    node->value += value;
    return node->value > INT64_MAX
               ? pci_fail_cell(err, PCOL_E_LOSS, "stacks", NULL, row->stack,
                               "the sum of the values of the stack is beyond 64 bits")
               : PCOL_OK;
}

/* ---- nodes ---- */

/* Mark ancestors, link children and assign ids. */
static pcol_status link_nodes(struct writer *w, pcol_error *err)
{
    uint64_t next = 1;
    for (uint64_t i = w->tree.stacks; i-- > 1;) {
        struct node *node = &w->nodes[i];
        uint64_t first, count;
        if (!node->id)
            continue;
        PCI_TRY(pci_stacks_node(&w->tree, i, &node->parent, &first, &count, err));
        w->nodes[node->parent].id = 1;
        node->sibling = w->nodes[node->parent].child;
        w->nodes[node->parent].child = (uint32_t)i;
    }
    w->nodes[0].id = (uint32_t)next++;
    for (uint64_t i = 1; i < w->tree.stacks; i++) {
        uint64_t first, count;
        uint32_t parent;
        if (!w->nodes[i].id)
            continue;
        PCI_TRY(pci_stacks_node(&w->tree, i, &parent, &first, &count, err));
        w->nodes[i].id = (uint32_t)next;
        next += count ? count : 1;
        PCI_TRY(pci_stacks_check_frames(&w->tree, next, err));
        if (next > INT32_MAX)
            return pci_fail(err, PCOL_E_LIMIT, "V8's profiles have at most 2147483647 nodes");
    }
    return PCOL_OK;
}

static void put_frame(struct writer *w, pcol_str name, pcol_str url, int64_t line, int64_t column,
                      pcol_error *err)
{
    pci_json_put_begin_member(&w->json, "callFrame", '{', err);
    pci_json_put_string_member(&w->json, "functionName", name, err);
    pci_json_put_text_member(&w->json, "scriptId", "0", err);
    pci_json_put_string_member(&w->json, "url", url, err);
    pci_json_put_int_member(&w->json, "lineNumber", line, err);
    pci_json_put_int_member(&w->json, "columnNumber", column, err);
    pci_json_put_end(&w->json, '}', err);
}

static pcol_status put_location(struct writer *w, uint64_t location, uint32_t group,
                                pcol_error *err)
{
    struct pci_name name;
    int64_t column = 0, line;
    int valid = 0;
    PCI_TRY(pci_frame_namer_get(&w->names, location, group, &name, err));
    if (w->column && name.function != PCOL_NONE)
        PCI_TRY(pci_get(w->file, w->column, name.function, &column, &valid, err));
    line = name.has_start_line && name.start_line > 0 ? name.start_line - 1 : -1;
    put_frame(w, name.name, name.has_filename && !name.is_place ? name.filename : (pcol_str){"", 0},
              line, valid && column > 0 ? column - 1 : -1, err);
    return w->json.status;
}

/* The members of node `at` before its children; line: 0 for the outermost of `count`. */
static pcol_status begin_node(struct writer *w, uint64_t at, uint64_t first, uint64_t count,
                              uint64_t line, pcol_error *err)
{
    const struct node *node = &w->nodes[at];
    int64_t group = 0, value = line + 1 >= count ? (int64_t)node->value : 0;
    pci_json_put_newline(&w->json);
    pci_json_put_begin(&w->json, '{', err);
    pci_json_put_int_member(&w->json, "id", (int64_t)(node->id + line), err);
    if (at) {
        PCI_TRY(pci_get(w->file, w->tree.group, at, &group, &(int){0}, err));
        PCI_TRY(put_location(w, first + count - 1 - line, (uint32_t)group, err));
    } else {
        put_frame(w, (pcol_str){"(root)", 6}, (pcol_str){"", 0}, -1, -1, err);
    }
    pci_json_put_int_member(&w->json, w->is_heap ? "selfSize" : "hitCount", value, err);
    pci_json_put_begin_member(&w->json, "children", '[', err);
    return w->json.status;
}

static pcol_status get_lines(struct writer *w, uint64_t at, uint64_t *first, uint64_t *count,
                             pcol_error *err)
{
    uint32_t parent;
    *first = 0;
    *count = 1;
    return at ? pci_stacks_node(&w->tree, at, &parent, first, count, err) : PCOL_OK;
}

static pcol_status put_list(struct writer *w, pcol_error *err)
{
    pci_json_put_begin_member(&w->json, "nodes", '[', err);
    for (uint64_t i = 0; !i || i < w->tree.stacks; i++) { /* the root, without stacks, too */
        uint64_t first, count;
        if (!w->nodes[i].id)
            continue;
        PCI_TRY(get_lines(w, i, &first, &count, err));
        for (uint64_t line = 0; line < count; line++) {
            PCI_TRY(begin_node(w, i, first, count, line, err));
            if (line + 1 < count)
                pci_json_put_int(&w->json, (int64_t)(w->nodes[i].id + line + 1), err);
            else
                for (uint32_t k = w->nodes[i].child; k; k = w->nodes[k].sibling)
                    pci_json_put_int(&w->json, w->nodes[k].id, err);
            pci_json_put_end(&w->json, ']', err);
            pci_json_put_end(&w->json, '}', err);
        }
    }
    pci_json_put_end(&w->json, ']', err);
    return w->json.status;
}

static pcol_status open_nested(struct writer *w, uint64_t at, pcol_error *err)
{
    uint64_t first, count;
    PCI_TRY(get_lines(w, at, &first, &count, err));
    for (uint64_t line = 0; line < count; line++)
        PCI_TRY(begin_node(w, at, first, count, line, err));
    return PCOL_OK;
}

static pcol_status close_nested(struct writer *w, uint64_t at, pcol_error *err)
{
    uint64_t first, count;
    PCI_TRY(get_lines(w, at, &first, &count, err));
    for (uint64_t line = 0; line < count; line++) {
        pci_json_put_end(&w->json, ']', err);
        pci_json_put_end(&w->json, '}', err);
    }
    return PCOL_OK;
}

static pcol_status put_nested(struct writer *w, pcol_error *err)
{
    uint32_t at = 0;
    pci_json_put_key(&w->json, "head", err);
    PCI_TRY(open_nested(w, 0, err));
    for (;;) {
        if (w->nodes[at].child) {
            at = w->nodes[at].child;
            PCI_TRY(open_nested(w, at, err));
            continue;
        }
        while (at && !w->nodes[at].sibling) {
            PCI_TRY(close_nested(w, at, err));
            at = w->nodes[at].parent;
            w->nodes[at].child = 0; /* done */
        }
        PCI_TRY(close_nested(w, at, err));
        if (!at)
            return w->json.status;
        at = w->nodes[at].sibling;
        PCI_TRY(open_nested(w, at, err));
    }
}

/* ---- samples ---- */

/* Number of entries of a row: of a value that fits the sum of add_value(), also in a file that
 * changes meanwhile. */
static int64_t entries(const struct writer *w, const struct row *row)
{
    return w->is_count && w->entries <= MAX_ENTRIES && row->value > 0 &&
                   row->value <= (int64_t)MAX_ENTRIES
               ? row->value
               : 1;
}

/* The delta of an entry is the time that the previous one represents; sums are rounded, so that
 * errors do not add up. */
static pcol_status put_delta(struct writer *w, const struct row *row, pcol_error *err)
{
    int64_t count = entries(w, row);
    for (int64_t i = 0; i < count; i++) {
        double exact = w->now + row->us * (double)i / (double)count;
        int64_t now = llround(exact);
        w->lost |= fabs(exact - (double)now) > NANOSECOND ? LOSS_MICROSECONDS : 0u;
        pci_json_put_int(&w->json, now - w->previous, err);
        w->previous = now;
    }
    w->written += count;
    PCI_TRY(add_time(w, row, err));
    return w->json.status;
}

static pcol_status put_sample(struct writer *w, const struct row *row, pcol_error *err)
{
    uint64_t first, count;
    PCI_TRY(get_lines(w, row->stack, &first, &count, err));
    for (int64_t i = entries(w, row); i; i--)
        pci_json_put_int(&w->json, (int64_t)(w->nodes[row->stack].id + (count ? count - 1 : 0)),
                         err);
    return w->json.status;
}

/* Whether an entry at the end tells the time of the last one better than the average of the others,
 * which readers assume. */
static int needs_end(struct writer *w)
{
    double last = w->now - (double)w->previous;
    double average = w->written > 1 ? (double)w->previous / (double)(w->written - 1) : 0;
    double rounding = fabs(last - round(last)), error = fabs(last - average);
    int is_better = error > rounding + NANOSECOND;
    if ((is_better ? rounding : error) > NANOSECOND)
        w->lost |= LOSS_MICROSECONDS;
    return is_better;
}

static pcol_status put_samples(struct writer *w, pcol_error *err)
{
    w->now = 0;
    pci_json_put_begin_member(&w->json, "timeDeltas", '[', err);
    PCI_TRY(each_row(w, put_delta, err));
    if (needs_end(w))
        pci_json_put_int(&w->json, llround(w->now) - w->previous, err);
    pci_json_put_end(&w->json, ']', err);
    pci_json_put_begin_member(&w->json, "samples", '[', err);
    PCI_TRY(each_row(w, put_sample, err));
    if (needs_end(w))
        pci_json_put_int(&w->json, w->nodes[0].id, err);
    pci_json_put_end(&w->json, ']', err);
    return w->json.status;
}

/* ---- export ---- */

static void set_units(struct writer *w)
{
    w->us = w->is_heap ? 0 : unit_us(w->chosen.unit);
    w->is_count = !w->is_heap && pci_str_is(w->chosen.unit, "count");
    if (w->chosen.count && !(pci_str_is(w->chosen.type, w->is_heap ? "space" : "samples") &&
                             pci_str_is(w->chosen.unit, w->is_heap ? "bytes" : "count")))
        w->lost |= LOSS_UNIT;
    if (w->chosen.count && !w->is_heap && !w->is_count && w->us <= 0)
        w->lost |= LOSS_AMOUNTS;
}

static pcol_status prepare(struct writer *w, pcol_error *err)
{
    const struct pci_export *export = w->export;
    int others;
    PCI_TRY(pci_check_row_count(w->file, "stacks", err));
    PCI_TRY(pci_types_open(w->file, &w->types, err));
    PCI_TRY(pci_types_verify(&w->types, err));
    PCI_TRY(pci_types_select(&w->types, export->first_source, export->last_source,
                             export->options->sample_type, &w->chosen, err));
    PCI_TRY(pci_types_has_others(&w->types, export->first_source, export->last_source, &w->chosen,
                                 &others, err));
    w->lost |= others ? LOSS_TYPES : 0u;
    PCI_TRY(pci_frame_namer_open(&w->names, w->file, err));
    w->names.libraries = 1;
    PCI_TRY(pci_stacks_open(w->file, &w->tree, err));
    PCI_TRY(pci_stacks_verify(&w->tree, err));
    PCI_TRY(pci_find_verified_column(w->file, "samples", "stack", PCI_TYPES_ROW, &w->stack, err));
    PCI_TRY(pci_find_verified_column(w->file, "samples", "duration", PCI_TYPE(PCF_I64),
                                     &w->duration, err));
    PCI_TRY(
        pci_find_verified_column(w->file, "functions", "column", PCI_TYPES_INT, &w->column, err));
    PCI_TRY(PCI_CALLOC(w->nodes, (size_t)w->tree.stacks + 1, err));
    PCI_TRY(pci_find_verified_column(w->file, "sources", "interval_ns", PCI_TYPE(PCF_I64),
                                     &w->interval, err));
    set_units(w);
    PCI_TRY(each_row(w, add_value, err));
    for (uint64_t i = 0; w->hit_ns && i < w->tree.stacks; i++)
        w->nodes[i].value /= w->hit_ns;
    if (w->is_count && w->entries > MAX_ENTRIES)
        w->lost |= LOSS_ENTRIES;
    return link_nodes(w, err);
}

static pcol_status write_all(struct writer *w, pcol_error *err)
{
    PCI_TRY(prepare(w, err));
    PCI_TRY(pci_json_writer_open(&w->json, w->export->sink, PCI_JSON_REPLACE, err));
    pci_json_put_begin(&w->json, '{', err);
    if (w->is_heap) {
        PCI_TRY(put_nested(w, err));
        pci_json_put_begin_member(&w->json, "samples", '[', err);
        pci_json_put_end(&w->json, ']', err);
    } else {
        PCI_TRY(put_list(w, err));
        pci_json_put_int_member(&w->json, "startTime", 0, err);
        pci_json_put_int_member(&w->json, "endTime", llround(w->now), err);
        PCI_TRY(put_samples(w, err));
    }
    pci_json_put_end(&w->json, '}', err);
    PCI_TRY(pci_json_writer_finish(&w->json, err));
    if (w->json.replaced)
        w->lost |= LOSS_BYTES;
    pci_export_report(w->export, losses, sizeof losses / sizeof *losses, w->lost);
    return pci_export_losses(w->export, NULL, err);
}

pcol_status pci_v8_write_generic(const struct pci_export *export, int is_heap, pcol_error *err)
{
    struct writer w = {.export = export, .file = export->file, .is_heap = is_heap};
    pcol_status status = write_all(&w, err);
    pci_json_writer_close(&w.json);
    pci_types_close(&w.types);
    pci_frame_namer_close(&w.names);
    pci_free(w.chosen.rows);
    pci_free(w.nodes);
    return status;
}

/*
 * sums.c - reduction of profiles to sums by stack, source and labels (sums.h)
 *
 * A description of a source is an array of 32-bit codes of the builder's strings, PCOL_NONE for
 * null: enum described, the values of the keys, then four words for each sample type. Sources with
 * equal descriptions are one source of the sums. Tests: suite sums, tests/unit/test_sums.c.
 */
#include "merge/sums.h"

#include "model/check.h"
#include "model/row_details.h"
#include "query/labels.h"
#include "util/alloc.h"
#include "util/amount.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/import_budget.h"
#include "util/sized_struct.h"
#include "util/strbuf.h"

#include <string.h>

const char *const pci_sums_text_columns[D_TEXTS] = {
    [D_TYPE] = "type",
    [D_DEFAULT_TYPE] = "default_sample_type",
    [D_DROP_FRAMES] = "drop_frames",
    [D_KEEP_FRAMES] = "keep_frames",
    [D_PERIOD_TYPE] = "period_type",
    [D_PERIOD_UNIT] = "period_unit",
};

int pci_sums_keeps(pcol_sums *sums, pcol_str key)
{
    for (size_t i = 0; i < sums->key_count; i++)
        if (pci_str_is(key, sums->keys[i])) {
            sums->key_seen[i] = 1;
            return 1;
        }
    return 0;
}

pcol_status pci_sums_string(struct pci_sums_file *f, struct pci_cells *cells, uint64_t row,
                            uint32_t *string, pcol_error *err)
{
    int64_t code;
    int valid;
    *string = PCOL_NONE;
    PCI_TRY(pci_cells_get(cells, row, &code, &valid, err));
    if (!valid)
        return PCOL_OK;
    if ((uint64_t)code >= f->string_count)
        return pci_corrupt(err, cells->column->table->name, cells->column->name, row,
                           "no such string");
    if (f->strings[code] == PCOL_NONE) {
        pcol_str text;
        PCI_TRY(pci_string(f->file, (uint64_t)code, &text, err));
        PCI_TRY(
            pcol_builder_string(f->sums->builder, text.data, text.size, &f->strings[code], err));
    }
    *string = f->strings[code];
    return PCOL_OK;
}

/* ---- sources */

/* The sample types of a source that are added up: rows of sample_types. */
struct source_types {
    uint32_t *rows;
    uint32_t count;
};

struct file_walk {
    struct pci_sums_file f;
    struct pci_types types;
    uint64_t source_count;
    uint32_t *sources; /* by row of sources: source of the sums */
    struct source_types *source_types;
    uint32_t *words; /* description under construction */
    size_t word_count, word_capacity;
    struct pci_cells *cells; /* samples.source, samples.stack, then values by sample type */
    struct pci_label_reader labels;
    struct pci_label_frames *frames; /* NULL if no label is one */
    int has_labels;
    struct pci_strbuf list; /* labels of a sample */
    struct pci_text_memo long_strings;
};

/* The text stays where it is while the file is open. */
static pcol_status intern(struct file_walk *w, pcol_str text, uint32_t *code, pcol_error *err)
{
    *code = pci_text_memo_find(&w->long_strings, text);
    if (*code != PCI_HASH_NONE)
        return PCOL_OK;
    PCI_TRY(pcol_builder_string(w->f.sums->builder, text.data, text.size, code, err));
    return pci_text_memo_add(&w->long_strings, text, *code, err);
}

static pcol_status describe_text(struct file_walk *w, const char *column, uint64_t source,
                                 uint32_t *code, pcol_error *err)
{
    pcol_str text;
    int valid = 0;
    *code = PCOL_NONE;
    PCI_TRY(pci_get_named_str(w->f.file, "sources", column, source, &text, &valid, err));
    return valid ? intern(w, text, code, err) : PCOL_OK;
}

static pcol_status describe_number(struct file_walk *w, const char *column, uint64_t source,
                                   uint32_t words[3], pcol_error *err)
{
    int64_t value = 0;
    int valid = 0;
    PCI_TRY(pci_get_named(w->f.file, "sources", column, PCI_TYPE(PCF_I64), source, &value, &valid,
                          err));
    words[0] = (uint32_t)valid;
    words[1] = valid ? (uint32_t)(uint64_t)value : 0;
    words[2] = valid ? (uint32_t)((uint64_t)value >> 32) : 0;
    return PCOL_OK;
}

/* Values of key k of all sources: metas[source * key_count + k]. */
static pcol_status read_meta(struct file_walk *w, size_t k, pcol_str *values, uint32_t *metas,
                             pcol_error *err)
{
    pcol_sums *sums = w->f.sums;
    const char *key = sums->keys[k];
    int exists;
    memset(values, 0, (size_t)w->source_count * sizeof *values);
    PCI_TRY(pci_source_meta_values(w->f.file, (pcol_str){key, strlen(key)}, w->source_count, values,
                                   &exists, err));
    sums->key_seen[k] |= (uint8_t)exists;
    for (uint64_t source = 0; source < w->source_count; source++) {
        if (!values[source].data)
            continue;
        if (memchr(values[source].data, 0, values[source].size))
            return pci_corrupt(err, "source_meta", "value", PCOL_POSITION_UNKNOWN,
                               "the text has a NUL byte");
        PCI_TRY(intern(w, values[source], &metas[source * sums->key_count + k], err));
    }
    return PCOL_OK;
}

/* Appends the sample types of a source to the description. */
static pcol_status describe_types(struct file_walk *w, uint64_t source, pcol_error *err)
{
    struct source_types *own = &w->source_types[source];
    uint32_t count, kept = 0;
    PCI_TRY(PCI_MALLOC(own->rows, (size_t)w->types.count + 1, err));
    PCI_TRY(pci_types_of_source(&w->types, source, own->rows, &count, err));
    PCI_TRY(PCI_GROW(w->words, w->word_capacity, w->word_count + (size_t)count * T_WORDS, err));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type = own->rows[i], *words = &w->words[w->word_count];
        const struct pci_column *column = w->types.columns[type];
        if (w->types.is_gauge[type]) {
            w->f.sums->gauges_lost |= column && column->desc->null_count < column->desc->rows;
            continue;
        }
        PCI_TRY(intern(w, w->types.type[type], &words[T_TYPE], err));
        PCI_TRY(intern(w, w->types.unit[type], &words[T_UNIT], err));
        words[T_FLAGS] = column && column->desc->type == PCF_F64 ? PCOL_SAMPLE_TYPE_DOUBLE : 0;
        words[T_ORDINAL] = (uint32_t)w->types.ordinal[type];
        w->word_count += T_WORDS;
        own->rows[kept++] = type;
    }
    own->count = kept;
    return PCOL_OK;
}

/* Finds or adds the source of the sums for a source of the file. */
static pcol_status add_source(struct file_walk *w, uint64_t source, const uint32_t *metas,
                              pcol_error *err)
{
    pcol_sums *sums = w->f.sums;
    size_t fixed = D_KEYS + sums->key_count;
    PCI_TRY(PCI_GROW(w->words, w->word_capacity, fixed, err));
    for (size_t i = D_TYPE + 1; i < D_TEXTS; i++)
        PCI_TRY(describe_text(w, pci_sums_text_columns[i], source, &w->words[i], err));
    pcol_str text = {"", 0};
    PCI_TRY(pci_get_named_str(w->f.file, "sources", "type", source, &text, &(int){0}, err));
    /* Texts that pprof reads become pprof profiles, as there: one rule decides on default types.
     * Sums of other formats cannot be written as their files. */
    const struct pci_format_schema *schema = pci_format_schema(w->f.file, text);
    text = schema && schema->last_type_is_default ? (pcol_str){"pprof", 5} : (pcol_str){"sums", 4};
    PCI_TRY(intern(w, text, &w->words[D_TYPE], err));
    PCI_TRY(describe_number(w, "period", source, &w->words[D_PERIOD], err));
    PCI_TRY(describe_number(w, "interval_ns", source, &w->words[D_INTERVAL], err));
    if (w->words[D_INTERVAL])
        pci_builder_record_interval(sums->builder, pci_sums_number(&w->words[D_INTERVAL]));
    for (size_t k = 0; k < sums->key_count; k++)
        w->words[D_KEYS + k] = metas[source * sums->key_count + k];
    w->word_count = fixed;
    PCI_TRY(describe_types(w, source, err));
    return pci_string_pool_intern(&sums->sources, (const char *)w->words,
                                  w->word_count * sizeof *w->words, &w->sources[source], err);
}

static pcol_status add_sources(struct file_walk *w, pcol_error *err)
{
    size_t keys = w->f.sums->key_count;
    uint32_t *metas;
    PCI_TRY(pci_merge_rows(w->f.file, "sources", &w->source_count, err));
    PCI_TRY(pci_merge_map(&w->sources, w->source_count, err));
    PCI_TRY(PCI_CALLOC(w->source_types, (size_t)w->source_count + 1, err));
    if (keys && w->source_count > SIZE_MAX / sizeof *metas / keys)
        return pci_fail_memory(err);
    PCI_TRY(pci_merge_map(&metas, w->source_count * keys, err));
    pcol_str *values = pci_malloc((size_t)w->source_count + 1, sizeof *values);
    pcol_status status = values ? PCOL_OK : pci_fail_memory(err);
    for (size_t k = 0; status == PCOL_OK && k < keys; k++)
        status = read_meta(w, k, values, metas, err);
    pci_free(values);
    for (uint64_t row = 0; status == PCOL_OK && row < w->source_count; row++)
        status = add_source(w, row, metas, err);
    pci_free(metas);
    return status;
}

/* ---- labels */

static int is_kept_kind(int kind)
{
    return kind == PCI_LABEL_STRING || kind == PCI_LABEL_INTEGER || kind == PCI_LABEL_DOUBLE ||
           kind == PCI_LABEL_BIGINT || kind == PCI_LABEL_BOOL || kind == PCI_LABEL_NULL ||
           kind == PCI_LABEL_EMPTY || pci_label_is_frame(kind);
}

static pcol_status open_labels(struct file_walk *w, pcol_error *err)
{
    if (!w->f.sums->key_count)
        return PCOL_OK;
    PCI_TRY(pci_labels_open(&w->labels, w->f.file, "samples", err));
    for (size_t i = 0; i < w->labels.key_count; i++) {
        struct pci_label_key *key = &w->labels.keys[i];
        int is_kept = pci_sums_keeps(w->f.sums, key->key);
        if (is_kept && !is_kept_kind(key->kind))
            w->f.sums->lost |= UINT64_C(1) << PCI_KIND_LABELS;
        key->unwanted = !is_kept || !is_kept_kind(key->kind);
        w->has_labels |= !key->unwanted;
    }
    w->has_labels |= w->labels.table && pci_column_find(w->labels.table, "extra");
    return PCOL_OK;
}

static int is_text(int kind)
{
    return kind == PCI_LABEL_STRING || kind == PCI_LABEL_BIGINT;
}

/* Append a label to the list of a sample. unit: NULL if it has none; its value is the text or the
 * bits, depending on the kind. */
static pcol_status append_label(struct file_walk *w, int kind, pcol_str key, const pcol_str *unit,
                                pcol_str text, int64_t bits, pcol_error *err)
{
    struct pci_label label;
    memset(&label, 0, sizeof label); /* padding is compared */
    label.unit = label.text = PCOL_NONE;
    label.kind = (uint8_t)kind;
    PCI_TRY(intern(w, key, &label.key, err));
    if (unit)
        PCI_TRY(intern(w, *unit, &label.unit, err));
    if (is_text(kind))
        PCI_TRY(intern(w, text, &label.text, err));
    else
        label.as.i64 = bits;
    return pci_strbuf_append(&w->list, &label, sizeof label, err);
}

/* Append the name of a frame: the sums have no values that refer to frames. A name may be made in
 * a buffer, so it is not interned by intern(). */
static pcol_status append_frame(struct file_walk *w, int kind, uint64_t row, pcol_str key,
                                int64_t bits, pcol_error *err)
{
    struct pci_label label;
    pcol_str name;
    memset(&label, 0, sizeof label);
    label.unit = PCOL_NONE;
    label.kind = PCI_LABEL_STRING;
    PCI_TRY(intern(w, key, &label.key, err));
    PCI_TRY(pci_label_frames_open(w->f.file, &w->frames, err));
    PCI_TRY(pci_label_frame_text(w->frames, kind, row, bits, &name, err));
    PCI_TRY(pcol_builder_string(w->f.sums->builder, name.data, name.size, &label.text, err));
    return pci_strbuf_append(&w->list, &label, sizeof label, err);
}

/* A label in a column. */
static pcol_status read_cell(struct file_walk *w, const struct pci_label_cell *cell, uint64_t row,
                             pcol_error *err)
{
    const struct pci_label_key *key = cell->key;
    if (key->unwanted)
        return PCOL_OK;
    if (pci_label_is_frame(key->kind))
        return append_frame(w, key->kind, row, key->key, cell->as.i64, err);
    return append_label(w, key->kind, key->key, key->has_unit ? &key->unit : NULL,
                        is_text(key->kind) ? cell->as.text : (pcol_str){"", 0},
                        is_text(key->kind) ? 0 : cell->as.i64, err);
}

/* A member of `extra`: keys beyond the columns, and values that a column cannot hold. */
static pcol_status read_member(struct file_walk *w, uint64_t row, pcol_error *err)
{
    static const uint8_t kinds[] = {
        [PCI_NODE_NULL] = PCI_LABEL_NULL,     [PCI_NODE_FALSE] = PCI_LABEL_BOOL,
        [PCI_NODE_TRUE] = PCI_LABEL_BOOL,     [PCI_NODE_INTEGER] = PCI_LABEL_INTEGER,
        [PCI_NODE_DOUBLE] = PCI_LABEL_DOUBLE, [PCI_NODE_STRING] = PCI_LABEL_STRING,
        [PCI_NODE_BIG] = PCI_LABEL_BIGINT,
    };
    struct pci_node_value node;
    int64_t bits;
    PCI_TRY(pci_node_get(w->f.file, row, &node, err));
    if (!node.has_key || !pci_sums_keeps(w->f.sums, node.key))
        return PCOL_OK;
    if (node.tag == PCI_NODE_ROW && pci_str_is(node.text, "location_groups"))
        return append_frame(w, PCI_LABEL_FRAME, row, node.key, node.integer, err);
    if (node.tag > PCI_NODE_BIG) {
        w->f.sums->lost |= UINT64_C(1) << PCI_KIND_LABELS;
        return PCOL_OK;
    }
    int kind = kinds[node.tag];
    bits = node.tag == PCI_NODE_TRUE ? 1 : node.integer;
    if (kind == PCI_LABEL_DOUBLE)
        memcpy(&bits, &node.number, sizeof bits);
    return append_label(w, kind, node.key, node.has_text && !is_text(kind) ? &node.text : NULL,
                        node.text, bits, err);
}

/* The code of the kept labels of a sample. */
static pcol_status read_labels(struct file_walk *w, uint64_t row, uint32_t *code, pcol_error *err)
{
    *code = 0;
    if (!w->has_labels)
        return PCOL_OK;
    PCI_TRY(pci_labels_row(&w->labels, row, err));
    w->list.size = 0;
    for (size_t i = 0; i < w->labels.cell_count; i++) {
        const struct pci_label_cell *cell = &w->labels.cells[i];
        PCI_TRY(cell->key ? read_cell(w, cell, row, err) : read_member(w, cell->node, err));
    }
    return w->list.size
               ? pci_string_pool_intern(&w->f.sums->labels, w->list.data, w->list.size, code, err)
               : PCOL_OK;
}

/* ---- samples */

static int is_row(const struct pci_sum_row *row, const struct pci_sum_row *wanted)
{
    return row->stack == wanted->stack && row->source == wanted->source &&
           row->labels == wanted->labels;
}

static pcol_status append_row(pcol_sums *sums, const struct pci_sum_row *wanted, pcol_error *err)
{
    if (sums->row_count >= PCI_HASH_NONE - 1)
        return pci_fail(err, PCOL_E_LIMIT, "too many sums");
    PCI_TRY(PCI_GROW(sums->rows, sums->row_capacity, sums->row_count + 1, err));
    /* One more than needed: the array exists without sample types, too. */
    PCI_TRY(
        PCI_GROW(sums->values, sums->value_capacity, sums->value_count + wanted->values + 1, err));
    sums->last = sums->row_count++;
    sums->rows[sums->last] = *wanted;
    sums->rows[sums->last].first = sums->value_count;
    memset(&sums->values[sums->value_count], 0, wanted->values * sizeof *sums->values);
    sums->value_count += wanted->values;
    return PCOL_OK;
}

/* Finds or adds a row: sums->last. Profiles of one service mostly have their rows in one order, so
 * the row after the last one is tried first. The first row of a stack has an array, since most
 * stacks have no other; the hash table is for the others. */
static pcol_status find_row(pcol_sums *sums, const struct pci_sum_row *wanted, pcol_error *err)
{
    size_t next = sums->last + 1, before = sums->first_capacity;
    uint32_t at = wanted->stack + 1, id;
    if (next < sums->row_count && is_row(&sums->rows[next], wanted)) {
        sums->last = next;
        return PCOL_OK;
    }
    PCI_TRY(PCI_GROW(sums->first_rows, sums->first_capacity, (size_t)at + 1, err));
    if (sums->first_capacity > before)
        memset(sums->first_rows + before, 0,
               (sums->first_capacity - before) * sizeof *sums->first_rows);
    uint32_t *first = &sums->first_rows[at];
    if (!*first) {
        PCI_TRY(append_row(sums, wanted, err));
        *first = (uint32_t)sums->row_count;
        return PCOL_OK;
    }
    sums->last = *first - 1;
    if (is_row(&sums->rows[sums->last], wanted))
        return PCOL_OK;
    uint64_t hash = pci_hash_pair((uint64_t)wanted->source << 32 | wanted->labels, wanted->stack);
    size_t slot = pci_hash_start(&sums->hash, hash);
    while ((id = pci_hash_next(&sums->hash, hash, &slot)) != PCI_HASH_NONE)
        if (is_row(&sums->rows[id], wanted)) {
            sums->last = id;
            return PCOL_OK;
        }
    PCI_TRY(append_row(sums, wanted, err));
    return pci_hash_add(&sums->hash, hash, (uint32_t)sums->last, err);
}

static pcol_status add_value(struct pci_sum_value *sum, int64_t bits, int is_double,
                             pcol_error *err)
{
    sum->valid = 1;
    sum->is_double = (uint8_t)is_double;
    pcol_amount total = {.i64 = sum->bits};
    if (pci_amount_add(is_double, &total, (pcol_amount){.i64 = bits}))
        return pci_fail(err, PCOL_E_LIMIT, "a sum of values is beyond 64 bits");
    sum->bits = total.i64;
    return PCOL_OK;
}

static pcol_status add_sample(struct file_walk *w, uint64_t row, pcol_error *err)
{
    pcol_sums *sums = w->f.sums;
    struct pci_sum_row wanted;
    uint32_t source = 0, stack;
    if (w->cells[0].column)
        PCI_TRY(pci_cells_row(&w->cells[0], row, w->source_count, &source, err));
    if (source == PCOL_NONE || source >= w->source_count)
        return pci_corrupt(err, "samples", "source", row, "a sample needs a source");
    PCI_TRY(pci_cells_row(&w->cells[1], row, w->f.stack_count, &stack, err));
    const struct source_types *types = &w->source_types[source];
    wanted = (struct pci_sum_row){.source = w->sources[source],
                                  .stack = stack == PCOL_NONE ? PCOL_NONE : w->f.stacks[stack],
                                  .values = types->count};
    PCI_TRY(read_labels(w, row, &wanted.labels, err));
    PCI_TRY(find_row(sums, &wanted, err));
    struct pci_sum_value *values = &sums->values[sums->rows[sums->last].first];
    for (uint32_t i = 0; i < types->count; i++) {
        struct pci_cells *cells = &w->cells[2 + types->rows[i]];
        int64_t bits;
        int valid;
        PCI_TRY(pci_cells_get(cells, row, &bits, &valid, err));
        if (valid)
            PCI_TRY(add_value(&values[i], bits, cells->column->desc->type == PCF_F64, err));
    }
    return PCOL_OK;
}

static pcol_status mark_stacks(struct file_walk *w, uint64_t samples, pcol_error *err)
{
    struct pci_sums_file *f = &w->f;
    PCI_TRY(pci_merge_rows(f->file, "stacks", &f->stack_count, err));
    PCI_TRY(pci_merge_map(&f->stacks, f->stack_count, err));
    PCI_TRY(PCI_CALLOC(f->used_stacks, (size_t)f->stack_count + 1, err));
    for (uint64_t row = 0; row < samples; row++) {
        uint32_t stack;
        PCI_TRY(pci_cells_row(&w->cells[1], row, f->stack_count, &stack, err));
        if (stack != PCOL_NONE)
            f->used_stacks[stack] = 1;
    }
    return PCOL_OK;
}

static pcol_status add_file(struct file_walk *w, pcol_error *err)
{
    const pcol_file *file = w->f.file;
    uint64_t samples = pci_rows(file, "samples");
    PCI_TRY(pci_check_row_counts(file, err));
    if (w->f.sums->only_losses)
        return pci_sums_find_losses(&w->f, err);
    PCI_TRY(pci_check_before_copy(file, 0, err));
    PCI_TRY(pci_merge_rows(file, "strings", &w->f.string_count, err));
    PCI_TRY(pci_merge_map(&w->f.strings, w->f.string_count, err));
    PCI_TRY(pci_types_open(file, &w->types, err));
    PCI_TRY(add_sources(w, err));
    PCI_TRY(PCI_CALLOC(w->cells, 2 + (size_t)w->types.count, err));
    PCI_TRY(pci_cells_open(&w->cells[0], file, "samples", "source", PCI_IS_INT, err));
    PCI_TRY(pci_cells_open(&w->cells[1], file, "samples", "stack", PCI_IS_INT, err));
    for (uint32_t i = 0; i < w->types.count; i++)
        PCI_TRY(pci_cells_use(&w->cells[2 + i], file, w->types.columns[i], err));
    PCI_TRY(mark_stacks(w, samples, err));
    PCI_TRY(pci_sums_add_code(&w->f, err));
    PCI_TRY(open_labels(w, err));
    for (uint64_t row = 0; row < samples; row++)
        PCI_TRY(add_sample(w, row, err));
    return pci_sums_find_losses(&w->f, err);
}

static void free_walk(struct file_walk *w)
{
    for (uint64_t i = 0; w->source_types && i < w->source_count; i++)
        pci_free(w->source_types[i].rows);
    pci_free(w->source_types);
    pci_free(w->sources);
    pci_free(w->words);
    pci_free(w->cells);
    pci_free(w->f.strings);
    pci_free(w->f.stacks);
    pci_free(w->f.used_stacks);
    pci_labels_close(&w->labels);
    pci_label_frames_close(w->frames);
    pci_strbuf_clear(&w->list);
    pci_text_memo_clear(&w->long_strings);
    pci_types_close(&w->types);
}

/* Counts the file as an input for the budget of the builder. */
static pcol_status add_charged(pcol_sums *sums, const pcol_file *file, pcol_error *err)
{
    struct pci_budget *budget = &sums->builder->budget;
    struct file_walk *w;
    budget->used = 1;
    pci_budget_grant(budget, pcol_file_size(file));
    struct pci_budget *enclosing = pci_budget_enter(budget);
    pcol_status status = PCI_CALLOC(w, 1, err);
    if (status == PCOL_OK) {
        w->f.sums = sums;
        w->f.file = file;
        status = add_file(w, err);
        PCI_THEN(status, pcol_file_intact(file, err));
        free_walk(w);
        pci_free(w);
    }
    pci_budget_leave(enclosing);
    return status;
}

/* ---- public functions */

static pcol_status copy_keys(pcol_sums *sums, const pcol_sums_options *options, pcol_error *err)
{
    PCI_REQUIRE_MANY(options->keys, options->key_count, err);
    PCI_TRY(PCI_CALLOC(sums->keys, options->key_count + 1, err));
    PCI_TRY(PCI_CALLOC(sums->key_seen, options->key_count + 1, err));
    for (size_t i = 0; i < options->key_count; i++) {
        const char *key = options->keys[i];
        if (!key)
            return pci_fail(err, PCOL_E_ARGUMENT, "a key of the sums is NULL");
        if (pci_sums_keeps(sums, (pcol_str){key, strlen(key)}))
            return pci_fail(err, PCOL_E_ARGUMENT, "the key '%.100s' is given twice", key);
        char *copy;
        PCI_TRY(PCI_MALLOC(copy, strlen(key) + 1, err));
        sums->keys[sums->key_count++] = memcpy(copy, key, strlen(key) + 1);
    }
    return PCOL_OK;
}

pcol_status pcol_sums_new(const pcol_sums_options *options, pcol_sums **sums, pcol_error *err)
{
    pcol_sums_options own;
    pcol_sums *s;
    uint32_t none;
    PCI_REQUIRE(sums, err);
    *sums = NULL;
    PCI_STRUCT_READ(pcol_sums_options, own, options, err);
    if (own.flags & ~(PCOL_SUMS_REBASE | PCOL_SUMS_TRUSTED | PCOL_SUMS_LOSSES))
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown flags of sums: 0x%x", own.flags);
    PCI_TRY(PCI_CALLOC(s, 1, err));
    s->rebase = (own.flags & PCOL_SUMS_REBASE) != 0;
    s->only_losses = (own.flags & PCOL_SUMS_LOSSES) != 0;
    pcol_status status = copy_keys(s, &own, err);
    PCI_THEN(status, pcol_builder_new(own.builder, &s->builder, err));
    PCI_THEN(status, pci_string_pool_intern(&s->labels, "", 0, &none, err));
    if (status != PCOL_OK) {
        pcol_sums_free(s);
        return status;
    }
    s->builder->budget.trusted |= (own.flags & PCOL_SUMS_TRUSTED) != 0;
    *sums = s;
    return PCOL_OK;
}

pcol_status pcol_sums_add(pcol_sums *sums, const pcol_file *file, const pcol_control *control,
                          pcol_error *err)
{
    struct pci_control scope;
    pcol_status status;
    PCI_REQUIRE(sums, err);
    PCI_REQUIRE(file, err);
    if (sums->is_finished)
        return pci_fail(err, PCOL_E_STATE, "the sums are finished");
    PCI_TRY(pci_control_init(&scope, control, "read", err));
    PCI_CONTROLLED(&scope, status, add_charged(sums, file, err), err);
    if (status != PCOL_OK)
        sums->is_finished = 1; /* incomplete: never an answer */
    return status;
}

static pcol_status report_losses(const pcol_sums *sums)
{
    pci_sums_report_losses(sums);
    return PCOL_OK;
}

pcol_status pcol_sums_finish(pcol_sums *sums, const pcol_control *control, pcol_builder **builder,
                             pcol_error *err)
{
    struct pci_control scope;
    pcol_status status;
    PCI_REQUIRE(builder, err);
    *builder = NULL;
    PCI_REQUIRE(sums, err);
    if (sums->is_finished)
        return pci_fail(err, PCOL_E_STATE, "the sums are finished, or an input failed");
    sums->is_finished = 1;
    PCI_TRY(pci_control_init(&scope, control, "read", err));
    PCI_CONTROLLED(&scope, status,
                   sums->only_losses ? report_losses(sums) : pci_sums_write(sums, err), err);
    if (status == PCOL_OK && !sums->only_losses) {
        *builder = sums->builder;
        sums->builder = NULL;
    }
    return status;
}

void pcol_sums_free(pcol_sums *sums)
{
    if (!sums)
        return;
    for (size_t i = 0; i < sums->key_count; i++)
        pci_free(sums->keys[i]);
    pci_free(sums->keys);
    pci_free(sums->key_seen);
    pci_string_pool_clear(&sums->sources);
    pci_string_pool_clear(&sums->labels);
    pci_hash_clear(&sums->hash);
    pci_free(sums->first_rows);
    pci_free(sums->rows);
    pci_free(sums->values);
    pcol_builder_free(sums->builder);
    pci_free(sums);
}

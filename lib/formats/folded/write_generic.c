/*
 * write_generic.c - export of any profile as folded stacks
 *
 * The stack tree is reduced to a tree of names: each line of a location group becomes a frame, and
 * stacks with equal names merge. Values are summed at its nodes; each node with a value becomes a
 * line, in preorder. The format has no escapes: text that a reader takes for something else is
 * written and reported as a loss; the functions of the reader find it.
 */
#include "builder/call_tree.h"
#include "builder/string_pool.h"
#include "formats/folded/frame_form.h"
#include "formats/folded/line_parser.h"
#include "formats/folded/misread.h"
#include "formats/folded/write_native.h"
#include "model/frame_names.h"
#include "util/alloc.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <string.h>

enum {
    LOSS_NAME = 1,
    LOSS_STACK = 2,
    LOSS_EMPTY = 4,
    LOSS_TYPES = 8,
    LOSS_UNIT = 16,
    LOSS_ZERO = 32,
    LOSS_TEXT = 64
};

static const struct pci_loss losses[] = {
    PCI_FOLDED_SEPARATORS,
    {"samples without a call stack", ""},
    {"samples with an empty call stack: it gets a frame", ""},
    {"more than one sample type", "sample_type"},
    {"a type and unit other than samples/count: numbers are written without their unit", ""},
    {"stacks whose value is 0", ""},
    PCI_FOLDED_MISREAD,
};

struct sums {
    const struct pci_export *export;
    const pcol_file *file;
    const struct pci_types *types;
    const struct pci_selected_type *chosen;
    struct pci_folded_output output;
    struct pci_stacks stacks;
    struct pci_frame_namer names;
    struct pci_string_pool strings;
    struct pci_call_tree tree;
    uint32_t *nodes;                 /* by stack: node of `tree` */
    uint32_t *names_by_location;     /* by location: id of its name + 1; 0: not yet computed */
    struct pci_folded_count *values; /* by node */
    uint8_t *has;
    size_t *ends; /* by node: size of its text in `line` */
    char *line;
    size_t line_capacity;
    char *replaced_name;
    size_t replaced_capacity;
    struct pci_text_memo long_names;
    uint32_t *depths; /* by index of the tree's order */
    struct pci_written_stacks written;
    unsigned lost;
};

/* ---- names ---- */

/* Intern a name after replacing separators by other characters. */
static pcol_status intern_name(struct sums *s, pcol_str name, uint32_t *string, pcol_error *err)
{
    if (!name.size)
        return pci_string_pool_intern(&s->strings, "", 0, string, err);
    PCI_TRY(PCI_GROW(s->replaced_name, s->replaced_capacity, name.size, err));
    memcpy(s->replaced_name, name.data, name.size);
    if (pci_folded_replace_separators(s->replaced_name, name.size, 1))
        s->lost |= LOSS_NAME;
    return pci_string_pool_intern(&s->strings, s->replaced_name, name.size, string, err);
}

static pcol_status find_name(struct sums *s, uint64_t location, uint32_t group, uint32_t *string,
                             pcol_error *err)
{
    if (!s->names_by_location[location]) {
        struct pci_name name;
        PCI_TRY(pci_frame_namer_get(&s->names, location, group, &name, err));
        uint32_t *code = &s->names_by_location[location];
        int is_stored = !name.is_made && !name.has_library;
        *code = is_stored ? pci_text_memo_find(&s->long_names, name.name) : PCI_HASH_NONE;
        if (*code == PCI_HASH_NONE) {
            PCI_TRY(intern_name(s, name.name, code, err));
            if (is_stored)
                PCI_TRY(pci_text_memo_add(&s->long_names, name.name, *code, err));
        }
        s->names_by_location[location]++;
    }
    *string = s->names_by_location[location] - 1;
    return PCOL_OK;
}

static pcol_status build_tree(struct sums *s, pcol_error *err)
{
    struct pci_written_stacks entered = pci_written_stacks_begin(s->file, PCI_STREAMED_FRAMES);
    for (uint64_t row = 1; row < s->stacks.stacks; row++) {
        uint64_t first, count;
        int64_t group;
        uint32_t parent, string;
        PCI_TRY(pci_stacks_node(&s->stacks, row, &parent, &first, &count, err));
        PCI_TRY(pci_get(s->file, s->stacks.group, row, &group, &(int){0}, err));
        uint32_t node = s->nodes[parent];
        /* A location of many inlined calls may occur in many stacks. */
        PCI_TRY(pci_written_stacks_add(&entered, count, err));
        while (count--) { /* outermost call first */
            PCI_TRY(find_name(s, first + count, (uint32_t)group, &string, err));
            PCI_TRY(pci_call_tree_child(&s->tree, node, string, &node, err));
            PCI_TRY(pci_stacks_check_frames(&s->stacks, s->tree.count, err));
        }
        s->nodes[row] = node;
    }
    PCI_TRY(pci_call_tree_finish(&s->tree, err));
    return pci_call_tree_order(&s->tree, err);
}

/* ---- values ---- */

static pcol_status add_value(struct pci_folded_count *sum, const struct pci_column *column,
                             int64_t bits, pcol_error *err)
{
    double number;
    if (column->desc->type == PCF_F64) {
        memcpy(&number, &bits, sizeof number);
        sum->as.f64 += number;
    } else if (sum->is_double) {
        sum->as.f64 += (double)bits;
    } else if (__builtin_add_overflow(sum->as.i64, bits, &sum->as.i64)) {
        return pci_fail(err, PCOL_E_LOSS, "a sum exceeds 64 bits: folded stacks cannot hold it");
    }
    return PCOL_OK;
}

static pcol_status add_sample(struct sums *s, uint64_t row, const struct pci_column *stack,
                              pcol_error *err)
{
    int64_t stack_row = 0, bits;
    int has_stack = 0, valid;
    PCI_TRY(pci_get(s->file, stack, row, &stack_row, &has_stack, err));
    for (uint32_t i = 0; i < s->chosen->count; i++) {
        const struct pci_column *column = s->types->columns[s->chosen->rows[i]];
        if (!column)
            continue;
        PCI_TRY(pci_get(s->file, column, row, &bits, &valid, err));
        if (!valid)
            continue;
        if (!has_stack) {
            s->lost |= LOSS_STACK;
            continue;
        }
        if (stack_row && (uint64_t)stack_row >= s->stacks.stacks)
            return pci_corrupt(err, "samples", "stack", row, "stack %" PRId64 " does not exist",
                               stack_row);
        uint32_t node = s->nodes[stack_row];
        PCI_TRY(add_value(&s->values[node], column, bits, err));
        s->has[node] = 1;
    }
    return PCOL_OK;
}

static pcol_status add_samples(struct sums *s, pcol_error *err)
{
    const struct pci_column *stack;
    uint64_t rows = pci_rows(s->file, "samples");
    PCI_TRY(pci_find_verified_column(s->file, "samples", "stack", PCI_TYPES_ROW, &stack, err));
    for (size_t i = 0; i < s->tree.count; i++)
        s->values[i].is_double = s->chosen->is_double;
    for (uint64_t row = 0; row < rows; row++) {
        int64_t source = 0;
        PCI_TRY(pci_get(s->file, s->types->source, row, &source, &(int){0}, err));
        if (source >= (int64_t)s->export->first_source && source <= (int64_t)s->export->last_source)
            PCI_TRY(add_sample(s, row, stack, err));
    }
    return PCOL_OK;
}

/* ---- lines ---- */

static int is_zero(const struct pci_folded_count *count)
{
    return count->is_double ? count->as.f64 == 0 : !count->as.i64;
}

static pcol_status write_node(struct sums *s, uint32_t node, pcol_error *err)
{
    char number[PCI_FOLDED_COUNT_SIZE];
    size_t size = s->ends[node];
    size_t digits = pci_folded_print(&s->values[node], number);
    if (!digits)
        return pci_fail(err, PCOL_E_LOSS,
                        "a value is NaN or infinite: folded stacks cannot hold it");
    if (size)
        PCI_TRY(pci_folded_put_stack(&s->output, s->line, size - 1, 1, err));
    else
        PCI_TRY(
            pci_folded_put_stack(&s->output, PCI_NAME_NO_STACK, strlen(PCI_NAME_NO_STACK), 1, err));
    s->lost |= size ? 0u : LOSS_EMPTY;
    PCI_TRY(pci_folded_put(&s->output, " ", 1, err));
    PCI_TRY(pci_folded_put(&s->output, number, digits, err));
    return pci_folded_put(&s->output, "\n", 1, err);
}

static pcol_status write_lines(struct sums *s, pcol_error *err)
{
    s->written = pci_written_stacks_begin(s->file, PCI_STREAMED_FRAMES);
    PCI_TRY(PCI_CALLOC(s->depths, s->tree.count + 1, err));
    for (size_t index = 0; index < s->tree.count; index++) {
        uint32_t node = s->tree.order[index];
        s->depths[index] = node ? s->depths[s->tree.parents[index]] + 1 : 0;
        if (node) { /* preorder: `line` begins with the text of the parent */
            pcol_str name = pci_string_pool_get(&s->strings, s->tree.groups[index]);
            size_t start = s->ends[s->tree.order[s->tree.parents[index]]];
            if (name.size > PCI_FOLDED_LONGEST - start)
                return pci_fail(err, PCOL_E_LIMIT, "text of a call stack is longer than %zu bytes",
                                PCI_FOLDED_LONGEST);
            PCI_TRY(PCI_GROW(s->line, s->line_capacity, start + name.size + 1, err));
            if (name.size)
                memcpy(s->line + start, name.data, name.size);
            s->line[start + name.size] = ';';
            s->ends[node] = start + name.size + 1;
        }
        if (s->has[node] && is_zero(&s->values[node])) {
            s->lost |= LOSS_ZERO;
        } else if (s->has[node]) {
            PCI_TRY(pci_written_stacks_add(&s->written, s->depths[index], err));
            PCI_TRY(write_node(s, node, err));
        }
    }
    return PCOL_OK;
}

/* ---- losses ---- */

static pcol_status report_losses(struct sums *s, pcol_error *err)
{
    int others;
    PCI_TRY(pci_types_has_others(s->types, s->export->first_source, s->export->last_source,
                                 s->chosen, &others, err));
    s->lost |= others ? LOSS_TYPES : 0u;
    if (pci_folded_is_misread(&s->output, PCI_FOLDED_NAME))
        s->lost |= LOSS_TEXT;
    if (s->chosen->count &&
        (!pci_str_is(s->chosen->type, "samples") || !pci_str_is(s->chosen->unit, "count")))
        s->lost |= LOSS_UNIT;
    pci_export_report(s->export, losses, sizeof losses / sizeof *losses, s->lost);
    return pci_export_losses(s->export, NULL, err);
}

static pcol_status aggregate_and_write(struct sums *s, pcol_error *err)
{
    PCI_TRY(pci_check_row_count(s->file, "stacks", err));
    PCI_TRY(pci_check_row_count(s->file, "locations", err));
    PCI_TRY(pci_stacks_open(s->file, &s->stacks, err));
    PCI_TRY(pci_stacks_verify(&s->stacks, err));
    PCI_TRY(pci_frame_namer_open(&s->names, s->file, err));
    s->names.libraries = 1;
    PCI_TRY(pci_call_tree_init(&s->tree, err));
    PCI_TRY(PCI_CALLOC(s->nodes, (size_t)s->stacks.stacks + 1, err));
    PCI_TRY(PCI_CALLOC(s->names_by_location, (size_t)s->stacks.locations + 1, err));
    PCI_TRY(build_tree(s, err));
    PCI_TRY(PCI_CALLOC(s->values, s->tree.count, err));
    PCI_TRY(PCI_CALLOC(s->has, s->tree.count, err));
    PCI_TRY(PCI_CALLOC(s->ends, s->tree.count, err));
    PCI_TRY(add_samples(s, err));
    PCI_TRY(write_lines(s, err));
    return report_losses(s, err);
}

pcol_status pci_folded_write_generic(const struct pci_export *export, const struct pci_types *types,
                                     const struct pci_selected_type *chosen, struct pci_out *out,
                                     pcol_error *err)
{
    struct sums s = {.export = export,
                     .file = export->file,
                     .types = types,
                     .chosen = chosen,
                     .output = {.out = out}};
    pcol_status status = aggregate_and_write(&s, err);
    pci_frame_namer_close(&s.names);
    pci_string_pool_clear(&s.strings);
    pci_text_memo_clear(&s.long_names);
    pci_call_tree_clear(&s.tree);
    pci_free(s.nodes);
    pci_free(s.names_by_location);
    pci_free(s.values);
    pci_free(s.has);
    pci_free(s.ends);
    pci_free(s.line);
    pci_free(s.depths);
    pci_free(s.replaced_name);
    return status;
}

/*
 * result_tables.c - the tables of top, tree, peek, diff, flame and cpu
 *
 * Each function asks the question, then lists the members of the answer's rows that become columns
 * (result.h). Tests: tests/unit/test_result.c.
 */
#include "query/calltree.h"
#include "query/diff.h"
#include "query/flame.h"
#include "query/frame_rows.h"
#include "query/peek.h"
#include "query/result.h"
#include "query/top.h"

#include "util/alloc.h"
#include "util/arg_check.h"
#include "util/control.h"
#include "util/sized_struct.h"

#include <string.h>

#define COUNT(members) (sizeof(members) / sizeof *(members))

/* ---- frames */

#define FRAME(name, type, member, flag)                         \
    {                                                           \
        name, type, offsetof(struct pci_frame, member), flag, 0 \
    }

static const struct pci_member frame_members[] = {
    FRAME("name", PCOL_STRING, name, PCI_FRAME_HAS_NAME),
    FRAME("file", PCOL_STRING, file, PCI_FRAME_HAS_FILE),
    FRAME("line", PCOL_I64, line, PCI_FRAME_HAS_LINE),
    FRAME("address", PCOL_U64, address, PCI_FRAME_HAS_ADDRESS)};

static const struct pci_member row_members[] = {
    {"location", PCOL_U32, offsetof(struct pci_frame_rows, location), 0, 0},
    {"function", PCOL_U32, offsetof(struct pci_frame_rows, function), 0, 0},
    {"mapping", PCOL_U32, offsetof(struct pci_frame_rows, mapping), 0, 0}};

enum { FUNCTION_ROW = 1 }; /* in row_members */

static void name_references(pcol_table *table)
{
    static const char *const names[][2] = {{"location", "locations"},
                                           {"function", "functions"},
                                           {"mapping", "mappings"},
                                           {"thread", "threads"},
                                           {"source", "sources"}};
    for (uint32_t i = 0; i < table->column_count; i++)
        for (size_t k = 0; k < COUNT(names); k++)
            if (strcmp(table->columns[i].name, names[k][0]) == 0)
                table->columns[i].references = names[k][1];
}

/* Columns of frames. index: frame of each row. rows: of each frame. By function the other members
 * are not looked at, since all are null. */
static pcol_status add_frame_columns(pcol_result *r, pcol_by by, const struct pci_frame *frames,
                                     const struct pci_frame_rows *rows, const uint32_t *index,
                                     pcol_error *err)
{
    const struct pci_elements none = {0};
    const struct pci_elements by_row = {rows, sizeof *rows, index, 0};
    struct pci_elements elements = {frames, sizeof *frames, index, 1};
    int only_name = by == PCOL_BY_FUNCTION;
    PCI_TRY(pci_result_add(r, &elements, frame_members, 1, err));
    PCI_TRY(pci_result_add(r, only_name ? &none : &elements, frame_members + 1,
                           COUNT(frame_members) - 1, err));
    for (size_t i = 0; i < COUNT(row_members); i++)
        PCI_TRY(pci_result_add(r, only_name && i != FUNCTION_ROW ? &none : &by_row, &row_members[i],
                               1, err));
    name_references(r->table);
    return PCOL_OK;
}

static pcol_status add_frames(pcol_result *r, const pcol_query *query, pcol_by by,
                              const struct pci_frames *frames, const uint32_t *index,
                              pcol_error *err)
{
    struct pci_frame_rows *rows = pci_result_alloc(r, (size_t)frames->count + 1, sizeof *rows, err);
    if (!rows)
        return PCOL_E_NO_MEMORY;
    PCI_TRY(pci_frame_rows_read(query, by, frames, rows, err));
    return add_frame_columns(r, by, frames->frames, rows, index, err);
}

/* Fills a new index of frames from a member of the rows. */
static uint32_t *make_index(pcol_result *r, const void *base, size_t stride, size_t offset,
                            pcol_error *err)
{
    size_t rows = (size_t)r->table->rows;
    uint32_t *index = pci_result_alloc(r, rows, sizeof *index, err);
    for (size_t i = 0; index && i < rows; i++)
        memcpy(&index[i], (const char *)base + i * stride + offset, sizeof *index);
    return index;
}

/* Hands over a complete result, or frees it. */
static pcol_status finish(pcol_result *r, pcol_status status, pcol_result **result)
{
    if (status == PCOL_OK)
        *result = r;
    else
        pcol_result_free(r);
    return status;
}

static pcol_status check_flags(uint32_t flags, uint32_t known, const char *type, pcol_error *err)
{
    return flags & ~known ? pci_fail(err, PCOL_E_ARGUMENT, "unknown flags 0x%x in the %s",
                                     (unsigned)(flags & ~known), type)
                          : PCOL_OK;
}

/* ---- top */

/* From the file's sums of functions: names, and the functions that have them. */
static pcol_status add_names(pcol_result *r, struct pci_top *top, const uint32_t *index,
                             pcol_error *err)
{
    static const struct pci_member name = {"name", PCOL_STRING, 0, 0, 0};
    static const struct pci_member function = {"function", PCOL_U32, 0, 0, 0};
    const struct pci_elements names = {top->texts, sizeof *top->texts, index, 0};
    const struct pci_elements functions = {top->functions, sizeof *top->functions, index, 0};
    const struct pci_elements none = {0};
    PCI_TRY(pci_frame_rows_unique(r->table->file, top->functions, sizeof *top->functions,
                                  top->count, err));
    PCI_TRY(pci_result_add(r, &names, &name, 1, err));
    PCI_TRY(pci_result_add(r, &none, frame_members + 1, COUNT(frame_members) - 1, err));
    PCI_TRY(pci_result_add(r, &none, row_members, 1, err));
    PCI_TRY(pci_result_add(r, &functions, &function, 1, err));
    PCI_TRY(pci_result_add(r, &none, row_members + 2, 1, err));
    name_references(r->table);
    return PCOL_OK;
}

/* Threads, sources, ...: a name, and the row that has it. */
static pcol_status add_sample_groups(pcol_result *r, const struct pci_top *top, pcol_by by,
                                     const uint32_t *index, pcol_error *err)
{
    static const struct pci_member rows[] = {FRAME("thread", PCOL_U32, row, PCI_FRAME_HAS_ROW),
                                             FRAME("source", PCOL_U32, row, PCI_FRAME_HAS_ROW)};
    const struct pci_elements frames = {top->frames.frames, sizeof *top->frames.frames, index, 1};
    PCI_TRY(pci_result_add(r, &frames, frame_members, 1, err));
    if (by == PCOL_BY_THREAD || by == PCOL_BY_SOURCE)
        PCI_TRY(pci_result_add(r, &frames, &rows[by == PCOL_BY_SOURCE], 1, err));
    name_references(r->table);
    return PCOL_OK;
}

static pcol_status add_top(pcol_result *r, const pcol_query *query, struct pci_top *top, pcol_by by,
                           pcol_error *err)
{
    uint32_t *index = pci_result_alloc(r, top->count, sizeof *index, err);
    if (!index)
        return PCOL_E_NO_MEMORY;
    for (size_t i = 0; i < top->count; i++) {
        const struct pci_top_item *item = &top->items[top->order[i]];
        index[i] = (uint32_t)(top->texts ? item->by.name - top->texts
                                         : item->by.frame - top->frames.frames);
    }
    if (top->texts)
        PCI_TRY(add_names(r, top, index, err));
    else if (by > PCOL_BY_MAPPING)
        PCI_TRY(add_sample_groups(r, top, by, index, err));
    else
        PCI_TRY(add_frames(r, query, by, &top->frames, index, err));
    return pci_top_add_columns(r, top, err);
}

static void free_top(void *top)
{
    pci_top_free(top);
}

static pcol_status make_top(pcol_query *query, const pcol_top_options *options,
                            pcol_result **result, pcol_error *err)
{
    struct pci_top *top;
    pcol_result *r;
    PCI_TRY(pci_query_top(query, options, &top, err));
    PCI_TRY(pci_result_new("top", query, top->count, top, free_top, &r, err));
    r->info.by = options->by;
    return finish(r, add_top(r, query, top, options->by, err), result);
}

static pcol_status check_rows(pcol_by by, pcol_by last, const char *label, pcol_order order,
                              pcol_error *err)
{
    if ((unsigned)by > (unsigned)last || (unsigned)order > PCOL_ORDER_NAME ||
        (label != NULL) != (by == PCOL_BY_LABEL || by == PCOL_BY_META))
        return pci_fail(err, PCOL_E_ARGUMENT, "unknown kind of rows, order or label");
    return PCOL_OK;
}

pcol_status pcol_query_top(pcol_query *query, const pcol_top_options *options, pcol_result **result,
                           pcol_error *err)
{
    pcol_top_options own;
    pcol_status status;
    PCI_REQUIRE(result, err);
    *result = NULL;
    PCI_REQUIRE(query, err);
    PCI_STRUCT_READ(pcol_top_options, own, options, err);
    PCI_TRY(check_flags(own.flags | own.reserved, 0, "pcol_top_options", err));
    if (own.by == PCOL_BY_STACK)
        return pci_fail(err, PCOL_E_ARGUMENT, "whole stacks are rows of comparisons only");
    PCI_TRY(check_rows(own.by, PCOL_BY_META, own.label, own.order, err));
    PCI_CONTROLLED(&query->control, status, make_top(query, &own, result, err), err);
    return status;
}

/* ---- tree */

#define NODE(name, type, member, amount)                                  \
    {                                                                     \
        name, type, offsetof(struct pci_calltree_node, member), 0, amount \
    }

static pcol_status add_tree(pcol_result *r, const pcol_query *query, struct pci_calltree *tree,
                            pcol_by by, pcol_error *err)
{
    static const struct pci_member places[] = {
        NODE("parent", PCOL_U32, parent, 0), NODE("end", PCOL_U32, end, 0),
        NODE("depth", PCOL_U32, depth, 0), NODE("frame_id", PCOL_U32, frame, 0)};
    static const struct pci_member rest[] = {NODE("self", PCOL_I64, self, 1),
                                             NODE("total", PCOL_I64, total, 1),
                                             NODE("truncated", PCOL_BOOL, is_truncated, 0)};
    const struct pci_elements nodes = {tree->nodes, sizeof *tree->nodes, NULL, 0};
    uint32_t *index = make_index(r, tree->nodes, sizeof *tree->nodes,
                                 offsetof(struct pci_calltree_node, frame), err);
    if (!index)
        return PCOL_E_NO_MEMORY;
    tree->nodes[0].parent = PCOL_NONE;
    PCI_TRY(pci_result_add(r, &nodes, places, COUNT(places), err));
    PCI_TRY(add_frames(r, query, by, &tree->frames, index, err));
    return pci_result_add(r, &nodes, rest, COUNT(rest), err);
}

static void free_tree(void *tree)
{
    pci_calltree_free(tree);
}

static pcol_status make_tree(pcol_query *query, const pcol_tree_options *options,
                             pcol_result **result, pcol_error *err)
{
    struct pci_calltree *tree;
    pcol_result *r;
    PCI_TRY(pci_query_calltree(query, options, &tree, err));
    PCI_TRY(pci_result_new("tree", query, tree->count, tree, free_tree, &r, err));
    r->info.by = options->by;
    return finish(r, add_tree(r, query, tree, options->by, err), result);
}

pcol_status pcol_query_tree(pcol_query *query, const pcol_tree_options *options,
                            pcol_result **result, pcol_error *err)
{
    pcol_tree_options own;
    pcol_status status;
    PCI_REQUIRE(result, err);
    *result = NULL;
    PCI_REQUIRE(query, err);
    PCI_STRUCT_READ(pcol_tree_options, own, options, err);
    PCI_TRY(check_flags(own.flags, PCOL_TREE_BOTTOM_UP, "pcol_tree_options", err));
    PCI_TRY(check_rows(own.by, PCOL_BY_MAPPING, NULL, own.order, err));
    PCI_CONTROLLED(&query->control, status, make_tree(query, &own, result, err), err);
    return status;
}

/* ---- peek */

static pcol_status add_peek(pcol_result *r, const pcol_query *query, struct pci_peek *peek,
                            pcol_error *err)
{
    static const pcol_str relations[] = {[PCI_CALLER] = PCI_NAME("caller"),
                                         [PCI_SELF] = PCI_NAME("function"),
                                         [PCI_CALLEE] = PCI_NAME("callee")};
    static const struct pci_member relation = {"relation", PCOL_STRING, 0, 0, 0};
    static const struct pci_member amounts[] = {
        {"self", PCOL_I64, offsetof(struct pci_peek_row, self), 0, 1},
        {"total", PCOL_I64, offsetof(struct pci_peek_row, total), 0, 1}};
    const struct pci_elements rows = {peek->rows, sizeof *peek->rows, NULL, 0};
    uint32_t *kinds = pci_result_alloc(r, peek->count, sizeof *kinds, err);
    uint32_t *index =
        make_index(r, peek->rows, sizeof *peek->rows, offsetof(struct pci_peek_row, frame), err);
    if (!kinds || !index)
        return PCOL_E_NO_MEMORY;
    for (size_t i = 0; i < peek->count; i++)
        kinds[i] = (uint32_t)peek->rows[i].relation;
    const struct pci_elements texts = {relations, sizeof *relations, kinds, 0};
    PCI_TRY(pci_result_add(r, &texts, &relation, 1, err));
    PCI_TRY(add_frames(r, query, PCOL_BY_FUNCTION, &peek->frames, index, err));
    return pci_result_add(r, &rows, amounts, COUNT(amounts), err);
}

static void free_peek(void *peek)
{
    pci_peek_free(peek);
}

static pcol_status make_peek(pcol_query *query, const char *name, int is_whole,
                             pcol_result **result, pcol_error *err)
{
    struct pci_peek *peek;
    pcol_result *r;
    PCI_TRY(pci_query_peek(query, name, is_whole, &peek, err));
    PCI_TRY(pci_result_new("peek", query, peek->count, peek, free_peek, &r, err));
    return finish(r, add_peek(r, query, peek, err), result);
}

pcol_status pcol_query_peek(pcol_query *query, const char *name, const pcol_peek_options *options,
                            pcol_result **result, pcol_error *err)
{
    pcol_peek_options own;
    pcol_status status;
    PCI_REQUIRE(result, err);
    *result = NULL;
    PCI_REQUIRE(query, err);
    PCI_STRUCT_READ(pcol_peek_options, own, options, err);
    PCI_TRY(check_flags(own.flags, PCOL_PEEK_WHOLE, "pcol_peek_options", err));
    PCI_TRY(check_flags(own.reserved, 0, "pcol_peek_options", err));
    if (!name || !*name)
        return pci_fail(err, PCOL_E_ARGUMENT, "no name given");
    PCI_CONTROLLED(&query->control, status,
                   make_peek(query, name, (own.flags & PCOL_PEEK_WHOLE) != 0, result, err), err);
    return status;
}

/* ---- diff */

#define CHANGE(name, member)                                        \
    {                                                               \
        name, PCOL_I64, offsetof(struct pci_diff_row, member), 0, 1 \
    }
#define SIDE(name, side)                                                        \
    {                                                                           \
        name, PCOL_BOOL, offsetof(struct pci_diff_row, sides.in) + (side), 0, 0 \
    }

enum { MAX_BASES = 4096 };

static pcol_status add_diff(pcol_result *r, const struct pci_diff *diff, uint32_t flags,
                            pcol_error *err)
{
    static const struct pci_member members[] = {CHANGE("self_base", sides.self[0]),
                                                CHANGE("self_new", sides.self[1]),
                                                CHANGE("self_delta", self_delta),
                                                CHANGE("total_base", sides.total[0]),
                                                CHANGE("total_new", sides.total[1]),
                                                CHANGE("total_delta", total_delta),
                                                SIDE("in_base", 0),
                                                SIDE("in_new", 1)};
    static const struct pci_member bases[] = {
        CHANGE("self_min", self_bases.min), CHANGE("self_max", self_bases.max),
        CHANGE("total_min", total_bases.min), CHANGE("total_max", total_bases.max),
        CHANGE("total_mad", total_bases.mad)};
    static const struct pci_member above = {"above", PCOL_BOOL,
                                            offsetof(struct pci_diff_row, above), 0, 0};
    struct pci_elements rows = {diff->rows, sizeof *diff->rows, NULL, 1};
    PCI_TRY(pci_result_add(r, &rows, frame_members, COUNT(frame_members), err));
    rows.flagged = 0;
    PCI_TRY(pci_result_add(r, &rows, members, COUNT(members), err));
    if (diff->info.base_count > 1)
        PCI_TRY(pci_result_add(r, &rows, bases, COUNT(bases), err));
    return flags & PCOL_DIFF_FAIL_ABOVE ? pci_result_add(r, &rows, &above, 1, err) : PCOL_OK;
}

static void free_diff(void *diff)
{
    pci_diff_free(diff);
}

static pcol_status compare_queries(const struct pci_diff_queries *queries,
                                   const pcol_diff_options *options, pcol_result **result,
                                   pcol_error *err)
{
    struct pci_diff *diff;
    pcol_result *r;
    PCI_TRY(pci_query_diff(queries, options, &diff, err));
    PCI_TRY(pci_result_new("diff", queries->other, diff->count, diff, free_diff, &r, err));
    r->info.by = options->by;
    r->info.scale = diff->info.scale;
    r->info.base_count = (uint32_t)diff->info.base_count;
    r->info.base_totals = diff->info.base_totals;
    memcpy(r->info.total, diff->info.total, sizeof r->info.total);
    pci_set_flag(&r->info.flags, PCOL_RESULT_IS_DOUBLE, diff->info.is_double);
    pci_set_flag(&r->info.flags, PCOL_RESULT_TOTAL_ABOVE, diff->info.total_above);
    return finish(r, add_diff(r, diff, options->flags, err), result);
}

static pcol_status make_diff(pcol_query *base, pcol_query *other, const pcol_diff_options *options,
                             pcol_result **result, pcol_error *err)
{
    size_t count = options->further_base_count + 1;
    pcol_query **bases;
    PCI_TRY(PCI_MALLOC(bases, count, err));
    bases[0] = base;
    if (count > 1)
        memcpy(bases + 1, options->further_bases, (count - 1) * sizeof *bases);
    const struct pci_diff_queries queries = {bases, count, other, options->counts};
    pcol_status status = compare_queries(&queries, options, result, err);
    pci_free(bases);
    return status;
}

static pcol_status check_diff(const pcol_query *base, const pcol_query *other,
                              const pcol_diff_options *options, pcol_error *err)
{
    uint32_t flags = options->flags;
    int missing = !base || !other || (options->further_base_count && !options->further_bases);
    if (options->further_base_count > MAX_BASES)
        return pci_fail(err, PCOL_E_LIMIT, "a comparison has at most %d bases", MAX_BASES);
    for (size_t i = 0; !missing && i < options->further_base_count; i++)
        missing = !options->further_bases[i];
    for (size_t i = 0; !missing && options->counts && i < options->further_base_count + 2; i++)
        missing = !options->counts[i];
    if (missing)
        return pci_fail(err, PCOL_E_ARGUMENT, "a comparison needs two queries");
    if ((flags & PCOL_DIFF_FAIL_ABOVE && !(options->fail_above >= 0)) ||
        (flags & PCOL_DIFF_FAIL_TOTAL && !(options->fail_total >= 0)))
        return pci_fail(err, PCOL_E_ARGUMENT, "a limit of a comparison is negative");
    PCI_TRY(check_flags(flags, PCOL_DIFF_NORMALIZE | PCOL_DIFF_FAIL_ABOVE | PCOL_DIFF_FAIL_TOTAL,
                        "pcol_diff_options", err));
    return check_rows(options->by, PCOL_BY_META, options->label, options->order, err);
}

pcol_status pcol_diff(pcol_query *base, pcol_query *other, const pcol_diff_options *options,
                      pcol_result **result, pcol_error *err)
{
    pcol_diff_options own;
    pcol_status status;
    PCI_REQUIRE(result, err);
    *result = NULL;
    PCI_STRUCT_READ(pcol_diff_options, own, options, err);
    PCI_TRY(check_diff(base, other, &own, err));
    PCI_CONTROLLED(&other->control, status, make_diff(base, other, &own, result, err), err);
    return status;
}

/* ---- flame */

#define BOX(name, type, member, amount)                               \
    {                                                                 \
        name, type, offsetof(struct pci_flame_box, member), 0, amount \
    }

static pcol_status add_flame(pcol_result *r, const pcol_query *query, struct pci_flame *flame,
                             pcol_error *err)
{
    static const struct pci_member places[] = {BOX("depth", PCOL_U32, depth, 0),
                                               BOX("x_px", PCOL_F64, x_px, 0),
                                               BOX("width_px", PCOL_F64, width_px, 0)};
    static const struct pci_member name = BOX("name", PCOL_STRING, name, 0);
    static const struct pci_member rest[] = {
        BOX("self", PCOL_I64, self, 1), BOX("total", PCOL_I64, total, 1),
        BOX("change", PCOL_F64, change, 0), BOX("new", PCOL_BOOL, is_new, 0),
        BOX("gone", PCOL_BOOL, is_gone, 0)};
    const struct pci_elements none = {0};
    struct pci_flame_box *list = pci_result_alloc(r, flame->drawn, sizeof *list, err);
    if (!list)
        return PCOL_E_NO_MEMORY;
    for (uint32_t i = 0; i < flame->drawn; i++)
        pci_flame_get(flame, i, &list[i]);
    const struct pci_elements boxes = {list, sizeof *list, NULL, 0};
    PCI_TRY(pci_result_add(r, &boxes, places, COUNT(places), err));
    if (flame->joined) {
        PCI_TRY(pci_result_add(r, &boxes, &name, 1, err));
        PCI_TRY(pci_result_add(r, &none, frame_members + 1, COUNT(frame_members) - 1, err));
        PCI_TRY(pci_result_add(r, &none, row_members, COUNT(row_members), err));
        name_references(r->table);
    } else {
        uint32_t *index =
            make_index(r, list, sizeof *list, offsetof(struct pci_flame_box, frame), err);
        if (!index)
            return PCOL_E_NO_MEMORY;
        PCI_TRY(add_frames(r, query, PCOL_BY_FUNCTION, &flame->tree->frames, index, err));
    }
    return pci_result_add(r, &boxes, rest, COUNT(rest), err);
}

static void free_flame(void *flame)
{
    pci_flame_free(flame);
}

static pcol_status make_flame(pcol_query *query, const pcol_flame_options *options,
                              pcol_result **result, pcol_error *err)
{
    struct pci_flame *flame;
    pcol_result *r;
    PCI_TRY(pci_query_flame(query, options, &flame, err));
    PCI_TRY(pci_result_new("flame", query, flame->drawn, flame, free_flame, &r, err));
    if (options->base) {
        r->files[1] = pcol_file_retain(options->base->file);
        r->info.total[0] = flame->base_info.total;
    }
    return finish(r, add_flame(r, query, flame, err), result);
}

pcol_status pcol_query_flame(pcol_query *query, const pcol_flame_options *options,
                             pcol_result **result, pcol_error *err)
{
    pcol_flame_options own;
    pcol_status status;
    PCI_REQUIRE(result, err);
    *result = NULL;
    PCI_REQUIRE(query, err);
    PCI_STRUCT_READ(pcol_flame_options, own, options, err);
    PCI_TRY(check_flags(own.flags,
                        PCOL_FLAME_INVERTED | PCOL_FLAME_INVERTED_HIGH | PCOL_FLAME_REVERSE,
                        "pcol_flame_options", err));
    PCI_CONTROLLED(&query->control, status, make_flame(query, &own, result, err), err);
    return status;
}

pcol_status pcol_flame_svg(const pcol_result *flame, const char *title, pcol_sink sink,
                           pcol_error *err)
{
    if (!flame || !sink.write)
        return pci_fail(err, PCOL_E_ARGUMENT, "no flame graph or no sink");
    if (flame->free_answer != free_flame)
        return pci_fail(err, PCOL_E_ARGUMENT, "a result of kind %s is not a flame graph",
                        flame->info.kind);
    return pci_flame_svg(flame->answer, title, pci_program_sink(&sink), err);
}

/* ---- cpu */

#define CPU(name, type, member)                                \
    {                                                          \
        name, type, offsetof(struct pci_cpu_row, member), 0, 0 \
    }

static void free_cpu(void *cpu)
{
    pci_cpu_free(cpu);
}

static pcol_status make_cpu(pcol_query *query, pcol_result **result, pcol_error *err)
{
    static const struct pci_member members[] = {
        CPU("thread", PCOL_U32, thread),   CPU("name", PCOL_STRING, name),
        CPU("tid", PCOL_STRING, tid),      CPU("pid", PCOL_STRING, pid),
        CPU("samples", PCOL_U64, samples), CPU("samples_without", PCOL_U64, samples_without),
        CPU("cpu_ns", PCOL_F64, cpu_ns)};
    struct pci_cpu *cpu;
    pcol_result *r;
    PCI_TRY(pci_query_cpu(query, &cpu, err));
    PCI_TRY(pci_result_new("cpu", query, cpu->count, cpu, free_cpu, &r, err));
    r->info.by = PCOL_BY_THREAD;
    const struct pci_elements rows = {cpu->rows, sizeof *cpu->rows, NULL, 0};
    return finish(r, pci_result_add(r, &rows, members, COUNT(members), err), result);
}

pcol_status pcol_query_cpu(pcol_query *query, pcol_result **result, pcol_error *err)
{
    pcol_status status;
    PCI_REQUIRE(result, err);
    *result = NULL;
    PCI_REQUIRE(query, err);
    PCI_CONTROLLED(&query->control, status, make_cpu(query, result, err), err);
    return status;
}

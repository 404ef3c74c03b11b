/*
 * cmd_tree.c - tree: the call tree, indented or as rows
 *
 * On a terminal nodes below half a percent are omitted and counted; machine formats have all
 * nodes. -n selects the heaviest nodes and, because a caller weighs at least as much, the branches
 * to them. A node is cut if --depth, -n or that half percent omits any of its children: then its
 * total exceeds its self plus the totals of the printed children. Tests: tests/cli/query.test.
 */
#include "cmd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORTH_PERCENT 0.5 /* share of the total below which a terminal omits nodes */
#define MAX_INDENT 48     /* deeper frames are printed without further indentation */

const struct cli_option cmd_tree_options[] = {
    CLI_TEXT_CHOICE(0, "by", "WHAT", by, "function|file|line|srcline|location|mapping",
                    "function (default), file, line (function, file, line), srcline (file, line), "
                    "location (address) or mapping (binary)"),
    CLI_FLAG_OPTION(0, "bottom-up", bottom_up, "from innermost frames to their callers"),
    CLI_COUNT_OPTION(0, "depth", "N", max_depth, "at most N frames deep; 0: all (default)"),
    CLI_COUNT_OPTION('n', "rows", "N", rows,
                     "the N heaviest nodes with their callers; 0: all (default: nodes of at least "
                     "0.5 % on a terminal, all elsewhere)"),
    CLI_OPTIONS_SELECTION,
    CLI_OPTIONS_ADDED_FRAMES,
    CLI_OPTION_DEMANGLE,
    CLI_OPTIONS_TABLE,
    CLI_OPTIONS_IMPORT,
    CLI_OPTION_END,
};

enum { TRUNCATED = CLI_FIELDS };
static const char *const own_columns[] = {"truncated", NULL};

/* ---- selection of nodes ---- */

/* Flags of a node. LAST, SEEN: during drawing. */
enum {
    SHOWN = 1,
    LAST = 2, /* the last printed child of its parent */
    SEEN = 4, /* a printed child has been seen */
    CUT = 8   /* a child is omitted */
};

struct weighed {
    double weight; /* largest magnitude of the node and its descendants: callers come first */
    uint32_t node;
};

static int by_weight(const void *pa, const void *pb)
{
    const struct weighed *a = pa, *b = pb;

    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Select the `most` heaviest nodes of at least this magnitude, each with all its callers. The
 * weight of a node is at least that of its heaviest callee: positive and negative values may
 * cancel in a caller. */
static int choose_heaviest(const struct cli_result *tree, const struct cli_amounts *amounts,
                           uint64_t most, double least, uint8_t *shown)
{
    uint32_t count = (uint32_t)tree->count;
    struct weighed *nodes = calloc((size_t)count + 1, sizeof *nodes);

    if (nodes == NULL)
        return cli_fail_memory();
    for (uint32_t i = count; i-- > 0;) {
        pcol_amount total = cli_result_amount(tree, CLI_FIELD_TOTAL, i);
        double weight = fabs(cli_amount_double(amounts, total));
        uint32_t parent = (uint32_t)cli_result_amount(tree, CLI_FIELD_PARENT, i).i64;
        nodes[i].node = i;
        if (weight > nodes[i].weight)
            nodes[i].weight = weight;
        if (i > 0 && nodes[i].weight > nodes[parent].weight)
            nodes[parent].weight = nodes[i].weight;
    }
    qsort(nodes + 1, count - 1, sizeof *nodes, by_weight); /* except the root */
    for (uint32_t i = 1; i < count && i <= most && nodes[i].weight >= least; i++)
        shown[nodes[i].node] = SHOWN;
    free(nodes);
    return CLI_OK;
}

static void mark_cut(const struct cli_result *tree, uint8_t *shown)
{
    uint32_t count = (uint32_t)tree->count;

    for (uint32_t i = 1; i < count; i++) {
        if (!(shown[i] & SHOWN))
            shown[cli_result_amount(tree, CLI_FIELD_PARENT, i).i64] |= CUT;
        if (cli_result_amount(tree, TRUNCATED, i).i64)
            shown[i] |= CUT;
    }
}

/* The flags of each node, which the caller frees. */
static int choose(const struct cli_args *args, const struct cli_result *tree,
                  const struct cli_amounts *amounts, uint8_t **shown)
{
    uint32_t count = (uint32_t)tree->count;
    int all = cli_row_limit(args, amounts->people ? 0 : UINT64_MAX) == UINT64_MAX;

    *shown = calloc((size_t)count + 1, 1);
    if (*shown == NULL)
        return cli_fail_memory();
    int code = CLI_OK;
    if (all || (args->rows != CLI_UNSET && args->rows >= count))
        memset(*shown, SHOWN, count);
    else if (args->rows == CLI_UNSET)
        code = choose_heaviest(tree, amounts, UINT64_MAX, amounts->total * WORTH_PERCENT / 100,
                               *shown);
    else
        code = choose_heaviest(tree, amounts, args->rows, 0, *shown);
    mark_cut(tree, *shown);
    return code;
}

/* ---- machine formats ---- */

static int print_rows(struct cli_args *args, struct cli_names *names, const struct cli_result *tree,
                      pcol_by by, const uint8_t *shown, const struct cli_amounts *amounts,
                      struct cli_out *out)
{
    enum { OWN = 4 };
    struct cli_table_column columns[OWN + CLI_FRAME_COLUMNS + 1] = {
        {"depth", 1}, {"self", 1}, {"total", 1}, {"name", 0}};
    struct cli_table *table;
    uint32_t count = (uint32_t)tree->count;
    size_t places = cli_frame_columns(by, 0, columns + OWN), width = OWN + places;

    if (args->max_depth != CLI_UNSET || args->rows != CLI_UNSET)
        columns[width++] = (struct cli_table_column){"cut", 1};
    int code = cli_table_begin(&table, out, args, columns, width);
    if (code != CLI_OK)
        return code;
    for (uint32_t i = 1; i < count && out->code == 0; i++) {
        char buffer[CLI_NUMBER_SIZE];
        struct cli_result_row node;
        if (!(shown[i] & SHOWN))
            continue;
        cli_result_get(tree, i, &node);
        node.frame.name = cli_name(names, node.frame.name);
        struct cli_cell cells[OWN + CLI_FRAME_COLUMNS + 1] = {
            cli_cell_u64(node.depth), cli_amount_cell(amounts, node.self, NULL),
            cli_amount_cell(amounts, node.total, NULL), cli_cell_str(node.frame.name)};
        cli_frame_cells(&node.frame, places, buffer, cells + OWN);
        cells[OWN + places] = cli_cell_u64((shown[i] & CUT) != 0);
        cli_table_row(table, cells);
    }
    return cli_table_end(table, CLI_OK);
}

/* ---- terminal ---- */

struct drawing {
    struct cli_names *names;
    const struct cli_result *tree;
    size_t places; /* columns of file, line and address */
    const struct cli_amounts *amounts;
    struct cli_out *out;
    struct cli_gutter gutter;
    uint32_t most;  /* deeper frames are printed without further indentation */
    uint8_t *shown; /* flags by node */
    uint8_t *last;  /* by depth: the node on the path is LAST */
};

/* Backwards: the first printed node of a caller is its last child. *deepest: of the printed
 * nodes. */
static uint64_t mark_last(struct drawing *d, uint32_t *deepest)
{
    uint32_t count = (uint32_t)d->tree->count;
    uint64_t hidden = 0;

    *deepest = 0;
    for (uint32_t i = count; i-- > 1;) {
        if (!(d->shown[i] & SHOWN)) {
            hidden++;
            continue;
        }
        uint32_t depth = (uint32_t)cli_result_amount(d->tree, CLI_FIELD_DEPTH, i).i64;
        uint32_t parent = (uint32_t)cli_result_amount(d->tree, CLI_FIELD_PARENT, i).i64;
        *deepest = depth > *deepest ? depth : *deepest;
        if (!(d->shown[parent] & SEEN))
            d->shown[i] |= LAST;
        d->shown[parent] |= SEEN;
    }
    return hidden;
}

/* Returns its width in columns. */
static size_t draw_branches(struct drawing *d, uint32_t depth)
{
    const struct cli_signs *signs = cli_signs(d->out->is_ascii);
    uint32_t from = 2;
    char number[CLI_NUMBER_SIZE] = "";

    if (depth > d->most) {
        snprintf(number, sizeof number, "[%u] ", depth);
        from = depth - 1;
    }
    cli_out_text(d->out, number);
    for (uint32_t level = from; level < depth; level++)
        cli_out_text(d->out, d->last[level] ? "  " : signs->pipe);
    if (depth > 1)
        cli_out_text(d->out, d->last[depth] ? signs->last : signs->branch);
    return strlen(number) + (depth > 1 ? 2 * (size_t)(depth - from + 1) : 0);
}

/* A wide terminal fits everything; a narrow one the callers of a frame and its name. */
static void fit_columns(struct drawing *d, uint32_t deepest)
{
    size_t indent = 2 * (size_t)(deepest < MAX_INDENT ? deepest : MAX_INDENT);

    d->most = MAX_INDENT;
    cli_gutter_init(&d->gutter, d->out, indent + CLI_GOOD_TEXT);
    if (d->gutter.columns < indent + CLI_GOOD_TEXT)
        d->most = d->gutter.columns > CLI_GOOD_TEXT + 12
                      ? (uint32_t)(d->gutter.columns - CLI_GOOD_TEXT) / 2
                      : 6;
}

/* "NAME  FILE:LINE  0xADDRESS" in at most `width` columns. */
static int draw_frame(struct drawing *d, const struct cli_frame *frame, size_t width)
{
    char address[CLI_NUMBER_SIZE], line[CLI_NUMBER_SIZE] = "";
    struct cli_cell cells[CLI_FRAME_COLUMNS] = {{0}};
    pcol_str name = cli_name(d->names, frame->name), file = {"", 0};
    size_t used = 0, more;

    cli_frame_cells(frame, d->places, address, cells);
    if (cells[0].kind != CLI_CELL_NULL)
        file = (pcol_str){cells[0].as.text.data, cells[0].as.text.size};
    if (cells[1].kind != CLI_CELL_NULL)
        snprintf(line, sizeof line, ":%lld", (long long)cells[1].as.i64);
    char *text = malloc(4 * (name.size + file.size) + 3 * CLI_NUMBER_SIZE);
    if (text == NULL)
        return cli_fail_memory();
    cli_escape(name.data, name.size, d->out->is_ascii, text, &used);
    if (file.size > 0 || line[0] != '\0') {
        memcpy(text + used, "  ", 2);
        cli_escape(file.data, file.size, d->out->is_ascii, text + used + 2, &more);
        used += 2 + more;
    }
    used += (size_t)snprintf(text + used, sizeof line, "%s", line);
    if (cells[2].kind != CLI_CELL_NULL)
        used += (size_t)snprintf(text + used, CLI_NUMBER_SIZE + 2, "  %s", cells[2].as.text.data);
    cli_out_cut(d->out, text, used, width);
    free(text);
    return CLI_OK;
}

static int draw_node(struct drawing *d, const struct cli_result_row *node, int cut)
{
    cli_gutter_put(&d->gutter, d->out, d->amounts, node->total, node->self);
    size_t taken = draw_branches(d, node->depth) + (cut ? 5 : 0);
    int code =
        draw_frame(d, &node->frame, d->gutter.columns > taken ? d->gutter.columns - taken : 1);
    cli_out_text(d->out, cut ? "  [+]\n" : "\n");
    return code;
}

static int print_drawing(struct cli_args *args, struct cli_names *names,
                         const struct cli_result *tree, pcol_by by, uint8_t *shown,
                         const struct cli_amounts *amounts, struct cli_out *out)
{
    struct cli_table_column columns[CLI_FRAME_COLUMNS];
    uint32_t count = (uint32_t)tree->count, deepest;
    struct drawing d = {.names = names,
                        .tree = tree,
                        .places = cli_frame_columns(by, 1, columns),
                        .amounts = amounts,
                        .out = out,
                        .shown = shown};
    uint64_t hidden = mark_last(&d, &deepest);
    int cut = 0, code = CLI_OK;

    fit_columns(&d, deepest);
    cli_out_fold(out);
    d.last = calloc((size_t)deepest + 2, 1);
    if (d.last == NULL)
        return cli_fail_memory();
    if (!args->no_header) {
        cli_amounts_header(amounts, out);
        cli_gutter_header(&d.gutter, out);
    }
    for (uint32_t i = 1; i < count && out->code == 0 && code == CLI_OK; i++) {
        struct cli_result_row node;
        if (!(shown[i] & SHOWN))
            continue;
        cli_result_get(tree, i, &node);
        d.last[node.depth] = (shown[i] & LAST) != 0;
        cut |= shown[i] & CUT;
        code = draw_node(&d, &node, shown[i] & CUT);
    }
    if (cut)
        cli_out_text(out, "[+] marks nodes with children that are not shown\n");
    if (hidden > 0)
        cli_out_printf(out, "%llu smaller node%s not shown; -n 0 shows all\n",
                       (unsigned long long)hidden, hidden == 1 ? " is" : "s are");
    cli_gutter_end(&d.gutter, out);
    free(d.last);
    return code;
}

/* ---- both formats ---- */

static int print(struct cli_args *args, pcol_query *query, const struct cli_result *tree,
                 pcol_by by)
{
    struct cli_names names;
    static struct cli_out out;
    struct cli_amounts amounts;
    uint8_t *shown = NULL;
    int code = cli_out_open(&out, args);

    if (code != CLI_OK)
        return code;
    cli_amounts_init(&amounts, query, args, &out);
    cli_names_init(&names, args, amounts.people, by);
    code = choose(args, tree, &amounts, &shown);
    if (code == CLI_OK)
        code = amounts.people ? print_drawing(args, &names, tree, by, shown, &amounts, &out)
                              : print_rows(args, &names, tree, by, shown, &amounts, &out);
    free(shown);
    cli_names_free(&names);
    return cli_out_finish(&out, code);
}

/* The number of nodes that suffice for the output; 0: all. A terminal shows how many are left out,
 * and positions are recorded for all frames. */
static uint32_t count_wanted(const struct cli_args *args, pcol_by by)
{
    int people = args->format != NULL ? strcmp(args->format, "table") == 0 : isatty(STDOUT_FILENO);

    return by != PCOL_BY_FUNCTION || people || args->rows == CLI_UNSET || args->rows > UINT32_MAX
               ? 0
               : (uint32_t)args->rows;
}

int cmd_tree(struct cli_args *args)
{
    pcol_tree_options options = PCOL_INIT(pcol_tree_options);
    struct cli_input input;
    pcol_query *query = NULL;
    struct cli_result tree = {0};
    pcol_error err;
    const char *label;
    int code = cli_parse_by(args->by, 1, &options.by, &label);

    if (code == CLI_OK)
        code = cli_input_open(&input, args->operands[0], args);
    if (code != CLI_OK)
        return code;
    options.flags = args->bottom_up ? PCOL_TREE_BOTTOM_UP : 0;
    options.heaviest = count_wanted(args, options.by);
    if (args->max_depth != CLI_UNSET)
        options.max_depth = args->max_depth < UINT32_MAX ? (uint32_t)args->max_depth : UINT32_MAX;
    code = cli_query_new(&input, args, &query);
    if (code == CLI_OK)
        cli_warn_empty(&input, args, query);
    if (code == CLI_OK)
        code = cli_result_open(&tree, pcol_query_tree(query, &options, &tree.result, &err), &err,
                               input.name, own_columns);
    if (code == CLI_OK && (tree.count > 1 || options.by == PCOL_BY_SRCLINE))
        cli_warn_positions(&tree, options.by, input.name, args);
    if (code == CLI_OK)
        code = print(args, query, &tree, options.by);
    cli_result_close(&tree);
    pcol_query_free(query);
    cli_input_close(&input);
    return code;
}

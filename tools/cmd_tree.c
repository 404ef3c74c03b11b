/*
 * cmd_tree.c - tree: who calls whom, as an indented tree or as rows
 *
 * People get the branches drawn, and by default only those that are worth a look: nodes below half a
 * percent are left out and counted. Programs get every node.
 */
#include "cmd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_PERCENT 0.5 /* of a node that people see by default */
#define MAX_INDENT 48     /* frames deeper than this stand under each other */

const struct cli_option cmd_tree_options[] = {
    {0, "by", "WHAT",
     "function (default), file, line (function, file, line), srcline (file, line) or location "
     "(address)",
     CLI_TEXT, CLI_AT(by), 0, "function|file|line|srcline|location"},
    {0, "bottom-up", NULL, "from the innermost frames to their callers", CLI_FLAG,
     CLI_AT(bottom_up), 1, NULL},
    {0, "depth", "N", "at most N frames deep (default: all)", CLI_COUNT, CLI_AT(max_depth), 0,
     NULL},
    {'n', "rows", "N",
     "at most N rows; 0: all (default: on a terminal those from 0.5 % on, all elsewhere)",
     CLI_COUNT, CLI_AT(rows), 0, NULL},
    CLI_OPTIONS_SELECTION,
    CLI_OPTION_DEMANGLE,
    CLI_OPTION_FORMAT,
    CLI_OPTION_NO_HEADER,
    CLI_OPTION_NULL,
    CLI_OPTION_OUTPUT,
    CLI_OPTION_FORCE,
    CLI_OPTION_NO_SYNC,
    CLI_OPTION_FROM,
    CLI_OPTION_STRICT_IMPORT,
    CLI_OPTION_LENIENT,
    CLI_OPTION_END,
};

/* ---- for programs ---- */

static int print_rows(struct cli_args *args, struct cli_names *names, const pcol_calltree *tree,
                      const struct cli_amounts *amounts, struct cli_out *out)
{
    static const struct cli_table_column columns[] = {
        {"depth", 1}, {"self", 1}, {"total", 1}, {"name", 0}};
    struct cli_table *table;
    uint32_t count = pcol_calltree_count(tree);
    uint64_t limit = args->rows == CLI_UNSET || args->rows == 0 ? UINT64_MAX : args->rows;
    int code = cli_table_begin(&table, out, args, columns, 4);

    if (code != CLI_OK)
        return code;
    for (uint32_t i = 1; i < count && i <= limit && out->code == 0; i++) {
        pcol_calltree_node node;
        pcol_calltree_get(tree, i, &node);
        node.frame.name = cli_name(names, node.frame.name);
        struct cli_cell cells[4] = {
            cli_cell_u64(node.depth), cli_amount_cell(amounts, node.self, NULL),
            cli_amount_cell(amounts, node.total, NULL), cli_cell_str(node.frame.name)};
        cli_table_row(table, cells);
    }
    return cli_table_end(table, CLI_OK);
}

/* ---- for people ---- */

struct drawing {
    struct cli_names *names;
    const struct cli_args *args;
    const pcol_calltree *tree;
    const struct cli_amounts *amounts;
    struct cli_out *out;
    double least;  /* magnitude of a node that is drawn */
    uint8_t *last; /* by depth: no sibling of the node on the path follows */
    uint64_t left, hidden;
};

static int is_drawn(const struct drawing *d, const pcol_calltree_node *node)
{
    return fabs(cli_amount_double(d->amounts, node->total)) >= d->least;
}

/* Does a sibling that is drawn follow the node? */
static int is_last(const struct drawing *d, const pcol_calltree_node *node)
{
    pcol_calltree_node parent;
    pcol_calltree_node next;

    pcol_calltree_get(d->tree, node->parent, &parent);
    if (node->end >= parent.end)
        return 1;
    pcol_calltree_get(d->tree, node->end, &next);
    return !is_drawn(d, &next); /* siblings fall */
}

static void draw_branches(struct drawing *d, uint32_t depth)
{
    uint32_t from = 2;

    if (depth > MAX_INDENT) {
        cli_out_printf(d->out, "[%u] ", depth);
        from = depth - 1;
    }
    for (uint32_t level = from; level < depth; level++)
        cli_out_text(d->out, d->last[level] ? "  " : "\xe2\x94\x82 ");
    if (depth > 1)
        cli_out_text(d->out, d->last[depth] ? "\xe2\x94\x94 " : "\xe2\x94\x9c ");
}

static void draw_node(struct drawing *d, const pcol_calltree_node *node)
{
    char room[CLI_NUMBER_SIZE];
    pcol_str name = cli_name(d->names, node->frame.name);
    struct cli_cell cell = cli_amount_cell(d->amounts, node->total, room);

    cli_out_printf(d->out, "%10.*s %6.2f%%", (int)cell.as.text.size, cell.as.text.data,
                   cli_amount_percent(d->amounts, node->total).as.f64);
    cell = cli_amount_cell(d->amounts, node->self, room);
    cli_out_printf(d->out, " %10.*s  ", (int)cell.as.text.size, cell.as.text.data);
    draw_branches(d, node->depth);
    cli_out_safe(d->out, name.data, name.size);
    if (node->frame.has_line && node->frame.has_file) {
        cli_out_text(d->out, "  ");
        cli_out_safe(d->out, node->frame.file.data, node->frame.file.size);
        cli_out_printf(d->out, ":%lld", (long long)node->frame.line);
    }
    cli_out_text(d->out, "\n");
}

static void draw(struct drawing *d)
{
    uint32_t count = pcol_calltree_count(d->tree);

    for (uint32_t i = 1; i < count && d->out->code == 0;) {
        pcol_calltree_node node;
        pcol_calltree_get(d->tree, i, &node);
        if (!is_drawn(d, &node) || d->left == 0) {
            d->hidden += node.end - i;
            i = node.end;
            continue;
        }
        d->left--;
        d->last[node.depth] = (uint8_t)is_last(d, &node);
        draw_node(d, &node);
        i++;
    }
}

static int print_drawing(struct cli_args *args, struct cli_names *names, const pcol_calltree *tree,
                         const struct cli_amounts *amounts, struct cli_out *out)
{
    uint32_t count = pcol_calltree_count(tree);
    uint32_t deepest = 0;
    struct drawing d = {names, args, tree, amounts, out, 0, NULL, UINT64_MAX, 0};

    for (uint32_t i = 1; i < count; i++) {
        pcol_calltree_node node;
        pcol_calltree_get(tree, i, &node);
        deepest = node.depth > deepest ? node.depth : deepest;
    }
    if (args->rows == CLI_UNSET)
        d.least = amounts->total * WORTH_PERCENT / 100;
    else if (args->rows > 0)
        d.left = args->rows;
    d.last = calloc((size_t)deepest + 2, 1);
    if (d.last == NULL)
        return cli_fail_memory();
    if (!args->no_header) {
        cli_amounts_header(amounts, out);
        cli_out_text(out, "     total  total%       self  name\n");
    }
    draw(&d);
    if (d.hidden > 0)
        cli_out_printf(out, "%llu %s nodes are not shown; -n 0 shows all\n",
                       (unsigned long long)d.hidden,
                       args->rows == CLI_UNSET ? "smaller" : "further");
    free(d.last);
    return CLI_OK;
}

/* ---- both ---- */

static int print(struct cli_args *args, const pcol_file *file, const pcol_query *query,
                 const pcol_calltree *tree)
{
    struct cli_names names;
    static struct cli_out out;
    struct cli_amounts amounts;
    int code = cli_out_open(&out, args);

    if (code != CLI_OK)
        return code;
    cli_amounts_init(&amounts, query, args, &out);
    cli_names_init(&names, args, file, amounts.people);
    code = amounts.people ? print_drawing(args, &names, tree, &amounts, &out)
                          : print_rows(args, &names, tree, &amounts, &out);
    cli_names_free(&names);
    return cli_out_finish(&out, code);
}

int cmd_tree(struct cli_args *args)
{
    pcol_calltree_options options = PCOL_INIT(pcol_calltree_options);
    struct cli_input input;
    pcol_query *query = NULL;
    pcol_calltree *tree = NULL;
    pcol_error err;
    const char *label;
    int code = cli_parse_by(args->by, 1, &options.by, &label);

    if (code == CLI_OK)
        code = cli_input_open(&input, args->operands[0], args);
    if (code != CLI_OK)
        return code;
    options.bottom_up = args->bottom_up;
    if (args->max_depth != CLI_UNSET)
        options.max_depth = args->max_depth < UINT32_MAX ? (uint32_t)args->max_depth : UINT32_MAX;
    code = cli_query_new(&input, args, &query);
    if (code == CLI_OK && pcol_query_calltree(query, &options, &tree, &err) != PCOL_OK)
        code = cli_fail_error(input.name, &err);
    if (code == CLI_OK)
        code = print(args, input.file, query, tree);
    pcol_calltree_free(tree);
    pcol_query_free(query);
    cli_input_close(&input);
    return code;
}

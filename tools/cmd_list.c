/*
 * cmd_list.c - list: the lines of functions with their values and their source, pprof's -list
 *
 * Functions are those that peek finds; values are the rows of `top --by line`. Lines of source
 * around them have no values. Tests: tests/cli/list.test.
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_CONTEXT 3
#define MAX_CONTEXT (1u << 30)
#define TAB_COLUMNS 8u
#define VALUE_COLUMNS 30u /* of self, total and line before the source */

const struct cli_option cmd_list_options[] = {
    CLI_LIST_OPTION(0, "source-path", "DIR", source_paths,
                    "search the source files below DIR; repeatable"),
    CLI_COUNT_OPTION(0, "context", "N", context,
                     "N lines of source around each line with a value (default: 3)"),
    CLI_OPTIONS_SELECTION,
    CLI_OPTION_DEMANGLE,
    CLI_OPTIONS_TABLE,
    CLI_OPTIONS_IMPORT,
    CLI_OPTION_END,
};

/* A row of peek that is a function. */
struct function {
    pcol_str name;
    size_t rank; /* in order of total */
    pcol_amount self, total;
};

/* A row of top. */
struct line {
    const struct function *function;
    struct cli_result_row row;
};

struct listing {
    const struct cli_args *args;
    const struct cli_input *input;
    struct cli_source *source;
    const struct cli_amounts *amounts;
    struct function *functions;
    struct line *lines;
    size_t function_count, count;
    struct cli_names names;
    struct cli_out *out;
    struct cli_table *table; /* NULL: for people */
    size_t columns;
    int is_found; /* the source of the current lines */
};

static int compare_text(pcol_str a, pcol_str b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 ? memcmp(a.data, b.data, size) : 0;

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int by_name(const void *a, const void *b)
{
    return compare_text(((const struct function *)a)->name, ((const struct function *)b)->name);
}

/* Functions in descending order of total, then files, then lines; lines without a number first. */
static int by_place(const void *pa, const void *pb)
{
    const struct line *a = pa, *b = pb;
    const struct cli_frame *fa = &a->row.frame, *fb = &b->row.frame;

    if (a->function->rank != b->function->rank)
        return a->function->rank < b->function->rank ? -1 : 1;
    int order = compare_text(fa->file, fb->file);
    if (order != 0)
        return order;
    if (fa->has_line != fb->has_line)
        return fa->has_line ? 1 : -1;
    return (fa->line > fb->line) - (fa->line < fb->line);
}

static int find_functions(struct listing *list, const struct cli_result *peek)
{
    list->functions = calloc(peek->count + 1, sizeof *list->functions);
    if (list->functions == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < peek->count; i++) {
        pcol_str relation = cli_result_text(peek, CLI_FIELD_RELATION, i);
        struct function *function = &list->functions[list->function_count];
        if (relation.size != strlen("function"))
            continue;
        function->name = cli_result_text(peek, CLI_FIELD_NAME, i);
        function->rank = list->function_count++;
        function->self = cli_result_amount(peek, CLI_FIELD_SELF, i);
        function->total = cli_result_amount(peek, CLI_FIELD_TOTAL, i);
    }
    qsort(list->functions, list->function_count, sizeof *list->functions, by_name);
    return CLI_OK;
}

static int find_lines(struct listing *list, const struct cli_result *top)
{
    int has_lines = 0;

    list->lines = calloc(top->count + 1, sizeof *list->lines);
    if (list->lines == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < top->count; i++) {
        struct line *line = &list->lines[list->count];
        cli_result_get(top, i, &line->row);
        struct function wanted = {.name = line->row.frame.name};
        line->function =
            bsearch(&wanted, list->functions, list->function_count, sizeof wanted, by_name);
        if (line->function == NULL)
            continue;
        has_lines |= line->row.frame.has_line;
        list->count++;
    }
    qsort(list->lines, list->count, sizeof *list->lines, by_place);
    if (!has_lines)
        cli_warn(list->args, list->input->name, "the lines of these functions are not known");
    return CLI_OK;
}

/* ---- output ---- */

static void put_amount(const struct listing *list, const struct line *line, int is_total)
{
    char columns[CLI_NUMBER_SIZE];
    struct cli_cell cell = cli_cell_text(".");

    if (line != NULL)
        cell = cli_amount_cell(list->amounts, is_total ? line->row.total : line->row.self, columns);
    cli_out_printf(list->out, "%10.*s ", (int)cell.as.text.size, cell.as.text.data);
}

/* Source with tabs as blanks, and what else a terminal would interpret as \xNN. */
static void put_source(const struct listing *list, pcol_str text)
{
    char *plain = malloc(TAB_COLUMNS * text.size + 1);
    size_t used = 0;

    if (plain == NULL) {
        cli_out_safe(list->out, text.data, text.size);
        return;
    }
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != '\t')
            plain[used++] = text.data[i];
        else
            do
                plain[used++] = ' ';
            while (used % TAB_COLUMNS != 0);
    }
    cli_frame_name(list->out, (pcol_str){plain, used}, list->columns);
    free(plain);
}

/* line NULL: of the context. */
static void put_line(struct listing *list, const struct line *line, const struct line *place,
                     int has_line, int64_t number)
{
    const struct cli_frame *frame = &place->row.frame;
    pcol_str text =
        list->is_found && has_line ? cli_source_line(list->source, number) : (pcol_str){NULL, 0};

    if (list->table == NULL) {
        put_amount(list, line, 0);
        put_amount(list, line, 1);
        if (has_line)
            cli_out_printf(list->out, "%6lld", (long long)number);
        else
            cli_out_printf(list->out, "%6s", "?");
        if (text.size > 0) {
            cli_out_text(list->out, "  ");
            put_source(list, text);
        }
        cli_out_text(list->out, "\n");
        return;
    }
    struct cli_cell null = cli_cell_text(NULL), cells[8] = {null, null, null, null};
    if (line != NULL) {
        cells[0] = cli_amount_cell(list->amounts, line->row.self, NULL);
        cells[1] = cli_amount_percent(list->amounts, line->row.self);
        cells[2] = cli_amount_cell(list->amounts, line->row.total, NULL);
        cells[3] = cli_amount_percent(list->amounts, line->row.total);
    }
    cells[4] = cli_cell_str(cli_name(&list->names, frame->name));
    cells[5] = frame->has_file ? cli_cell_str(frame->file) : null;
    cells[6] = null;
    if (has_line) {
        cells[6].kind = CLI_CELL_I64;
        cells[6].as.i64 = number;
    }
    cells[7] = text.data != NULL ? cli_cell_str(text) : null;
    cli_table_row(list->table, cells);
}

/* sum NULL: the amounts of the function are of several files. */
static void put_name(struct listing *list, const struct function *function, const struct line *sum)
{
    pcol_str name = cli_name(&list->names, function->name);

    put_amount(list, sum, 0);
    put_amount(list, sum, 1);
    cli_out_text(list->out, "        ");
    cli_out_safe(list->out, name.data, name.size);
}

/* The function with its amounts, or with those of all its files once, before the first of them. */
static void put_heading(struct listing *list, size_t from, size_t to)
{
    const struct line *first = &list->lines[from];
    const struct function *function = first->function;
    const struct line sum = {.row = {.self = function->self, .total = function->total}};
    int is_begin = from == 0 || list->lines[from - 1].function != function;
    int is_end = to == list->count || list->lines[to].function != function;

    if (list->table != NULL)
        return;
    cli_out_text(list->out, from == 0 ? "" : "\n");
    if (is_begin && !is_end) {
        put_name(list, function, &sum);
        cli_out_text(list->out, " in several files\n\n");
    }
    put_name(list, function, is_begin && is_end ? &sum : NULL);
    if (first->row.frame.has_file) {
        cli_out_text(list->out, " in ");
        cli_out_safe(list->out, first->row.frame.file.data, first->row.frame.file.size);
        cli_out_text(list->out, list->is_found ? "" : " (source not found, see --source-path)");
    }
    cli_out_text(list->out, "\n");
}

/* The lines of a function in a file: lines[from, to). */
static void put_lines(struct listing *list, size_t from, size_t to)
{
    int64_t around = list->args->context == CLI_UNSET    ? DEFAULT_CONTEXT
                     : list->args->context > MAX_CONTEXT ? MAX_CONTEXT
                                                         : (int64_t)list->args->context;
    int64_t done = 0; /* the last line of the source that is printed */
    int64_t end = list->is_found ? (int64_t)list->source->count : 0;

    for (size_t i = from; i < to && list->out->code == 0; i++) {
        const struct line *line = &list->lines[i];
        const struct cli_frame *frame = &line->row.frame;
        int64_t number = frame->line;
        int has_source = frame->has_line && number >= 1 && number <= end;
        int64_t before = has_source && number - around > done ? number - around : done + 1;
        if (has_source && list->table == NULL && done > 0 && before > done + 1)
            cli_out_printf(list->out, "%28s\n", "...");
        for (int64_t n = before; has_source && n < number; n++)
            put_line(list, NULL, line, 1, n);
        put_line(list, line, line, frame->has_line, number);
        if (!has_source)
            continue;
        int64_t last = end - number > around ? number + around : end;
        if (i + 1 < to && list->lines[i + 1].row.frame.line <= last)
            last = list->lines[i + 1].row.frame.line - 1;
        for (int64_t n = number + 1; n <= last; n++)
            put_line(list, NULL, line, 1, n);
        done = last > number ? last : number;
    }
}

static void find_source(struct listing *list, const struct line *first, const struct line *last)
{
    const struct cli_frame *frame = &first->row.frame;

    list->is_found = frame->has_file && cli_source_find(list->source, frame->file);
    if (!list->is_found || last->row.frame.line <= (int64_t)list->source->count)
        return;
    list->is_found = 0;
    cli_warn(list->args, list->input->name,
             "a source file has fewer lines than the profile: it is another version, not shown");
}

static void put_all(struct listing *list)
{
    for (size_t from = 0, to; from < list->count && list->out->code == 0; from = to) {
        const struct line *first = &list->lines[from];
        for (to = from + 1; to < list->count; to++)
            if (list->lines[to].function != first->function ||
                compare_text(list->lines[to].row.frame.file, first->row.frame.file) != 0)
                break;
        find_source(list, first, &list->lines[to - 1]);
        put_heading(list, from, to);
        put_lines(list, from, to);
    }
}

static int print(struct listing *list, pcol_query *query)
{
    static const struct cli_table_column columns[8] = {
        {"self", CLI_RIGHT},  {"self_pct", CLI_RIGHT},
        {"total", CLI_RIGHT}, {"total_pct", CLI_RIGHT},
        {"name", 0},          {"file", 0},
        {"line", CLI_RIGHT},  {"source", 0}};
    static struct cli_out out;
    struct cli_amounts amounts;
    int code = cli_out_open(&out, list->args);

    if (code != CLI_OK)
        return code;
    list->out = &out;
    list->amounts = &amounts;
    cli_amounts_init(&amounts, query, list->args, &out);
    cli_names_init(&list->names, list->args, amounts.people, PCOL_BY_FUNCTION);
    if (!amounts.people) {
        code = cli_table_begin(&list->table, &out, list->args, columns, 8);
        if (code == CLI_OK)
            put_all(list);
        if (code == CLI_OK)
            code = cli_table_end(list->table, CLI_OK);
    } else {
        unsigned width = out.terminal ? cli_terminal_columns() : 0;
        list->columns = width == 0 ? SIZE_MAX : width > VALUE_COLUMNS ? width - VALUE_COLUMNS : 1;
        cli_out_fold(&out);
        if (!list->args->no_header) {
            cli_amounts_header(&amounts, &out);
            cli_out_text(&out, "      self      total   line  source\n");
        }
        put_all(list);
    }
    cli_names_free(&list->names);
    return cli_out_finish(&out, code);
}

static int run(struct listing *list, pcol_query *query, const char *name)
{
    pcol_top_options options = PCOL_INIT(pcol_top_options);
    struct cli_result peek = {0}, top = {0};
    pcol_error err;
    options.by = PCOL_BY_LINE;
    int code = cli_peek_open(&peek, list->input, list->args, query, name);
    if (code == CLI_OK)
        code = cli_result_open(&top, pcol_query_top(query, &options, &top.result, &err), &err,
                               list->input->name, NULL);
    if (code == CLI_OK)
        code = find_functions(list, &peek);
    if (code == CLI_OK)
        code = find_lines(list, &top);
    if (code == CLI_OK)
        code = print(list, query);
    free(list->functions);
    free(list->lines);
    cli_result_close(&peek);
    cli_result_close(&top);
    return code;
}

int cmd_list(struct cli_args *args)
{
    struct cli_input input;
    struct cli_source source = {0};
    struct listing list = {.args = args, .input = &input, .source = &source};
    pcol_query *query = NULL;
    int code = cli_require_name_first(args);

    if (code == CLI_OK)
        code = cli_source_open(&source, &args->source_paths, args->operands[1]);
    if (code == CLI_OK)
        code = cli_input_open(&input, args->operands[1], args);
    if (code == CLI_OK) {
        code = cli_query_new(&input, args, &query);
        if (code == CLI_OK)
            cli_warn_left_out(&input, args, query);
        if (code == CLI_OK)
            code = run(&list, query, args->operands[0]);
        if (code == CLI_OK && source.is_limited)
            cli_warn(args, args->operands[1],
                     "source lines of further files are left out, after 1,000,000 paths or 1 GiB");
        pcol_query_free(query);
        cli_input_close(&input);
    }
    cli_source_close(&source);
    return code;
}

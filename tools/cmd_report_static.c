/*
 * cmd_report_static.c - the part of a report that needs no script: a table and a flame graph
 */
#include "cmd_report.h"

#include <stdlib.h>

enum { STATIC_ROWS = 40, STATIC_WIDTH = 1200, ROW_PX = 16, LETTER_PX = 7, DEEPEST = 120 };

void report_text(struct cli_out *out, const char *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        uint32_t code = 0;
        size_t length = cli_utf8(data + at, size - at, &code);
        char c = data[at];

        if (length == 0 || cli_unsafe(code)) {
            size_t bytes = length == 0 ? 1 : length;
            for (size_t i = 0; i < bytes; i++)
                cli_out_printf(out, "\\x%02x", (unsigned)(unsigned char)data[at + i]);
            at += bytes;
            continue;
        }
        if (length == 1 && (c == '<' || c == '>' || c == '&' || c == '"' || c == '\''))
            cli_out_printf(out, "&#%d;", c);
        else
            cli_out_write(out, data + at, length);
        at += length;
    }
}

/* Columns of a comparison. */
enum { SELF_DELTA = CLI_FIELDS, SELF_NEW, TOTAL_DELTA, TOTAL_NEW };
static const char *const own_columns[] = {"self_delta", "self_new", "total_delta", "total_new",
                                          NULL};

static double share_of(const pcol_query_info *info, pcol_amount amount)
{
    int is_double = (info->flags & PCOL_QUERY_IS_DOUBLE) != 0;
    double total = is_double ? info->total.f64 : (double)info->total.i64;
    double value = is_double ? amount.f64 : (double)amount.i64;

    return total != 0 ? 100 * value / total : 0;
}

static void put_cell(struct cli_out *out, const char *text)
{
    cli_out_printf(out, "<td class=\"n\">%s</td>", text);
}

static void put_amount(struct cli_out *out, const struct cli_amounts *amounts,
                       const struct cli_result *rows, size_t field, size_t row)
{
    char buffer[CLI_NUMBER_SIZE];

    put_cell(out,
             cli_amount_cell(amounts, cli_result_amount(rows, field, row), buffer).as.text.data);
}

/* A change has a sign. */
static void put_change(struct cli_out *out, const struct cli_amounts *amounts,
                       const struct cli_result *rows, size_t field, size_t row)
{
    char buffer[CLI_NUMBER_SIZE];
    pcol_amount change = cli_result_amount(rows, field, row);
    const char *text = cli_amount_cell(amounts, change, buffer).as.text.data;

    cli_out_printf(out, "<td class=\"n\">%s%s</td>",
                   cli_amount_double(amounts, change) > 0 ? "+" : "", text);
}

static void put_share(struct cli_out *out, const pcol_query_info *info,
                      const struct cli_result *rows, size_t field, size_t row)
{
    char text[CLI_NUMBER_SIZE];

    snprintf(text, sizeof text, "%.2f", share_of(info, cli_result_amount(rows, field, row)));
    put_cell(out, text);
}

static void put_table_rows(struct cli_out *out, const struct cli_result *rows,
                           const struct cli_amounts *amounts, const pcol_query_info *info,
                           struct cli_names *names, int compared)
{
    for (size_t i = 0; i < rows->count && i < STATIC_ROWS; i++) {
        pcol_str name = cli_name(names, cli_result_text(rows, CLI_FIELD_NAME, i));
        cli_out_text(out, "<tr>");
        if (compared) {
            put_change(out, amounts, rows, SELF_DELTA, i);
            put_amount(out, amounts, rows, SELF_NEW, i);
            put_change(out, amounts, rows, TOTAL_DELTA, i);
            put_amount(out, amounts, rows, TOTAL_NEW, i);
        } else {
            put_amount(out, amounts, rows, CLI_FIELD_SELF, i);
            put_share(out, info, rows, CLI_FIELD_SELF, i);
            put_amount(out, amounts, rows, CLI_FIELD_TOTAL, i);
            put_share(out, info, rows, CLI_FIELD_TOTAL, i);
        }
        cli_out_text(out, "<td>");
        report_text(out, name.data, name.size);
        cli_out_text(out, "</td></tr>\n");
    }
}

static void put_heading(struct cli_out *out, const pcol_query_info *info, int compared)
{
    const char *const titles[2][4] = {{"self", "%", "total", "%"},
                                      {"change of self", "self", "change of total", "total"}};

    cli_out_printf(out, "<h2>Functions with the %s (",
                   compared ? "largest changes" : "highest values");
    report_text(out, info->type.data, info->type.size);
    cli_out_text(out, info->unit.size > 0 ? "/" : "");
    report_text(out, info->unit.data, info->unit.size);
    cli_out_text(out, ")</h2>\n<table>\n<tr>");
    for (size_t i = 0; i < 4; i++)
        cli_out_printf(out, "<th class=\"n\">%s</th>", titles[compared][i]);
    cli_out_text(out, "<th>function</th></tr>\n");
}

static int put_table(struct cli_out *out, const struct cli_input *input,
                     const struct cli_args *args, struct cli_names *names, pcol_query *query,
                     pcol_query *base, const pcol_query_info *info)
{
    struct cli_amounts amounts;
    struct cli_result rows = {0};
    pcol_error err;
    pcol_status status = base != NULL ? pcol_diff(base, query, NULL, &rows.result, &err)
                                      : pcol_query_top(query, NULL, &rows.result, &err);
    int code = cli_result_open(&rows, status, &err, input->name, own_columns);

    if (code == CLI_OK) {
        pcol_result_info described;
        cli_result_describe(rows.result, &described);
        cli_amounts_init(&amounts, query, args, out);
        amounts.is_double = (described.flags & PCOL_RESULT_IS_DOUBLE) != 0;
        amounts.people = 1;
        put_heading(out, info, base != NULL);
        put_table_rows(out, &rows, &amounts, info, names, base != NULL);
        cli_out_text(out, "</table>\n");
    }
    cli_result_close(&rows);
    return code;
}

/* The bytes of the first `count` characters of a text. */
static size_t first_characters(pcol_str text, size_t count)
{
    size_t at = 0;

    while (count-- > 0 && at < text.size) {
        uint32_t code;
        size_t length = cli_utf8(text.data + at, text.size - at, &code);
        at += length > 0 ? length : 1;
    }
    return at;
}

static const char *box_color(const struct cli_box *box, int compared)
{
    static const char *const plain[] = {"#f0c05a", "#8fc8ec", "#7cc6a4", "#ead76b", "#e3a7c6"};
    uint32_t hash = 2166136261u;

    if (compared)
        return box->is_gone          ? "#b8bcc2"
               : box->change > 1e-9  ? "#f2a05c"
               : box->change < -1e-9 ? "#8db9ec"
                                     : "#e2e2e2";
    for (size_t i = 0; i < box->name.size; i++)
        hash = (hash ^ (unsigned char)box->name.data[i]) * 16777619u;
    return box->depth == 0 ? "#c4c8ce" : plain[(hash >> 13) % (sizeof plain / sizeof *plain)];
}

static void put_box(struct cli_out *out, struct cli_names *names, const struct cli_box *box,
                    const pcol_query_info *info, int compared)
{
    double x = box->x + 10;
    unsigned y = box->depth * ROW_PX;
    pcol_str name = box->depth == 0 ? (pcol_str){"all", 3} : cli_name(names, box->name);

    cli_out_text(out, "<g><title>");
    report_text(out, name.data, name.size);
    cli_out_printf(out, ": %.2f%%", share_of(info, box->total));
    cli_out_printf(
        out, "</title><rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>", x, y,
        box->width > 1 ? box->width - 0.5 : box->width, ROW_PX - 1, box_color(box, compared));
    size_t letters = box->width > 4 * LETTER_PX ? (size_t)(box->width - 6) / LETTER_PX : 0;
    if (letters > 0) {
        size_t shown = first_characters(name, letters);
        cli_out_printf(out, "<text x=\"%.1f\" y=\"%u\">", x + 3, y + 12);
        report_text(out, name.data, shown);
        cli_out_text(out, "</text>");
    }
    cli_out_text(out, "</g>\n");
}

static void put_graph(struct cli_out *out, const struct cli_result *rows, struct cli_names *names,
                      const pcol_query_info *info, int compared)
{
    uint32_t depth = rows->count > 0 ? cli_flame_box(rows, rows->count - 1).depth : 0;

    depth = depth < DEEPEST ? depth : DEEPEST;
    cli_out_printf(out,
                   "<h2>Flame graph</h2>\n%s<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
                   "aria-label=\"Flame graph\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" "
                   "font-family=\"monospace\" font-size=\"11\">\n",
                   compared ? "<p>Orange: a larger share than in the base; blue: a smaller one; "
                              "dark grey: only in the base.</p>\n"
                            : "",
                   STATIC_WIDTH, (depth + 1) * ROW_PX, STATIC_WIDTH, (depth + 1) * ROW_PX);
    for (size_t i = 0; i < rows->count && out->code == 0; i++) {
        struct cli_box box = cli_flame_box(rows, i);
        if (box.depth <= DEEPEST)
            put_box(out, names, &box, info, compared);
    }
    cli_out_text(out, "</svg>\n");
}

static int put_flame(struct cli_out *out, const struct cli_input *input, struct cli_names *names,
                     pcol_query *query, pcol_query *base, const pcol_query_info *info)
{
    pcol_flame_options options = PCOL_INIT(pcol_flame_options);
    struct cli_result rows = {0};
    pcol_error err;

    options.base = base;
    options.width_px = STATIC_WIDTH;
    options.min_width_px = 2;
    int code = cli_flame_open(&rows, pcol_query_flame(query, &options, &rows.result, &err), &err,
                              input->name);
    if (code == CLI_OK)
        put_graph(out, &rows, names, info, base != NULL);
    cli_result_close(&rows);
    return code;
}

int report_static(struct cli_out *out, const struct cli_input *input, const struct cli_args *args,
                  pcol_query *query, pcol_query *base)
{
    pcol_query_info info = PCOL_INIT(pcol_query_info);
    struct cli_names names;
    pcol_error err;

    if (pcol_query_describe(query, &info, &err) != PCOL_OK)
        return cli_fail_error(input->name, &err);
    cli_names_init(&names, args, 1, PCOL_BY_FUNCTION);
    int code = put_table(out, input, args, &names, query, base, &info);
    if (code == CLI_OK)
        code = put_flame(out, input, &names, query, base, &info);
    cli_names_free(&names);
    return code;
}

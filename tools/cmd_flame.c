/*
 * cmd_flame.c - flame: a flame graph, as SVG or in characters on a terminal
 *
 * The library computes the layout; on a terminal a pixel is a character. With colour a frame is a
 * coloured run with its name and a blank at the end, which separates neighbours; without colour it
 * is |name   |. Frames narrower than a character are omitted.
 */
#include "cmd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cmd_flame_options[] = {
    CLI_FLAG_OPTION(0, "inverted", inverted, "root at the top (default for an SVG above 900 px)"),
    CLI_FLAG_OPTION(0, "upright", upright, "root at the bottom, for an SVG of any height"),
    CLI_FLAG_OPTION(0, "reverse", reverse, "reverse the stacks: callers on top of callees"),
    CLI_TEXT_OPTION(0, "base", "BASE", base, "show the changes from the profile BASE as colours"),
    CLI_TEXT_OPTION(0, "title", "TEXT", title,
                    "title of the graph (default: file name of the input)"),
    CLI_COUNT_OPTION(0, "width", "N", width, "width in pixels, or in characters on a terminal"),
    CLI_TEXT_OPTION(0, "min-width", "PX", min_width,
                    "leave out frames narrower than this (default: 0.3)"),
    CLI_TEXT_CHOICE(0, "format", "FORMAT", format, "svg|text",
                    "svg, or text (default on a terminal)"),
    CLI_OPTIONS_SELECTION,
    CLI_OPTIONS_ADDED_FRAMES,
    CLI_OPTION_DEMANGLE,
    CLI_OPTIONS_OUTPUT,
    CLI_OPTIONS_IMPORT,
    CLI_OPTION_END,
};

/* ---- on a terminal ---- */

/* Missing frames: pale names on grey. */
#define GONE_BACK 240
#define GONE_FRONT "153"

#define LEAST_LABEL 5   /* width of a name that is cut */
#define LONG_NAME 4096u /* as in the picture */

struct screen {
    struct cli_names *names;
    struct cli_out *out;
    const struct cli_result *flame;
    struct cli_amounts amounts;
    unsigned columns;
    int color, compared;
    double largest; /* change */
};

/* Read the character at text[at]: returns its columns; *length: its bytes; safe: its escaped form,
 * `used` bytes. */
static size_t character(const struct cli_out *out, pcol_str text, size_t at, size_t *length,
                        char *safe, size_t *used)
{
    uint32_t code = 0;
    size_t bytes = cli_utf8(text.data + at, text.size - at, &code);

    *length = bytes ? bytes : 1;
    return cli_escape(text.data + at, *length, out->is_ascii, safe, used);
}

static int is_wider(const struct cli_out *out, pcol_str name, size_t width)
{
    char safe[16];
    size_t used, length, shown = 0;

    for (size_t at = 0; at < name.size && shown <= width; at += length)
        shown += character(out, name, at, &length, safe, &used);
    return shown > width;
}

/* A name without its path or namespace, "encoding/json.Marshal" as "json.Marshal": the part after
 * the last / or :: before any bracket. Of a long name the beginning decides. */
static pcol_str cut_path(pcol_str name)
{
    static const char stops[] = {'(', '<', '[', ' '};
    size_t end = 0, start = 0;
    size_t most = name.size < LONG_NAME ? name.size : LONG_NAME;
    for (; end < most && !memchr(stops, name.data[end], sizeof stops); end++) {
        if (name.data[end] == '/')
            start = end + 1;
        else if (end && name.data[end] == ':' && name.data[end - 1] == ':')
            start = end + 1;
    }
    return start < name.size ? (pcol_str){name.data + start, name.size - start} : name;
}

/* Write the name in exactly `width` columns, cut or padded with blanks. */
static void put_name(struct cli_out *out, pcol_str name, size_t width)
{
    char safe[16];
    size_t used, length, at = 0, shown = 0;

    if (is_wider(out, name, width))
        name = cut_path(name);
    int is_cut = is_wider(out, name, width);
    while (at < name.size) {
        size_t columns = character(out, name, at, &length, safe, &used);
        /* The last column is for a sign of truncation. */
        if (is_cut && shown + columns >= width) {
            for (; shown < width; shown++)
                cli_out_text(out, ".");
            return;
        }
        cli_out_write(out, safe, used);
        shown += columns;
        at += length;
    }
    for (; shown < width; shown++)
        cli_out_text(out, " ");
}

/* A name cut to a few letters is useless: write it whole, a recognizable part, or nothing. */
static void put_label(struct cli_out *out, pcol_str name, size_t width)
{
    int shown = width >= LEAST_LABEL || !is_wider(out, cut_path(name), width);

    put_name(out, shown ? name : (pcol_str){"", 0}, width);
}

/* Colour in the palette of 256. */
static int color_of(const struct screen *s, const struct cli_box *box, pcol_str name)
{
    static const uint8_t warm[] = {222, 221, 215, 216, 214, 209, 220, 223};
    static const uint8_t more[] = {255, 224, 217, 210, 203, 167},
                         less[] = {255, 195, 153, 111, 75, 68};
    uint32_t hash = 2166136261u;

    if (s->compared && box->is_gone)
        return GONE_BACK;
    if (s->compared) {
        int step = s->largest > 0 ? (int)ceil(5 * sqrt(fabs(box->change) / s->largest)) : 0;
        step = fabs(box->change) < 1e-9 ? 0 : step > 5 ? 5 : step;
        return box->change > 0 ? more[step] : less[step];
    }
    if (box->depth == 0)
        return 252;
    if (name.size > 2 && ((name.data[0] == '[' && name.data[name.size - 1] == ']') ||
                          (name.data[0] == '<' && name.data[name.size - 1] == '>')))
        return 152;
    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ (unsigned char)name.data[i]) * 16777619u;
    return warm[(hash >> 13) % sizeof warm];
}

static pcol_str box_name(const struct cli_box *box)
{
    return box->depth == 0 ? (pcol_str){"all", 3} : box->name;
}

static void put_box(struct screen *s, const struct cli_box *box, size_t width)
{
    struct cli_out *out = s->out;
    pcol_str name = box_name(box);
    pcol_str shown = box->depth > 0 && width > 3 ? cli_name(s->names, name) : name;

    if (s->color) {
        cli_out_printf(out, "\033[48;5;%d;38;5;%sm", color_of(s, box, name),
                       box->is_gone ? GONE_FRONT : "16");
        put_label(out, shown, width > 1 ? width - 1 : 1);
        cli_out_text(out, width > 1 ? "\033[0m " : "\033[0m");
        return;
    }
    if (width == 1) {
        cli_out_text(out, "|");
        return;
    }
    cli_out_text(out, "|");
    if (width > 2)
        put_label(out, shown, width - 2);
    cli_out_text(out, box->is_gone                     ? "x"
                      : s->compared && box->change > 0 ? "+"
                      : s->compared && box->change < 0 ? "-"
                                                       : "|");
}

/* Whether any of the boxes [from, to) is wide enough to be visible. */
static int row_shows(const struct screen *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        struct cli_box box;
        box = cli_flame_box(s->flame, i);
        if (floor(box.x + box.width + 0.5) > floor(box.x + 0.5))
            return 1;
    }
    return 0;
}

/* Draw the boxes [from, to) of one depth. */
static void put_row(struct screen *s, uint32_t from, uint32_t to)
{
    size_t at = 0;

    for (uint32_t i = from; i < to; i++) {
        struct cli_box box;
        box = cli_flame_box(s->flame, i);
        size_t start = (size_t)floor(box.x + 0.5);
        size_t end = (size_t)floor(box.x + box.width + 0.5);
        if (start < at || end <= start)
            continue; /* narrower than a character */
        for (; at < start; at++)
            cli_out_text(s->out, " ");
        put_box(s, &box, end - start);
        at = end;
    }
    cli_out_text(s->out, "\n");
}

/* Legend of colours and signs. */
static void put_legend(const struct screen *s)
{
    if (s->color)
        cli_out_text(s->out, "against the base: \033[48;5;203m  \033[0m larger share  "
                             "\033[48;5;75m  \033[0m smaller  "
                             "\033[48;5;240m  \033[0m gone\n");
    else
        cli_out_text(s->out, "against the base: + larger share, - smaller, x gone\n");
}

static int draw(struct screen *s, int inverted)
{
    uint32_t count = (uint32_t)s->flame->count;
    uint32_t depth = (uint32_t)cli_result_amount(s->flame, CLI_FIELD_DEPTH, count - 1).i64;
    uint32_t *rows = calloc((size_t)depth + 2, sizeof *rows);
    struct cli_box box;

    if (rows == NULL)
        return cli_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        box = cli_flame_box(s->flame, i);
        rows[box.depth + 1] = i + 1;
        s->largest = fabs(box.change) > s->largest ? fabs(box.change) : s->largest;
    }
    for (uint32_t d = 0; d <= depth && s->out->code == 0; d++) {
        uint32_t at = inverted ? d : depth - d;
        if (row_shows(s, rows[at], rows[at + 1]))
            put_row(s, rows[at], rows[at + 1]);
    }
    free(rows);
    return CLI_OK;
}

/* The file of an error: the base, if it cannot be drawn alone. */
static const char *failed_input(const struct cli_args *args, pcol_query *base)
{
    pcol_result *flame = NULL;
    pcol_status status = base != NULL ? pcol_query_flame(base, NULL, &flame, NULL) : PCOL_OK;

    pcol_result_free(flame);
    return status == PCOL_OK ? args->operands[0] : args->base;
}

static int print_text(const struct cli_args *args, pcol_query *query, pcol_flame_options *options,
                      struct cli_out *out)
{
    struct cli_names names;
    struct screen s = {
        .names = &names, .out = out, .color = out->color, .compared = options->base != NULL};
    struct cli_result rows = {0};
    pcol_error err;
    struct cli_args people = *args;

    people.format = "table"; /* amounts as on a terminal */
    s.columns = args->width == CLI_UNSET ? cli_terminal_columns() : (unsigned)args->width;
    options->width_px = s.columns + 20;
    options->min_width_px = args->min_width == NULL ? 0.5 : options->min_width_px;
    pcol_status status = pcol_query_flame(query, options, &rows.result, &err);
    const char *input = status == PCOL_OK ? args->operands[0] : failed_input(args, options->base);
    int code = cli_flame_open(&rows, status, &err, input);
    if (code != CLI_OK) {
        cli_result_close(&rows);
        return code;
    }
    s.flame = &rows;
    cli_out_fold(out);
    cli_amounts_init(&s.amounts, query, &people, out);
    cli_amounts_header(&s.amounts, out);
    if (s.compared)
        put_legend(&s);
    cli_names_init(&names, args, 0, PCOL_BY_FUNCTION);
    code = draw(&s, args->inverted);
    cli_names_free(&names);
    cli_result_close(&rows);
    return code;
}

/* ---- SVG ---- */

static pcol_str rename_frame(void *names, pcol_str name)
{
    return cli_name(names, name);
}

static int print_svg(const struct cli_args *args, pcol_query *query, pcol_flame_options *options,
                     struct cli_out *out)
{
    pcol_result *flame;
    pcol_error err;
    const char *name = strrchr(args->operands[0], '/');
    const char *title = args->title != NULL            ? args->title
                        : name != NULL && name[1] != 0 ? name + 1
                                                       : args->operands[0];
    struct cli_names names;

    cli_names_init(&names, args, 0, PCOL_BY_FUNCTION);
    options->rename = rename_frame;
    options->context = &names;
    pcol_status status = pcol_query_flame(query, options, &flame, &err);

    if (status == PCOL_OK) {
        status = pcol_flame_svg(flame, title, cli_out_sink(out), &err);
        pcol_result_free(flame);
    }
    cli_names_free(&names);
    if (status == PCOL_OK)
        return CLI_OK;
    return out->code != 0 ? out->code : cli_fail_error(failed_input(args, options->base), &err);
}

/* ---- both outputs ---- */

static int print(const struct cli_args *args, pcol_query *query, pcol_flame_options *options)
{
    static struct cli_out out;
    int code = cli_out_open(&out, args);

    if (code != CLI_OK)
        return code;
    if (args->format != NULL ? args->format[0] == 't' : out.terminal)
        code = print_text(args, query, options, &out);
    else
        code = print_svg(args, query, options, &out);
    return cli_out_finish(&out, code);
}

static int parse_options(const struct cli_args *args, pcol_flame_options *options)
{
    char *end;

    options->flags = args->inverted  ? PCOL_FLAME_INVERTED
                     : args->upright ? 0
                                     : PCOL_FLAME_INVERTED_HIGH;
    if (args->reverse)
        options->flags |= PCOL_FLAME_REVERSE;
    if (args->width != CLI_UNSET) {
        if (args->width < 40 || args->width > 10000)
            return cli_usage("--width: must be from 40 to 10000");
        options->width_px = (unsigned)args->width;
    }
    if (args->min_width != NULL) {
        if (strspn(args->min_width, "0123456789.") != strlen(args->min_width))
            return cli_usage("--min-width: '%s' is not a number of pixels", args->min_width);
        options->min_width_px = strtod(args->min_width, &end);
        if (*end != '\0' || end == args->min_width)
            return cli_usage("--min-width: '%s' is not a number of pixels", args->min_width);
        if (options->min_width_px <= 0)
            options->min_width_px = -1;
    }
    return CLI_OK;
}

int cmd_flame(struct cli_args *args)
{
    struct cli_input input, base_input;
    pcol_flame_options options = PCOL_INIT(pcol_flame_options);
    pcol_query *query = NULL, *base = NULL;
    int code = parse_options(args, &options), has_base = 0;

    cli_names_in_graphs(args);
    if (code == CLI_OK)
        code = cli_input_open(&input, args->operands[0], args);
    if (code != CLI_OK)
        return code;
    if (args->base == NULL) {
        code = cli_query_new(&input, args, &query);
    } else {
        code = cli_input_open(&base_input, args->base, args);
        has_base = code == CLI_OK;
        if (has_base)
            code = cli_query_compared(&base_input, 1, &input, args, &base, &query);
        options.base = base;
    }
    if (code == CLI_OK)
        cli_warn_empty(&input, args, query);
    if (code == CLI_OK)
        code = print(args, query, &options);
    pcol_query_free(base);
    pcol_query_free(query);
    if (has_base)
        cli_input_close(&base_input);
    cli_input_close(&input);
    return code;
}

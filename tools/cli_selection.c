/*
 * cli_selection.c - selection options, and the display of summed values
 *
 * Machine formats have a number in the unit of the value. On a terminal it is short: time as 1.25s,
 * bytes as 3.4MB, counts with thousands separators.
 */
#include "cli.h"
#include "cli_losses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- selection ---- */

static int parse_order(const char *text, pcol_selection *selection)
{
    const char *at = text;
    uint64_t end;

    selection->flags |= PCOL_SELECTION_HAS_ORDER;
    selection->order_to = UINT64_MAX;
    if (cli_parse_digits(&at, &selection->order_from) == 0 && selection->order_from > 0 &&
        (*at == '-' || *at == '+')) {
        char kind = *at++;
        if (kind == '-' && *at == '\0')
            return CLI_OK;
        if (cli_parse_digits(&at, &end) == 0 && *at == '\0') {
            if (kind == '+' && __builtin_add_overflow(selection->order_from, end, &end))
                end = UINT64_MAX;
            if (end < selection->order_from)
                return cli_usage("--order '%s' ends before it begins", text);
            selection->order_to = end;
            return CLI_OK;
        }
    }
    return cli_usage("--order '%s' is not A-B, A- or A+N with numbers of samples from 1", text);
}

int cli_selection(const struct cli_input *input, const struct cli_args *args,
                  pcol_selection *selection)
{
    *selection = (pcol_selection)PCOL_INIT(pcol_selection);
    selection->sample_type = args->sample_type;
    selection->exact_type = args->exact_type;
    selection->focus = args->focus;
    selection->ignore = args->ignore;
    selection->hide = args->hide;
    selection->show = args->show;
    selection->thread = args->thread;
    selection->source = args->pick_source;
    selection->labels = args->labels.items;
    selection->label_count = args->labels.count;
    selection->source_metas = args->source_metas.items;
    selection->source_meta_count = args->source_metas.count;
    selection->keep_dropped = args->keep_dropped;
    if (args->time_share != NULL)
        selection->time_share = args->time_share[0] == 'p'   ? PCOL_SHARE_PROPORTIONAL
                                : args->time_share[0] == 'a' ? PCOL_SHARE_ADDITIVE
                                                             : PCOL_SHARE_EXACT;
    int code = args->order != NULL ? parse_order(args->order, selection) : CLI_OK;
    return code == CLI_OK && args->time != NULL ? cli_time(input, args, selection) : code;
}

int cli_selects(const struct cli_args *args)
{
    return args->sample_type != NULL || args->focus != NULL || args->ignore != NULL ||
           args->hide != NULL || args->show != NULL || args->thread != NULL ||
           args->pick_source != NULL || args->labels.count > 0 || args->time != NULL ||
           args->order != NULL || args->source_metas.count > 0;
}

/* The note tells that the default type is that of some sources only. */
static int is_about_type(const pcol_query_info *info)
{
    return info->note != NULL && info->note_option != NULL &&
           strcmp(info->note_option, "sample_type") == 0;
}

/* The query has a note that is printed for all questions. */
static int has_own_note(const pcol_query_info *info)
{
    return info->note != NULL && !is_about_type(info) && !(info->flags & PCOL_QUERY_NONE_PASSES);
}

static pcol_status create_query(const struct cli_input *input, const struct cli_args *args,
                                pcol_selection *selection, pcol_query **query, pcol_error *err)
{
    struct cli_demangled demangled;
    pcol_status status = cli_demangled_select(input->file, args, selection, &demangled, err);

    if (status == PCOL_OK)
        status = pcol_query_new(input->file, selection, NULL, query, err);
    cli_demangled_free(&demangled);
    return status;
}

int cli_query_new(const struct cli_input *input, const struct cli_args *args, pcol_query **query)
{
    pcol_selection selection;
    pcol_query_info info;
    pcol_error err;
    int code = cli_selection(input, args, &selection);

    *query = NULL;
    if (code != CLI_OK)
        return code;
    if (create_query(input, args, &selection, query, &err) != PCOL_OK)
        return cli_fail_error(input->name, &err);
    cli_query_describe(*query, &info);
    if (has_own_note(&info))
        cli_warn_hint(args, input->name, info.note, info.note_option, 1);
    return CLI_OK;
}

void cli_warn_left_out(const struct cli_input *input, const struct cli_args *args,
                       pcol_query *query)
{
    pcol_query_info info;

    cli_query_describe(query, &info);
    if (is_about_type(&info))
        cli_warn_hint(args, input->name, info.note, info.note_option, 0);
}

void cli_warn_empty(const struct cli_input *input, const struct cli_args *args, pcol_query *query)
{
    const struct {
        const char *name;
        int given;
    } flags[] = {
        {"--focus", args->focus != NULL},        {"--ignore", args->ignore != NULL},
        {"--hide", args->hide != NULL},          {"--show", args->show != NULL},
        {"--thread", args->thread != NULL},      {"--label", args->labels.count > 0},
        {"--time", args->time != NULL},          {"--order", args->order != NULL},
        {"--source", args->pick_source != NULL}, {"--source-meta", args->source_metas.count > 0}};
    char message[160] = "no sample passes ";
    size_t used = strlen(message), given = 0;
    pcol_query_info info;

    cli_query_describe(query, &info);
    cli_warn_left_out(input, args, query);
    if (has_own_note(&info) ||
        (info.flags & PCOL_QUERY_IS_DOUBLE ? info.selected.f64 != 0 : info.selected.i64 != 0))
        return;
    if (!(info.flags & PCOL_QUERY_IS_EMPTY)) {
        cli_warn(args, input->name, "positive and negative values cancel: their sum is 0");
        return;
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].given)
            used += (size_t)snprintf(message + used, sizeof message - used, "%s%s",
                                     given++ > 0 ? ", " : "", flags[i].name);
    cli_warn(args, input->name, given > 0 ? message : "no samples with values");
}

void cli_warn_positions(const struct cli_result *rows, pcol_by by, const char *name,
                        const struct cli_args *args)
{
    int files = 0, lines = 0;

    if (by != PCOL_BY_FILE && by != PCOL_BY_LINE && by != PCOL_BY_SRCLINE)
        return;
    for (size_t i = 0; i < rows->count; i++) {
        struct cli_frame frame;
        cli_result_frame(rows, i, &frame);
        files |= frame.has_file;
        lines |= frame.has_line;
    }
    if (by == PCOL_BY_FILE && !files)
        cli_warn(args, name, "--by file: no frame has a source file");
    else if (by == PCOL_BY_LINE && !lines && !files)
        cli_warn(args, name, "--by line: no frame has a line or a file, rows are functions");
    else if (by == PCOL_BY_LINE && !lines)
        cli_warn(args, name, "--by line: no frame has a line, rows are functions and files");
    else if (by == PCOL_BY_SRCLINE && !lines)
        cli_warn(args, name, "--by srcline: no frame has a line");
}

/* The sample type of a query, which owns its texts. */
static pcol_sample_type get_type(pcol_query *query)
{
    pcol_query_info info;

    cli_query_describe(query, &info);
    return (pcol_sample_type){info.type, info.unit, info.type_ordinal};
}

int cli_query_count(const struct cli_input *input, const struct cli_args *args, pcol_query *like,
                    pcol_query **query, int *fits)
{
    struct cli_args asked = *args;
    pcol_selection selection;
    pcol_sample_type type = {{"samples", 7}, {"count", 5}, 0};
    pcol_status status = PCOL_OK;
    pcol_error err;

    if (like != NULL)
        type = get_type(like);
    asked.exact_type = &type;
    int code = cli_selection(input, &asked, &selection);
    if (code == CLI_OK) {
        selection.flags |= PCOL_SELECTION_COUNT;
        status = create_query(input, args, &selection, query, &err);
        *fits = status == PCOL_OK;
        if (status != PCOL_OK && status != PCOL_E_ARGUMENT)
            code = cli_fail_error(input->name, &err);
    }
    return code;
}

/* Warns that a comparison is by another sample type than the default of one of the profiles. */
static void warn_shared_type(const struct cli_args *args, const struct cli_input *input,
                             const pcol_sample_type *type, size_t base_count)
{
    char message[200];

    snprintf(message, sizeof message, "comparing by %.*s/%.*s, a sample type of %s profiles",
             type->type.size < 60 ? (int)type->type.size : 60, type->type.data,
             type->unit.size < 60 ? (int)type->unit.size : 60, type->unit.data,
             base_count > 1 ? "all" : "both");
    cli_warn(args, input->name, message);
}

/* *type: the texts belong to the input. *is_default: all profiles have it by default. */
static int find_shared_type(const struct cli_input *bases, size_t count,
                            const struct cli_input *input, const struct cli_args *args,
                            pcol_sample_type *type, int *is_default)
{
    const pcol_file **files = calloc(count, sizeof *files);
    pcol_selection selection;
    pcol_error err;
    int code = files == NULL ? cli_fail_memory() : cli_selection(input, args, &selection);

    for (size_t i = 0; i < count && code == CLI_OK; i++)
        files[i] = bases[i].file;
    if (code == CLI_OK && pcol_query_shared_type(files, count, input->file, &selection, type,
                                                 is_default, &err) != PCOL_OK) {
        for (size_t i = 0; i < count && code == CLI_OK; i++) { /* whether a base is unreadable */
            pcol_query *query = NULL;
            code = cli_query_new(&bases[i], args, &query);
            pcol_query_free(query);
        }
        if (code == CLI_OK)
            code = cli_fail_error(input->name, &err);
    }
    free(files);
    return code;
}

int cli_query_compared(const struct cli_input *bases, size_t count, const struct cli_input *input,
                       const struct cli_args *args, pcol_query **base_queries, pcol_query **query)
{
    struct cli_args asked = *args;
    pcol_sample_type type;
    int is_default = 1, code = CLI_OK;

    if (args->sample_type == NULL)
        code = find_shared_type(bases, count, input, args, &type, &is_default);
    if (code == CLI_OK && !is_default) {
        warn_shared_type(args, input, &type, count);
        asked.exact_type = &type;
    }
    if (code == CLI_OK)
        code = cli_query_new(input, &asked, query);
    for (size_t i = 0; i < count && code == CLI_OK; i++)
        code = cli_query_new(&bases[i], &asked, &base_queries[i]);
    return code;
}

/* ---- filtering ---- */

pcol_builder_options cli_builder_options(const struct cli_args *args)
{
    pcol_builder_options options = PCOL_INIT(pcol_builder_options);

    options.temporary_folder = getenv("TMPDIR");
    if (options.temporary_folder != NULL && *options.temporary_folder == '\0')
        options.temporary_folder = NULL;
    options.threads = cli_threads(args);
    return options;
}

int cli_builder_new(const struct cli_args *args, pcol_builder **builder)
{
    pcol_builder_options options = cli_builder_options(args);
    pcol_error err;

    return pcol_builder_new(&options, builder, &err) == PCOL_OK ? CLI_OK
                                                                : cli_fail_error(NULL, &err);
}

int cli_filter(const struct cli_input *input, const struct cli_args *args,
               const pcol_filter_options *options, pcol_builder *builder)
{
    pcol_selection selection;
    pcol_filter_options own = *options;
    struct cli_demangled demangled;
    pcol_error err;

    int code = cli_selection(input, args, &selection);
    own.selection = &selection;
    if (code != CLI_OK)
        return code;
    own.idle = args->collapse_idle ? PCOL_IDLE_COLLAPSE
               : args->expand_idle ? PCOL_IDLE_EXPAND
                                   : PCOL_IDLE_KEEP;
    own.idle_tolerance_ns = args->tolerance_ns;
    pcol_status status = cli_demangled_select(input->file, args, &selection, &demangled, &err);
    if (status == PCOL_OK)
        status = pcol_filter(builder, input->file, &own, &err);
    cli_demangled_free(&demangled);
    return status == PCOL_OK ? CLI_OK : cli_fail_error(input->name, &err);
}

static int filter_input(struct cli_input *input, const struct cli_args *args, int apply_drop_frames)
{
    struct cli_input part = *input;
    pcol_builder *builder = NULL;
    pcol_error err;
    struct losses losses = {0};
    struct cli_notices notices = {args, input->name, &losses, 0};
    pcol_control control = cli_control(&notices);
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    int code = cli_builder_new(args, &builder);

    options.control = &control;
    options.apply_drop_frames = apply_drop_frames;
    part.file = NULL;
    if (code == CLI_OK)
        code = cli_filter(input, args, &options, builder);
    if (losses.stored > 0)
        snprintf(part.loss, sizeof part.loss, "%s", losses.items[0].text);
    losses_clear(&losses);
    if (code == CLI_OK && pcol_builder_file(builder, 0, NULL, &part.file, &err) != PCOL_OK)
        code = cli_fail_error(input->name, &err);
    pcol_builder_free(builder);
    if (code != CLI_OK) {
        cli_input_close(&part);
        return code;
    }
    cli_input_close(input);
    *input = part;
    return CLI_OK;
}

int cli_input_filter(struct cli_input *input, const struct cli_args *args)
{
    return filter_input(input, args, 0);
}

int cli_input_filter_shown(struct cli_input *input, const struct cli_args *args)
{
    return filter_input(input, args, !args->keep_dropped);
}

int cli_parse_by(const char *text, int frames, pcol_by *by, const char **label)
{
    static const char *const names[] = {"function", "file",   "line",    "srcline", "location",
                                        "mapping",  "thread", "process", "source"};
    static const pcol_by kinds[] = {PCOL_BY_FUNCTION, PCOL_BY_FILE,     PCOL_BY_LINE,
                                    PCOL_BY_SRCLINE,  PCOL_BY_LOCATION, PCOL_BY_MAPPING,
                                    PCOL_BY_THREAD,   PCOL_BY_PROCESS,  PCOL_BY_SOURCE};
    char hint[96];
    struct cli_suggest suggest;
    size_t count = frames ? 6 : sizeof names / sizeof *names;

    *label = NULL;
    *by = PCOL_BY_FUNCTION;
    if (text == NULL)
        return CLI_OK;
    if (!frames && strncmp(text, "label:", 6) == 0) {
        *by = PCOL_BY_LABEL;
        *label = text + 6;
        return CLI_OK;
    }
    if (!frames && strncmp(text, "meta:", 5) == 0) {
        *by = PCOL_BY_META;
        *label = text + 5;
        return CLI_OK;
    }
    cli_suggest_start(&suggest, text);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            *by = kinds[i];
            return CLI_OK;
        }
        cli_suggest_offer(&suggest, names[i], strlen(names[i]));
    }
    return cli_usage("--by: '%s' is none of function, file, line, srcline, location, mapping%s%s",
                     text, frames ? "" : ", thread, process, source, label:KEY, meta:KEY",
                     cli_suggest_text(&suggest, hint, sizeof hint));
}

int cli_parse_order(const struct cli_args *args, pcol_order *order)
{
    const char *sort = args->sort != NULL ? args->sort : args->cum ? "total" : "self";

    *order = strcmp(sort, "name") == 0                                ? PCOL_ORDER_NAME
             : strcmp(sort, "total") == 0 || strcmp(sort, "cum") == 0 ? PCOL_ORDER_TOTAL
                                                                      : PCOL_ORDER_SELF;
    if (args->cum && *order != PCOL_ORDER_TOTAL)
        return cli_usage("--cum and --sort %s exclude each other", sort);
    return CLI_OK;
}

/* ---- amounts ---- */

static int is_text(pcol_str text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text.size == strlen(list[i]) && memcmp(text.data, list[i], text.size) == 0)
            return 1;
    return 0;
}

int cli_for_people(const struct cli_args *args, const struct cli_out *out)
{
    return args->format != NULL ? strcmp(args->format, "table") == 0 : out->terminal;
}

void cli_amounts_init(struct cli_amounts *amounts, pcol_query *query, const struct cli_args *args,
                      const struct cli_out *out)
{
    static const char *const bytes[] = {"bytes", "byte", "B"};
    static const char *const counts[] = {"count", "counts", "samples", ""};

    memset(amounts, 0, sizeof *amounts);
    cli_query_describe(query, &amounts->info);
    amounts->is_double = (amounts->info.flags & PCOL_QUERY_IS_DOUBLE) != 0;
    amounts->people = cli_for_people(args, out);
    amounts->selects = cli_selects(args);
    amounts->total = cli_amount_double(amounts, amounts->info.total);
    amounts->scale = 1;
    if (is_text(amounts->info.unit, bytes, sizeof bytes / sizeof *bytes)) {
        amounts->unit = CLI_UNIT_BYTES;
    } else if (amounts->info.seconds_per_value > 0 &&
               !is_text(amounts->info.unit, counts, sizeof counts / sizeof *counts)) {
        amounts->unit = CLI_UNIT_SECONDS;
        amounts->scale = amounts->info.seconds_per_value;
    }
}

double cli_amount_double(const struct cli_amounts *amounts, pcol_amount amount)
{
    return amounts->is_double ? amount.f64 : (double)amount.i64;
}

/* "1.25s", "340ms", "3.4MB": three to four digits and a unit. */
static void humanise(double value, int bytes, char *text)
{
    static const struct {
        double size;
        const char *unit;
    } times[] = {{1e9, "ns"}, {1e6, "us"}, {1e3, "ms"}, {1, "s"}},
      sizes[] = {{1, "B"}, {0x1p-10, "kB"}, {0x1p-20, "MB"}, {0x1p-30, "GB"}, {0x1p-40, "TB"}};
    size_t last = bytes ? 4 : 3;
    size_t i = 0;

    if (value == 0) {
        memcpy(text, "0", 2);
        return;
    }
    if (!isfinite(value)) {
        text[cli_format_f64(text, value)] = '\0';
        return;
    }
    /* The unit in which the number is below 1000, or the largest one. */
    while (i < last && fabs(value * (bytes ? sizes : times)[i].size) >= (bytes ? 1024 : 999.95))
        i++;
    double shown = value * (bytes ? sizes : times)[i].size;
    int digits = fabs(shown) >= 100 || (bytes && i == 0) ? 0 : fabs(shown) >= 10 ? 1 : 2;
    if (i == last)
        digits = 2;
    int small = fabs(shown) < 1e15; /* limits the digits to the buffer */
    snprintf(text, CLI_NUMBER_SIZE, small ? "%.*f%s" : "%.*g%s", small ? digits : 4, shown,
             (bytes ? sizes : times)[i].unit);
}

void cli_amount_set(const struct cli_amounts *amounts, pcol_amount amount, char *buffer,
                    struct cli_cell *cell)
{
    cell->stable = 0;
    if (amounts->is_double) {
        cell->kind = CLI_CELL_F64;
        cell->as.f64 = amount.f64;
    } else {
        cell->kind = CLI_CELL_I64;
        cell->as.i64 = amount.i64;
    }
    if (!amounts->people)
        return;
    if (amounts->unit != CLI_UNIT_PLAIN)
        humanise(cli_amount_double(amounts, amount) * amounts->scale,
                 amounts->unit == CLI_UNIT_BYTES, buffer);
    else if (amounts->is_double && !isfinite(amount.f64))
        buffer[cli_format_f64(buffer, amount.f64)] = '\0';
    else if (amounts->is_double)
        snprintf(buffer, CLI_NUMBER_SIZE, "%.6g", amount.f64);
    else {
        buffer[0] = '-';
        cli_format_grouped(buffer + (amount.i64 < 0),
                           amount.i64 < 0 ? 0 - (uint64_t)amount.i64 : (uint64_t)amount.i64);
    }
    *cell = cli_cell_text(buffer);
}

struct cli_cell cli_amount_cell(const struct cli_amounts *amounts, pcol_amount amount, char *buffer)
{
    struct cli_cell cell;

    cli_amount_set(amounts, amount, buffer, &cell);
    return cell;
}

double cli_amount_share(const struct cli_amounts *amounts, pcol_amount amount)
{
    double value = cli_amount_double(amounts, amount), part;

    if (!isfinite(amounts->total) || !isfinite(value))
        return (double)NAN;
    if (!(amounts->total > 0))
        return 0;
    part = 100 * value / amounts->total;
    if (!isfinite(part))
        part = 100 * (value / amounts->total);
    return part;
}

struct cli_cell cli_amount_percent(const struct cli_amounts *amounts, pcol_amount amount)
{
    struct cli_cell cell = {0};

    cell.as.f64 = cli_amount_share(amounts, amount);
    cell.kind = isfinite(cell.as.f64) ? CLI_CELL_PERCENT : CLI_CELL_NULL;
    return cell;
}

struct cli_cell cli_amount_seconds(const struct cli_amounts *amounts, pcol_amount amount,
                                   char *buffer)
{
    struct cli_cell cell = {CLI_CELL_F64, 0, {0}};

    if (amounts->info.seconds_per_value <= 0)
        return cli_cell_text(NULL);
    /* Round to a nanosecond: products such as 3 * 0.01 have inexact digits. */
    double seconds = cli_amount_double(amounts, amount) * amounts->info.seconds_per_value;
    cell.as.f64 = fabs(seconds) < 1e6 ? round(seconds * 1e9) / 1e9 : seconds;
    if (!amounts->people)
        return cell;
    humanise(seconds, 0, buffer);
    return cli_cell_text(buffer);
}

void cli_amounts_header(const struct cli_amounts *amounts, struct cli_out *out)
{
    char buffer[CLI_NUMBER_SIZE];
    struct cli_cell total = cli_amount_cell(amounts, amounts->info.total, buffer);

    if (amounts->info.type.size + amounts->info.unit.size > 0) {
        cli_out_safe(out, amounts->info.type.data, amounts->info.type.size);
        cli_out_text(out, "/");
        cli_out_safe(out, amounts->info.unit.data, amounts->info.unit.size);
        cli_out_text(out, ", ");
    }
    cli_out_text(out, "total ");
    cli_out_write(out, total.as.text.data, total.as.text.size);
    if (amounts->unit == CLI_UNIT_PLAIN && amounts->info.seconds_per_value > 0) {
        (void)cli_amount_seconds(amounts, amounts->info.total, buffer);
        cli_out_printf(out, " (%s", buffer);
        humanise(amounts->info.seconds_per_value, 0, buffer);
        cli_out_printf(out, ", %s each)", buffer);
    }
    if (amounts->info.duration_ns > 0) {
        humanise((double)amounts->info.duration_ns / 1e9, 0, buffer);
        cli_out_printf(out, ", duration %s", buffer);
    }
    if (isfinite(amounts->total) &&
        cli_amount_double(amounts, amounts->info.selected) != amounts->total) {
        /* Percentages are of absolute values, as in pprof: negative values count too. */
        cli_out_text(out, amounts->selects ? ", selected " : "; values below 0 leave ");
        total = cli_amount_cell(amounts, amounts->info.selected, buffer);
        cli_out_write(out, total.as.text.data, total.as.text.size);
        cli_out_printf(out, " (%.2f%%)",
                       cli_amount_percent(amounts, amounts->info.selected).as.f64);
    }
    cli_out_text(out, "\n");
}

/* ---- amounts before names ---- */

#define TOTAL_COLUMNS 10u
#define PERCENT_COLUMNS 8u
#define SELF_COLUMNS 11u
#define GAP_COLUMNS 2u

static size_t gutter_columns(const struct cli_gutter *gutter)
{
    return TOTAL_COLUMNS + GAP_COLUMNS + (gutter->percent ? PERCENT_COLUMNS : 0) +
           (gutter->self ? SELF_COLUMNS : 0);
}

void cli_gutter_init(struct cli_gutter *gutter, const struct cli_out *out, size_t widest)
{
    *gutter = (struct cli_gutter){1, 1, SIZE_MAX};
    if (!out->terminal)
        return;
    size_t columns = cli_terminal_columns();
    gutter->self = gutter_columns(gutter) + widest <= columns;
    gutter->percent = gutter_columns(gutter) + widest <= columns;
    gutter->columns = columns - gutter_columns(gutter);
}

void cli_gutter_header(const struct cli_gutter *gutter, struct cli_out *out)
{
    cli_out_printf(out, "     total%s%s  name\n", gutter->percent ? "  total%" : "",
                   gutter->self ? "       self" : "");
}

void cli_gutter_put(const struct cli_gutter *gutter, struct cli_out *out,
                    const struct cli_amounts *amounts, pcol_amount total, pcol_amount self)
{
    char buffer[CLI_NUMBER_SIZE];
    struct cli_cell cell = cli_amount_cell(amounts, total, buffer);

    cli_out_printf(out, "%10.*s", (int)cell.as.text.size, cell.as.text.data);
    if (gutter->percent)
        cli_out_printf(out, " %6.2f%%", cli_amount_percent(amounts, total).as.f64);
    if (gutter->self) {
        cell = cli_amount_cell(amounts, self, buffer);
        cli_out_printf(out, " %10.*s", (int)cell.as.text.size, cell.as.text.data);
    }
    cli_out_text(out, "  ");
}

void cli_gutter_blank(const struct cli_gutter *gutter, struct cli_out *out)
{
    cli_out_printf(out, "%*s", (int)gutter_columns(gutter), "");
}

void cli_gutter_end(const struct cli_gutter *gutter, struct cli_out *out)
{
    if (!gutter->self)
        cli_out_printf(out, "(too narrow for %sself)\n", gutter->percent ? "" : "total%, ");
}

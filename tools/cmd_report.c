/*
 * cmd_report.c - report: one HTML file with a profile, or two, and the page that shows them
 *
 * The profiles are packed as archives and embedded as base64; the page answers with the library as
 * WebAssembly.
 */
#include "cmd_report.h"

#include "cli_losses.h"
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

const struct cli_option cmd_report_options[] = {
    CLI_TEXT_OPTION(0, "title", "TEXT", title,
                    "title of the report (default: file name of the input)"),
    CLI_FLAG_OPTION(0, "anonymize", anonymize, "replace names by f1, file1.R, ... (see filter)"),
    CLI_FLAG_OPTION(0, "open", open, "show the report in the browser (xdg-open)"),
    CLI_OPTIONS_SELECTION,
    CLI_OPTIONS_ADDED_FRAMES,
    CLI_OPTION_DEMANGLE,
    CLI_OPTIONS_OUTPUT,
    CLI_OPTIONS_IMPORT,
    CLI_OPTION_END,
};

/* A profile as it is embedded. */
struct part {
    struct cli_input input;
    void *data;
    size_t size;
    int is_open;
};

/* ---- packing ---- */

static int add_input(const struct cli_input *input, const struct cli_args *args,
                     pcol_pseudonyms *names, pcol_builder *builder)
{
    struct losses losses = {0};
    struct cli_notices notices = {args, input->name, &losses, 0};
    pcol_control control = cli_control(&notices);
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    pcol_import_options import = PCOL_INIT(pcol_import_options);
    pcol_error err;
    int code = CLI_OK;

    options.anonymize = args->anonymize;
    options.pseudonyms = names;
    options.control = &control;
    import.control = &control;
    if (args->anonymize || cli_selects(args))
        code = cli_filter(input, args, &options, builder);
    else if (pcol_builder_add_file(builder, input->file, &import, &err) != PCOL_OK)
        code = cli_fail_error(input->name, &err);
    losses_clear(&losses);
    return code;
}

/* Read a profile, pack what is selected of it as an archive, and read that. */
static int open_part(struct part *part, const char *path, const struct cli_args *args,
                     pcol_pseudonyms *names)
{
    struct cli_input input;
    pcol_builder *builder = NULL;
    pcol_error err;
    int code = cli_input_open(&input, path, args);

    if (code != CLI_OK)
        return code;
    code = cli_builder_new(args, &builder);
    if (code == CLI_OK)
        code = add_input(&input, args, names, builder);
    if (code == CLI_OK && pcol_builder_write_memory(builder, PCOL_WRITE_ARCHIVE, NULL, &part->data,
                                                    &part->size, &err) != PCOL_OK)
        code = cli_fail_error(path, &err);
    pcol_builder_free(builder);
    cli_input_close(&input);
    if (code != CLI_OK)
        return code;
    part->input = (struct cli_input){.name = path};
    if (pcol_file_open_memory(part->data, part->size, NULL, &part->input.file, &err) != PCOL_OK)
        return cli_fail_error(path, &err);
    part->is_open = 1;
    return CLI_OK;
}

static void close_part(struct part *part)
{
    if (part->is_open)
        pcol_file_close(part->input.file);
    pcol_free(part->data);
}

/* ---- writing ---- */

static void put_base64(struct cli_out *out, const unsigned char *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t at = 0; at < size && out->code == 0; at += 3) {
        size_t left = size - at;
        uint32_t bits = (uint32_t)data[at] << 16 | (left > 1 ? (uint32_t)data[at + 1] << 8 : 0) |
                        (left > 2 ? data[at + 2] : 0);
        char *place = cli_out_reserve(out, 4);
        place[0] = digits[bits >> 18];
        place[1] = digits[bits >> 12 & 63];
        place[2] = left > 1 ? digits[bits >> 6 & 63] : '=';
        place[3] = left > 2 ? digits[bits & 63] : '=';
        cli_out_commit(out, 4);
    }
}

static void put_part(struct cli_out *out, const struct part *part, const char *id,
                     const struct cli_args *args)
{
    const char *name = args->anonymize ? "profile" : report_base_name(part->input.name);
    size_t length = strlen(name);

    if (length > 5 && strcmp(name + length - 5, ".pcol") == 0)
        length -= 5;
    cli_out_printf(out, "<script type=\"text/plain\" id=\"%s\" data-name=\"", id);
    report_text(out, name, length);
    cli_out_text(out, args->keep_dropped ? ".pcol\" data-keep-dropped>" : ".pcol\">");
    put_base64(out, part->data, part->size);
    cli_out_text(out, "</script>\n");
}

struct report {
    const struct cli_args *args;
    struct part *parts;
    size_t count;
    pcol_query *query, *base;
};

static void put_title(struct cli_out *out, const void *context)
{
    const struct report *report = context;
    const struct cli_args *args = report->args;

    if (args->title != NULL) {
        report_text(out, args->title, strlen(args->title));
    } else if (args->anonymize) {
        cli_out_text(out, "Profile");
    } else {
        for (size_t i = report->count; i-- > 0;) {
            const char *name = report_base_name(report->parts[i].input.name);
            report_text(out, name, strlen(name));
            cli_out_text(out, i > 0 ? " → " : "");
        }
    }
}

static int put_data(struct cli_out *out, const void *context)
{
    const struct report *report = context;
    int code = CLI_OK;

    cli_out_text(out, "<pre id=\"plain-names\" hidden>");
    for (size_t i = 0; i < report->count && code == CLI_OK; i++)
        code = report_plain_names(out, report->args, &report->parts[i].input);
    cli_out_text(out, "</pre>\n");
    put_part(out, &report->parts[0], "data", report->args);
    if (report->count > 1)
        put_part(out, &report->parts[1], "base-data", report->args);
    return code;
}

static int put_static(struct cli_out *out, const void *context)
{
    const struct report *report = context;

    cli_out_text(out, "<h1>");
    put_title(out, context);
    cli_out_text(out, "</h1>\n");
    return report_static(out, &report->parts[0].input, report->args, report->query, report->base);
}

static int write_report(const struct cli_args *args, struct report *report)
{
    static struct cli_out out;
    const struct report_page page = {"'none'", report, put_title, put_static, put_data};
    int code;

    if (report->count > 1)
        code = cli_query_compared(&report->parts[1].input, 1, &report->parts[0].input, args,
                                  &report->base, &report->query);
    else
        code = cli_query_new(&report->parts[0].input, args, &report->query);
    if (code != CLI_OK)
        return code;
    cli_warn_empty(&report->parts[0].input, args, report->query);
    code = cli_out_open_path(&out, args, args->output, CLI_OUT_BINARY);
    if (code != CLI_OK)
        return code;
    return cli_out_finish(&out, report_put_page(&out, &page));
}

static int open_browser(const char *path)
{
    pid_t child;
    int status, failed = cli_browser_start(path, &child);

    if (failed != 0)
        return cli_fail(CLI_IO,
                        "%s is written, but xdg-open cannot be started: %s; open it in a "
                        "browser",
                        path, strerror(failed));
    while ((failed = waitpid(child, &status, 0)) < 0 && errno == EINTR)
        continue;
    if (failed < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return cli_fail(CLI_IO, "%s is written, but xdg-open failed; open it in a browser", path);
    return CLI_OK;
}

int cmd_report(struct cli_args *args)
{
    struct part parts[2] = {{.size = 0}};
    struct report report = {.args = args, .parts = parts, .count = args->operand_count};
    /* The parts are what is selected: queries of them are not to select again. */
    struct cli_args whole;
    pcol_pseudonyms *names;
    pcol_error err;
    int code = CLI_OK;

    cli_names_in_graphs(args);
    whole = *args;
    if (args->output == NULL)
        return cli_usage("missing output: -o OUT.html; - is stdout");
    if ((code = cli_require_html_name(args)) != CLI_OK)
        return code;
    if (args->open && !cli_is_file_name(args->output))
        return cli_usage("--open requires an output file: -o OUT.html");
    if (pcol_pseudonyms_new(&names, &err) != PCOL_OK)
        return cli_fail_error(NULL, &err);
    for (size_t i = 0; i < args->operand_count && code == CLI_OK; i++)
        code = open_part(&parts[i], args->operands[i], args, names);
    pcol_pseudonyms_free(names);
    whole.focus = whole.ignore = whole.hide = whole.show = whole.thread = NULL;
    whole.pick_source = whole.time = whole.order = NULL;
    whole.labels.count = whole.source_metas.count = 0;
    if (code == CLI_OK)
        code = write_report(&whole, &report);
    pcol_query_free(report.query);
    pcol_query_free(report.base);
    for (size_t i = 0; i < 2; i++)
        close_part(&parts[i]);
    if (code == CLI_OK && args->open)
        code = open_browser(args->output);
    return code;
}

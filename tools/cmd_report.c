/*
 * cmd_report.c - report: one HTML file with a profile, or two, and the page that shows them
 *
 * The profiles are packed as archives and embedded as base64; the page answers with the library as
 * WebAssembly. The template has markers such as @TITLE@ in a fixed order, which are replaced here.
 */
#include "cmd_report.h"

#include "cli_losses.h"
#include "cmd.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

const struct cli_option cmd_report_options[] = {
    {0, "title", "TEXT", "title of the report (default: file name of the input)", CLI_TEXT,
     CLI_AT(title), 0, NULL},
    {0, "anonymize", NULL, "replace names by f1, file1.R, ... (see filter); without BASE only",
     CLI_FLAG, CLI_AT(anonymize), 1, NULL},
    {0, "open", NULL, "show the report in the browser (xdg-open)", CLI_FLAG, CLI_AT(open), 1, NULL},
    CLI_OPTIONS_SELECTION,
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
                     pcol_builder *builder)
{
    struct losses losses = {0};
    struct cli_notices notices = {args, input->name, &losses, 0};
    pcol_control control = cli_control(&notices);
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    pcol_import_options import = PCOL_INIT(pcol_import_options);
    pcol_error err;
    int code = CLI_OK;

    options.anonymize = args->anonymize;
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
static int open_part(struct part *part, const char *path, const struct cli_args *args)
{
    struct cli_input input;
    pcol_builder *builder = NULL;
    pcol_error err;
    int code = cli_input_open(&input, path, args);

    if (code != CLI_OK)
        return code;
    code = cli_builder_new(args, &builder);
    if (code == CLI_OK)
        code = add_input(&input, args, builder);
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

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static void put_part(struct cli_out *out, const struct part *part, const char *id,
                     const struct cli_args *args)
{
    const char *name = args->anonymize ? "profile" : base_name(part->input.name);
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

static void put_title(struct cli_out *out, const struct report *report)
{
    const struct cli_args *args = report->args;

    if (args->title != NULL) {
        report_text(out, args->title, strlen(args->title));
    } else if (args->anonymize) {
        cli_out_text(out, "Profile");
    } else {
        for (size_t i = report->count; i-- > 0;) {
            const char *name = base_name(report->parts[i].input.name);
            report_text(out, name, strlen(name));
            cli_out_text(out, i > 0 ? " → " : "");
        }
    }
}

/* Lines of mangled and demangled names of functions, which the page shows instead. */
static int put_plain_names(struct cli_out *out, const struct report *report,
                           const struct part *part)
{
    struct cli_names plain;
    const pcol_table *table;
    pcol_names *names = NULL;
    uint64_t rows = 0;
    pcol_error err;
    pcol_status status =
        cli_find_table(part->input.file, PCOL_MODEL_V2, "functions", &table, &rows, &err);

    if (status == PCOL_OK)
        status = pcol_names_new(part->input.file, &names, &err);
    cli_names_init(&plain, report->args, 1);
    for (uint64_t row = 0; row < rows && status == PCOL_OK && out->code == 0; row++) {
        pcol_str name;
        int valid;
        status = pcol_names_function(names, row, &name, &valid, &err);
        if (status != PCOL_OK || !valid || name.size < 3 || memcmp(name.data, "_Z", 2) != 0)
            continue;
        pcol_str shown = cli_name(&plain, name);
        if (shown.data == name.data)
            continue;
        report_text(out, name.data, name.size);
        cli_out_text(out, "\t");
        report_text(out, shown.data, shown.size);
        cli_out_text(out, "\n");
    }
    cli_names_free(&plain);
    pcol_names_free(names);
    return status == PCOL_OK ? CLI_OK : cli_fail_error(part->input.name, &err);
}

static int put_data(struct cli_out *out, const struct report *report)
{
    int code = CLI_OK;

    cli_out_text(out, "<pre id=\"plain-names\" hidden>");
    for (size_t i = 0; i < report->count && code == CLI_OK; i++)
        code = put_plain_names(out, report, &report->parts[i]);
    cli_out_text(out, "</pre>\n");
    put_part(out, &report->parts[0], "data", report->args);
    if (report->count > 1)
        put_part(out, &report->parts[1], "base-data", report->args);
    return code;
}

/* Write what belongs in the place of a marker; 0: `name` is none. */
static int put_marker(struct cli_out *out, const struct report *report, const char *name,
                      size_t size, int *code)
{
    if (size == 5 && memcmp(name, "TITLE", 5) == 0) {
        put_title(out, report);
    } else if (size == 7 && memcmp(name, "VERSION", 7) == 0) {
        cli_out_text(out, pcol_version());
    } else if (size == 7 && memcmp(name, "CONNECT", 7) == 0) {
        cli_out_text(out, "'none'");
    } else if (size == 6 && memcmp(name, "STATIC", 6) == 0) {
        *code =
            report_static(out, &report->parts[0].input, report->args, report->query, report->base);
    } else if (size == 4 && memcmp(name, "DATA", 4) == 0) {
        *code = put_data(out, report);
    } else {
        return 0;
    }
    return 1;
}

static int put_page(struct cli_out *out, const struct report *report)
{
    const char *at = (const char *)page_template, *end = at + page_template_size;
    int code = CLI_OK;

    while (at < end && code == CLI_OK) {
        const char *mark = memchr(at, '@', (size_t)(end - at));
        const char *close = mark ? memchr(mark + 1, '@', (size_t)(end - mark - 1)) : NULL;
        if (close == NULL) {
            cli_out_write(out, at, (size_t)(end - at));
            break;
        }
        cli_out_write(out, at, (size_t)(mark - at));
        if (put_marker(out, report, mark + 1, (size_t)(close - mark - 1), &code)) {
            at = close + 1;
        } else {
            cli_out_write(out, mark, 1);
            at = mark + 1;
        }
    }
    return code;
}

static int write_report(const struct cli_args *args, struct report *report)
{
    static struct cli_out out;
    int code;

    if (report->count > 1)
        code = cli_query_pair(&report->parts[1].input, &report->parts[0].input, args, &report->base,
                              &report->query);
    else
        code = cli_query_new(&report->parts[0].input, args, &report->query);
    if (code != CLI_OK)
        return code;
    cli_warn_empty(&report->parts[0].input, args, report->query);
    code = cli_out_open_path(&out, args, args->output, CLI_OUT_BINARY);
    if (code != CLI_OK)
        return code;
    return cli_out_finish(&out, put_page(&out, report));
}

/* ---- the browser ---- */

static int open_browser(const char *path)
{
    char program[] = "xdg-open";
    char *name = strdup(path);
    char *command[] = {program, name, NULL};
    pid_t child;
    int status = 0, failed = name == NULL
                                 ? ENOMEM
                                 : posix_spawnp(&child, program, NULL, NULL, command, environ);
    while (failed == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    free(name);
    if (failed != 0)
        return cli_fail(CLI_IO,
                        "%s is written, but xdg-open cannot be started: %s; open it in a "
                        "browser",
                        path, strerror(failed));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return cli_fail(CLI_IO, "%s is written, but xdg-open failed; open it in a browser", path);
    return CLI_OK;
}

int cmd_report(struct cli_args *args)
{
    struct part parts[2] = {{.size = 0}};
    struct report report = {.args = args, .parts = parts, .count = args->operand_count};
    /* The parts are what is selected: queries of them are not to select again. */
    struct cli_args whole = *args;
    int code = CLI_OK;

    if (args->output == NULL)
        return cli_usage("missing output: -o OUT.html; - is stdout");
    if (args->anonymize && args->operand_count > 1)
        return cli_usage("--anonymize takes one profile: names of two would not match");
    if (args->open && !cli_is_file_name(args->output))
        return cli_usage("--open requires an output file: -o OUT.html");
    for (size_t i = 0; i < args->operand_count && code == CLI_OK; i++)
        code = open_part(&parts[i], args->operands[i], args);
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

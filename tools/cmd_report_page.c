/*
 * cmd_report_page.c - the page of report and view: the template of web/ with its markers replaced
 *
 * The template has markers such as @TITLE@ in a fixed order.
 */
#include "cmd_report.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>

extern char **environ;

const char *report_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

int report_plain_names(struct cli_out *out, const struct cli_args *args,
                       const struct cli_input *input)
{
    struct cli_names plain;
    const pcol_table *table;
    pcol_names *names = NULL;
    uint64_t rows = 0;
    pcol_error err;
    pcol_status status =
        cli_find_table(input->file, PCOL_MODEL_V2, "functions", &table, &rows, &err);

    if (status == PCOL_OK)
        status = pcol_names_new(input->file, &names, &err);
    cli_names_init(&plain, args, 1, PCOL_BY_FUNCTION);
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
    return status == PCOL_OK ? CLI_OK : cli_fail_error(input->name, &err);
}

void report_put_policy(struct cli_out *out, const char *connect)
{
    static const char marker[] = "@CONNECT@";
    const char *place = strstr(page_policy, marker);

    cli_out_write(out, page_policy, (size_t)(place - page_policy));
    cli_out_text(out, connect);
    cli_out_text(out, place + sizeof marker - 1);
}

/* Write what belongs in the place of a marker; 0: `name` is none. */
static int put_marker(struct cli_out *out, const struct report_page *page, const char *name,
                      size_t size, int *code)
{
    if (size == 5 && memcmp(name, "TITLE", 5) == 0)
        page->put_title(out, page->context);
    else if (size == 7 && memcmp(name, "VERSION", 7) == 0)
        cli_out_text(out, pcol_version());
    else if (size == 6 && memcmp(name, "POLICY", 6) == 0)
        report_put_policy(out, page->connect);
    else if (size == 6 && memcmp(name, "STATIC", 6) == 0)
        *code = page->put_static(out, page->context);
    else if (size == 4 && memcmp(name, "DATA", 4) == 0)
        *code = page->put_data(out, page->context);
    else
        return 0;
    return 1;
}

int report_put_page(struct cli_out *out, const struct report_page *page)
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
        if (put_marker(out, page, mark + 1, (size_t)(close - mark - 1), &code)) {
            at = close + 1;
        } else {
            cli_out_write(out, mark, 1);
            at = mark + 1;
        }
    }
    return code;
}

int cli_browser_start(const char *address, pid_t *child)
{
    char program[] = "xdg-open";
    char *name = strdup(address);
    char *command[] = {program, name, NULL};
    int failed = name == NULL ? ENOMEM : posix_spawnp(child, program, NULL, NULL, command, environ);

    free(name);
    return failed;
}

/*
 * cmd_report.h - the page of report and view: its template and its parts
 */
#ifndef PCOL_TOOLS_CMD_REPORT_H
#define PCOL_TOOLS_CMD_REPORT_H

#include "cli.h"

#include <sys/types.h>

/* The page of web/ with the markers that cmd_report_page.c replaces, and its content security
 * policy (built by scripts/page-template). */
extern const unsigned char page_template[];
extern const size_t page_template_size;
extern const char page_policy[];

/* Texts and functions that replace the markers; the functions receive the context. */
struct report_page {
    const char *connect; /* connect-src of the policy */
    const void *context;
    void (*put_title)(struct cli_out *out, const void *context);
    int (*put_static)(struct cli_out *out, const void *context); /* shown without scripts */
    int (*put_data)(struct cli_out *out, const void *context);
};
int report_put_page(struct cli_out *out, const struct report_page *page);
void report_put_policy(struct cli_out *out, const char *connect);

/* The name of a file without its directories. */
const char *report_base_name(const char *path);
/* Untrusted text in HTML, also within quoted attributes. */
void report_text(struct cli_out *out, const char *data, size_t size);
/* Lines of mangled and demangled names of functions, which the page shows instead. */
int report_plain_names(struct cli_out *out, const struct cli_args *args,
                       const struct cli_input *input);
/* Table of the functions with the highest values, or of a comparison with the largest changes, and
 * a flame graph as SVG. Neither needs style sheets or scripts: servers of build artifacts block
 * these. base: NULL, or the compared query. */
int report_static(struct cli_out *out, const struct cli_input *input, const struct cli_args *args,
                  pcol_query *query, pcol_query *base);

/* Start xdg-open; returns 0 or an errno. The caller waits for the child. */
int cli_browser_start(const char *address, pid_t *child);

#endif

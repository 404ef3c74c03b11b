/*
 * cmd_report.h - the report page: its template and the part that needs no script
 */
#ifndef PCOL_TOOLS_CMD_REPORT_H
#define PCOL_TOOLS_CMD_REPORT_H

#include "cli.h"

/* The page of web/ with the markers that cmd_report.c replaces (built by scripts/page-template). */
extern const unsigned char page_template[];
extern const size_t page_template_size;

/* Untrusted text in HTML, also within quoted attributes. */
void report_text(struct cli_out *out, const char *data, size_t size);
/* Table of the functions with the highest values, and a flame graph as SVG. Neither needs style
 * sheets or scripts: servers of build artifacts block these. base: NULL, or the compared query. */
int report_static(struct cli_out *out, const struct cli_input *input, const struct cli_args *args,
                  pcol_query *query, pcol_query *base);

#endif

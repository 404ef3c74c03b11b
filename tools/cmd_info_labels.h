/*
 * cmd_info_labels.h - the keys of labels, as info shows them
 */
#ifndef PCOL_TOOLS_CMD_INFO_LABELS_H
#define PCOL_TOOLS_CMD_INFO_LABELS_H

#include "cli.h"

/* A line for each key of samples, its kind and unit: how many rows have it, and how many distinct
 * values. `all`: also those of other tables, else one line that says how many there are. */
pcol_status info_put_labels(struct cli_out *out, const pcol_file *file, int all, pcol_error *err);
/* The same as the value of a JSON key: an array of objects. */
pcol_status info_json_labels(struct cli_out *out, const pcol_file *file, pcol_error *err);

#endif

/*
 * cmd_info_labels.h - label keys in info
 */
#ifndef PCOL_TOOLS_CMD_INFO_LABELS_H
#define PCOL_TOOLS_CMD_INFO_LABELS_H

#include "cli.h"

/* Write a line for each label key of samples with its kind, unit, number of rows and number of
 * distinct values, at most `limit`. `all`: also the keys of other tables, otherwise a line with
 * their number. */
pcol_status info_put_labels(struct cli_out *out, const pcol_file *file, int all, uint64_t limit,
                            pcol_error *err);
/* The same as a JSON array of objects. */
pcol_status info_json_labels(struct cli_out *out, const pcol_file *file, pcol_error *err);

#endif

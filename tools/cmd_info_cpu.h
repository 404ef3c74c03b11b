/*
 * cmd_info_cpu.h - info --time: CPU time of threads in a range
 */
#ifndef PCOL_TOOLS_CMD_INFO_CPU_H
#define PCOL_TOOLS_CMD_INFO_CPU_H

#include "cli.h"

/* Write the CPU time of each thread in the range of --time, as lines or, with `json` (the flag
 * of cli_json_key()), as keys of the open object. */
int info_put_cpu(const struct cli_args *args, const struct cli_input *input, struct cli_out *out,
                 int *json);

#endif

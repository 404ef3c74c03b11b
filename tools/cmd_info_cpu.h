/*
 * cmd_info_cpu.h - info --time: CPU time of threads in a range
 */
#ifndef PCOL_TOOLS_CMD_INFO_CPU_H
#define PCOL_TOOLS_CMD_INFO_CPU_H

#include "cli.h"

struct info_cpu {
    pcol_selection range;
    pcol_query *query;
    struct cli_result threads;
};

/* Query the CPU time of each thread in the range of --time, if it is given. Close also after a
 * failure. */
int info_cpu_open(struct info_cpu *cpu, const struct cli_args *args, const struct cli_input *input);
/* Write the times as lines or, with `json` (the flag of cli_json_key()), as keys of the open
 * object. */
void info_put_cpu(const struct info_cpu *cpu, struct cli_out *out, int *json);
void info_cpu_close(struct info_cpu *cpu);

#endif

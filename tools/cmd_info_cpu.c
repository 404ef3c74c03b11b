/*
 * cmd_info_cpu.c - info --time: CPU time of threads in a range
 */
#include "cmd_info_cpu.h"

#include <math.h>
#include <string.h>

/* Milliseconds with up to six decimals, without trailing zeros. */
static struct cli_cell ms_cell(double ns)
{
    struct cli_cell cell = {CLI_CELL_F64, 0, {0}};

    cell.as.f64 = round(ns) / 1e6;
    return cell;
}

static void put_ms(struct cli_out *out, double ns)
{
    char text[CLI_NUMBER_SIZE];
    struct cli_cell cell = ms_cell(ns);
    size_t size = cli_cell_number(&cell, text);

    /* 15 rather than 15.0 */
    if (size > 2 && memcmp(text + size - 2, ".0", 2) == 0)
        size -= 2;
    cli_out_write(out, text, size);
}

enum { THREAD = CLI_FIELDS, TID, PID, SAMPLES, SAMPLES_WITHOUT, CPU_NS };
static const char *const own_columns[] = {"thread",          "tid",    "pid", "samples",
                                          "samples_without", "cpu_ns", NULL};

struct cpu_row {
    int has_thread;
    uint32_t thread;
    pcol_str name, tid, pid;
    uint64_t samples, samples_without;
    double cpu_ns;
};

static void get_row(const struct cli_result *cpu, size_t at, struct cpu_row *row)
{
    row->has_thread = cli_result_has(cpu, THREAD, at);
    row->thread = (uint32_t)cli_result_amount(cpu, THREAD, at).i64;
    row->name = cli_result_text(cpu, CLI_FIELD_NAME, at);
    row->tid = cli_result_text(cpu, TID, at);
    row->pid = cli_result_text(cpu, PID, at);
    row->samples = (uint64_t)cli_result_amount(cpu, SAMPLES, at).i64;
    row->samples_without = (uint64_t)cli_result_amount(cpu, SAMPLES_WITHOUT, at).i64;
    row->cpu_ns = cli_result_amount(cpu, CPU_NS, at).f64;
}

static void put_name(struct cli_out *out, const struct cpu_row *row)
{
    if (!row->has_thread)
        cli_out_text(out, "(no thread)");
    else if (row->name.size == 0)
        cli_out_printf(out, "thread %u", row->thread);
    cli_out_safe(out, row->name.data, row->name.size);
    if (row->pid.size > 0) {
        cli_out_text(out, ", pid ");
        cli_out_safe(out, row->pid.data, row->pid.size);
    }
    if (row->tid.size > 0) {
        cli_out_text(out, ", tid ");
        cli_out_safe(out, row->tid.data, row->tid.size);
    }
}

static void put_text(struct cli_out *out, const pcol_selection *range, const struct cli_result *cpu)
{
    int open = range->time_to_ns == INT64_MAX;
    double length = (double)range->time_to_ns - (double)range->time_from_ns;

    cli_out_text(out, "  from ");
    put_ms(out, (double)range->time_from_ns);
    cli_out_text(out, " ms");
    if (!open) {
        cli_out_text(out, " to ");
        put_ms(out, (double)range->time_to_ns);
        cli_out_text(out, " ms");
    }
    cli_out_text(out, cpu->count > 0 ? ":\n" : ": no CPU times\n");
    for (size_t i = 0; i < cpu->count; i++) {
        struct cpu_row row;
        get_row(cpu, i, &row);
        cli_out_text(out, "    ");
        put_name(out, &row);
        cli_out_printf(out, ": %llu samples, CPU ", (unsigned long long)row.samples);
        put_ms(out, row.cpu_ns);
        cli_out_text(out, " ms");
        if (!open && length > 0)
            cli_out_printf(out, " (%.1f %%)", 100 * row.cpu_ns / length);
        if (row.samples_without > 0)
            cli_out_printf(out, ", %llu samples without a CPU time",
                           (unsigned long long)row.samples_without);
        cli_out_text(out, "\n");
    }
}

static void json_cell(struct cli_out *out, int *first, const char *key, struct cli_cell cell)
{
    cli_json_key(out, first, key);
    cli_json_cell(out, &cell);
}

static struct cli_cell text_or_null(pcol_str text)
{
    return text.size > 0 ? cli_cell_str(text) : cli_cell_text(NULL);
}

static void put_json(struct cli_out *out, const pcol_selection *range, const struct cli_result *cpu,
                     int *outer)
{
    int first = 1;

    cli_json_key(out, outer, "time");
    cli_out_text(out, "{");
    json_cell(out, &first, "from_ms", ms_cell((double)range->time_from_ns));
    json_cell(out, &first, "to_ms",
              range->time_to_ns == INT64_MAX ? cli_cell_text(NULL)
                                             : ms_cell((double)range->time_to_ns));
    cli_out_text(out, "}");
    cli_json_key(out, outer, "cpu");
    cli_out_text(out, "[");
    for (size_t i = 0; i < cpu->count; i++) {
        struct cpu_row row;
        first = 1;
        get_row(cpu, i, &row);
        cli_out_text(out, i > 0 ? ",{" : "{");
        json_cell(out, &first, "thread",
                  !row.has_thread ? cli_cell_text(NULL) : cli_cell_u64(row.thread));
        json_cell(out, &first, "name", text_or_null(row.name));
        json_cell(out, &first, "pid", text_or_null(row.pid));
        json_cell(out, &first, "tid", text_or_null(row.tid));
        json_cell(out, &first, "samples", cli_cell_u64(row.samples));
        json_cell(out, &first, "samples_without", cli_cell_u64(row.samples_without));
        json_cell(out, &first, "cpu_ms", ms_cell(row.cpu_ns));
        cli_out_text(out, "}");
    }
    cli_out_text(out, "]");
}

int info_cpu_open(struct info_cpu *cpu, const struct cli_args *args, const struct cli_input *input)
{
    pcol_error err;

    memset(cpu, 0, sizeof *cpu);
    int code = args->time != NULL ? cli_selection(input, args, &cpu->range) : CLI_OK;
    if (code != CLI_OK || args->time == NULL)
        return code;
    code = cli_query_new(input, args, &cpu->query);
    if (code != CLI_OK)
        return code;
    return cli_result_open(&cpu->threads, pcol_query_cpu(cpu->query, &cpu->threads.result, &err),
                           &err, input->name, own_columns);
}

void info_put_cpu(const struct info_cpu *cpu, struct cli_out *out, int *json)
{
    if (cpu->query == NULL)
        return;
    if (json != NULL)
        put_json(out, &cpu->range, &cpu->threads, json);
    else
        put_text(out, &cpu->range, &cpu->threads);
}

void info_cpu_close(struct info_cpu *cpu)
{
    cli_result_close(&cpu->threads);
    pcol_query_free(cpu->query);
}

/*
 * restore_samples.c - restores times, and the samples of a thread
 *
 * A row that represents several samples becomes two, its first sample and one at its end for all
 * others, as the front end can show them; or, with expand_idle, all of them at equal distances.
 */
#include "formats/firefox/write_native.h"

#include "builder/idle_samples.h"
#include "util/strbuf.h"

static pcol_status add_number(struct pci_ff_cells *cells, double value, int all_real,
                              pcol_error *err)
{
    int64_t bits;
    if (!all_real && pci_ff_whole(value))
        return pci_ff_cells_add(cells, PCI_FF_INT, (int64_t)value, err);
    memcpy(&bits, &value, sizeof bits);
    return pci_ff_cells_add(cells, PCI_FF_DOUBLE, bits, err);
}

static int is_all_real(const struct pci_ff_preserved *column)
{
    return column->has_form && pci_str_is(column->form, PCI_FF_FORM_REAL);
}

pcol_status pci_ff_restore_times(struct pci_ff_native *native, const char *table, const char *ns,
                                 const char *ulps, const struct pci_ff_sample_run *rows,
                                 const struct pci_ff_preserved *column, struct pci_ff_cells *cells,
                                 pcol_error *err)
{
    const struct pci_column *times, *ulp_column;
    int deltas = pci_str_is(column->column, "timeDeltas"), all_real = is_all_real(column);
    int64_t previous = 0;
    PCI_TRY(pci_find_column(native->file, table, ns, PCI_TYPES_INT, &times, err));
    PCI_TRY(pci_find_column(native->file, table, deltas ? PCI_FF_DELTA_ULP : ulps, PCI_TYPES_INT,
                            &ulp_column, err));
    for (uint64_t i = rows->first; i < rows->first + rows->count; i++) {
        int64_t time, ulp;
        int valid, has;
        PCI_TRY(pci_get(native->file, times, i, &time, &valid, err));
        PCI_TRY(pci_get(native->file, ulp_column, i, &ulp, &has, err));
        if (!valid) {
            PCI_TRY(pci_ff_cells_add(cells, PCI_FF_NULL, 0, err));
            continue;
        }
        int64_t from = deltas ? (int64_t)((uint64_t)time - (uint64_t)previous) : time;
        previous = time;
        PCI_TRY(add_number(cells, pci_ff_ms(from, ulp), all_real, err));
    }
    return PCOL_OK;
}

/* ---- samples */

struct samples {
    struct pci_ff_native *native;
    const struct pci_column *stack, *time, *ulp, *delta_ulp, *duration, *cpu, *cycles;
    /* current row */
    uint64_t row;
    int64_t stack_value, time_value, ulp_value, delta_ulp_value, duration_value, cpu_value;
    int has_stack, has_time, has_duration, has_cpu;
    const struct pci_column *weight; /* first value column that is not null */
    int64_t weight_value;
    uint64_t parts; /* number of samples that the row becomes */
    /* current one of these samples */
    int64_t part_time, part_ulp, part_cpu;
    int part_has_cpu;
    double part_weight;
    int64_t part_integer;
};

static pcol_status open_samples(struct samples *s, struct pci_ff_native *b, pcol_error *err)
{
    memset(s, 0, sizeof *s);
    s->native = b;
    PCI_TRY(pci_find_column(b->file, "samples", "stack", PCI_TYPES_ROW, &s->stack, err));
    PCI_TRY(pci_find_column(b->file, "samples", "time", PCI_TYPES_INT, &s->time, err));
    PCI_TRY(pci_find_column(b->file, "samples", "time_ulp", PCI_TYPES_INT, &s->ulp, err));
    PCI_TRY(
        pci_find_column(b->file, "samples", PCI_FF_DELTA_ULP, PCI_TYPES_INT, &s->delta_ulp, err));
    PCI_TRY(pci_find_column(b->file, "samples", "duration", PCI_TYPES_INT, &s->duration, err));
    PCI_TRY(pci_find_column(b->file, "samples", "cpu_delta", PCI_TYPES_INT, &s->cpu, err));
    return pci_find_column(b->file, "samples", "cpu_cycles", PCI_TYPES_INT, &s->cycles, err);
}

static pcol_status load_weight(struct samples *s, pcol_error *err)
{
    const struct pci_types *types = &s->native->types;
    s->weight = NULL;
    for (uint32_t k = 0; k < types->count && !s->weight; k++) {
        int valid;
        PCI_TRY(pci_get(s->native->file, types->columns[k], s->row, &s->weight_value, &valid, err));
        if (valid)
            s->weight = types->columns[k];
    }
    return PCOL_OK;
}

static int is_double(const struct samples *s)
{
    return s->weight && s->weight->desc->type == PCF_F64;
}

static double get_weight(const struct samples *s)
{
    double number;
    if (!is_double(s))
        return (double)s->weight_value;
    memcpy(&number, &s->weight_value, sizeof number);
    return number;
}

static pcol_status load_row(struct samples *s, uint64_t row, pcol_error *err)
{
    const pcol_file *f = s->native->file;
    int has;
    s->row = row;
    PCI_TRY(pci_get(f, s->stack, row, &s->stack_value, &s->has_stack, err));
    PCI_TRY(pci_get(f, s->time, row, &s->time_value, &s->has_time, err));
    PCI_TRY(pci_get(f, s->ulp, row, &s->ulp_value, &has, err));
    PCI_TRY(pci_get(f, s->delta_ulp, row, &s->delta_ulp_value, &has, err));
    PCI_TRY(pci_get(f, s->duration, row, &s->duration_value, &s->has_duration, err));
    PCI_TRY(pci_get(f, s->native->cpu_unit == PCI_FF_CPU_CYCLES ? s->cycles : s->cpu, row,
                    &s->cpu_value, &s->has_cpu, err));
    PCI_TRY(load_weight(s, err));
    if (s->has_time && s->has_duration)
        PCI_TRY(pci_sample_check_end(row, s->time_value, s->duration_value, err));
    s->parts = pci_idle_part_count(s->has_time && s->has_duration ? s->duration_value : 0,
                                   s->weight ? get_weight(s) : 1, s->native->expand);
    return PCOL_OK;
}

pcol_status pci_ff_check_expansion(struct pci_ff_native *native, pcol_error *err)
{
    struct samples s;
    uint64_t all = 0;
    PCI_TRY(open_samples(&s, native, err));
    for (size_t i = 0; i < native->thread_count; i++) {
        const struct pci_ff_sample_run *rows = &native->threads[i].samples;
        for (uint64_t row = rows->first; row < rows->first + rows->count; row++) {
            PCI_TRY(load_row(&s, row, err));
            PCI_TRY(pci_idle_add_parts(&all, s.parts, row, pci_rows(native->file, "samples"), err));
        }
    }
    return PCOL_OK;
}

static void make_part(struct samples *s, uint64_t part)
{
    double weight = s->weight ? get_weight(s) : 1;
    struct pci_idle_part p =
        pci_idle_part(s->duration_value, weight, s->parts, part, s->native->expand);
    s->part_time = s->time_value + p.after_ns;
    s->part_ulp = part ? 0 : s->ulp_value;
    s->part_cpu = part ? 0 : s->cpu_value;
    s->part_has_cpu = part || s->has_cpu; /* the CPU was idle after the first part */
    s->part_weight = p.value;
    s->part_integer = s->parts == 1 ? s->weight_value : p.rest ? s->weight_value - 1 : 1;
}

pcol_status pci_ff_sample_count(struct pci_ff_native *native, uint64_t *count, int *single,
                                pcol_error *err)
{
    const struct pci_ff_sample_run *rows =
        &native->threads[native->thread - native->first_thread].samples;
    struct samples s;
    *count = 0;
    *single = 1;
    PCI_TRY(open_samples(&s, native, err));
    for (uint64_t i = rows->first; i < rows->first + rows->count; i++) {
        PCI_TRY(load_row(&s, i, err));
        *count += s.parts;
        make_part(&s, s.parts - 1); /* only the last part can be more than 1 */
        *single &= s.part_weight == 1;
    }
    return PCOL_OK;
}

const char *pci_ff_weight_column(const struct pci_ff_native *native)
{
    return native->has_version && native->version < PCI_FF_SINCE_WEIGHTS ? "duration" : "weight";
}

int pci_ff_is_sample_column(const struct pci_ff_native *native, pcol_str column)
{
    return pci_str_is(column, "stack") || pci_str_is(column, "threadCPUDelta") ||
           pci_str_is(column, "time") || pci_str_is(column, "timeDeltas") ||
           pci_str_is(column, pci_ff_weight_column(native));
}

static pcol_status add_cpu(struct samples *s, const struct pci_ff_preserved *column,
                           struct pci_ff_cells *cells, pcol_error *err)
{
    double scale = s->native->cpu_unit == PCI_FF_CPU_US ? 1e3 : 1;
    if (!s->part_has_cpu)
        return pci_ff_cells_add(cells, PCI_FF_NULL, 0, err);
    return add_number(cells, (double)s->part_cpu / scale, is_all_real(column), err);
}

static pcol_status add_weight(struct samples *s, const struct pci_ff_preserved *column,
                              struct pci_ff_cells *cells, pcol_error *err)
{
    if (!s->weight)
        return pci_ff_cells_add(cells, PCI_FF_NULL, 0, err);
    if (is_double(s))
        return add_number(cells, s->part_weight, is_all_real(column), err);
    return pci_ff_cells_add(cells, PCI_FF_INT, s->part_integer, err);
}

pcol_status pci_ff_restore_samples(struct pci_ff_native *native,
                                   const struct pci_ff_preserved *column,
                                   struct pci_ff_cells *cells, pcol_error *err)
{
    const struct pci_ff_sample_run *rows =
        &native->threads[native->thread - native->first_thread].samples;
    enum {
        STACK,
        CPU,
        WEIGHT,
        TIME,
        DELTA
    } column_id = pci_str_is(column->column, "stack")            ? STACK
                  : pci_str_is(column->column, "threadCPUDelta") ? CPU
                  : pci_str_is(column->column, "time")           ? TIME
                  : pci_str_is(column->column, "timeDeltas")     ? DELTA
                                                                 : WEIGHT;
    struct samples s;
    int64_t previous = 0, stack;
    PCI_TRY(open_samples(&s, native, err));
    for (uint64_t i = rows->first; i < rows->first + rows->count; i++) {
        PCI_TRY(load_row(&s, i, err));
        for (uint64_t part = 0; part < s.parts; part++) {
            make_part(&s, part);
            if (column_id == STACK && !s.has_stack) {
                PCI_TRY(pci_ff_cells_add(cells, PCI_FF_NULL, 0, err));
            } else if (column_id == STACK) {
                PCI_TRY(
                    pci_ff_native_row(native, PCI_FF_STACKS, (uint64_t)s.stack_value, &stack, err));
                PCI_TRY(pci_ff_cells_add(cells, PCI_FF_INT, stack, err));
            } else if (column_id == CPU) {
                PCI_TRY(add_cpu(&s, column, cells, err));
            } else if (column_id == WEIGHT) {
                PCI_TRY(add_weight(&s, column, cells, err));
            } else if (!s.has_time) {
                PCI_TRY(pci_ff_cells_add(cells, PCI_FF_NULL, 0, err));
            } else {
                int64_t from = column_id == DELTA
                                   ? (int64_t)((uint64_t)s.part_time - (uint64_t)previous)
                                   : s.part_time;
                previous = s.part_time;
                /* ulps belong to the difference to a row of the source, which may have been
                 * joined. */
                int64_t ulp = column_id != DELTA          ? s.part_ulp
                              : part || native->has_joins ? 0
                                                          : s.delta_ulp_value;
                PCI_TRY(add_number(cells, pci_ff_ms(from, ulp), is_all_real(column), err));
            }
        }
    }
    return PCOL_OK;
}

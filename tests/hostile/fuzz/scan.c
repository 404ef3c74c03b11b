/*
 * scan.c - target: scans under conditions, Arrow streams and bulk frames of a pcol file, also of
 * its joined tables
 *
 * Conditions are drawn from a hash of the input. Equal, not equal and null divide the rows of a
 * table.
 */
#include "targets.h"

#include "pcol.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 4096u /* a file of a few bytes may claim 2^48 rows */
#define MAX_TABLES 24u

static uint64_t state;

static uint64_t draw(uint64_t sides)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % sides;
}

/* Rows among the first MAX_ROWS that satisfy a condition; UINT64_MAX: the file is damaged. */
static uint64_t count_rows(const pcol_table *table, const pcol_condition *where, size_t count,
                           uint32_t flags)
{
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_scan *scan;
    uint64_t rows = 0, previous = 0;
    options.where = where;
    options.where_count = count;
    options.row_count = MAX_ROWS;
    options.flags = flags;
    options.batch_rows = (uint32_t)draw(3000);
    if (pcol_scan_new(table, &options, &scan, NULL) != PCOL_OK)
        return UINT64_MAX;
    do {
        if (pcol_scan_next(scan, &batch, NULL) != PCOL_OK) {
            pcol_scan_free(scan);
            return UINT64_MAX;
        }
        for (size_t i = 0; batch.row_numbers && i < batch.rows; i++) {
            FUZZ_ASSERT(batch.row_numbers[i] < MAX_ROWS);
            FUZZ_ASSERT(rows + i == 0 || batch.row_numbers[i] > previous);
            previous = batch.row_numbers[i];
        }
        rows += batch.rows;
    } while (batch.rows);
    pcol_scan_free(scan);
    return rows;
}

static void set_value(pcol_condition *c, const pcol_column *column)
{
    static const double doubles[] = {0,       -1,     0.5,    1e300,
                                     -0x1p63, 0x1p63, 0x1p64, 9007199254740993.0};
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    pcol_str text = {"main", 4};
    if (pcol_column_describe(column, &info, NULL) != PCOL_OK)
        abort();
    uint64_t row = info.rows ? draw(info.rows < MAX_ROWS ? info.rows : MAX_ROWS) : 0;
    c->type = (const uint32_t[]){PCOL_I64, PCOL_U64, PCOL_F64}[draw(3)];
    if (info.type == PCOL_STRING || info.type == PCOL_BYTES) {
        c->type = PCOL_STRING;
        /* A cell of composed texts is read from the whole column. */
        if (!(info.flags & PCOL_COLUMN_IS_COMPOSED) || info.rows <= MAX_ROWS)
            (void)!pcol_column_str(column, row, &text, NULL, NULL);
        c->value.str = text;
    } else if (c->type == PCOL_F64) {
        c->value.f64 = doubles[draw(sizeof doubles / sizeof *doubles)];
    } else if (pcol_column_i64(column, row, &c->value.i64, NULL, NULL) != PCOL_OK || draw(2)) {
        c->value.u64 = state >> draw(64);
    }
}

static void divide_rows(const pcol_table *table)
{
    uint32_t columns = pcol_table_column_count(table);
    pcol_condition c = {0};
    uint64_t counts[4];
    if (!columns)
        return;
    c.column = (uint32_t)draw(columns);
    set_value(&c, pcol_table_column(table, c.column));
    static const uint32_t ops[] = {PCOL_OP_EQ, PCOL_OP_NE, PCOL_OP_IS_NULL};
    for (size_t i = 0; i < 3; i++) {
        c.op = ops[i];
        counts[i] = count_rows(table, &c, 1, (uint32_t)draw(2));
    }
    counts[3] = count_rows(table, NULL, 0, (uint32_t)draw(2));
    if (counts[0] != UINT64_MAX && counts[1] != UINT64_MAX && counts[2] != UINT64_MAX &&
        counts[3] != UINT64_MAX)
        FUZZ_ASSERT(counts[0] + counts[1] + counts[2] == counts[3]);
    pcol_condition any[3] = {c, c, c};
    for (size_t i = 0; i < 3; i++) {
        any[i].column = (uint32_t)draw(columns + 1);
        any[i].op = (uint32_t)draw(11);
    }
    (void)count_rows(table, any, (size_t)draw(4), (uint32_t)draw(3));
}

/* The first batches of a stream; it is abandoned then. */
static void read_stream(const pcol_table *table)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    options.batch_rows = 1 + (uint32_t)draw(2000);
    options.row_count = MAX_ROWS;
    if (pcol_table_arrow(table, &options, &stream, NULL) != PCOL_OK)
        return;
    FUZZ_ASSERT(stream.get_schema(&stream, &schema) == 0);
    for (int turn = 0; turn < 3 && stream.get_next(&stream, &batch) == 0 && batch.release; turn++) {
        for (int64_t i = 0; i < batch.n_children; i++) {
            const struct ArrowArray *child = batch.children[i];
            for (int64_t k = child->offset; child->dictionary && k < child->offset + child->length;
                 k++)
                FUZZ_ASSERT(child->buffers[0] || ((const uint32_t *)child->buffers[1])[k] <
                                                     (uint64_t)child->dictionary->length);
        }
        batch.release(&batch);
    }
    stream.release(&stream);
    schema.release(&schema);
}

/* Values of the frames of the first samples are those of their locations. */
static void gather_frames(const pcol_frames *frames, size_t count)
{
    static uint64_t offsets[MAX_ROWS + 1], again[MAX_ROWS + 1];
    static uint32_t values[8192], locations[8192];
    size_t read;
    if (pcol_frames_offsets(frames, 0, count, offsets, NULL) != PCOL_OK || offsets[count] > 8192 ||
        pcol_frames_gather(frames, 0, count, offsets, NULL, 4, NULL, values, NULL) != PCOL_OK)
        return;
    FUZZ_ASSERT(pcol_frames_read(frames, 0, count, again, locations, 8192, &read, NULL) ==
                    PCOL_OK &&
                read == count && !memcmp(offsets, again, (count + 1) * sizeof *offsets) &&
                !memcmp(values, locations, (size_t)offsets[count] * sizeof *values));
}

static void read_frames(const pcol_file *file)
{
    static uint64_t offsets[MAX_ROWS + 1];
    static uint32_t locations[8192], functions[256];
    pcol_frames *frames;
    size_t read;
    if (pcol_frames_open(file, NULL, &frames, NULL) != PCOL_OK)
        return;
    if (pcol_frames_read(frames, 0, draw(MAX_ROWS), offsets, locations, draw(8192), &read, NULL) ==
        PCOL_OK)
        FUZZ_ASSERT(read == 0 || offsets[read] <= 8192);
    (void)!pcol_frames_leaf_functions(frames, 0, draw(256), functions, NULL);
    gather_frames(frames, draw(64));
    pcol_frames_free(frames);
}

static void scan_all(const uint8_t *data, size_t size)
{
    pcol_file *file = fuzz_open_file(data, size);
    state = size + 88172645463325252u;
    for (size_t i = 0; i < size; i++)
        state = (state ^ data[i]) * UINT64_C(0x100000001b3);
    state |= 1;
    if (!file)
        return;
    for (int model = PCOL_MODEL_V2; model <= PCOL_MODEL_FURTHER; model++) {
        uint32_t count = pcol_file_table_count(file, (pcol_model)model);
        for (uint32_t i = 0; i < count && i < MAX_TABLES; i++) {
            const pcol_table *table, *joined;
            if (pcol_file_table(file, (pcol_model)model, i, &table, NULL) != PCOL_OK)
                continue;
            divide_rows(table);
            read_stream(table);
            if (pcol_table_joined(table, &joined, NULL) != PCOL_OK || joined == table)
                continue;
            divide_rows(joined);
            read_stream(joined);
        }
    }
    read_frames(file);
    pcol_file_close(file);
}

void fuzz_scan(const uint8_t *data, size_t size)
{
    fuzz_twice(scan_all, data, size);
}

/*
 * derive.c - fuzz targets: filters, flame graphs, comparisons, queries of Perun's resources
 *
 * Files with too many samples for a fuzzer are skipped.
 */
#include "targets.h"

#include "pcol.h"
#include "pcol_perun.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../result_cells.h"

#define MAX_SAMPLES ((uint64_t)1 << 20)
#define MAX_BYTES ((uint64_t)16 << 20)
#define MAX_ANSWERS 4096

static pcol_status swallow(void *context, const void *data, size_t size, pcol_error *err)
{
    uint64_t *total = context;
    (void)data;
    *total += size;
    if (*total < MAX_BYTES)
        return PCOL_OK;
    if (err) {
        memset(err, 0, sizeof *err);
        err->status = PCOL_E_LIMIT;
    }
    return PCOL_E_LIMIT;
}

pcol_file *fuzz_open_file(const uint8_t *data, size_t size)
{
    pcol_file *file;
    const pcol_table *table;
    if (pcol_file_open_memory(data, size, NULL, &file, NULL) != PCOL_OK)
        return NULL;
    if (pcol_file_table_by_name(file, PCOL_MODEL_PHYSICAL, "samples", &table, NULL) != PCOL_OK ||
        pcol_table_rows(table) <= MAX_SAMPLES)
        return file;
    pcol_file_close(file);
    return NULL;
}

/* A selection of any file is valid. */
static void filter_file(const pcol_file *file, int idle)
{
    pcol_filter_options options = PCOL_INIT(pcol_filter_options);
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_builder *builder;
    pcol_file *part;
    void *bytes = NULL;
    size_t size = 0;
    uint64_t faults = 0;
    selection.hide = "[n-p]";
    options.selection = &selection;
    options.idle = (pcol_idle)idle;
    options.drop_labels = idle == PCOL_IDLE_COLLAPSE;
    if (pcol_builder_new(NULL, &builder, NULL) != PCOL_OK)
        return;
    if (pcol_filter(builder, file, &options, NULL) == PCOL_OK &&
        pcol_builder_write_memory(builder, 0, NULL, &bytes, &size, NULL) == PCOL_OK) {
        FUZZ_ASSERT(pcol_file_open_memory(bytes, size, NULL, &part, NULL) == PCOL_OK);
        if (pcol_file_check(part, PCOL_CHECK_STRICT, NULL, NULL, NULL, &faults, NULL) == PCOL_OK)
            FUZZ_ASSERT(!faults);
        pcol_file_close(part);
    }
    pcol_builder_free(builder);
    pcol_free(bytes);
}

static void filter_all(const uint8_t *data, size_t size)
{
    pcol_file *file = fuzz_open_file(data, size);
    for (int idle = PCOL_IDLE_KEEP; file && idle <= PCOL_IDLE_EXPAND; idle++)
        if (fuzz_turn(3, (unsigned)idle))
            filter_file(file, idle);
    pcol_file_close(file);
}

static void draw(pcol_query *query, pcol_query *base, int turned)
{
    pcol_flame_options options = PCOL_INIT(pcol_flame_options);
    pcol_result *flame;
    uint64_t total = 0;
    pcol_sink sink = {swallow, &total};
    options.base = base;
    options.flags = turned ? PCOL_FLAME_INVERTED | PCOL_FLAME_REVERSE : 0;
    if (pcol_query_flame(query, &options, &flame, NULL) != PCOL_OK)
        return;
    for (uint32_t i = 0; i < result_rows(flame); i++) {
        double x = result_amount(flame, "x_px", i).f64;
        double width = result_amount(flame, "width_px", i).f64;
        FUZZ_ASSERT(x >= -0.001 && x + width <= 1200); /* but for rounding */
    }
    (void)!pcol_flame_svg(flame, turned ? NULL : "<a & \"b\">", sink, NULL);
    pcol_result_free(flame);
}

/* Nothing differs from itself. */
static void compare(pcol_query *query, pcol_query *part)
{
    pcol_result *diff;
    if (pcol_diff(query, query, NULL, &diff, NULL) == PCOL_OK) {
        for (size_t i = 0; i < result_rows(diff); i++)
            (void)result_amount(diff, "self_delta", i);
        pcol_result_free(diff);
    }
    pcol_diff_options options = PCOL_INIT(pcol_diff_options);
    options.by = PCOL_BY_STACK;
    options.flags = PCOL_DIFF_NORMALIZE;
    if (pcol_diff(query, part, &options, &diff, NULL) == PCOL_OK)
        pcol_result_free(diff);
}

static void flame_all(const uint8_t *data, size_t size)
{
    pcol_file *file = fuzz_open_file(data, size);
    pcol_selection half = PCOL_INIT(pcol_selection);
    pcol_query *query = NULL, *part = NULL;
    half.ignore = "[a-m]";
    if (file && pcol_query_new(file, NULL, NULL, &query, NULL) == PCOL_OK &&
        pcol_query_new(file, &half, NULL, &part, NULL) == PCOL_OK) {
        if (fuzz_turn(3, 0))
            draw(query, NULL, 0);
        if (fuzz_turn(3, 1))
            draw(query, part, 1);
        if (fuzz_turn(3, 2))
            compare(query, part);
    }
    pcol_query_free(part);
    pcol_query_free(query);
    pcol_file_close(file);
}

#define MAX_STABLE 512

static unsigned sum_of(pcol_str text)
{
    unsigned sum = 0;
    for (size_t i = 0; i < text.size; i++)
        sum = sum * 31 + (unsigned char)text.data[i];
    return sum;
}

/* Texts declared stable must remain unchanged until the end. */
static void ask(const pcol_file *file, pcol_question question, const pcol_ask_options *options)
{
    static struct {
        pcol_str text;
        unsigned sum;
    } stable[MAX_STABLE];
    size_t count = 0;
    pcol_answers *answers;
    const pcol_answer *cells;
    if (pcol_ask(file, question, options, &answers, NULL) != PCOL_OK)
        return;
    for (int i = 0; i < MAX_ANSWERS; i++) {
        if (pcol_answers_next(answers, &cells, NULL) != PCOL_OK || !cells)
            break;
        for (size_t c = 0; c < pcol_answers_column_count(answers) && count < MAX_STABLE; c++)
            if (cells[c].kind >= PCOL_ANSWER_TEXT && cells[c].stable) {
                stable[count].text = cells[c].as.text;
                stable[count++].sum = sum_of(cells[c].as.text);
            }
    }
    for (size_t i = 0; i < count; i++)
        FUZZ_ASSERT(sum_of(stable[i].text) == stable[i].sum);
    pcol_answers_free(answers);
}

/* ---- answers of which each row comes by itself, and in blocks */

static uint64_t mix(uint64_t sum, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static uint64_t mix_cell(uint64_t sum, const pcol_answer *cell)
{
    sum = mix(sum, &cell->kind, sizeof cell->kind);
    if (cell->kind >= PCOL_ANSWER_TEXT)
        return mix(mix(sum, cell->as.text.data, cell->as.text.size), "", 1);
    return cell->kind > PCOL_ANSWER_NULL ? mix(sum, &cell->as.i64, sizeof cell->as.i64) : sum;
}

/* Of at most MAX_ANSWERS rows. */
static pcol_status sum_rows(pcol_answers *answers, uint64_t *sum)
{
    size_t columns = pcol_answers_column_count(answers);
    const pcol_answer *cells;
    pcol_status status;
    for (int rows = 0; rows < MAX_ANSWERS; rows++) {
        if ((status = pcol_answers_next(answers, &cells, NULL)) != PCOL_OK || !cells)
            return status;
        for (size_t i = 0; i < columns; i++)
            *sum = mix_cell(*sum, &cells[i]);
    }
    return PCOL_E_LIMIT;
}

/* The cells of a block at one time, with the numbers set in; texts followed by a number are in
 * `line`, of which there is at most one. */
static void set_time(const pcol_answer_block *block, size_t columns, size_t time,
                     pcol_answer *cells, char *line)
{
    memcpy(cells, block->cells, block->rows * columns * sizeof *cells);
    for (size_t i = 0; i < block->part_count; i++) {
        const pcol_answer_part *part = &block->parts[i];
        pcol_answer *cell = &cells[part->row * columns + part->column];
        FUZZ_ASSERT(part->row < block->rows && part->column < columns);
        FUZZ_ASSERT(cell->kind == (part->before.size ? PCOL_ANSWER_TEXT : part->kind));
        if (part->before.size) {
            size_t size = part->before.size;
            memcpy(line, part->before.data, size);
            size += (size_t)snprintf(line + size, 32, "%lld", (long long)part->values[time]);
            cell->as.text = (pcol_str){line, size};
        } else {
            cell->as.i64 = part->values[time];
        }
    }
}

static void sum_blocks(pcol_answers *answers, uint64_t *sum)
{
    pcol_answer_block block = PCOL_INIT(pcol_answer_block);
    size_t columns = pcol_answers_column_count(answers);
    for (;;) {
        FUZZ_ASSERT(pcol_answers_block(answers, &block, NULL) == PCOL_OK);
        if (!block.rows)
            return;
        size_t count = block.rows * columns, before = 0;
        for (size_t i = 0; i < block.part_count; i++)
            before = block.parts[i].before.size > before ? block.parts[i].before.size : before;
        pcol_answer *cells = malloc((count + 1) * sizeof *cells);
        char *line = malloc(before + 32);
        FUZZ_ASSERT(cells && line);
        for (size_t time = 0; time < block.times; time++) {
            set_time(&block, columns, time, cells, line);
            for (size_t i = 0; i < count; i++)
                *sum = mix_cell(*sum, &cells[i]);
        }
        free(cells);
        free(line);
    }
}

static void compare_ways(const pcol_file *file, pcol_question question,
                         const pcol_ask_options *options)
{
    uint64_t rows = 0, blocks = 0;
    pcol_answers *answers;
    if (pcol_ask(file, question, options, &answers, NULL) != PCOL_OK)
        return;
    pcol_status status = sum_rows(answers, &rows);
    pcol_answers_free(answers);
    if (status != PCOL_OK || pcol_ask(file, question, options, &answers, NULL) != PCOL_OK)
        return;
    sum_blocks(answers, &blocks);
    FUZZ_ASSERT(rows == blocks);
    pcol_answers_free(answers);
}

/* Any profile that pcol reads, asked as if it were one of Perun's. */
static void ask_all(const uint8_t *data, size_t size)
{
    static const char *const filters[] = {"best-model", "best-param", "best-nonparam", "all-param",
                                          "all-nonparam"};
    static const char *const paths[] = {"uid", "",      "uid:function", "trace::function", "trace:",
                                        "a:b", "a::b:", "amount",       "coeffs::value"};
    pcol_file *file = fuzz_open_file(data, size);
    for (int question = 0; file && question <= PCOL_ASK_PLOT; question++) {
        for (int flat = 0; flat < 2; flat++) {
            pcol_ask_options options = PCOL_INIT(pcol_ask_options);
            options.flat = options.numeric = options.unique = flat;
            options.all_rows = 1;
            options.models = size & 1;
            options.path = paths[(size + (size_t)question) % (sizeof paths / sizeof *paths)];
            options.filter = filters[size % (sizeof filters / sizeof *filters)];
            if (fuzz_turn(8, (unsigned)(question * 2 + flat) % 8))
                ask(file, (pcol_question)question, &options);
            if (fuzz_turn(8, (unsigned)(question * 2 + flat + 3) % 8))
                compare_ways(file, (pcol_question)question, &options);
        }
    }
    pcol_file_close(file);
}

void fuzz_filter(const uint8_t *data, size_t size)
{
    fuzz_twice(filter_all, data, size);
}

void fuzz_flame(const uint8_t *data, size_t size)
{
    fuzz_twice(flame_all, data, size);
}

/* A Perun profile as such, which a fuzzer can change in more ways than packed columns. */
void fuzz_ask(const uint8_t *data, size_t size)
{
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    pcol_builder *builder;
    void *packed = NULL;
    size_t packed_size = 0;
    options.format = size && data[0] == 0x89 ? "pcol" : "perun";
    options.max_input_bytes = MAX_BYTES;
    if (options.format[1] == 'c') {
        fuzz_twice(ask_all, data, size);
        return;
    }
    if (pcol_builder_new(NULL, &builder, NULL) != PCOL_OK)
        return;
    if (pcol_import_memory(builder, data, size, "input", &options, NULL) == PCOL_OK &&
        pcol_builder_write_memory(builder, 0, NULL, &packed, &packed_size, NULL) == PCOL_OK)
        ask_all(packed, packed_size);
    pcol_builder_free(builder);
    pcol_free(packed);
}

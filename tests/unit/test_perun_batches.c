/*
 * test_perun_batches.c - queries of Perun profiles by block equal those by row
 */
#include "pcol.h"
#include "pcol_perun.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *data;
    size_t size, capacity;
};

static void put(struct text *text, const void *data, size_t size)
{
    if (text->size + size + 1 > text->capacity) {
        text->capacity = 2 * (text->size + size + 1);
        text->data = realloc(text->data, text->capacity);
        cr_assert_not_null(text->data);
    }
    memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = '\0';
}

static void put_cell(struct text *text, const pcol_answer *cell)
{
    char number[64];
    int size = snprintf(number, sizeof number, "|%d ", (int)cell->kind);
    put(text, number, (size_t)size);
    if (cell->kind >= PCOL_ANSWER_TEXT) {
        put(text, cell->as.text.data, cell->as.text.size);
    } else if (cell->kind > PCOL_ANSWER_NULL) {
        size = snprintf(number, sizeof number, "%lld", (long long)cell->as.i64);
        put(text, number, (size_t)size);
    }
}

static void put_row(struct text *text, const pcol_answer *cells, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        put_cell(text, &cells[i]);
    put(text, "\n", 1);
}

/* The rows of a block, with each number in its place. */
static void put_block(struct text *text, const pcol_answer_block *block, size_t columns)
{
    size_t count = block->rows * columns;
    pcol_answer *cells = malloc((count + 1) * sizeof *cells);
    char line[200];
    for (size_t time = 0; time < block->times; time++) {
        memcpy(cells, block->cells, count * sizeof *cells);
        for (size_t i = 0; i < block->part_count; i++) {
            const pcol_answer_part *part = &block->parts[i];
            pcol_answer *cell = &cells[part->row * columns + part->column];
            cr_assert(part->row < block->rows && part->column < columns);
            if (part->before.size) {
                cr_assert_eq(cell->kind, PCOL_ANSWER_TEXT);
                int size = snprintf(line, sizeof line, "%.*s%lld", (int)part->before.size,
                                    part->before.data, (long long)part->values[time]);
                cell->as.text = (pcol_str){line, (size_t)size};
                continue;
            }
            cr_assert_eq(cell->kind, part->kind);
            memcpy(&cell->as, &part->values[time], sizeof part->values[time]);
        }
        for (size_t row = 0; row < block->rows; row++)
            put_row(text, cells + row * columns, columns);
    }
    free(cells);
}

/* How an answer is read: rows, blocks, or, from 2 on, a block after so many rows. */
static size_t read_answer(pcol_answers *answers, unsigned way, struct text *text)
{
    pcol_answer_block block = PCOL_INIT(pcol_answer_block);
    size_t columns = pcol_answers_column_count(answers), longest = 0;
    pcol_error err;
    for (unsigned n = 0;; n++) {
        if (way == 0 || (way > 1 && n % way != 0)) {
            const pcol_answer *cells;
            cr_assert_eq(pcol_answers_next(answers, &cells, &err), PCOL_OK, "%s", err.message);
            if (!cells)
                break;
            put_row(text, cells, columns);
            continue;
        }
        cr_assert_eq(pcol_answers_block(answers, &block, &err), PCOL_OK, "%s", err.message);
        if (!block.rows)
            break;
        longest = block.times > longest ? block.times : longest;
        put_block(text, &block, columns);
    }
    return longest;
}

static pcol_file *pack(const char *profile, void **data)
{
    pcol_builder *builder;
    pcol_file *file;
    pcol_error err;
    size_t size;
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    options.format = "perun";
    cr_assert_eq(pcol_builder_new(NULL, &builder, &err), PCOL_OK);
    cr_assert_eq(pcol_import_memory(builder, profile, strlen(profile), "x", &options, &err),
                 PCOL_OK, "%s", err.message);
    cr_assert_eq(pcol_builder_write_memory(builder, 0, NULL, data, &size, &err), PCOL_OK);
    pcol_builder_free(builder);
    cr_assert_eq(pcol_file_open_memory(*data, size, NULL, &file, &err), PCOL_OK);
    return file;
}

/* Every question, read in every way; the most rows that a block represented, by question. */
static void ask_all(const char *profile, size_t longest[10])
{
    static const char *const paths[] = {"amount", "uid:function", "trace::line", "x", "x:"};
    void *data;
    pcol_file *file = pack(profile, &data);
    pcol_error err;
    memset(longest, 0, 10 * sizeof *longest);
    for (unsigned n = 0; n < 10 * 2 * 5; n++) {
        struct text rows = {0};
        pcol_ask_options ask = PCOL_INIT(pcol_ask_options);
        ask.all_rows = 1;
        ask.flat = n / 10 % 2 != 0;
        ask.path = paths[n / 20];
        ask.filter = "all-param";
        for (unsigned way = 0; way < 5; way++) {
            struct text text = {0};
            pcol_answers *answers;
            cr_assert_eq(pcol_ask(file, (pcol_question)(n % 10), &ask, &answers, &err), PCOL_OK);
            size_t most = read_answer(answers, way, way ? &text : &rows);
            longest[n % 10] = most > longest[n % 10] ? most : longest[n % 10];
            pcol_answers_free(answers);
            if (way && (rows.data || text.data))
                cr_assert_str_eq(rows.data, text.data, "question %u, way %u", n % 10, way);
            free(text.data);
        }
        free(rows.data);
    }
    pcol_file_close(file);
    pcol_free(data);
}

/* Arrays of `count` elements, made by a pattern with one number in it. */
static void put_array(struct text *text, const char *key, const char *pattern, int count)
{
    char element[64];
    put(text, element, (size_t)snprintf(element, sizeof element, "\"%s\":[", key));
    for (int i = 0; i < count; i++) {
        int size =
            snprintf(element, sizeof element, "%s%d%s", i ? "," : "", i * 37 % 1000 - 20, pattern);
        put(text, element, (size_t)size);
    }
    put(text, "]", 1);
}

Test(answer_blocks, runs_of_a_type)
{
    static const char *const kinds[] = {
        ("\"uid\":{\"function\":\"f\",\"source\":\"a.c\",\"line\":3},\"trace\":[{\"func\":\"g\"},"
         "{\"function\":\"h\",\"source\":\"a\",\"line\":2}],\"snapshot\":0,\"x\":{\"a\":[1,{}]}"),
        "\"uid\":\"u\",\"trace\":[],\"snapshot\":1,\"subtype\":\"free\"",
        "\"uid\":\"u\",\"trace\":[],\"snapshot\":1,\"x\":[1,2]", "\"uid\":\"only\",\"snapshot\":2"};
    struct text text = {0};
    size_t longest[10];
    put(&text, "{\"resource_type_map\":{", 22);
    for (size_t i = 0; i < 4; i++) {
        char start[16];
        put(&text, start, (size_t)snprintf(start, sizeof start, "%s\"t%zu\":{", i ? "," : "", i));
        put(&text, kinds[i], strlen(kinds[i]));
        put(&text, "}", 1);
    }
    put(&text, "},\"resources\":{", 15);
    for (size_t i = 0; i < 4; i++) {
        char start[16];
        put(&text, start, (size_t)snprintf(start, sizeof start, "%s\"t%zu\":{", i ? "," : "", i));
        put_array(&text, "amount", i == 2 ? ".5" : "", 700);
        put(&text, ",", 1);
        put_array(&text, i == 3 ? "x" : "address", "", 700);
        put(&text, "}", 1);
    }
    put(&text, "}}", 2);
    ask_all(text.data, longest);
    cr_assert_gt(longest[PCOL_ASK_RESOURCES], 100);
    cr_assert_gt(longest[PCOL_ASK_ITEMS], 100);
    cr_assert_gt(longest[PCOL_ASK_VALUES], 100);
    cr_assert_gt(longest[PCOL_ASK_SNAPSHOTS], 100);
    cr_assert_gt(longest[PCOL_ASK_FLAME], 100);
    free(text.data);
}

Test(answer_blocks, resources_of_snapshots)
{
    static const char *const kinds[][2] = {
        /* around a number */
        {"\"amount\":", ",\"uid\":{\"function\":\"f\",\"line\":1},\"trace\":[{\"func\":\"f\"}]"},
        {"\"uid\":\"u\",\"trace\":[{\"func\":\"f\"}],\"snapshot\":2,\"amount\":", ""},
        {"\"amount\":", ".5,\"uid\":\"u\",\"trace\":[]"},
        {"\"amount\":null,\"x\":", ""},
        {"\"amount\":true,\"x\":{\"a\":", "},\"uid\":7,\"trace\":[]"},
        {"\"amount\":\"", "\",\"uid\":1.5"}};
    struct text text = {0};
    char resource[200];
    size_t longest[10];
    put(&text, "{\"snapshots\":[", 14);
    for (int s = 0; s < 6; s++) {
        put(&text, resource,
            (size_t)snprintf(resource, sizeof resource, "%s{\"time\":\"%d\",\"resources\":[",
                             s ? "," : "", s));
        for (int i = 0; i < 300; i++) {
            const char *const *kind = kinds[(s + (i % 50 == 7 ? i / 50 : 0)) % 6];
            put(&text, resource,
                (size_t)snprintf(resource, sizeof resource, "%s{%s%d%s}", i ? "," : "", kind[0],
                                 i * 31 % 977, kind[1]));
        }
        put(&text, "]}", 2);
    }
    put(&text, "]}", 2);
    ask_all(text.data, longest);
    cr_assert_gt(longest[PCOL_ASK_RESOURCES], 20);
    cr_assert_gt(longest[PCOL_ASK_ITEMS], 20);
    free(text.data);
}

Test(answer_blocks, without_its_size)
{
    void *data;
    pcol_file *file = pack("{\"resources\":[{\"amount\":1}]}", &data);
    pcol_answers *answers;
    pcol_answer_block block = {0};
    pcol_error err;
    cr_assert_eq(pcol_ask(file, PCOL_ASK_ITEMS, NULL, &answers, &err), PCOL_OK);
    cr_assert_eq(pcol_answers_block(answers, &block, &err), PCOL_E_ARGUMENT);
    pcol_answers_free(answers);
    pcol_file_close(file);
    pcol_free(data);
}

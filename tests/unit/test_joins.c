/*
 * test_joins.c - joined tables: every cell against plain tables, conditions, selections
 *
 * Expected cells are looked up one by one in the tables that the ids name, through public calls.
 * Profiles: golden files, a small profile of each format, and random ones. Damaged files:
 * test_joins_hostile.c.
 */
#include "pcol.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/format/golden/1.0/valid/*.pcol"
#define SMALL "tests/data/*/small.*"
#define MUST(call) cr_assert_eq((call), PCOL_OK, "%s: %s", #call, err.message)

static pcol_error err;
static uint64_t seed = 1;

static uint32_t dice(uint32_t sides)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % sides;
}

/* A profile and what its ids name; tables are NULL where the file has none. */
struct profile {
    const char *name;
    pcol_file *file;
    pcol_names *names;
    const pcol_table *tables[2][3]; /* locations, functions, sources: of v2, of v1 */
    const pcol_table *threads, *categories, *mappings, *stacks;
};

enum { LOCATIONS, FUNCTIONS, SOURCES };

struct cell {
    int valid, is_number;
    int64_t number;
    struct text text;
};

static const pcol_table *find_table(const pcol_file *file, pcol_model model, const char *name)
{
    const pcol_table *table;
    return pcol_file_table_by_name(file, model, name, &table, NULL) == PCOL_OK ? table : NULL;
}

static int open_profile(struct profile *p, const char *name, pcol_file *file)
{
    static const char *const names[] = {"locations", "functions", "sources"};
    *p = (struct profile){.name = name, .file = file};
    if (pcol_names_new(file, &p->names, NULL) != PCOL_OK)
        return 0;
    for (int i = 0; i < 3; i++) {
        p->tables[0][i] = find_table(file, PCOL_MODEL_V2, names[i]);
        p->tables[1][i] = find_table(file, PCOL_MODEL_V1, names[i]);
    }
    p->threads = find_table(file, PCOL_MODEL_PHYSICAL, "threads");
    p->categories = find_table(file, PCOL_MODEL_PHYSICAL, "categories");
    p->mappings = find_table(file, PCOL_MODEL_PHYSICAL, "mappings");
    p->stacks = find_table(file, PCOL_MODEL_PHYSICAL, "stacks");
    return 1;
}

/* ---- expected cells */

static void set_text(struct cell *cell, pcol_str text)
{
    cell->valid = 1;
    cell->text.size = 0;
    text_add(&cell->text, text.data, text.size);
}

/* Cell `row` of a text column, unless an earlier one was found. */
static void look_up(struct cell *cell, const pcol_table *table, const char *name, int64_t row)
{
    const pcol_column *column = table ? pcol_table_column_by_name(table, name, NULL) : NULL;
    pcol_str text;
    int valid;
    if (!column || cell->valid)
        return;
    MUST(pcol_column_str(column, (uint64_t)row, &text, &valid, &err));
    if (valid)
        set_text(cell, text);
}

static int64_t number_of(const pcol_table *table, const char *name, int64_t row, int *valid)
{
    const pcol_column *column = pcol_table_column_by_name(table, name, NULL);
    int64_t number = 0;
    *valid = 0;
    if (column)
        MUST(pcol_column_i64(column, (uint64_t)row, &number, valid, &err));
    return number;
}

static void name_location(const struct profile *p, int64_t row, struct cell *cell)
{
    pcol_str name;
    MUST(pcol_names_location(p->names, (uint64_t)row, &name, &err));
    set_text(cell, name);
}

static void name_stack(const struct profile *p, int64_t stack, struct cell *cell)
{
    uint32_t locations[4096];
    size_t depth;
    pcol_str name;
    MUST(pcol_stack_locations(p->file, (uint64_t)stack, locations, 4096, &depth, &err));
    cr_assert(depth <= 4096);
    set_text(cell, depth ? (pcol_str){"", 0} : (pcol_str){"<no stack>", 10});
    for (size_t i = depth; i-- > 0;) {
        MUST(pcol_names_location(p->names, locations[i], &name, &err));
        text_add(&cell->text, name.data, name.size);
        text_add(&cell->text, ";", i > 0);
    }
}

static void find_file(const struct profile *p, const pcol_table *const *tables, int64_t row,
                      struct cell *cell)
{
    int valid;
    int64_t function = number_of(tables[LOCATIONS], "function_id", row, &valid);
    (void)p;
    if (valid)
        look_up(cell, tables[FUNCTIONS], "filename", function - 1);
    look_up(cell, tables[LOCATIONS], ".filename", row);
}

/* The name of a row of locations. Locations of v1 have functions, and no others. */
static void name_own(const struct profile *p, int is_v1, uint64_t row, int64_t function,
                     struct cell *cell)
{
    pcol_str name;
    int valid;
    if (!is_v1) {
        name_location(p, (int64_t)row, cell);
        return;
    }
    MUST(pcol_names_function(p->names, (uint64_t)function - 1, &name, &valid, &err));
    set_text(cell, name);
}

/* The cell that a joined column must have in a row whose id is `id`. */
static void expect(const struct profile *p, int is_v1, const char *table, const char *name,
                   const char *ids, uint64_t row, int64_t id, struct cell *cell)
{
    const pcol_table *const *tables = p->tables[is_v1];
    cell->valid = cell->is_number = 0;
    int of_location = strcmp(ids, "location_id") == 0,
        of_function = strcmp(ids, "function_id") == 0;
    if (strcmp(name, "stack") == 0)
        name_stack(p, id, cell);
    else if (strcmp(name, "source_uri") == 0 || strcmp(name, "source_type") == 0)
        look_up(cell, tables[SOURCES], name, id - 1);
    else if (strcmp(name, "category") == 0)
        look_up(cell, p->categories, "name", id);
    else if (strcmp(name, "mapping") == 0)
        look_up(cell, p->mappings, "filename", id);
    else if (strcmp(name, "thread") == 0) {
        look_up(cell, p->threads, "name", id);
        look_up(cell, p->threads, "tid", id);
    } else if (of_location && strcmp(name, "name") == 0)
        name_location(p, id - 1, cell);
    else if (of_location && strcmp(name, "filename") == 0)
        find_file(p, tables, id - 1, cell);
    else if (of_location && strcmp(name, "line") == 0) {
        cell->is_number = 1;
        cell->number = number_of(tables[LOCATIONS], "line", id - 1, &cell->valid);
    } else if (of_function && strcmp(name, "filename") == 0)
        look_up(cell, tables[FUNCTIONS], "filename", id - 1);
    else if (of_function && strcmp(table, "locations") == 0)
        name_own(p, is_v1, row, id, cell);
    else if (of_function)
        look_up(cell, tables[FUNCTIONS], "name", id - 1);
    else
        cr_assert(0, "no rule for column %s of %s, of ids %s", name, table, ids);
}

/* ---- shape */

static pcol_column_info info_of(const pcol_table *table, uint32_t column)
{
    pcol_column_info info = PCOL_INIT(pcol_column_info);
    MUST(pcol_column_describe(pcol_table_column(table, column), &info, &err));
    return info;
}

/* The column of ids that a joined column replaces: the next that is not joined. */
static uint32_t ids_of(const pcol_table *joined, uint32_t column)
{
    while (info_of(joined, column).flags & PCOL_COLUMN_IS_JOINED)
        column++;
    cr_assert(info_of(joined, column).flags & PCOL_COLUMN_IS_REPLACED);
    return column;
}

/* Columns that are not joined are those of the table, in their order. Returns the joined ones. */
static uint32_t check_shape(const pcol_table *table, const pcol_table *joined)
{
    uint32_t own = 0, count = 0;
    const pcol_table *again;
    MUST(pcol_table_joined(table, &again, &err));
    cr_assert_eq(again, joined);
    MUST(pcol_table_joined(joined, &again, &err));
    cr_assert_eq(again, joined);
    cr_assert_str_eq(pcol_table_name(joined), pcol_table_name(table));
    cr_assert_eq(pcol_table_rows(joined), pcol_table_rows(table));
    for (uint32_t i = 0; i < pcol_table_column_count(joined); i++) {
        pcol_column_info info = info_of(joined, i), base;
        if (info.flags & PCOL_COLUMN_IS_JOINED) {
            cr_assert(info.documentation && info.nullable && !info.references);
            count++;
            continue;
        }
        base = info_of(table, own++);
        cr_assert_eq(info.type, base.type);
        if (strcmp(info.name, base.name) != 0) {
            char name[256];
            snprintf(name, sizeof name, "%s_id", base.name);
            cr_assert_str_eq(info.name, name);
            cr_assert(info.flags & PCOL_COLUMN_IS_REPLACED);
        }
    }
    cr_assert_eq(own, pcol_table_column_count(table));
    return count;
}

/* ---- cells */

static void check_cell(const struct profile *p, const pcol_column_info *info,
                       const struct cell *cell, const pcol_cells *cells, size_t at, uint64_t row)
{
    cr_assert_eq(cells->valid[at], cell->valid, "%s, %s, row %llu", p->name, info->name,
                 (unsigned long long)row);
    if (!cell->valid)
        return;
    if (cell->is_number) {
        cr_assert_eq(cells->i64[at], cell->number);
        return;
    }
    pcol_str text = {NULL, 0};
    if (cells->codes)
        MUST(pcol_file_string(p->file, cells->codes[at], &text, &err));
    else
        text = cells->str[at];
    cr_assert(text.size == cell->text.size &&
                  (!text.size || memcmp(text.data, cell->text.data, text.size) == 0),
              "%s, %s, row %llu: '%.*s', not '%.*s'", p->name, info->name, (unsigned long long)row,
              (int)text.size, text.data, (int)cell->text.size,
              cell->text.data ? cell->text.data : "");
}

static void check_batch(const struct profile *p, int is_v1, const pcol_table *joined,
                        const pcol_batch *batch)
{
    static struct cell cell;
    for (uint32_t c = 0; c < batch->column_count; c++) {
        pcol_column_info info = info_of(joined, c);
        if (!(info.flags & PCOL_COLUMN_IS_JOINED))
            continue;
        uint32_t number = ids_of(joined, c);
        pcol_column_info of = info_of(joined, number);
        const pcol_cells *ids = &batch->columns[number];
        for (size_t i = 0; i < batch->rows; i++) {
            uint64_t row = batch->row_numbers ? batch->row_numbers[i] : batch->first_row + i;
            cell.valid = 0;
            if (ids->valid[i])
                expect(p, is_v1, pcol_table_name(joined), info.name, of.name, row, ids->i64[i],
                       &cell);
            check_cell(p, &info, &cell, &batch->columns[c], i, row);
        }
    }
}

/* Scans all columns under the options; returns the number of rows. */
static uint64_t check_scan(const struct profile *p, int is_v1, const pcol_table *joined,
                           const pcol_scan_options *options)
{
    pcol_batch batch = PCOL_INIT(pcol_batch);
    pcol_scan *scan;
    uint64_t rows = 0;
    MUST(pcol_scan_new(joined, options, &scan, &err));
    do {
        MUST(pcol_scan_next(scan, &batch, &err));
        check_batch(p, is_v1, joined, &batch);
        rows += batch.rows;
    } while (batch.rows);
    pcol_scan_free(scan);
    return rows;
}

/* Rows under a condition on a joined column are those whose cells satisfy it. */
static void check_condition(const struct profile *p, int is_v1, const pcol_table *joined,
                            uint32_t column)
{
    pcol_column_info info = info_of(joined, column);
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    pcol_condition where = {.column = column, .type = PCOL_I64};
    uint64_t rows = pcol_table_rows(joined), counts[3];
    const pcol_column *cells = pcol_table_column(joined, column);
    static const uint32_t ops[] = {PCOL_OP_EQ, PCOL_OP_NE, PCOL_OP_IS_NULL};
    uint64_t row = dice((uint32_t)rows), equal = 0, null = 0;
    int valid;
    if (info.type == PCOL_STRING) {
        where.type = PCOL_STRING;
        MUST(pcol_column_str(cells, row, &where.value.str, &valid, &err));
    } else {
        MUST(pcol_column_i64(cells, row, &where.value.i64, &valid, &err));
    }
    for (uint64_t i = 0; i < rows; i++) {
        pcol_str text = {"", 0};
        int64_t number = 0;
        if (info.type == PCOL_STRING)
            MUST(pcol_column_str(cells, i, &text, &valid, &err));
        else
            MUST(pcol_column_i64(cells, i, &number, &valid, &err));
        null += !valid;
        if (info.type == PCOL_STRING)
            equal += valid && text.size == where.value.str.size &&
                     (!text.size || memcmp(text.data, where.value.str.data, text.size) == 0);
        else
            equal += valid && number == where.value.i64;
    }
    options.where = &where;
    options.where_count = 1;
    for (size_t i = 0; i < 3; i++) {
        where.op = ops[i];
        options.batch_rows = 1 + dice(2000);
        options.flags = dice(2) ? PCOL_SCAN_CODES : 0;
        counts[i] = check_scan(p, is_v1, joined, &options);
    }
    cr_assert_eq(counts[0], equal, "%s, %s", p->name, info.name);
    cr_assert_eq(counts[1], rows - equal - null, "%s, %s", p->name, info.name);
    cr_assert_eq(counts[2], null, "%s, %s", p->name, info.name);
}

/* Cells one by one, in ranges, as codes and as an array. */
static void check_reads(const struct profile *p, const pcol_table *joined, uint32_t number)
{
    const pcol_column *column = pcol_table_column(joined, number);
    pcol_column_info info = info_of(joined, number);
    pcol_array array = PCOL_INIT(pcol_array);
    uint64_t rows = pcol_table_rows(joined), first = dice((uint32_t)rows);
    size_t count = (size_t)(rows - first) < 40 ? (size_t)(rows - first) : 40;
    pcol_str texts[40], one;
    uint32_t codes[40];
    uint8_t valid[40];
    int has;
    MUST(pcol_column_verify(column, &err));
    MUST(pcol_column_array(column, NULL, &array, &err));
    cr_assert_eq(array.rows, rows);
    if (info.type != PCOL_STRING)
        return;
    MUST(pcol_column_read_str(column, first, count, texts, valid, &err));
    int has_codes =
        pcol_column_read_codes(column, first, count, codes, NULL, NULL) != PCOL_E_UNSUPPORTED;
    cr_assert(!has_codes || !(info.flags & PCOL_COLUMN_IS_COMPOSED));
    cr_assert_eq(has_codes, !(array.flags & PCOL_ARRAY_TEXT));
    for (size_t i = 0; i < count; i++) {
        MUST(pcol_column_str(column, first + i, &one, &has, &err));
        cr_assert_eq(has, valid[i]);
        cr_assert(one.size == texts[i].size &&
                  (!one.size || memcmp(one.data, texts[i].data, one.size) == 0));
        if (has_codes && has) {
            MUST(pcol_file_string(p->file, codes[i], &one, &err));
            cr_assert(one.size == texts[i].size && one.data == texts[i].data);
        }
    }
}

static uint32_t check_table(const struct profile *p, pcol_model model, const pcol_table *table)
{
    const pcol_table *joined;
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    int is_v1 = model == PCOL_MODEL_V1;
    MUST(pcol_table_joined(table, &joined, &err));
    uint64_t rows = pcol_table_rows(table);
    uint32_t count = check_shape(table, joined);
    cr_assert_eq(count == 0, joined == table);
    if (!count)
        return 0;
    cr_assert_eq(check_scan(p, is_v1, joined, NULL), rows);
    options.flags = PCOL_SCAN_CODES;
    options.batch_rows = 7;
    cr_assert_eq(check_scan(p, is_v1, joined, &options), rows);
    options.batch_rows = 5000;
    options.first_row = rows / 3;
    options.row_count = 3;
    (void)check_scan(p, is_v1, joined, &options);
    for (uint32_t i = 0; rows && rows < 3000 && i < pcol_table_column_count(joined); i++)
        if (info_of(joined, i).flags & PCOL_COLUMN_IS_JOINED) {
            check_condition(p, is_v1, joined, i);
            check_reads(p, joined, i);
        }
    return count;
}

/* Returns the number of joined columns. */
static uint32_t check_profile(const char *name, pcol_file *file)
{
    struct profile p;
    uint32_t count = 0;
    if (open_profile(&p, name, file))
        for (int model = PCOL_MODEL_V2; model <= PCOL_MODEL_FURTHER; model++)
            for (uint32_t i = 0; i < pcol_file_table_count(file, (pcol_model)model); i++) {
                const pcol_table *table;
                if (pcol_file_table(file, (pcol_model)model, i, &table, NULL) != PCOL_OK)
                    continue; /* not in v1, or of a newer version */
                uint32_t joined = check_table(&p, (pcol_model)model, table);
                cr_assert(model != PCOL_MODEL_PHYSICAL || !joined);
                count += joined;
            }
    pcol_names_free(p.names);
    pcol_file_close(file);
    return count;
}

static void check_files(const char *pattern, size_t least)
{
    glob_t found;
    size_t files = 0;
    cr_assert_eq(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        pcol_file *file;
        const char *path = found.gl_pathv[i];
        if (strstr(path, ".tsv") || pcol_open_any_path(path, NULL, &file, &err) != PCOL_OK)
            continue;
        files += check_profile(path, file) > 0;
    }
    globfree(&found);
    cr_assert_geq(files, least);
}

Test(joins, golden_files)
{
    check_files(GOLDEN, 20);
}

Test(joins, every_format)
{
    check_files(SMALL, 18);
}

/* ---- random profiles */

/* perf script: names, addresses without names, binaries without names, threads. */
static void random_perf(struct text *text)
{
    static const char *const binaries[] = {"[kernel.kallsyms]", "/usr/lib/libc.so.6",
                                           "/opt/my app/x", "[unknown]", "/"};
    for (int i = 0; i < 2500; i++) {
        text_addf(text, "comm%u  %u %d.%06d: 1 cpu-clock: \n", dice(3), 100 + dice(4), i / 1000,
                  i % 1000);
        for (uint32_t depth = 1 + dice(12); depth-- > 0;) {
            const char *binary = binaries[dice(5)];
            if (dice(3))
                text_addf(text, "\t%x name%u+0x1 (%s)\n", 4096 + dice(400), dice(30), binary);
            else
                text_addf(text, "\t%x [unknown] (%s)\n", 4096 + dice(400), binary);
        }
        text_addf(text, "\n");
    }
}

/* Rprof: lines of files, within functions and at the top level. */
static void random_rprof(struct text *text)
{
    text_addf(text, "line profiling: sample.interval=20000\n#File 1: a.R\n#File 2: b/c.R\n");
    for (int i = 0; i < 2500; i++) {
        for (uint32_t depth = 1 + dice(9); depth-- > 0;) {
            if (dice(3) == 0)
                text_addf(text, "%u#%u ", 1 + dice(2), 1 + dice(40));
            text_addf(text, "\"f%u\" ", dice(25));
        }
        if (dice(4) == 0)
            text_addf(text, "%u#%u ", 1 + dice(2), 1 + dice(40));
        text_addf(text, "\n");
    }
}

static void check_random(void (*write)(struct text *text), const char *format)
{
    static const unsigned flags[] = {0, PCOL_WRITE_PLAIN, PCOL_WRITE_ARCHIVE};
    pcol_import_options options = PCOL_INIT(pcol_import_options);
    options.format = format;
    for (size_t i = 0; i < 3; i++) {
        struct text text = {0};
        pcol_builder *b;
        pcol_file *file;
        write(&text);
        MUST(pcol_builder_new(NULL, &b, &err));
        MUST(pcol_import_memory(b, text.data, text.size, "in", &options, &err));
        MUST(pcol_builder_file(b, flags[i], NULL, &file, &err));
        pcol_builder_free(b);
        cr_assert(check_profile(format, file) >= 8);
        free(text.data);
    }
}

Test(joins, random_addresses_and_threads)
{
    check_random(random_perf, "perf");
}

Test(joins, random_lines_of_files)
{
    check_random(random_rprof, "rprof");
}

/* Texts of stacks that fill a batch with a few rows. */
static void random_folded(struct text *text)
{
    for (int i = 0; i < 300; i++) {
        for (int depth = 0; depth < 8; depth++) {
            text_add(text, ";", depth > 0);
            for (uint32_t parts = 1 + dice(20), name = dice(50); parts > 0; parts--)
                text_addf(text, "%0200u", name);
        }
        text_addf(text, " %d\n", i + 1);
    }
}

Test(joins, random_names_of_any_length)
{
    check_random(random_folded, "folded");
}

/* ---- selections */

/* A selection takes the same rows of the joined table as of the table. */
Test(joins, selections)
{
    struct text text = {0};
    pcol_file *file;
    pcol_selection selection = PCOL_INIT(pcol_selection);
    pcol_scan_options options = PCOL_INIT(pcol_scan_options);
    static const char *const tables[] = {"samples", "sample_locations"};
    struct profile p;
    random_rprof(&text);
    MUST(pcol_open_any_memory(text.data, text.size, "in.Rprof", NULL, &file, &err));
    cr_assert(open_profile(&p, "selections", file));
    selection.focus = "f1";
    selection.hide = "f2";
    options.selection = &selection;
    for (size_t i = 0; i < 2; i++) {
        const pcol_table *table = find_table(file, PCOL_MODEL_V2, tables[i]), *joined;
        pcol_batch batch = PCOL_INIT(pcol_batch);
        pcol_scan *scan;
        uint64_t rows = 0;
        MUST(pcol_table_joined(table, &joined, &err));
        cr_assert_neq(joined, table);
        MUST(pcol_scan_new(table, &options, &scan, &err));
        do {
            MUST(pcol_scan_next(scan, &batch, &err));
            rows += batch.rows;
        } while (batch.rows);
        pcol_scan_free(scan);
        cr_assert(rows > 0 && rows < pcol_table_rows(table));
        cr_assert_eq(check_scan(&p, 0, joined, &options), rows);
    }
    pcol_names_free(p.names);
    pcol_file_close(file);
    free(text.data);
}

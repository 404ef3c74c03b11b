/*
 * cli_where.c - the conditions of --where: COLUMN OP VALUE
 *
 * OP is one of < <= == = != >= > ~ (pcol_pattern), `is null`, `is not null`, with optional blanks.
 * The column is the longest column name at the start of the text, with or without its dot, so
 * names may contain any characters. The library tests the values: conditions on cells of the table
 * become those of its scan. Lists, and numbers that a pattern or a text is compared with, are
 * tested as they are printed; integers beyond 64 bits (of Perun) here.
 */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct test {
    size_t column;
    int is_pushed; /* part of the scan */
    uint32_t op;   /* pcol_operator */
    char *text;    /* the value */
    size_t size;
    pcol_condition condition;      /* on the cells of the column */
    pcol_value_test *number, *any; /* of numbers, NULL if `text` is none; of the cell as text */
    struct cli_cell last; /* a stable text, and whether it passed: many rows may share it */
    int last_passed;
};

struct cli_where {
    size_t count;
    struct test *tests;
    char *list; /* a list as text */
    size_t list_capacity;
};

static const char *skip_blanks(const char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    return text;
}

/* A word operator and the characters that must not follow it. */
static const char *skip_word(const char *text, const char *word)
{
    size_t size = strlen(word);

    if (strncasecmp(text, word, size) != 0)
        return NULL;
    return text[size] == '\0' || text[size] == ' ' || text[size] == '\t' ? text + size : NULL;
}

/* Parse the operator at `text` and find its value; -1 if there is none. */
static int parse_op(const char *text, const char **value)
{
    static const struct {
        const char *text;
        pcol_operator op;
    } ops[] = {{"<=", PCOL_OP_LE}, {">=", PCOL_OP_GE}, {"==", PCOL_OP_EQ}, {"!=", PCOL_OP_NE},
               {"<", PCOL_OP_LT},  {">", PCOL_OP_GT},  {"=", PCOL_OP_EQ},  {"~", PCOL_OP_MATCH}};
    const char *at;

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        size_t size = strlen(ops[i].text);
        if (strncmp(text, ops[i].text, size) == 0) {
            *value = text + size;
            return (int)ops[i].op;
        }
    }
    if ((at = skip_word(text, "is")) == NULL)
        return -1;
    at = skip_blanks(at);
    int negated = 0;
    const char *rest = skip_word(at, "not");
    if (rest != NULL) {
        negated = 1;
        at = skip_blanks(rest);
    }
    if ((at = skip_word(at, "null")) == NULL || *skip_blanks(at) != '\0')
        return -1;
    *value = "";
    return negated ? PCOL_OP_NOT_NULL : PCOL_OP_IS_NULL;
}

/* The longest column name at the start of the text that precedes an operator. */
static int parse_column(const char *text, const struct cli_rows_column *columns, size_t count,
                        size_t *column, const char **value)
{
    size_t longest = 0;
    int found = -1;

    for (size_t i = 0; i < count; i++) {
        const char *name = columns[i].name;
        for (int dot = 0; dot < 2; dot++) {
            const char *rest;
            size_t size = strlen(name);
            int op;
            if (size > longest && strncmp(text, name, size) == 0 &&
                (op = parse_op(skip_blanks(text + size), &rest)) >= 0) {
                longest = size;
                *column = i;
                *value = rest;
                found = op;
            }
            if (*name != '.')
                break;
            name++;
        }
    }
    return found;
}

static int fail_column(const char *text, const struct cli_rows_column *columns, size_t count)
{
    char name[64];
    char hint[96];
    struct cli_name_list list = {"", 0, 0};
    struct cli_suggest suggest;
    const char *value;
    size_t size = strcspn(text, "<>=!~ \t");
    size_t kept = size < sizeof name - 1 ? size : sizeof name - 1;

    memcpy(name, text, kept);
    name[kept] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *own = columns[i].name;
        if (strcmp(own, name) == 0 || (*own == '.' && strcmp(own + 1, name) == 0))
            return cli_usage("--where '%s': no operator after '%s': one of < <= == != >= > ~ or "
                             "'is null', 'is not null'",
                             text, name);
    }
    if (parse_op(skip_blanks(text + size), &value) < 0)
        return cli_usage("--where '%s' is not COLUMN OP VALUE", text);
    cli_suggest_start(&suggest, name);
    for (size_t i = 0; i < count; i++)
        cli_suggest_offer(&suggest, columns[i].name, strlen(columns[i].name));
    cli_suggest_text(&suggest, hint, sizeof hint);
    if (*hint != '\0')
        return cli_usage("--where: no column '%s'%s", name, hint);
    for (size_t i = 0; i < count; i++)
        cli_name_list_add(&list, columns[i].name);
    return cli_usage("--where: no column '%s'; columns: %s%s", name, list.text,
                     cli_name_list_end(&list));
}

static int parse_integer(const char *text, uint64_t *number)
{
    char *end;

    if (text[0] != '0' || (text[1] | 0x20) != 'x' || text[2] == '\0')
        return cli_parse_u64(text, number) == 0;
    errno = 0;
    *number = strtoull(text + 2, &end, 16);
    return strspn(text + 2, "0123456789abcdefABCDEF") == strlen(text + 2) && errno == 0;
}

/* The value as a number, exactly if it is an integer of 64 bits; 0 if it is none. */
static int parse_number(const char *text, pcol_condition *condition)
{
    int is_negative = *text == '-';
    uint64_t magnitude;
    char *end;

    if (parse_integer(text + (is_negative || *text == '+'), &magnitude) &&
        (!is_negative || magnitude <= (uint64_t)1 << 63)) {
        condition->type = is_negative ? PCOL_I64 : PCOL_U64;
        condition->value.u64 = is_negative ? 0 - magnitude : magnitude;
        return 1;
    }
    if (*text == '\0' || *text == ' ')
        return 0;
    condition->type = PCOL_F64;
    condition->value.f64 = strtod(text, &end);
    return *end == '\0';
}

/* Without blanks at its ends, and without a pair of quotes, which keep blanks; those of a pattern
 * belong to it. */
static int copy_value(struct test *test, const char *value)
{
    size_t size = strlen(value = skip_blanks(value));

    while (size > 0 && (value[size - 1] == ' ' || value[size - 1] == '\t'))
        size--;
    if (test->op != PCOL_OP_MATCH && size >= 2 && (*value == '"' || *value == '\'') &&
        value[size - 1] == *value) {
        value++;
        size -= 2;
    }
    test->size = size;
    if ((test->text = malloc(size + 1)) == NULL)
        return cli_fail_memory();
    memcpy(test->text, value, size);
    test->text[size] = '\0';
    return CLI_OK;
}

static int new_test(const pcol_condition *condition, pcol_value_test **test)
{
    pcol_error err;
    pcol_status status = pcol_value_test_new(condition, test, &err);

    return status == PCOL_E_ARGUMENT ? cli_usage("--where: %s", err.message)
           : status != PCOL_OK       ? cli_fail_error(NULL, &err)
                                     : CLI_OK;
}

static int is_text(pcol_type type)
{
    return type == PCOL_STRING || type == PCOL_BYTES;
}

static int set_number(struct test *test, const struct cli_rows_column *column)
{
    int is_number = parse_number(test->text, &test->condition);

    if (column->type == PCOL_BOOL && !is_number &&
        (strcmp(test->text, "true") == 0 || strcmp(test->text, "false") == 0)) {
        test->condition.type = PCOL_I64;
        test->condition.value.i64 = *test->text == 't';
        is_number = 1;
    }
    if (is_number)
        return new_test(&test->condition, &test->number);
    if ((int)column->type == CLI_TYPE_OPEN)
        return CLI_OK;
    if (*test->text != '\0' && strchr("<>=!~", *test->text) != NULL)
        return cli_usage(
            "--where: two operators before '%s'; the operators are < <= == != >= > and ~",
            test->text);
    return cli_usage("--where: column %s has numbers, and '%s' is not a number", column->name,
                     test->text);
}

static int set_value(struct test *test, const char *value, const struct cli_rows_column *column)
{
    int code = copy_value(test, value);
    int is_open = (int)column->type == CLI_TYPE_OPEN || column->type == PCOL_LIST;
    int compares = test->op < PCOL_OP_MATCH;

    if (code != CLI_OK)
        return code;
    test->condition = (pcol_condition){.column = column->number,
                                       .op = test->op,
                                       .type = PCOL_STRING,
                                       .value.str = {test->text, test->size}};
    code = new_test(&test->condition, &test->any);
    if (code == CLI_OK && compares && !is_text(column->type) && column->type != PCOL_LIST)
        code = set_number(test, column);
    test->is_pushed = !is_open && (is_text(column->type) || test->op != PCOL_OP_MATCH);
    return code;
}

int cli_where_new(const struct cli_list *texts, struct cli_rows_column *columns, size_t count,
                  struct cli_where **made)
{
    struct cli_where *where = calloc(1, sizeof *where);
    int code = CLI_OK;

    *made = where;
    if (where == NULL)
        return cli_fail_memory();
    where->tests = calloc(texts->count + 1, sizeof *where->tests);
    if (where->tests == NULL)
        return cli_fail_memory();
    for (size_t i = 0; i < texts->count && code == CLI_OK; i++) {
        struct test *test = &where->tests[i];
        const char *text = skip_blanks(texts->items[i]);
        const char *value;
        int op = parse_column(text, columns, count, &test->column, &value);
        where->count = i + 1;
        if (op < 0)
            return fail_column(text, columns, count);
        test->op = (uint32_t)op;
        code = set_value(test, value, &columns[test->column]);
        columns[test->column].wanted |= !test->is_pushed;
    }
    return code;
}

void cli_where_free(struct cli_where *where)
{
    if (where == NULL)
        return;
    for (size_t i = 0; i < where->count; i++) {
        free(where->tests[i].text);
        pcol_value_test_free(where->tests[i].number);
        pcol_value_test_free(where->tests[i].any);
    }
    free(where->tests);
    free(where->list);
    free(where);
}

size_t cli_where_count(const struct cli_where *where)
{
    return where == NULL ? 0 : where->count;
}

size_t cli_where_column(const struct cli_where *where, size_t index)
{
    return where->tests[index].column;
}

size_t cli_where_push(const struct cli_where *where, pcol_condition *conditions)
{
    size_t count = 0;

    for (size_t i = 0; i < cli_where_count(where); i++)
        if (where->tests[i].is_pushed)
            conditions[count++] = where->tests[i].condition;
    return count;
}

int cli_where_is_pushed(const struct cli_where *where, size_t index)
{
    return where->tests[index].is_pushed;
}

/* Format a list as "[3,1]" into where->list; its size, 0 if memory runs out. */
static size_t list_text(struct cli_where *where, const struct cli_cell *cell)
{
    size_t used = 0;

    size_t most = cell->as.list.count * 21 + 2;
    if (most > where->list_capacity) {
        char *grown = realloc(where->list, 2 * most);
        if (grown == NULL)
            return 0;
        where->list = grown;
        where->list_capacity = 2 * most;
    }
    where->list[used++] = '[';
    for (size_t i = 0; i < cell->as.list.count; i++) {
        if (i > 0)
            where->list[used++] = ',';
        used += cli_format_i64(where->list + used, cell->as.list.values[i]);
    }
    where->list[used++] = ']';
    return used;
}

/* A decimal integer of any size. */
struct integer {
    int is_negative;
    const char *digits; /* without leading zeros; 0 has none */
    size_t size;
};

static int get_integer(pcol_str text, struct integer *integer)
{
    const char *at = text.data, *end = text.data + text.size;

    integer->is_negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end)
        return 0;
    for (const char *digit = at; digit < end; digit++)
        if (*digit < '0' || *digit > '9')
            return 0;
    while (at < end && *at == '0')
        at++;
    integer->is_negative &= at < end;
    integer->digits = at;
    integer->size = (size_t)(end - at);
    return 1;
}

static int compare_integers(const struct integer *a, const struct integer *b)
{
    int sign = a->is_negative ? -1 : 1, order;

    if (a->is_negative != b->is_negative)
        return sign;
    if (a->size != b->size)
        return a->size < b->size ? -sign : sign;
    order = a->size > 0 ? memcmp(a->digits, b->digits, a->size) : 0;
    return order == 0 ? 0 : order < 0 ? -sign : sign;
}

static double nearest_double(const struct integer *integer)
{
    char digits[320]; /* the largest double has 309 */
    double number = (double)INFINITY;

    if (integer->size < sizeof digits) {
        memcpy(digits, integer->digits, integer->size);
        digits[integer->size] = '\0';
        number = strtod(digits, NULL);
    }
    return integer->is_negative ? -number : number;
}

/* Test an integer beyond 64 bits, which is in text: exactly against another integer. */
static pcol_status test_integer(const struct test *test, const struct integer *integer, int *yes,
                                pcol_error *err)
{
    struct integer wanted;

    if (!get_integer((pcol_str){test->text, test->size}, &wanted)) {
        pcol_scalar value = {.f64 = nearest_double(integer)};
        return pcol_value_test_holds(test->number, PCOL_F64, &value, yes, err);
    }
    int order = compare_integers(integer, &wanted);
    *yes = test->op == PCOL_OP_LT   ? order < 0
           : test->op == PCOL_OP_LE ? order <= 0
           : test->op == PCOL_OP_EQ ? order == 0
           : test->op == PCOL_OP_NE ? order != 0
           : test->op == PCOL_OP_GE ? order >= 0
                                    : order > 0;
    return PCOL_OK;
}

static pcol_status test_cell(struct cli_where *where, const struct test *test,
                             const struct cli_cell *cell, int *yes, pcol_error *err)
{
    char text[CLI_NUMBER_SIZE];
    pcol_scalar value = {.str = {text, 0}};
    struct integer integer;

    switch (cell->kind) {
    case CLI_CELL_NULL:
    case CLI_CELL_ABSENT:
        return pcol_value_test_holds(test->any, PCOL_STRING, NULL, yes, err);
    case CLI_CELL_TEXT:
    case CLI_CELL_RAW:
        if (cell->kind == CLI_CELL_RAW && test->number != NULL &&
            get_integer((pcol_str){cell->as.text.data, cell->as.text.size}, &integer))
            return test_integer(test, &integer, yes, err);
        value.str = (pcol_str){cell->as.text.data, cell->as.text.size};
        break;
    case CLI_CELL_LIST:
        if ((value.str.size = list_text(where, cell)) == 0)
            return cli_set_memory(err);
        value.str.data = where->list;
        break;
    case CLI_CELL_I64:
    case CLI_CELL_U64:
    case CLI_CELL_F64:
    case CLI_CELL_BOOL:
    case CLI_CELL_PERCENT:
        if (test->number != NULL) {
            pcol_type type = cell->kind == CLI_CELL_U64 ? PCOL_U64
                             : cell->kind == CLI_CELL_F64 || cell->kind == CLI_CELL_PERCENT
                                 ? PCOL_F64
                                 : PCOL_I64;
            value.u64 = cell->as.u64; /* of a double: its bits */
            return pcol_value_test_holds(test->number, type, &value, yes, err);
        }
        value.str.size = cli_cell_number(cell, text);
        break;
    }
    return pcol_value_test_holds(test->any, PCOL_STRING, &value, yes, err);
}

pcol_status cli_where_test(struct cli_where *where, size_t index, const struct cli_cell *cell,
                           int *yes, pcol_error *err)
{
    struct test *test = &where->tests[index];
    int is_kept = cell->stable && (cell->kind == CLI_CELL_TEXT || cell->kind == CLI_CELL_RAW);

    if (is_kept && test->last.stable && test->last.kind == cell->kind &&
        test->last.as.text.data == cell->as.text.data &&
        test->last.as.text.size == cell->as.text.size) {
        *yes = test->last_passed;
        return PCOL_OK;
    }
    pcol_status status = test_cell(where, test, cell, yes, err);
    if (is_kept && status == PCOL_OK) {
        test->last = *cell;
        test->last_passed = *yes;
    }
    return status;
}

/*
 * cli_where.c - the conditions of --where: COLUMN OP VALUE
 *
 * OP is one of < <= == = != >= > ~ (pcol_pattern), `is null`, `is not null`, with optional blanks.
 * The column is the longest column name at the start of the text, with or without its dot, so
 * names may contain any characters. Numbers compare as numbers, integers exactly over all 64 bits;
 * text compares by bytes. A null satisfies only `is null`.
 */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum op { OP_LT, OP_LE, OP_EQ, OP_NE, OP_GE, OP_GT, OP_MATCH, OP_NULL, OP_NOT_NULL };

struct test {
    size_t column;
    enum op op;
    char *text; /* the value */
    size_t size;
    int is_integer, is_negative;
    uint64_t magnitude; /* of an integer */
    double number;      /* of any number */
    int only_text;      /* of an open column: the value is not a number */
    pcol_pattern *pattern;
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
        enum op op;
    } ops[] = {{"<=", OP_LE}, {">=", OP_GE}, {"==", OP_EQ}, {"!=", OP_NE},
               {"<", OP_LT},  {">", OP_GT},  {"=", OP_EQ},  {"~", OP_MATCH}};
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
    return negated ? OP_NOT_NULL : OP_NULL;
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

/* Parse the value as a number, if it is one. */
static void parse_number(struct test *test, int *is_number)
{
    const char *digits = test->text + (*test->text == '-' || *test->text == '+');
    char *end;

    *is_number = 0;
    if (cli_parse_u64(digits, &test->magnitude) == 0) {
        test->is_integer = 1;
        test->is_negative = *test->text == '-' && test->magnitude > 0;
    }
    if (*test->text != '\0' && *test->text != ' ') {
        test->number = strtod(test->text, &end);
        *is_number = *end == '\0';
    }
}

static int set_value(struct test *test, const char *value, const struct cli_rows_column *column)
{
    size_t size = strlen(value = skip_blanks(value));
    int is_number;

    while (size > 0 && (value[size - 1] == ' ' || value[size - 1] == '\t'))
        size--;
    if (size >= 2 && (*value == '"' || *value == '\'') && value[size - 1] == *value) {
        value++;
        size -= 2;
    }
    test->size = size;
    if ((test->text = malloc(size + 1)) == NULL)
        return cli_fail_memory();
    memcpy(test->text, value, size);
    test->text[size] = '\0';
    if (test->op == OP_NULL || test->op == OP_NOT_NULL)
        return CLI_OK;
    if (test->op == OP_MATCH) {
        pcol_error err;
        pcol_status status = pcol_pattern_new(test->text, size, "--where", 0, &test->pattern, &err);
        return status == PCOL_E_ARGUMENT ? cli_usage("%s", err.message)
               : status != PCOL_OK       ? cli_fail_error(NULL, &err)
                                         : CLI_OK;
    }
    if (column->type == PCOL_STRING || column->type == PCOL_BYTES || column->type == PCOL_LIST)
        return CLI_OK;
    parse_number(test, &is_number);
    if ((int)column->type == CLI_TYPE_OPEN) {
        test->only_text = !is_number;
        return CLI_OK;
    }
    if (column->type == PCOL_BOOL && !is_number &&
        (strcmp(test->text, "true") == 0 || strcmp(test->text, "false") == 0)) {
        test->is_integer = 1;
        test->magnitude = *test->text == 't';
        test->number = *test->text == 't' ? 1.0 : 0.0;
        is_number = 1;
    }
    if (!is_number && *test->text != '\0' && strchr("<>=!~", *test->text) != NULL)
        return cli_usage(
            "--where: two operators before '%s'; the operators are < <= == != >= > and ~",
            test->text);
    if (!is_number)
        return cli_usage("--where: column %s has numbers, and '%s' is not a number", column->name,
                         test->text);
    return CLI_OK;
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
        test->op = (enum op)op;
        columns[test->column].wanted = 1;
        code = set_value(test, value, &columns[test->column]);
    }
    return code;
}

void cli_where_free(struct cli_where *where)
{
    if (where == NULL)
        return;
    for (size_t i = 0; i < where->count; i++) {
        free(where->tests[i].text);
        pcol_pattern_free(where->tests[i].pattern);
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

static int sign_of(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Sign of (integer of the cell - integer of the test), both as sign and magnitude. */
static int compare_integers(int negative, uint64_t magnitude, const struct test *test)
{
    if (negative != test->is_negative)
        return negative ? -1 : 1;
    int sign = sign_of(magnitude, test->magnitude);
    return negative ? -sign : sign;
}

/* Sign of (integer - double), exact; the double is not NaN. */
static int compare_mixed(int negative, uint64_t magnitude, double number)
{
    double whole = floor(number < 0 ? -number : number);
    int number_negative = number < 0;
    int sign;

    if (negative != number_negative && !(magnitude == 0 && number == 0))
        return negative ? -1 : 1;
    if (whole >= 18446744073709551616.0) /* 2^64 */
        sign = -1;
    else if ((sign = sign_of(magnitude, (uint64_t)whole)) == 0 &&
             whole < (number < 0 ? -number : number))
        sign = -1;
    return negative ? -sign : sign;
}

static int holds(enum op op, int sign)
{
    switch (op) {
    case OP_LT:
        return sign < 0;
    case OP_LE:
        return sign <= 0;
    case OP_EQ:
        return sign == 0;
    case OP_NE:
        return sign != 0;
    case OP_GE:
        return sign >= 0;
    case OP_GT:
        return sign > 0;
    case OP_MATCH:
    case OP_NULL:
    case OP_NOT_NULL:
        break;
    }
    return 0;
}

static int test_number(const struct test *test, const struct cli_cell *cell)
{
    int negative = cell->kind != CLI_CELL_U64 && cell->as.i64 < 0;
    uint64_t magnitude = negative ? 0 - cell->as.u64 : cell->as.u64;

    if (cell->kind == CLI_CELL_F64) {
        double value = cell->as.f64;
        if (isnan(value) || isnan(test->number))
            return test->op == OP_NE;
        return holds(test->op, value < test->number ? -1 : value > test->number);
    }
    if (test->is_integer)
        return holds(test->op, compare_integers(negative, magnitude, test));
    if (isnan(test->number))
        return test->op == OP_NE;
    return holds(test->op, compare_mixed(negative, magnitude, test->number));
}

static int test_text(const struct test *test, const char *data, size_t size)
{
    size_t common = size < test->size ? size : test->size;
    int sign = common > 0 ? memcmp(data, test->text, common) : 0;

    return holds(test->op, sign != 0 ? sign : sign_of(size, test->size));
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

pcol_status cli_where_test(struct cli_where *where, size_t index, const struct cli_cell *cell,
                           int *yes, pcol_error *err)
{
    const struct test *test = &where->tests[index];
    char text[CLI_NUMBER_SIZE];
    const char *data = text;
    size_t size;

    int is_null = cell->kind == CLI_CELL_NULL || cell->kind == CLI_CELL_ABSENT;
    if (is_null || test->op == OP_NULL || test->op == OP_NOT_NULL) {
        *yes = test->op == OP_NOT_NULL ? !is_null : test->op == OP_NULL && is_null;
        return PCOL_OK;
    }
    if (cell->kind == CLI_CELL_TEXT || cell->kind == CLI_CELL_RAW) {
        data = cell->as.text.data;
        size = cell->as.text.size;
    } else if (cell->kind == CLI_CELL_LIST) {
        if ((size = list_text(where, cell)) == 0)
            return cli_set_memory(err);
        data = where->list;
    } else if (test->op == OP_MATCH || test->only_text) {
        size = cli_cell_number(cell, text);
    } else {
        *yes = test_number(test, cell);
        return PCOL_OK;
    }
    if (test->op == OP_MATCH) {
        pcol_str name = {data, size};
        return pcol_pattern_test(test->pattern, name, yes, err);
    }
    *yes = test_text(test, data, size);
    return PCOL_OK;
}

/*
 * condition_test.c - one typed condition, as an interval of the type of the tested values
 *
 * Each comparison of numbers is an interval of the type of the values and a flag for its
 * complement, worked out once: integers of 64 bits, signed or biased to signed, or doubles.
 * Tests: tests/unit/test_scan.c, fuzz target scan.
 */
#include "query/condition_test.h"

#include "util/alloc.h"
#include "util/arg_check.h"

#include <math.h>
#include <string.h>

/* ---- intervals */

static pcol_status fail(pcol_type type, const char *problem, pcol_error *err)
{
    return pci_fail(err, PCOL_E_ARGUMENT, "a condition on values of type %s %s",
                    pcol_type_name(type), problem);
}

/* Sets the interval of integers for a value between two of them, `below` and `below` + 1, or equal
 * to `below` if it is `exact`; values beyond the type are clipped by the caller. */
static void set_integers(struct pci_test *t, int64_t below, int exact)
{
    t->low = INT64_MIN;
    t->high = INT64_MAX;
    switch (t->op) {
    case PCOL_OP_EQ:
    case PCOL_OP_NE:
        t->low = t->high = below;
        t->never = !exact;
        break;
    case PCOL_OP_LT:
        t->never = exact && below == INT64_MIN;
        t->high = t->never ? below : below - exact;
        break;
    case PCOL_OP_LE:
        t->high = below;
        break;
    case PCOL_OP_GT:
        t->never = below == INT64_MAX;
        t->low = t->never ? below : below + 1;
        break;
    default: /* PCOL_OP_GE */
        t->never = !exact && below == INT64_MAX;
        t->low = exact || t->never ? below : below + 1;
        break;
    }
}

/* The value is below (-1) or above (1) all integers of the column. */
static void set_beyond(struct pci_test *t, int side)
{
    int less = t->op == PCOL_OP_LT || t->op == PCOL_OP_LE;
    int greater = t->op == PCOL_OP_GT || t->op == PCOL_OP_GE;
    t->low = INT64_MIN;
    t->high = INT64_MAX;
    t->never = !(side > 0 ? less : greater);
}

static void set_from_double(struct pci_test *t, int is_unsigned, double value)
{
    double low = is_unsigned ? 0 : -0x1p63, high = is_unsigned ? 0x1p64 : 0x1p63;
    double below = floor(value);
    if (isnan(value))
        t->never = 1;
    else if (below < low || below >= high)
        set_beyond(t, below < low ? -1 : 1);
    else
        set_integers(t, is_unsigned ? pci_bias((uint64_t)below) : (int64_t)below, below == value);
}

static void set_integer_test(struct pci_test *t, const pcol_condition *c, int is_unsigned)
{
    t->kind = PCI_TEST_INTEGER;
    if (c->type == PCOL_F64)
        set_from_double(t, is_unsigned, c->value.f64);
    else if (is_unsigned && c->type == PCOL_I64 && c->value.i64 < 0)
        set_beyond(t, -1);
    else if (!is_unsigned && c->type == PCOL_U64 && c->value.u64 > INT64_MAX)
        set_beyond(t, 1);
    else if (is_unsigned)
        set_integers(t, pci_bias(c->value.u64), 1); /* the bits of a positive i64 are the same */
    else
        set_integers(t, c->value.i64, 1);
}

/* The next double below a finite one or above it. */
static double next_double(double value, int up)
{
    return nextafter(value, up ? HUGE_VAL : -HUGE_VAL);
}

/* The doubles next to an integer: the largest not above it and the smallest not below it. */
static void enclose(const pcol_condition *c, double *below, double *above)
{
    int negative = c->type == PCOL_I64 && c->value.i64 < 0;
    uint64_t magnitude = negative ? 0 - c->value.u64 : c->value.u64;
    double nearest = (double)magnitude; /* at most 2^64 */
    int over = nearest >= 0x1p64 || (uint64_t)nearest > magnitude;
    int under = !over && (uint64_t)nearest < magnitude;
    double low = over ? next_double(nearest, 0) : nearest;
    double high = under ? next_double(nearest, 1) : nearest;
    *below = negative ? -high : low;
    *above = negative ? -low : high;
}

static void set_double_test(struct pci_test *t, const pcol_condition *c)
{
    double below = c->value.f64, above = c->value.f64;
    t->kind = PCI_TEST_DOUBLE;
    if (c->type != PCOL_F64)
        enclose(c, &below, &above);
    int exact = below == above;
    t->from = -HUGE_VAL;
    t->to = HUGE_VAL;
    if (isnan(below) || ((t->op == PCOL_OP_EQ || t->op == PCOL_OP_NE) && !exact))
        t->never = 1;
    else if (t->op == PCOL_OP_EQ || t->op == PCOL_OP_NE)
        t->from = t->to = below;
    else if (t->op == PCOL_OP_LE)
        t->to = below;
    else if (t->op == PCOL_OP_GE)
        t->from = above;
    else if (t->op == PCOL_OP_LT && exact && below == -HUGE_VAL)
        t->never = 1;
    else if (t->op == PCOL_OP_GT && exact && below == HUGE_VAL)
        t->never = 1;
    else if (t->op == PCOL_OP_LT)
        t->to = exact ? next_double(below, 0) : below;
    else
        t->from = exact ? next_double(above, 1) : above;
}

/* ---- opening */

static int is_value_type(uint32_t type)
{
    return type == PCOL_I64 || type == PCOL_U64 || type == PCOL_F64;
}

static pcol_status set_text_test(struct pci_test *t, const pcol_condition *c, pcol_error *err)
{
    t->kind = PCI_TEST_TEXT;
    if (c->value.str.size && !c->value.str.data)
        return fail(PCOL_STRING, "has a text of NULL", err);
    PCI_TRY(PCI_MALLOC(t->text, c->value.str.size + 1, err));
    if (c->value.str.size)
        memcpy(t->text, c->value.str.data, c->value.str.size);
    t->text_size = c->value.str.size;
    return t->op == PCOL_OP_MATCH || t->op == PCOL_OP_NOT_MATCH
               ? pcol_pattern_new(t->text, t->text_size, "", 0, &t->pattern, err)
               : PCOL_OK;
}

pcol_status pci_test_open(struct pci_test *t, const pcol_condition *c, pcol_type type,
                          pcol_error *err)
{
    *t = (struct pci_test){.op = c->op};
    t->complement = c->op == PCOL_OP_NE || c->op == PCOL_OP_NOT_MATCH || c->op == PCOL_OP_NOT_NULL;
    if (c->op > PCOL_OP_NOT_NULL)
        return fail(type, "has an unknown operator", err);
    if (c->op >= PCOL_OP_IS_NULL) {
        t->kind = PCI_TEST_NULL;
        return PCOL_OK;
    }
    if (type == PCOL_LIST)
        return fail(type, "can only be IS_NULL or NOT_NULL", err);
    if (type == PCOL_STRING || type == PCOL_BYTES)
        return c->type == PCOL_STRING ? set_text_test(t, c, err)
                                      : fail(type, "needs a value of type string", err);
    if (c->op >= PCOL_OP_MATCH)
        return fail(type, "cannot be a pattern", err);
    if (!is_value_type(c->type))
        return fail(type, "needs a value of type i64, u64 or f64", err);
    if (type == PCOL_F64)
        set_double_test(t, c);
    else
        set_integer_test(t, c, type == PCOL_U64);
    return PCOL_OK;
}

void pci_test_close(struct pci_test *t)
{
    pci_free(t->text);
    pcol_pattern_free(t->pattern);
}

/* ---- testing */

pcol_status pci_test_text(const struct pci_test *t, pcol_str text, int *holds, pcol_error *err)
{
    if (t->pattern) {
        PCI_TRY(pcol_pattern_test(t->pattern, text, holds, err));
        *holds ^= t->complement;
        return PCOL_OK;
    }
    size_t common = text.size < t->text_size ? text.size : t->text_size;
    int sign = common ? memcmp(text.data, t->text, common) : 0;
    if (!sign)
        sign = text.size < t->text_size ? -1 : text.size > t->text_size;
    switch (t->op) {
    case PCOL_OP_EQ:
        *holds = sign == 0;
        break;
    case PCOL_OP_NE:
        *holds = sign != 0;
        break;
    case PCOL_OP_LT:
        *holds = sign < 0;
        break;
    case PCOL_OP_LE:
        *holds = sign <= 0;
        break;
    case PCOL_OP_GT:
        *holds = sign > 0;
        break;
    default:
        *holds = sign >= 0;
        break;
    }
    return PCOL_OK;
}

/* ---- values outside of tables */

struct pcol_value_test {
    int is_text;
    struct pci_test as_i64, as_u64, as_f64; /* of a number */
    struct pci_test text;                   /* of a text, or of nulls */
};

static pcol_status open_value_test(pcol_value_test *t, const pcol_condition *c, pcol_error *err)
{
    t->is_text = c->op >= PCOL_OP_MATCH || c->type == PCOL_STRING;
    if (t->is_text)
        return pci_test_open(&t->text, c, PCOL_STRING, err);
    PCI_TRY(pci_test_open(&t->as_i64, c, PCOL_I64, err));
    PCI_TRY(pci_test_open(&t->as_u64, c, PCOL_U64, err));
    return pci_test_open(&t->as_f64, c, PCOL_F64, err);
}

pcol_status pcol_value_test_new(const pcol_condition *condition, pcol_value_test **test,
                                pcol_error *err)
{
    pcol_value_test *t;
    PCI_REQUIRE(test, err);
    *test = NULL;
    PCI_REQUIRE(condition, err);
    PCI_TRY(PCI_CALLOC(t, 1, err));
    pcol_status status = open_value_test(t, condition, err);
    if (status == PCOL_OK)
        *test = t;
    else
        pcol_value_test_free(t);
    return status;
}

void pcol_value_test_free(pcol_value_test *test)
{
    if (test)
        pci_test_close(&test->text);
    pci_free(test);
}

static int holds_integer(const struct pci_test *t, int64_t value)
{
    return (!t->never && value >= t->low && value <= t->high) ^ t->complement;
}

static int holds_double(const struct pci_test *t, double value)
{
    return (!t->never && value >= t->from && value <= t->to) ^ t->complement;
}

pcol_status pcol_value_test_holds(const pcol_value_test *test, pcol_type type,
                                  const pcol_scalar *value, int *holds, pcol_error *err)
{
    PCI_REQUIRE(holds, err);
    *holds = 0;
    PCI_REQUIRE(test, err);
    if (!value || test->text.kind == PCI_TEST_NULL) {
        *holds = test->text.kind == PCI_TEST_NULL && (value == NULL) != test->text.complement;
        return PCOL_OK;
    }
    int is_text = type == PCOL_STRING || type == PCOL_BYTES;
    if (is_text != test->is_text || type < PCOL_I64 || type >= PCOL_LIST)
        return fail(type, "does not fit them", err);
    if (is_text) {
        PCI_REQUIRE_MANY(value->str.data, value->str.size, err);
        return pci_test_text(&test->text, value->str, holds, err);
    }
    *holds = type == PCOL_F64   ? holds_double(&test->as_f64, value->f64)
             : type == PCOL_U64 ? holds_integer(&test->as_u64, pci_bias(value->u64))
                                : holds_integer(&test->as_i64, value->i64);
    return PCOL_OK;
}

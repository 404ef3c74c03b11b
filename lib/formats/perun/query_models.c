/*
 * query_models.c - selection of models for each uid, and points on the curves of models
 */
#include "formats/perun/query_answers.h"
#include "util/alloc.h"
#include "util/control.h"
#include "util/strbuf.h"

#include <math.h>
#include <string.h>

/* ---- members of a model */

static int is_text(const struct pci_value *value, const char *word)
{
    return value && value->kind == PCI_VALUE_STRING && pci_str_is(value->as.text, word);
}

/* Coefficients of the current model, by position and by name. */
struct coefficients {
    int present; /* the model has an array of coefficients */
    size_t count;
    struct pci_value at[3];
    double named[3]; /* b0, b1, b2 */
};

static pcol_status read_coefficient(struct pcol_answers *a, const struct pci_value *object,
                                    struct pci_value *value, int *name, pcol_error *err)
{
    struct pci_member_iterator each;
    struct pci_member member;
    int more = 1;
    value->kind = PCI_VALUE_NULL;
    *name = -1;
    pcol_status status = pci_member_iterator_open(&each, &a->resources.values, object, err);
    while (status == PCOL_OK) {
        status = pci_member_iterator_next(&each, &member, &more, err);
        if (status != PCOL_OK || !more)
            break;
        if (pci_str_is(member.key, "value"))
            *value = member.value;
        if (pci_str_is(member.key, "name"))
            *name = is_text(&member.value, "b0")   ? 0
                    : is_text(&member.value, "b1") ? 1
                    : is_text(&member.value, "b2") ? 2
                                                   : -1;
    }
    pci_member_iterator_close(&each);
    return status;
}

static pcol_status read_coefficients(struct pcol_answers *a, struct coefficients *c,
                                     pcol_error *err)
{
    const struct pci_value *coeffs = pci_resources_find(&a->resources, "coeffs");
    struct pci_member_iterator each;
    struct pci_member member;
    int object, more = 1;
    memset(c, 0, sizeof *c);
    if (!coeffs)
        return PCOL_OK;
    PCI_TRY(pci_value_classify(&a->resources.values, coeffs, &object, &c->present, err));
    if (!c->present)
        return PCOL_OK;
    pcol_status status = pci_member_iterator_open(&each, &a->resources.values, coeffs, err);
    while (status == PCOL_OK) {
        struct pci_value value;
        double number;
        int name;
        status = pci_member_iterator_next(&each, &member, &more, err);
        if (status != PCOL_OK || !more)
            break;
        status = read_coefficient(a, &member.value, &value, &name, err);
        if (c->count < 3)
            c->at[c->count] = value;
        c->count++;
        if (name >= 0 && pci_value_number(&value, &number))
            c->named[name] = number;
    }
    pci_member_iterator_close(&each);
    return status;
}

/* ---- selection of models */

/* Intern the key of a selection: the uid, together with the model's name if `all` are selected. */
static pcol_status intern_key(struct pcol_answers *a, int all, uint32_t *key, pcol_error *err)
{
    static const struct pci_value none = {.kind = PCI_VALUE_NULL};
    const struct pci_value *uid = pci_resources_find(&a->resources, "uid");
    const struct pci_value *model = pci_resources_find(&a->resources, "model");
    a->other.size = 0;
    if (all && uid && model && uid->kind == PCI_VALUE_STRING && model->kind == PCI_VALUE_STRING) {
        PCI_TRY(pci_strbuf_append(&a->other, uid->as.text.data, uid->as.text.size, err));
        PCI_TRY(pci_strbuf_append(&a->other, model->as.text.data, model->as.text.size, err));
    } else {
        PCI_TRY(pci_equal_text(&a->resources.values, uid ? uid : &none, &a->other, err));
        if (all)
            PCI_TRY(pci_equal_text(&a->resources.values, model ? model : &none, &a->other, err));
    }
    return pci_string_pool_intern(&a->seen, a->other.data ? a->other.data : "", a->other.size, key,
                                  err);
}

/* One pass over the models: list[key] is the number of the selected model, or -1. */
static pcol_status select_models(struct pcol_answers *a, const char *group, int all,
                                 pcol_error *err)
{
    double *best = NULL;
    size_t capacity = 0;
    pcol_status status = PCOL_OK;
    int more = 1;
    while (status == PCOL_OK) {
        uint32_t key = 0;
        double r_square = 0;
        void *grown_best = best;
        status = pci_models_next(&a->resources, &more, err);
        if (status != PCOL_OK || !more)
            break;
        if (!pci_model_in_group(&a->resources, group))
            continue;
        status = intern_key(a, all, &key, err);
        if (status == PCOL_OK && pci_grow(&grown_best, &capacity, key + (size_t)1, sizeof *best))
            status = pci_fail_memory(err);
        best = grown_best;
        if (status == PCOL_OK && key == a->list_count) {
            best[key] = 0;
            status = pci_result_push(a, -1, key, err);
        }
        if (status != PCOL_OK)
            break;
        const struct pci_value *value = pci_resources_find(&a->resources, "r_square");
        if (!all && (!value || !pci_value_number(value, &r_square) || !(r_square > best[key])))
            continue;
        best[key] = r_square;
        a->list[key].a = (int64_t)a->resources.number;
    }
    pci_free(best);
    return status;
}

static pcol_status set_or_null(struct pcol_answers *a, uint32_t column,
                               const struct pci_value *value, pcol_error *err)
{
    static const struct pci_value none = {.kind = PCI_VALUE_NULL};
    return pci_result_set(a, column, value ? value : &none, err);
}

static const struct pci_value *find_either(const struct pci_resources *r, const char *key,
                                           const char *old)
{
    const struct pci_value *value = pci_resources_find(r, key);
    return value ? value : pci_resources_find(r, old);
}

static pcol_status next_best(struct pcol_answers *a, int *more, pcol_error *err)
{
    const struct pci_resources *r = &a->resources;
    struct coefficients c;
    while (a->list_at < a->list_count && a->list[a->list_at].a < 0)
        a->list_at++;
    *more = a->list_at < a->list_count;
    if (!*more)
        return PCOL_OK;
    PCI_TRY(pci_models_seek(&a->resources, (uint64_t)a->list[a->list_at++].a, err));
    PCI_TRY(read_coefficients(a, &c, err));
    const struct pci_value zero = {.kind = PCI_VALUE_INTEGER, .as.i64 = 0};
    const struct pci_value *b0 =
        c.present ? (c.count > 0 ? &c.at[0] : NULL) : pci_resources_find(r, "bucket_stats");
    PCI_TRY(set_or_null(a, 0, pci_resources_find(r, "uid"), err));
    PCI_TRY(set_or_null(a, 1, pci_resources_find(r, "model"), err));
    PCI_TRY(set_or_null(a, 2, pci_resources_find(r, "r_square"), err));
    PCI_TRY(set_or_null(a, 3, b0, err));
    PCI_TRY(set_or_null(a, 4, c.count > 1 ? &c.at[1] : NULL, err));
    PCI_TRY(set_or_null(a, 5, c.count == 3 ? &c.at[2] : &zero, err));
    PCI_TRY(set_or_null(a, 6, find_either(r, "x_start", "x_interval_start"), err));
    return set_or_null(a, 7, find_either(r, "x_end", "x_interval_end"), err);
}

pcol_status pci_perun_query_best(struct pcol_answers *a, pcol_error *err)
{
    static const char *const filters[] = {"best-model", "best-param", "best-nonparam", "all-param",
                                          "all-nonparam"};
    static const char *const columns[] = {"uid", "model", "r_square", "b0",
                                          "b1",  "b2",    "x_start",  "x_end"};
    const char *filter = a->options.filter;
    size_t i = 0;
    while (i < sizeof filters / sizeof *filters && (!filter || strcmp(filter, filters[i]) != 0))
        i++;
    if (i == sizeof filters / sizeof *filters)
        return pci_fail(
            err, PCOL_E_ARGUMENT,
            "unknown filter '%.40s' (best-model, best-param, best-nonparam, all-param or "
            "all-nonparam)",
            filter ? filter : "");
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        PCI_TRY(pci_result_column(a, columns[k], err));
    PCI_TRY(select_models(a, strchr(filter, '-') + 1, filter[0] == 'a', err));
    pci_resources_rewind(&a->resources);
    a->next = next_best;
    return PCOL_OK;
}

/* ---- curves */

#define POINTS 51

enum curve { CONSTANT, LINEAR, LOGARITHMIC, QUADRATIC, POWER, EXPONENTIAL, NO_CURVE };

static int find_curve(const struct pci_value *model)
{
    static const char *const names[] = {"constant",  "linear", "logarithmic",
                                        "quadratic", "power",  "exponential"};
    for (int i = 0; i < NO_CURVE; i++)
        if (is_text(model, names[i]))
            return i;
    return NO_CURVE;
}

/* Move to the next model with a curve. */
static pcol_status next_curve(struct pcol_answers *a, int *more, pcol_error *err)
{
    for (;;) {
        struct coefficients c;
        const struct pci_resources *r = &a->resources;
        PCI_TRY(pci_models_next(&a->resources, more, err));
        if (!*more)
            break;
        if (!a->options.all_rows && r->number != a->options.row)
            continue;
        PCI_TRY(read_coefficients(a, &c, err));
        const struct pci_value *start = find_either(r, "x_start", "x_interval_start");
        const struct pci_value *end = find_either(r, "x_end", "x_interval_end");
        a->plot_model = find_curve(pci_resources_find(r, "model"));
        if (!c.present)
            continue;
        if (a->plot_model == NO_CURVE || !start || !end || !pci_value_number(start, &a->plot[3]) ||
            !pci_value_number(end, &a->plot[4])) {
            a->skipped++;
            continue;
        }
        memcpy(a->plot, c.named, sizeof c.named);
        a->plot[5] = (a->plot[4] - a->plot[3]) / (POINTS - 1);
        a->plot_at = 0;
        return PCOL_OK;
    }
    if (a->skipped)
        pci_notice(PCOL_NOTICE_SELECTION, "", "", "%s",
                   "models of other kinds, or without an interval, are skipped");
    a->skipped = 0;
    return PCOL_OK;
}

/* Point a->plot_at, spaced as by numpy: the last one is exactly the end. */
static pcol_status put_point(struct pcol_answers *a, pcol_error *err)
{
    const double *p = a->plot;
    struct pci_value value = {.kind = PCI_VALUE_DOUBLE};
    double x = a->plot_at == POINTS - 1 ? p[4] : a->plot_at * p[5] + p[3], y = 0;
    if (fabs(x) < 1e-6)
        x = 1e-6;
    switch (a->plot_model) {
    case CONSTANT:
    case LINEAR:
        y = p[0] + p[1] * x;
        break;
    case LOGARITHMIC:
        y = p[0] + p[1] * log(x);
        break;
    case QUADRATIC:
        y = p[0] + p[1] * x + p[2] * (x * x);
        break;
    case POWER:
        y = p[0] * pow(x, p[1]);
        break;
    case EXPONENTIAL:
        y = p[0] * pow(p[1], x);
        break;
    default:
        break;
    }
    a->plot_at++;
    PCI_TRY(pci_result_int(a, 0, (int64_t)a->resources.number, err));
    value.as.f64 = x;
    PCI_TRY(pci_result_set(a, 1, &value, err));
    value.as.f64 = y;
    return pci_result_set(a, 2, &value, err);
}

static pcol_status next_point(struct pcol_answers *a, int *more, pcol_error *err)
{
    *more = a->plot_at < POINTS;
    if (!*more)
        PCI_TRY(next_curve(a, more, err));
    return *more ? put_point(a, err) : PCOL_OK;
}

pcol_status pci_perun_query_plot(struct pcol_answers *a, pcol_error *err)
{
    PCI_TRY(pci_result_column(a, "row", err));
    PCI_TRY(pci_result_column(a, "x", err));
    PCI_TRY(pci_result_column(a, "y", err));
    a->plot_at = POINTS;
    a->next = next_point;
    return PCOL_OK;
}

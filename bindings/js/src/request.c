/*
 * request.c - options of calls as text, and their conversion to structs of pcol.h
 */
#include "toolkit.h"

#include <stdlib.h>
#include <string.h>

/* The value of the next entry whose key is `key`, from *at on. */
static const char *next_value(const struct request *request, const char *key, size_t *at)
{
    while (*at < request->size) {
        const char *name = request->data + *at, *value = name + strlen(name) + 1;
        *at = (size_t)(value - request->data) + strlen(value) + 1;
        if (!strcmp(name, key))
            return value;
    }
    return NULL;
}

const char *request_text(const struct request *request, const char *key)
{
    size_t at = 0;
    return next_value(request, key, &at);
}

int request_flag(const struct request *request, const char *key)
{
    return request_text(request, key) != NULL;
}

int64_t request_integer(const struct request *request, const char *key, int64_t otherwise)
{
    const char *text = request_text(request, key);
    return text ? strtoll(text, NULL, 10) : otherwise;
}

/* The number of a name in a list; -1: unknown. */
static int find_name(const char *name, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(name, names[i]))
            return i;
    return -1;
}

pcol_status request_rows(const struct request *request, pcol_by *by, pcol_order *order,
                         const char **label)
{
    /* In the order of pcol_by and pcol_order. */
    static const char *const kinds[] = {"function", "file",    "line",   "srcline",
                                        "location", "mapping", "thread", "process",
                                        "source",   "label",   "stack",  NULL};
    static const char *const orders[] = {"self", "total", "name", NULL};
    const char *kind = request_text(request, "by"), *sort = request_text(request, "order");
    int number = 0, sorted = sort ? find_name(sort, orders) : 0;
    *label = NULL;
    if (kind && !strncmp(kind, "label:", 6)) {
        *label = kind + 6;
        number = PCOL_BY_LABEL;
    } else if (kind && !strncmp(kind, "meta:", 5)) {
        *label = kind + 5;
        number = PCOL_BY_META;
    } else if (kind) {
        number = find_name(kind, kinds);
    }
    if (number < 0 || (number == PCOL_BY_LABEL && !*label))
        return pcol_error_set(&toolkit_failure, PCOL_E_ARGUMENT, 0,
                              "by: '%s' is not a kind of rows; use function, file, line, srcline, "
                              "location, mapping, thread, process, source, label:KEY, "
                              "meta:KEY or stack",
                              kind);
    if (sorted < 0)
        return pcol_error_set(&toolkit_failure, PCOL_E_ARGUMENT, 0,
                              "order: '%s' is not an order; use self, total or name", sort);
    *by = (pcol_by)number;
    *order = (pcol_order)sorted;
    return PCOL_OK;
}

static pcol_status set_labels(const struct request *request, struct selection *to)
{
    const char *label;
    for (size_t at = 0; (label = next_value(request, "label", &at));) {
        if (to->selection.label_count == MAX_LABELS)
            return pcol_error_set(&toolkit_failure, PCOL_E_ARGUMENT, 0,
                                  "more than %d conditions on labels", MAX_LABELS);
        to->labels[to->selection.label_count++] = label;
    }
    to->selection.labels = to->labels;
    return PCOL_OK;
}

pcol_status request_selection(const struct request *request, struct selection *to)
{
    pcol_selection *s = &to->selection;
    *s = (pcol_selection)PCOL_INIT(pcol_selection);
    s->sample_type = request_text(request, "sampleType");
    s->focus = request_text(request, "focus");
    s->ignore = request_text(request, "ignore");
    s->hide = request_text(request, "hide");
    s->show = request_text(request, "show");
    s->thread = request_text(request, "thread");
    s->source = request_text(request, "source");
    s->has_time = request_flag(request, "timeFrom");
    s->time_from_ns = request_integer(request, "timeFrom", 0);
    s->time_to_ns = request_integer(request, "timeTo", 0);
    s->keep_dropped = request_flag(request, "keepDropped");
    return set_labels(request, to);
}

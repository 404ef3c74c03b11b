/*
 * arrow_case.h - a validator of Arrow C streams, written from the specification of the Arrow C data
 * and C stream interfaces and of the columnar format; it knows nothing of pcol
 */
#ifndef ARROW_CASE_H
#define ARROW_CASE_H

#include "pcol.h"

/* NULL, or what is wrong with a schema, with all of its children and dictionary. */
const char *arrow_check_schema(const struct ArrowSchema *schema);
/* The same of an array of this schema. Reads every byte that the array claims. */
const char *arrow_check_array(const struct ArrowSchema *schema, const struct ArrowArray *array);

/* A value of a primitive, text or dictionary-encoded array, by logical index. */
struct arrow_value {
    int valid;
    char kind; /* 'i', 'u', 'd', 't' */
    int64_t i64;
    double f64;
    const char *text;
    size_t size;
};
struct arrow_value arrow_value_at(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                  int64_t index);
/* The value of a key in the metadata, or NULL; *size receives its length. */
const char *arrow_metadata(const struct ArrowSchema *schema, const char *key, int32_t *size);

#endif

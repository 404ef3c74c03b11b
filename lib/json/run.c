/*
 * run.c - runs of numbers in an array, the bulk of a columnar JSON file, without a token for each
 *
 * Only plain spelling is read here: integers of up to 18 digits, decimals whose digits a double holds
 * exactly (so that one division by a power of ten gives the nearest double), null. At anything else
 * the run ends and the tokenizer goes on, so that there is one place for errors.
 */
#include "json/json.h"

#include <string.h>

#define MAX_DIGITS 18
#define MAX_EXACT (UINT64_C(1) << 53)

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};

static int is_digit(uint8_t c)
{
    return (unsigned)c - '0' < 10;
}

/* The end of the number at data[at], or 0 if it is not a plain one that ends before data[size]. */
static size_t plain_number(const uint8_t *data, size_t at, size_t size, int64_t *value,
                           uint8_t *type)
{
    int negative = data[at] == '-';
    size_t first = at += (size_t)negative;
    uint64_t digits = 0;
    while (at < size && is_digit(data[at]))
        digits = digits * 10 + (unsigned)(data[at++] - '0');
    size_t count = at - first;
    if (!count || count > MAX_DIGITS || at == size || (count > 1 && data[first] == '0'))
        return 0;
    if (data[at] != '.') {
        *value = negative ? -(int64_t)digits : (int64_t)digits;
        *type = PCI_JSON_INT;
        return at;
    }
    size_t point = ++at;
    while (at < size && is_digit(data[at]))
        digits = digits * 10 + (unsigned)(data[at++] - '0');
    size_t places = at - point;
    if (!places || count + places > MAX_DIGITS || digits > MAX_EXACT || at == size)
        return 0;
    double number = (double)digits / powers[places];
    number = negative ? -number : number;
    memcpy(value, &number, sizeof number);
    *type = PCI_JSON_DOUBLE;
    return at;
}

static size_t null_word(const uint8_t *data, size_t at, size_t size, int64_t *value, uint8_t *type)
{
    *value = 0;
    *type = PCI_JSON_NULL;
    return size - at > 4 && !memcmp(data + at, "null", 4) ? at + 4 : 0;
}

void pci_json_run(struct pci_json *json, int64_t *values, uint8_t *types, size_t count, size_t *got)
{
    const uint8_t *data = json->input->data;
    size_t size = json->input->size, at = json->at, n = 0;
    int comma = json->state == PCI_JSON_AT_AFTER;
    *got = 0;
    if (!comma && json->state != PCI_JSON_AT_FIRST_VALUE)
        return;
    while (n < count && size - at > 2) {
        size_t begin = at;
        if (comma && data[begin++] != ',')
            break;
        begin += data[begin] == ' ';
        size_t end = data[begin] == 'n' ? null_word(data, begin, size, &values[n], &types[n])
                                        : plain_number(data, begin, size, &values[n], &types[n]);
        if (!end || (data[end] != ',' && data[end] != ']'))
            break;
        at = end;
        comma = 1;
        n++;
    }
    if (n) {
        json->at = json->start = at;
        json->state = PCI_JSON_AT_AFTER;
    }
    *got = n;
}

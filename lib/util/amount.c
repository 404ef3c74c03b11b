/*
 * amount.c - the error of an integer overflow in a sum
 */
#include "util/amount.h"

pcol_status pci_amount_overflow(pcol_str type, pcol_error *err)
{
    return pci_fail(err, PCOL_E_LIMIT, "a sum of '%.*s' does not fit into 64 bits",
                    (int)(type.size > 80 ? 80 : type.size), type.data);
}

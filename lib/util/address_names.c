/*
 * address_names.c - names of functions that consist of an address (address_names.h)
 */
#include "util/address_names.h"

int pci_is_address_name(pcol_str name)
{
    if (name.size < 3 || name.size > PCI_MAX_ADDRESS_SIZE || name.data[0] != '0' ||
        name.data[1] != 'x')
        return 0;
    for (size_t i = 2; i < name.size; i++) {
        char c = name.data[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
            return 0;
    }
    return 1;
}

pcol_str pci_address_of_name(pcol_str name)
{
    size_t start = name.size;
    while (start && name.data[start - 1] != '+')
        start--;
    pcol_str tail = {name.data + start, name.size - start};
    return start && pci_is_address_name(tail) ? tail : (pcol_str){"", 0};
}

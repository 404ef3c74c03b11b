/*
 * open.c - opening of pcol files with the schemas of all formats
 */
#include "registry/registry.h"

#include "reader/file.h"

pcol_status pcol_file_open(const char *path, const pcol_open_options *options, pcol_file **file,
                           pcol_error *err)
{
    return pci_file_open(path, options, pci_schemas, file, err);
}

pcol_status pcol_file_open_memory(const void *data, size_t size, const pcol_open_options *options,
                                  pcol_file **file, pcol_error *err)
{
    return pci_file_open_memory(data, size, options, pci_schemas, file, err);
}

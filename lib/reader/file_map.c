/*
 * file_map.c - maps of whole files (file_map.h)
 */
#include "reader/file_map.h"

#ifndef PCOL_NO_MMAP

#include <fcntl.h>
#include <sys/mman.h>

pcol_status pci_map_file(int fd, size_t size, const uint8_t **bytes, pcol_error *err)
{
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return pci_fail_errno(err, "map the file");
    *bytes = map;
    return PCOL_OK;
}

void pci_unmap_file(const uint8_t *bytes, size_t size)
{
    munmap((void *)(uintptr_t)bytes, size);
}

pcol_status pci_duplicate_descriptor(int fd, int *duplicate, pcol_error *err)
{
    *duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return *duplicate < 0 ? pci_fail_errno(err, "duplicate the descriptor of the file") : PCOL_OK;
}

#else

pcol_status pci_map_file(int fd, size_t size, const uint8_t **bytes, pcol_error *err)
{
    (void)fd, (void)size, (void)bytes;
    return pci_fail(err, PCOL_E_UNSUPPORTED, "this build of the library cannot map files");
}

void pci_unmap_file(const uint8_t *bytes, size_t size)
{
    (void)bytes, (void)size;
}

pcol_status pci_duplicate_descriptor(int fd, int *duplicate, pcol_error *err)
{
    (void)fd, (void)duplicate;
    return pci_fail(err, PCOL_E_UNSUPPORTED, "this build of the library cannot map files");
}

#endif

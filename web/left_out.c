/*
 * left_out.c - what the page's engine has in place of parts of the library that the page never asks
 *
 * Content hashes, the tables of the model v1, zlib's fast checksum of gzip, limits, rules of label
 * keys and of texts that are JSON, which a page made by pcol keeps, and texts of system errors are
 * 11 KB of the page.
 * The file is linked in place of their sources (ENGINE_LEFT_OUT in rules.mk); the npm package has
 * them.
 */
#include "pcol.h"

#include <string.h>
#include <zlib.h>

struct pci_hashes;
struct pci_v1;
struct pci_column;
struct pci_check;

void pci_table_add_hash(pcol_table *table, pcol_hash_kind kind);
void pci_hashes_free(struct pci_hashes *hashes);
pcol_status pci_v1_table(const pcol_file *file, struct pci_v1 **maps, uint32_t index,
                         pcol_table **table, pcol_error *err);
void pci_v1_free(struct pci_v1 *maps);
pcol_status pci_check_type_counts(const pcol_file *file, pcol_error *err);
pcol_status pci_check_label_count(const pcol_file *file, const char *table, uint64_t columns,
                                  pcol_error *err);
pcol_status pci_check_array_sizes(const pcol_file *file, const struct pci_column *tag,
                                  const struct pci_column *size, pcol_error *err);
pcol_status pci_check_label_keys(struct pci_check *check, pcol_error *err);
pcol_status pci_text_follows(const pcol_file *file, unsigned rule, uint64_t code, pcol_str text,
                             int *follows, pcol_error *err);

/* In a browser there are no errors of an operating system: the table of their texts is left out. */
char *strerror(int number)
{
    static char text[] = "error";
    (void)number;
    return text;
}

void pci_table_add_hash(pcol_table *table, pcol_hash_kind kind)
{
    (void)table;
    (void)kind;
}

void pci_hashes_free(struct pci_hashes *hashes)
{
    (void)hashes;
}

pcol_status pci_v1_table(const pcol_file *file, struct pci_v1 **maps, uint32_t index,
                         pcol_table **table, pcol_error *err)
{
    (void)file;
    (void)maps;
    (void)index;
    *table = NULL;
    return pcol_error_set(err, PCOL_E_NOT_FOUND, 0, "the page has no tables of the model v1");
}

void pci_v1_free(struct pci_v1 *maps)
{
    (void)maps;
}

pcol_status pci_check_type_counts(const pcol_file *file, pcol_error *err)
{
    (void)file;
    (void)err;
    return PCOL_OK;
}

pcol_status pci_check_label_count(const pcol_file *file, const char *table, uint64_t columns,
                                  pcol_error *err)
{
    (void)file;
    (void)table;
    (void)columns;
    (void)err;
    return PCOL_OK;
}

pcol_status pci_check_array_sizes(const pcol_file *file, const struct pci_column *tag,
                                  const struct pci_column *size, pcol_error *err)
{
    (void)file;
    (void)tag;
    (void)size;
    (void)err;
    return PCOL_OK;
}

pcol_status pci_text_follows(const pcol_file *file, unsigned rule, uint64_t code, pcol_str text,
                             int *follows, pcol_error *err)
{
    (void)file;
    (void)rule;
    (void)code;
    (void)text;
    (void)err;
    *follows = 1;
    return PCOL_OK;
}

pcol_status pci_check_label_keys(struct pci_check *check, pcol_error *err)
{
    (void)check;
    (void)err;
    return PCOL_OK;
}

/* Small and slow: what the page opens is no gzip. */
uLong crc32(uLong crc, const Bytef *buf, uInt len)
{
    crc ^= 0xffffffff;
    for (; buf != NULL && len > 0; len--) {
        crc ^= *buf++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return buf != NULL ? crc ^ 0xffffffff : 0;
}

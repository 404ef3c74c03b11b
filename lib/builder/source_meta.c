/*
 * source_meta.c - metadata of sources as unique key-value pairs, and their sampling intervals
 */
#include "builder/builder.h"
#include "util/control.h"

#include <inttypes.h>

pcol_status pci_source_meta_record(pcol_builder *b, uint32_t source, uint32_t code, int *exists,
                                   pcol_error *err)
{
    if (code >= PCF_MAX_META_KEYS)
        return pci_fail(err, PCOL_E_LIMIT,
                        "the sources have more than %u different keys of metadata",
                        PCF_MAX_META_KEYS);
    return pci_pair_set_add(&b->metas, source, code, exists, err);
}

pcol_status pci_metas_check(const char *const *metas, size_t count, pcol_error *err)
{
    PCI_REQUIRE_MANY(metas, count, err);
    for (size_t i = 0; i < count; i++)
        if (!metas[2 * i] || !metas[2 * i + 1])
            return pci_error_option(
                err, "meta",
                pci_fail(err, PCOL_E_ARGUMENT, "a key or value of the metadata is NULL"));
    return PCOL_OK;
}

static pcol_status set_string(pcol_builder *b, enum pci_known_column column, uint64_t row,
                              const char *text, pcol_error *err)
{
    uint32_t code;
    PCI_TRY(pcol_builder_string(b, text, strlen(text), &code, err));
    return pci_column_buffer_set(b->columns[column], row, code, err);
}

pcol_status pcol_builder_source_meta(pcol_builder *builder, uint32_t source, const char *key,
                                     const char *value, pcol_error *err)
{
    PCI_TRY(pci_builder_check_open(builder, err));
    struct pci_column_buffer *sources = builder->columns[PCI_C_META_SOURCE];
    uint64_t row = sources->rows;
    uint32_t code;
    int exists;
    if (source >= builder->source_count)
        return pci_fail(err, PCOL_E_ARGUMENT, "source %u does not exist", source);
    if (!key || !value)
        return pci_fail(err, PCOL_E_ARGUMENT, "metadata of a source needs a key and a value");
    PCI_TRY(pci_string_pool_intern(&builder->meta_keys, key, strlen(key), &code, err));
    PCI_TRY(pci_source_meta_record(builder, source, code, &exists, err));
    if (exists)
        return pci_fail(err, PCOL_E_ARGUMENT, "source %u has the key '%s' already", source, key);
    PCI_TRY(pci_column_buffer_set(sources, row, source, err));
    PCI_TRY(set_string(builder, PCI_C_META_KEY, row, key, err));
    return set_string(builder, PCI_C_META_VALUE, row, value, err);
}

void pci_builder_record_interval(pcol_builder *b, int64_t interval_ns)
{
    if (b->interval_ns == 0)
        b->interval_ns = interval_ns;
    if (b->interval_ns == interval_ns || b->intervals_differ)
        return;
    b->intervals_differ = 1;
    pci_notice(PCOL_NOTICE_INPUT, "", "",
               "sampled every %" PRId64 " us, an earlier source every %" PRId64
               " us: numbers of samples of both do not compare",
               interval_ns / 1000, b->interval_ns / 1000);
}

pcol_status pci_builder_source_interval(pcol_builder *b, uint32_t source, int64_t interval_ns,
                                        pcol_error *err)
{
    pci_builder_record_interval(b, interval_ns);
    return pci_column_buffer_set(b->columns[PCI_C_SOURCE_INTERVAL], source, interval_ns, err);
}

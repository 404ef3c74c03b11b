/*
 * data_models.c - logical tables of a file under each data model, built on first use under the
 * file's lock
 */
#include "model/check.h"
#include "model/row_details.h"
#include "model/table.h"

#include "util/alloc.h"
#include "util/arg_check.h"

#include <string.h>

struct table_maker {
    const char *name;
    pcol_status (*make)(const pcol_file *file, pcol_table **table, pcol_error *err);
};

static const struct table_maker v2[PCI_V2_COUNT] = {
    {"meta", pci_v2_meta},
    {"sources", pci_v2_sources},
    {"samples", pci_v2_samples},
    {"sample_values", pci_v2_values},
    {"sample_locations", pci_v2_sample_locations},
    {"locations", pci_v2_locations},
    {"functions", pci_v2_functions},
};

static const char *const v1[PCI_V1_COUNT] = {"meta", "sample_types", "samples", "locations",
                                             "functions"};

uint32_t pcol_file_table_count(const pcol_file *file, pcol_model model)
{
    if (!file)
        return 0;
    switch (model) {
    case PCOL_MODEL_V2:
        return PCI_V2_COUNT;
    case PCOL_MODEL_V1:
        return PCI_V1_COUNT;
    case PCOL_MODEL_PHYSICAL:
    case PCOL_MODEL_FURTHER:
        return file->index.header.table_count;
    default:
        return 0;
    }
}

const char *pcol_file_table_name(const pcol_file *file, pcol_model model, uint32_t index)
{
    if (index >= pcol_file_table_count(file, model))
        return NULL;
    if (model == PCOL_MODEL_V2)
        return v2[index].name;
    return model == PCOL_MODEL_V1 ? v1[index] : file->tables[index].name;
}

int pcol_file_table_is_internal(const pcol_file *file, uint32_t index)
{
    const char *name = pcol_file_table_name(file, PCOL_MODEL_PHYSICAL, index);
    if (!name || file->tables[index].schema->table_flags & PCI_TABLE_INTERNAL)
        return 1;
    for (size_t i = 0; i < PCI_V2_COUNT; i++)
        if (!strcmp(v2[i].name, name))
            return 1;
    return 0;
}

static void models_free(struct pci_models *models)
{
    for (size_t i = 0; i < PCI_V2_COUNT; i++)
        pci_table_free(models->v2[i]);
    for (size_t i = 0; i < PCI_V1_COUNT; i++)
        pci_table_free(models->v1[i]);
    for (uint32_t i = 0; i < 2 * models->physical_count; i++)
        pci_table_free(models->physical[i]);
    pci_v1_free(models->maps);
    pci_order_index_free(models->orders);
    pci_source_index_free(models->sources);
    pci_hashes_free(&models->hashes);
    pci_free(models->physical);
    pci_free(models);
}

pcol_status pci_models_open(pcol_file *file, struct pci_models **models, pcol_error *err)
{
    struct pci_models *m = file->models;
    if (!m) {
        PCI_TRY(PCI_CALLOC(m, 1, err));
        m->physical_count = file->index.header.table_count;
        m->physical = pci_calloc(2 * m->physical_count + (size_t)1, sizeof(pcol_table *));
        if (!m->physical) {
            pci_free(m);
            return pci_fail_memory(err);
        }
        m->further = m->physical + m->physical_count;
        file->models = m;
        file->models_free = models_free;
    }
    *models = m;
    return PCOL_OK;
}

static pcol_status open_table(pcol_file *file, pcol_model model, uint32_t index, pcol_table **table,
                              pcol_error *err)
{
    struct pci_models *models = NULL;
    pcol_table **slot;
    PCI_TRY(pci_models_open(file, &models, err));
    slot = model == PCOL_MODEL_V2        ? &models->v2[index]
           : model == PCOL_MODEL_V1      ? &models->v1[index]
           : model == PCOL_MODEL_FURTHER ? &models->further[index]
                                         : &models->physical[index];
    if (!*slot) {
        const char *name = pcol_file_table_name(file, model, index);
        int is_logical = model == PCOL_MODEL_V2 || model == PCOL_MODEL_V1;
        if (is_logical)
            PCI_TRY(pci_schema_verify(file, err));
        if (is_logical)
            PCI_TRY(pci_referrers_verify(file, name, err));
        /* Listing samples is bounded by their number only; other tables are scanned by their
         * readers. */
        if (model == PCOL_MODEL_V2 && strcmp(name, "samples") != 0)
            PCI_TRY(pci_check_row_count(file, name, err));
        if (model == PCOL_MODEL_V2)
            PCI_TRY(v2[index].make(file, slot, err));
        else if (model == PCOL_MODEL_V1)
            PCI_TRY(pci_v1_table(file, &models->maps, index, slot, err));
        else if (model == PCOL_MODEL_FURTHER)
            PCI_TRY(pci_further_table(file, index, slot, err));
        else
            PCI_TRY(pci_physical_table(file, index, slot, err));
        (*slot)->model = model;
    }
    *table = *slot;
    return PCOL_OK;
}

pcol_status pcol_file_table(const pcol_file *file, pcol_model model, uint32_t index,
                            const pcol_table **table, pcol_error *err)
{
    PCI_REQUIRE(table, err);
    *table = NULL;
    PCI_REQUIRE(file, err);
    /* The tables are a cache; the file does not change for the caller. */
    pcol_file *writable_file = (pcol_file *)(uintptr_t)file;
    pcol_table *t = NULL;
    pcol_status status;
    if (index >= pcol_file_table_count(file, model))
        return pci_fail(err, PCOL_E_ARGUMENT, "the model has no table number %u", (unsigned)index);
    pci_mutex_lock(&writable_file->lock);
    status = open_table(writable_file, model, index, &t, err);
    pci_mutex_unlock(&writable_file->lock);
    if (status == PCOL_OK)
        *table = t;
    return status;
}

pcol_status pcol_file_table_by_name(const pcol_file *file, pcol_model model, const char *name,
                                    const pcol_table **table, pcol_error *err)
{
    PCI_REQUIRE(table, err);
    *table = NULL;
    PCI_REQUIRE(file, err);
    uint32_t count = pcol_file_table_count(file, model);
    if (!name)
        return pci_fail(err, PCOL_E_ARGUMENT, "no table name given");
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(pcol_file_table_name(file, model, i), name) == 0)
            return pcol_file_table(file, model, i, table, err);
    }
    return pci_fail(err, PCOL_E_NOT_FOUND, "no table '%s'", name);
}

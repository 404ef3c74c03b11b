/*
 * physical.c - physical tables and the description of columns
 */
#include "model/arrays.h"
#include "util/arg_check.h"
#include "util/sized_struct.h"

#include <string.h>

pcol_status pci_physical_table(const pcol_file *file, uint32_t index, pcol_table **table,
                               pcol_error *err)
{
    const struct pci_table *physical = &file->tables[index];
    pcol_table *t;
    *table = NULL;
    PCI_TRY(pci_check_table_supported(physical, err));
    PCI_TRY(pci_table_new(file, physical->name, physical->rows, physical->column_count, &t, err));
    t->is_physical = 1;
    for (uint32_t i = 0; i < physical->column_count; i++) {
        const struct pci_column *source = &physical->columns[i];
        pcol_column *column = pci_table_add_source(t, source->name, PCOL_I64, source, 0);
        column->references = source->references ? source->references->name : NULL;
    }
    *table = t;
    return PCOL_OK;
}

static const char *get_encoding_name(uint8_t encoding)
{
    static const char *const names[] = {"plain",  "linear", "packed", "sparse",     "runs", "chain",
                                        "deltas", "front",  "split",  "dictionary", "tree"};
    return encoding < sizeof names / sizeof *names ? names[encoding] : "unknown";
}

/* Bytes of the sections of a column and its children; the check of the index bounds the nesting. */
static uint64_t count_bytes(const pcol_file *file, uint32_t number, unsigned depth)
{
    const struct pcf_column *column = &file->index.columns[number];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < column->section_count; i++)
        bytes += file->index.sections[column->first_section + i].size;
    if (depth < PCF_MAX_CHILD_DEPTH) {
        for (uint32_t i = 0; i < column->child_count; i++)
            bytes += count_bytes(file, column->first_child + i, depth + 1);
    }
    return bytes;
}

static const char *get_codec_name(const pcol_file *file, const struct pcf_column *desc,
                                  unsigned depth)
{
    for (uint32_t i = 0; i < desc->section_count; i++) {
        unsigned codec = file->index.sections[desc->first_section + i].codec & 15u;
        if (codec)
            return codec == PCF_CODEC_ZLIB ? "zlib" : codec == PCF_CODEC_LZ4 ? "lz4" : "unknown";
    }
    for (uint32_t i = 0; depth < PCF_MAX_CHILD_DEPTH && i < desc->child_count; i++) {
        const struct pcf_column *child = &file->index.columns[desc->first_child + i];
        const char *name = get_codec_name(file, child, depth + 1);
        if (strcmp(name, "none") != 0)
            return name;
    }
    return "none";
}

/* Offset of an uncompressed section of a role; PCOL_POSITION_UNKNOWN for others. */
static uint64_t find_section(const pcol_file *file, const struct pcf_column *desc, uint8_t role)
{
    for (uint32_t i = 0; i < desc->section_count; i++) {
        const struct pcf_section *s = &file->index.sections[desc->first_section + i];
        if (s->role == role && s->codec == 0)
            return s->offset;
    }
    return PCOL_POSITION_UNKNOWN;
}

static unsigned get_width(const struct pcf_data *data)
{
    if (data->encoding == PCF_PACKED)
        return data->width;
    if (data->encoding != PCF_PLAIN || data->type == PCF_BYTES)
        return 0;
    return data->type == PCF_BOOL ? 1 : data->type == PCF_U32 || data->type == PCF_STRING ? 32 : 64;
}

static void describe_source(const pcol_column *column, pcol_column_info *info)
{
    const struct pci_column *source = column->source;
    const struct pcf_column *desc = source->desc;
    const struct pcf_data *data = source->data;
    const pcol_file *file = column->table->file;
    info->encoding = get_encoding_name(desc->encoding);
    info->codec = get_codec_name(file, desc, 0);
    info->null_count = desc->null_count;
    info->base = desc->base;
    info->step = desc->step;
    info->scale = desc->scale;
    if (desc->encoding == PCF_DICTIONARY && desc->child_count == 1 && source->supported)
        info->codes_of = source[-desc->base].name; /* columns of a table are contiguous */
    info->has_stats = (desc->flags & PCF_COLUMN_STATS) != 0;
    info->min = info->has_stats ? desc->min : 0;
    info->max = info->has_stats ? desc->max : 0;
    if (!source->supported)
        return;
    info->width_bits = get_width(data);
    info->validity_offset = find_section(file, desc, PCF_ROLE_VALIDITY);
    if (desc->encoding == PCF_FRONT)
        return;
    if (desc->type == PCF_BYTES) {
        const struct pcf_data *offsets = data->child[0];
        info->data_offset = find_section(file, desc, PCF_ROLE_DATA);
        info->data_bytes = data->bytes_size;
        if (offsets) {
            const struct pcf_column *child = &file->index.columns[desc->first_child];
            info->values_offset = find_section(file, child, PCF_ROLE_VALUES);
            info->values_bytes = offsets->values_size;
        }
        return;
    }
    info->values_offset = find_section(file, desc, PCF_ROLE_VALUES);
    info->values_bytes = data->values_size;
}

pcol_status pcol_column_describe(const pcol_column *column, pcol_column_info *info, pcol_error *err)
{
    pcol_column_info own = PCOL_INIT(pcol_column_info);
    PCI_REQUIRE(info, err);
    PCI_TRY(pci_struct_write(info, &own, sizeof own, "pcol_column_info", err));
    PCI_REQUIRE(column, err);
    own.name = column->name;
    own.type = column->type;
    own.encoding = column->fill ? "plain" : "view";
    own.codec = "none";
    own.references = column->references;
    own.primary_key = column->primary_key;
    own.nullable = column->nullable;
    own.rows = column->table->rows;
    own.values_offset = own.validity_offset = own.data_offset = PCOL_POSITION_UNKNOWN;
    if (column->fill) {
        const struct pci_array *held;
        PCI_TRY(pci_array_open(column, &held, err));
        own.null_count = held->null_count;
        own.width_bits = held->width_bits;
    }
    if (column->source)
        own.bytes = count_bytes(column->table->file, column->source->number, 0);
    if (column->direct)
        describe_source(column, &own);
    if (column->source && strcmp(column->source->name, column->name) != 0)
        own.physical_name = column->source->name;
    own.flags = (column->join ? PCOL_COLUMN_IS_JOINED : 0) |
                (column->is_replaced ? PCOL_COLUMN_IS_REPLACED : 0) |
                (column->is_composed ? PCOL_COLUMN_IS_COMPOSED : 0);
    if (!column->table->is_physical)
        pci_column_document(column, &own.unit, &own.documentation);
    return pci_struct_write(info, &own, sizeof own, "pcol_column_info", err);
}

/* Bytes per value of a column whose VALUES section is an array of integers or doubles; otherwise
 * 0. */
static unsigned get_array_width(const struct pcf_data *data)
{
    if (data->encoding == PCF_PLAIN && data->type != PCF_BOOL && data->type != PCF_BYTES)
        return data->type == PCF_U32 || data->type == PCF_STRING ? 4 : 8;
    if (data->encoding != PCF_PACKED || data->base || data->step || data->scale != 1)
        return 0;
    return data->width == 8 || data->width == 16 || data->width == 32 || data->width == 64
               ? data->width / 8u
               : 0;
}

pcol_status pcol_column_data(const pcol_column *column, pcol_buffer *buffer, pcol_error *err)
{
    PCI_REQUIRE(buffer, err);
    static const uint64_t zero; /* the values of no rows, and the only offset of no texts */
    const struct pcf_data *data, *array;
    unsigned width;
    *buffer = (pcol_buffer){0};
    PCI_REQUIRE(column, err);
    if (column->fill && column->type != PCOL_BOOL) {
        const struct pci_array *held;
        PCI_TRY(pci_array_open(column, &held, err));
        *buffer = (pcol_buffer){.values = held->values,
                                .validity = held->validity,
                                .rows = held->rows,
                                .width_bytes = held->width_bits / 8,
                                .type = column->type};
        return PCOL_OK;
    }
    if (!column->direct || !column->source->supported)
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, column->table->name, column->name,
                             PCOL_POSITION_UNKNOWN,
                             "the values of this column are not stored as an array");
    data = column->source->data;
    array = data->encoding == PCF_FRONT ? NULL : data->type == PCF_BYTES ? data->child[0] : data;
    width = data->rows == 0 ? 8 : array ? get_array_width(array) : 0;
    if (!width || (data->type == PCF_BYTES && width != 8))
        return pci_fail_cell(err, PCOL_E_UNSUPPORTED, column->table->name, column->name,
                             PCOL_POSITION_UNKNOWN,
                             "this column is encoded: its values are not stored as an array");
    PCI_TRY(pci_decompress_column(column->table->file, column->source, err));
    PCI_TRY(pci_verify(column->table->file, column->source, err));
    buffer->values = data->rows && array->values ? (const void *)array->values : &zero;
    buffer->validity = data->validity;
    if (data->type == PCF_BYTES) {
        buffer->data = data->bytes ? (const void *)data->bytes : "";
        buffer->data_bytes = data->bytes_size;
    }
    buffer->rows = data->rows;
    buffer->width_bytes = width;
    buffer->type = column->type;
    return PCOL_OK;
}

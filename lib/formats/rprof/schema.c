/*
 * schema.c - physical tables of Rprof
 */
#include "formats/rprof/rprof.h"

const struct pci_schema_row pci_rprof_tables[] = {
    {.table = "rprof_segments",
     .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_SEGMENTS | PCI_TABLE_VERIFIED},
    {"source", PCI_TYPE(PCF_U32), PCI_REQUIRED | PCI_OWNER, PCI_COPY, .references = "sources"},
    {"first_sample", PCI_TYPE(PCF_U64), PCI_REQUIRED | PCI_SORTED | PCI_SAMPLE_POSITION,
     .anonymize = PCI_COPY},
    {"memory", PCI_TYPE(PCF_BOOL), PCI_NO_NULLS, .anonymize = PCI_COPY},
    {"gc", PCI_TYPE(PCF_BOOL), PCI_NO_NULLS, .anonymize = PCI_COPY},
    {"line", PCI_TYPE(PCF_BOOL), PCI_NO_NULLS, .anonymize = PCI_COPY},
    {"interval_us", PCI_TYPE(PCF_I64), .anonymize = PCI_COPY},
    {"crlf", PCI_TYPE(PCF_BOOL), PCI_NO_NULLS, .anonymize = PCI_COPY},
    {"text", .types = PCI_TYPES_TEXT},
    {.table = "rprof_files", .table_flags = PCI_TABLE_INTERNAL | PCI_TABLE_VERIFIED},
    {"segment", PCI_TYPE(PCF_U32), PCI_REQUIRED | PCI_OWNER, PCI_COPY,
     .references = "rprof_segments"},
    {"before_sample", PCI_TYPE(PCF_U64), PCI_REQUIRED | PCI_SORTED | PCI_SAMPLE_POSITION,
     .anonymize = PCI_COPY},
    {"number", PCI_TYPE(PCF_I64), .anonymize = PCI_COPY},
    {"path", PCI_TYPES_TEXT, PCI_REQUIRED, .anonymize = PCI_NAME_FILE},
    {"text", .types = PCI_TYPES_TEXT},
    {.table = NULL},
};

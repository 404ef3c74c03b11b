/*
 * losses.h - report of content that an export target cannot represent
 *
 * Content is divided into kinds. A format declares the kinds that it represents in its own
 * directory; losses.c assigns each column of a file to a kind. Tests: the suite
 * tests/roundtrip/losses
 * exports, imports again and compares.
 */
#ifndef PCI_LOSSES_H
#define PCI_LOSSES_H

#include "util/error.h"
#include "util/utc_text.h"

#define PCI_KINDS(X)                                                                             \
    X(SOURCES, "the source of each sample (--source selects one)")                               \
    X(META, "keys that --meta added")                                                            \
    X(RECORDED, "the time of recording")                                                         \
    X(TIME_NS, "the time of recording")                                                          \
    X(DURATION, "the duration")                                                                  \
    X(PERIOD, "the period")                                                                      \
    X(INTERVAL, "the sampling interval")                                                         \
    X(DEFAULT_TYPE, "the default sample type")                                                   \
    X(DROP_FRAMES, "drop_frames and keep_frames (--keep-dropped writes the frames they remove)") \
    X(DOC_URL, "the URL of the documentation")                                                   \
    X(COMMENTS, "comments")                                                                      \
    X(TEXT, "comment lines")                                                                     \
    X(OTHER, "data that only the source's own format has")                                       \
    X(SEGMENTS, "the segments of the Rprof file")                                                \
    X(UNUSED, "code that no sample refers to")                                                   \
    X(NAMELESS, "locations without a function: they get the names that pcol shows")              \
    X(PLACES, "files of code outside functions")                                                 \
    X(SYSTEM_NAMES, "system names of functions")                                                 \
    X(FILES, "files of functions")                                                               \
    X(START_LINES, "start lines of functions")                                                   \
    X(LINES, "lines of the code")                                                                \
    X(COLUMNS, "columns in source lines")                                                        \
    X(INLINED, "inlining: inlined calls become ordinary calls")                                  \
    X(ADDRESSES, "addresses of the code")                                                        \
    X(FOLDED, "which locations were folded")                                                     \
    X(FRAME_LABELS, "offsets and other labels of frames")                                        \
    X(FRAME_DETAILS, "Firefox's attributes of functions and frames")                             \
    X(CATEGORIES, "categories of frames")                                                        \
    X(RESOURCES, "what kind of library or web site code is of")                                  \
    X(SOURCE_FILES, "ids of source files")                                                       \
    X(SYMBOLS, "symbols of native code")                                                         \
    X(LIBRARIES, "names of libraries")                                                           \
    X(RANGES, "address ranges of mappings")                                                      \
    X(BUILD_IDS, "build ids of mappings")                                                        \
    X(MAPPING_FLAGS, "flags of mappings")                                                        \
    X(DEBUG_FILES, "debug files of libraries")                                                   \
    X(THREADS, "threads of samples (--thread chooses)")                                          \
    X(PROCESSES, "names of processes")                                                           \
    X(THREAD_LABELS, "further attributes of threads")                                            \
    X(TIMES, "times of samples (--time chooses)")                                                \
    X(DURATIONS, "durations of samples")                                                         \
    X(CPU, "CPU use of samples")                                                                 \
    X(LABELS, "labels of samples (--label chooses)")                                             \
    X(SPELLING, "the original text of lines in unusual notation")                                \
    X(RESOURCE_TYPES, "types of resources")                                                      \
    X(SNAPSHOTS, "snapshots")                                                                    \
    X(MODELS, "models")                                                                          \
    X(MARKERS, "markers")                                                                        \
    X(ALLOCATIONS, "allocations")                                                                \
    X(COUNTERS, "counters")

enum pci_kind {
#define PCI_KIND_NAME(name, words) PCI_KIND_##name,
    PCI_KINDS(PCI_KIND_NAME)
#undef PCI_KIND_NAME
        PCI_KIND_COUNT
};
_Static_assert(PCI_KIND_COUNT <= 64, "a kind is a bit");

#define PCI_KIND_BIT(name) (UINT64_C(1) << PCI_KIND_##name)

/* The kinds of content that a format represents. */
struct pci_capabilities {
    const char *loss_prefix; /* begin of a report: "folded stacks cannot hold" */
    uint64_t generic;        /* kinds in a source that is converted from another format */
    uint64_t native;         /* META or RECORDED, which no source format contains, in a source that
                                is written unchanged in its own format */
    /* The time of recording that the reader of this format derives from the output, "" for none; a
     * timestamp given by the user may differ. NULL: the format has no time. */
    pcol_status (*time)(const pcol_file *file, uint64_t source, char text[PCI_UTC_TEXT_BYTES],
                        pcol_error *err);
};

struct pci_export;
/* Report, once for each kind, content of the exported sources that the target does not represent.
 * native_types: types of the sources that are written unchanged in their own format, separated by
 * spaces; "": all sources; NULL: none. */
pcol_status pci_export_losses(const struct pci_export *export, const char *native_types,
                              pcol_error *err);
/* Report one kind that the exporter itself detects. */
void pci_export_report_kind(const struct pci_export *export, enum pci_kind kind);

#endif

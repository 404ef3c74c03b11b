/*
 * versions.h - facts about versions of processed profiles (meta.preprocessedProfileVersion)
 *
 * A name SINCE_x is the first version with x. Elsewhere are: the columns that versions 60 and 70
 * write (write_shared_tables.c), those that the front end requires (accept.c), and the typed arrays
 * of JSLB (emitter.c).
 */
#ifndef PCI_FIREFOX_VERSIONS_H
#define PCI_FIREFOX_VERSIONS_H

enum {
    PCI_FF_SINCE_EVEN_MARKERS = 20,   /* all columns of markers have the same length */
    PCI_FF_SINCE_WEIGHTS = 29,        /* samples.weight and weightType; `duration` before */
    PCI_FF_SINCE_PHASES = 30,         /* markers.phase, startTime, endTime; `time` before */
    PCI_FF_SINCE_SCHEMAS = 33,        /* meta.markerSchema */
    PCI_FF_SINCE_COMMON_LIBS = 41,    /* libs of the document; of each thread before */
    PCI_FF_SINCE_SHARED = 56,         /* tables of code in `shared`; in each thread before */
    PCI_FF_SINCE_EVEN_RESOURCES = 60, /* all columns of resourceTable have the same length */
    PCI_FF_SINCE_SHARED_CODE = 60,    /* stackTable to resourceTable in `shared` only */
    PCI_FF_JSON_WRITTEN = 60,         /* version of JSON files of other formats' profiles */
    PCI_FF_JSLB_WRITTEN = 70,         /* version whose typed arrays are written as slabs */
    PCI_FF_NEWEST = 70                /* latest version that is read */
};

#endif

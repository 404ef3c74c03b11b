/*
 * parse.h - parsing of the lines of `perf script`
 *
 *     java 12688/12764 [002] 6544038.708352:     257597 cycles:u: trailing fields
 *     ^comm ^pid ^tid   ^cpu  ^time               ^period ^event   ^tail
 *             7f722d142778 Ljava/net/Socket;::read+0x1c (/tmp/perf-12688.map)
 *             ^address     ^symbol             ^offset   ^object
 *
 * Users select the fields (perf script -F); a comm may contain blanks, an event colons. A header is
 * recognised by its time and event, else by its time, else by an event after a pid or cpu. A comm
 * that ends in a number is recognised by the alignment of the numbers.
 */
#ifndef PCI_PERF_PARSE_H
#define PCI_PERF_PARSE_H

#include "util/error.h"

/* The reader looks this far ahead for what the lines show of the whole text. */
#define PCI_PERF_LOOK_AHEAD (64u << 10)

struct pci_perf_header {
    pcol_str comm, event, tail, misc;
    pcol_str pid, tid; /* a number alone is a tid, as perf prints it by default */
    size_t indent;     /* blanks before the tail */
    int64_t cpu, time_ns, period;
    unsigned has_pid : 1, has_tid : 1, has_cpu : 1, has_time : 1, has_period : 1, has_event : 1,
        has_misc : 1;
    /* Numbers beyond 64 bits: present, with the value 0. */
    unsigned beyond_period : 1, beyond_time : 1, beyond_cpu : 1;
    unsigned is_aligned : 1; /* the period has the columns that perf prints */
    unsigned is_thread_aligned : 1;
    unsigned is_exact : 1;  /* the time has as many digits as perf prints */
    unsigned is_record : 1; /* a PERF_RECORD_... line, not a sample */
};

/* Returns 0 if the line is not a header. unaligned: periods need not be aligned. */
int pci_perf_header(const uint8_t *text, size_t size, int unaligned,
                    struct pci_perf_header *header);
/* Whether a header without a time shows that its file is aligned: it has one number, and its comm
 * does not end in another one or in a cpu, so that there is no other reading. */
int pci_perf_has_one_number(const struct pci_perf_header *header);

/* Copy the header of a line so that it refers to a copy of the line. */
void pci_perf_copy_header(const struct pci_perf_header *from, const char *from_text,
                          const char *to_text, struct pci_perf_header *to);

/* Parse a header without a time: comm and event, or comm, thread, cpu and period, as far as they
 * are there. */
void pci_perf_comm(const uint8_t *text, size_t size, struct pci_perf_header *header);

struct pci_perf_frame {
    uint64_t address, offset, object_offset;
    pcol_str symbol, object;
    unsigned has_address : 1, has_symbol : 1, has_offset : 1, has_object : 1, inlined : 1,
        has_object_offset : 1;
    unsigned in_symbol : 1, in_object : 1; /* present, perhaps as [unknown] */
    unsigned beyond : 1; /* an address or offset beyond 64 bits remains part of a name */
};

/* A frame of a call stack. `addressed`: frames of this input begin with an address, so that a short
 * one is none by chance. 0 if it cannot be one. */
int pci_perf_frame(const uint8_t *text, size_t size, int addressed, struct pci_perf_frame *frame);
/* 1 for more digits than an address has, and a symbol after them. */
int pci_perf_is_beyond(const uint8_t *text, size_t size);

/* A frame in the header's own line, as it is printed without call chains. Fields are printed before
 * it (a data address with its symbol, a weight) and after it (a branch target, an instruction). */
struct pci_perf_tail {
    pcol_str before, after;
    struct pci_perf_frame frame;
};

/* 1 if the text after the event has a frame: with an address and an object, or with an aligned
 * address and a symbol. It is one only if no frames follow in lines of their own. */
int pci_perf_tail_frame(const struct pci_perf_header *header, int addressed,
                        struct pci_perf_tail *tail);
/* 1 if that text is an aligned address alone, which is a frame if a source line follows. */
int pci_perf_tail_address(const struct pci_perf_header *header, struct pci_perf_frame *frame);
/* 1 for a PERF_RECORD_... without a header, as --show-round-events prints it. */
int pci_perf_bare_record(const uint8_t *text, size_t size);
/* A line of the fields that are printed after frames: with a name ("insn:", "ABI:2", branches), or
 * only numbers and sizes of pages. */
enum pci_perf_fields { PCI_PERF_NO_FIELDS, PCI_PERF_NUMBERS, PCI_PERF_NAMED_FIELDS };
enum pci_perf_fields pci_perf_fields_line(const uint8_t *text, size_t size);

/* "  reader/file.c:42", or "  object[address]" where that is not known: no file then. perf marks
 * an inlined frame after its source line, and prints fields there without call chains. */
struct pci_perf_source {
    pcol_str file, fields;
    int64_t line;
    int inlined;
};
int pci_perf_source_line(const uint8_t *text, size_t size, struct pci_perf_source *source);

/* An event whose period is in nanoseconds, with modifiers or without. */
int pci_perf_is_clock(pcol_str event);

#endif

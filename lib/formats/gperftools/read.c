/*
 * read.c - conversion of the profile formats before profile.proto
 *
 * Profiles of gperftools, text profiles of Go (debug=1) and of Java's agent are converted to
 * profile.proto with pprof's rules for values, frames and mappings, whose results users know.
 *
 *     first bytes                      file
 *     words 0, 3, 0 or 1, n, 0         cpu.c
 *     "heap profile: ..."              heap.c
 *     "NAME profile: total N"          stacks.c
 *     "--- threadz", "--- Thread"      stacks.c
 *     "--- contentionz 1 ---", ...     stacks.c; with "format = java" java.c
 *     "--- heapz 1 ---"                java.c
 */
#include "formats/gperftools/gperftools.h"
#include "formats/gperftools/scanner.h"

#define SNIFF_BYTES 4096u

/* Frames of the profilers themselves: alternatives of a regular expression over whole function
 * names. The texts become part of profiles and are equal to those written by pprof. */
static const char cpu_frames[] = "ProfileData::Add|ProfileData::prof_handler|"
                                 "CpuProfiler::prof_handler|__pthread_sighandler|__restore";
static const char lock_frames[] =
    "RecordLockProfileData|(base::)?RecordLockProfileData.*|"
    "(base::)?SubmitMutexProfileData.*|(base::)?SubmitSpinLockProfileData.*|"
    "(base::Mutex::)?AwaitCommon.*|(base::Mutex::)?Unlock.*|(base::Mutex::)?UnlockSlow.*|"
    "(base::Mutex::)?ReaderUnlock.*|(base::MutexLock::)?~MutexLock.*|(Mutex::)?AwaitCommon.*|"
    "(Mutex::)?Unlock.*|(Mutex::)?UnlockSlow.*|(Mutex::)?ReaderUnlock.*|"
    "(MutexLock::)?~MutexLock.*|(SpinLock::)?Unlock.*|(SpinLock::)?SlowUnlock.*|"
    "(SpinLockHolder::)?~SpinLockHolder.*";
static const char heap_frames[] =
    "calloc|cfree|malloc|free|memalign|do_memalign|(__)?posix_memalign|pvalloc|valloc|realloc|"
    "tcmalloc::.*|tc_calloc|tc_cfree|tc_malloc|tc_free|tc_memalign|tc_posix_memalign|tc_pvalloc|"
    "tc_valloc|tc_realloc|tc_new|tc_delete|tc_newarray|tc_deletearray|tc_new_nothrow|"
    "tc_newarray_nothrow|malloc_zone_malloc|malloc_zone_calloc|malloc_zone_valloc|"
    "malloc_zone_realloc|malloc_zone_memalign|malloc_zone_free|runtime\\..*|BaseArena::.*|"
    "(::)?do_malloc_no_errno|(::)?do_malloc_pages|(::)?do_malloc|DoSampledAllocation|"
    "MallocedMemBlock::MallocedMemBlock|_M_allocate|__builtin_(vec_)?delete|"
    "__builtin_(vec_)?new|__gnu_cxx::new_allocator::allocate|__libc_malloc|"
    "__malloc_alloc_template::allocate|allocate|cpp_alloc|operator new(\\[\\])?|simple_alloc::"
    "allocate";
/* exceptions: frames of Go's runtime in the middle of a stack */
static const char heap_keep_frames[] = "runtime\\.panic|runtime\\.reflectcall|runtime\\.call[0-9]*";

struct kind {
    pci_gp_header_fn is_header;
    pcol_status (*read)(struct pci_gp_reader *reader, pcol_error *err);
    int skips_blank_lines; /* blank lines and comments may precede the header */
};
static const struct kind kinds[] = {
    {pci_gp_is_heap, pci_gp_read_heap, 0},     {pci_gp_is_count, pci_gp_read_count, 1},
    {pci_gp_is_thread, pci_gp_read_thread, 1}, {pci_gp_is_contention, pci_gp_read_contention, 0},
    {pci_gp_is_java, pci_gp_read_java, 0},
};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

/* ---- recognition */

/* Does a line after the header assign `format` or `resolution`, as only Java's do? */
static int is_java_contention(const uint8_t *p, const uint8_t *end)
{
    for (; p < end; p++) {
        const uint8_t *feed = memchr(p, '\n', (size_t)(end - p)), *stop = feed ? feed : end;
        struct pci_gp_span s = pci_gp_trim(p, stop);
        const uint8_t *equals = s.p < s.end ? memchr(s.p, '=', (size_t)(s.end - s.p)) : NULL;
        if (s.p < s.end && *s.p != '#' && !equals)
            return 0;
        if (equals) {
            struct pci_gp_span key = pci_gp_trim(s.p, equals);
            size_t size = (size_t)(key.end - key.p);
            if ((size == 6 && !memcmp(key.p, "format", size)) ||
                (size == 10 && !memcmp(key.p, "resolution", size)))
                return 1;
        }
        p = stop;
        if (p == end)
            break;
    }
    return 0;
}

/* The kind of the text in [data, end). is_truncated: its last line continues. */
static const struct kind *find_kind(const uint8_t *data, const uint8_t *end, int is_truncated)
{
    int first = 1;
    for (const uint8_t *p = data; p < end; first = 0) {
        const uint8_t *feed = memchr(p, '\n', (size_t)(end - p)), *stop = feed ? feed : end;
        const uint8_t *next = feed ? feed + 1 : end;
        if (!feed && is_truncated)
            return NULL;
        if (stop > p && stop[-1] == '\r')
            stop--;
        for (size_t i = 0; i < KIND_COUNT; i++) {
            if (!(first || kinds[i].skips_blank_lines) || !kinds[i].is_header(p, stop))
                continue;
            if (kinds[i].read == pci_gp_read_contention && is_java_contention(next, end))
                continue;
            return &kinds[i];
        }
        if (!pci_gp_is_blank_or_comment(p, stop))
            return NULL;
        p = next;
    }
    return NULL;
}

int pci_gperftools_sniff(const uint8_t *data, size_t size, int all)
{
    return pci_gp_is_cpu(data, size) || find_kind(data, data + size, !all) ? 2 : 0;
}

/* ---- conversion */

static pcol_status read_text(struct pci_gp_reader *r, pcol_error *err)
{
    const struct pci_input *input = r->import->input;
    const struct kind *kind = find_kind(input->data, input->data + input->size, !input->end);
    PCI_TRY(pci_gp_next(r, err));
    if (!kind)
        return pci_gp_fail(r, r->line.text, err,
                           "not a profile of gperftools, a text profile of Go or one of Java");
    while (r->found && kind->skips_blank_lines &&
           pci_gp_is_blank_or_comment(r->line.text, r->line.text + r->line.size))
        PCI_TRY(pci_gp_next(r, err));
    return kind->read(r, err);
}

/* Select the frames to drop by the sample type. */
static void choose_frames(struct pci_gp_profile *p)
{
    const char *type = p->type_count > 1 ? p->types[0].type : "";
    p->drop_frames = cpu_frames;
    p->keep_frames = "";
    if (!strcmp(type, "contentions")) {
        p->drop_frames = lock_frames;
    } else if (strstr(type, "objects")) {
        p->drop_frames = heap_frames;
        p->keep_frames = heap_keep_frames;
    }
}

pcol_status pci_gperftools_convert(struct pci_import *import, uint8_t **data, size_t *size,
                                   pcol_error *err)
{
    struct pci_input *input = import->input;
    struct pci_gp_reader r = {.import = import, .lines = {.input = input}};
    pcol_status status = PCOL_OK;
    *data = NULL;
    while (status == PCOL_OK && input->size < SNIFF_BYTES && !input->end)
        status = pci_input_more(input, 0, err);
    PCI_THEN(status, pci_gp_is_cpu(input->data, input->size) ? pci_gp_read_cpu(&r, err)
                                                             : read_text(&r, err));
    if (status == PCOL_OK && r.has_cut_line)
        pci_import_message("the last line has no line end: it may be cut");
    choose_frames(&r.profile);
    PCI_THEN(status, pci_gp_encode(&r.profile, data, size, err));
    pci_gp_clear(&r.profile);
    return status;
}

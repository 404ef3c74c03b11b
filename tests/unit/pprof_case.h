/*
 * pprof_case.h - random profiles as messages of protobuf-c and their comparison, for the tests of
 * pprof
 */
#ifndef PPROF_CASE_H
#define PPROF_CASE_H

#include "pcol.h"
#include "pprof/profile.pb-c.h"

typedef PciPprof__Profile Profile;

struct bytes {
    uint8_t *data;
    size_t size, capacity;
};

void bytes_add(struct bytes *b, const void *data, size_t size);
pcol_status bytes_gather(void *context, const void *data, size_t size, pcol_error *err);
void bytes_varint(struct bytes *b, uint64_t value);
void bytes_field(struct bytes *b, unsigned number, const struct bytes *message);
void bytes_number(struct bytes *b, unsigned number, uint64_t value);
void *pprof_make(size_t count, size_t size);
void pprof_free_all(void);
PciPprof__ValueType *pprof_any_type(void);
PciPprof__Sample *pprof_any_sample(size_t types, size_t keys);
Profile *pprof_any_profile(uint64_t seed);
void pprof_reorder(struct bytes *b);
struct bytes pprof_pack(const Profile *p);
void pprof_same(const Profile *a, const Profile *b, unsigned seed);
extern uint64_t pprof_random;
extern size_t pprof_string_count;
extern uint64_t *pprof_ids[3];
extern size_t pprof_id_count[3];

#define MANY(field, count, call)                               \
    do {                                                       \
        p->n_##field = (count);                                \
        p->field = pprof_make(p->n_##field, sizeof *p->field); \
        for (size_t index = 0; index < p->n_##field; index++)  \
            p->field[index] = (call);                          \
    } while (0)

#endif

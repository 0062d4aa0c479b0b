// What both ways of verifying P-256 share.

#include "CBatchVerify.h"
#include "p256_ifma.h"
#include "p256_ifma_base.h"
#include "p256_portable.h"
#include "p256_windows.h"

void cbv_p256_prepare(void) {
    cbv_p256_windows_prepare();
    if (!cbv_missing_feature()) cbv_p256_ifma_prepare();
}

size_t cbv_p256_scratch_bytes(void) {
    size_t ifma = cbv_p256_ifma_scratch_bytes(), portable = cbv_p256_portable_scratch_bytes();
    return ifma > portable ? ifma : portable;
}

int cbv_p256_has_points(const uint64_t *points) {
    uint64_t any = 0;
    for (int word = 0; word < 8; word++) any |= points[word];
    return any != 0;
}

const uint64_t *cbv_p256_stand_in(size_t count, const uint64_t *points) {
    for (size_t index = 0; index < count; index++) {
        const uint64_t *own = points + 8 * CBV_P256_POINTS * index;
        if (cbv_p256_has_points(own)) return own;
    }
    return NULL;
}

// What both ways of verifying P-256 share.

#include "CBatchVerify.h"
#include "p256_lanes.h"
#include "p256_lanes_base.h"
#include "p256_portable.h"

void cbv_p256_prepare(void) {
    cbv_p256_portable_prepare();
    if (!cbv_missing_feature()) cbv_p256_lanes_prepare();
}

size_t cbv_p256_scratch_bytes(void) {
    size_t lanes = cbv_p256_lanes_scratch_bytes(), portable = cbv_p256_portable_scratch_bytes();
    return lanes > portable ? lanes : portable;
}

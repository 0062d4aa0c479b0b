// What both ways of verifying P-256 share.

#include "CBatchVerify.h"
#include "p256_ifma.h"
#include "p256_ifma_base.h"
#include "p256_portable.h"

void cbv_p256_prepare(void) {
    cbv_p256_portable_prepare();
    if (!cbv_missing_feature()) cbv_p256_ifma_prepare();
}

size_t cbv_p256_scratch_bytes(void) {
    size_t ifma = cbv_p256_ifma_scratch_bytes(), portable = cbv_p256_portable_scratch_bytes();
    return ifma > portable ? ifma : portable;
}

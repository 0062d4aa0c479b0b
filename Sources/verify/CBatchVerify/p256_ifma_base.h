/// The generator's odd multiples, for the IFMA engine.
#pragma once

#include <stdint.h>

enum {
    P256_BASE_BITS = 8,
    P256_BASE_WINDOWS = 32,
    P256_BASE_ENTRIES = 1 << (P256_BASE_BITS - 1),
};

/// Entry i of table w is (2 i + 1) 2^(8 w) G: x, then y, four words each with the least significant first, times 2^260
/// modulo p.
extern uint64_t cbv_p256_ifma_base[P256_BASE_WINDOWS][P256_BASE_ENTRIES][8];

/// Makes the tables, 262 KB.
void cbv_p256_ifma_prepare(void);

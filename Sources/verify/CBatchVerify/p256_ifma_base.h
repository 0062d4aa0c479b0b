/// The generator's odd multiples, for the IFMA engine.
#pragma once

#include <stdint.h>

enum {
    /// Bits of the widest window.
    P256_BASE_WINDOW = 13,
    P256_BASE_ENTRIES = 1 << (P256_BASE_WINDOW - 1),
};

/// Entry i of table 0 is (2 i + 1) G, of table 1 (2 i + 1) 2^128 G: x, then y, four words each with the least
/// significant first, in Montgomery form below p.
extern uint64_t cbv_p256_ifma_base[2][P256_BASE_ENTRIES][8];

void cbv_p256_ifma_prepare(void);

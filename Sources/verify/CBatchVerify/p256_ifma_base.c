// The generator's odd multiples, made by the portable arithmetic.

#include "p256_ifma_base.h"

#include <string.h>

#include "p256_windows.h"

_Alignas(64) uint64_t cbv_p256_ifma_base[P256_BASE_WINDOWS][P256_BASE_ENTRIES][8];

void cbv_p256_ifma_prepare(void) {
    // An element is its value times 2^256.
    const struct cbv_element sixteen = cbv_element_of((struct cbv_element){{16}});
    struct cbv_inverses inverses;
    struct cbv_affine odd[P256_BASE_WINDOWS], twice[P256_BASE_WINDOWS];
    cbv_p256_window_starts(P256_BASE_BITS, P256_BASE_WINDOWS, odd, twice);
    for (int entry = 0; entry < P256_BASE_ENTRIES; entry++) {
        for (int window = 0; window < P256_BASE_WINDOWS; window++) {
            uint64_t *to = cbv_p256_ifma_base[window][entry];
            memcpy(to, cbv_element_multiply(odd[window].x, sixteen).word, 32);
            memcpy(to + 4, cbv_element_multiply(odd[window].y, sixteen).word, 32);
        }
        cbv_affine_add(odd, 1, twice, P256_BASE_WINDOWS, odd, &inverses);
    }
}

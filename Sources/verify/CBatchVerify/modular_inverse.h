/// Inverses modulo an odd number of up to 256 bits, in variable time.
#pragma once

#include <stdint.h>

/// An odd modulus of more than one bit, in 62-bit limbs, the least significant first.
struct cbv_modulus {
    int64_t limb[5];
    /// The inverse of the modulus, modulo 2^62.
    uint64_t inverse;
};

/// The inverse of `number`, which is below the modulus; 0 for 0. Words stand the least significant first.
void cbv_modular_inverse(const struct cbv_modulus *modulus, const uint64_t number[4], uint64_t inverse[4]);

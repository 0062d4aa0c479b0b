/// Inversion modulo an odd number of 384 bits.
#pragma once

#include "p384_field.h"

/// A signed number in base 2^62, the least significant limb first.
typedef struct {
    int64_t limb[7];
} p384_signed62;

typedef struct {
    p384_number value;
    p384_signed62 limbs;
    /// 1 / value modulo 2^62.
    uint64_t inverse62;
} p384_modulus;

/// 1 / a modulo m, below m; 0 for a = 0. a is below m.
void cbv_p384_invert(p384_number *r, const p384_number *a, const p384_modulus *m);

/// 1 / a modulo p, canonical; 0 for a = 0 modulo p.
void cbv_p384_field_invert(p384_number *r, const p384_number *a);

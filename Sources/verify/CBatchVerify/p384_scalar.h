/// The part of ECDSA over P-384 before the curve: range checks, one inversion for all, and the digits of u1 and u2.
#pragma once

#include "p384_field.h"

enum {
    P384_MOST = 64,
    P384_WINDOWS = 48,
    /// Points of a window: 1 to 128 times its base.
    P384_MULTIPLES = 128,
    /// A size between the scratch of the two engines: the IFMA engine needs less than this, the portable code more.
    P384_SCRATCH_BETWEEN = 64 * 1024,
};

/// The two scalars of each signature as 48 digits from -128 to 128, the least significant first.
typedef struct {
    /// Signatures that are out of range, a bit each: their digits are 0.
    uint64_t refused;
    /// Digits that are 0, and digits below 0, a bit for each signature.
    uint64_t zero[2][P384_WINDOWS];
    uint64_t negative[2][P384_WINDOWS];
    /// The digit's absolute value less 1; 0 for the digit 0. Unused signatures have the digit 0.
    uint8_t index[2][P384_WINDOWS][P384_MOST];
} p384_digits;

/// The data that one call works on, with either engine.
typedef struct {
    p384_digits digits;
    p384_number s[P384_MOST], product[P384_MOST];
} p384_scalars;

/// u1 = digest / s and u2 = r / s modulo n, for signatures with numbers as the interface's arrays.
void cbv_p384_make_digits(size_t n, const uint64_t *digest, const uint64_t *r, const uint64_t *s,
                          p384_scalars *scalars);

/// Whether the point whose x is `x / zz` has the remainder r modulo n; zz is not 0. All canonical.
bool cbv_p384_is_equal(const p384_number *x, const p384_number *zz, const p384_number *r);

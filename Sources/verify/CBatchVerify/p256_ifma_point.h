/// Points of P-256 in eight lanes, in Jacobian coordinates: the affine x is X / Z^2, y is Y / Z^3.
///
/// Between the steps X < 1.01 p, Y < 3.2 p and Z < 2.5 p. An addition of equal or opposite points gives Z = 0, and every
/// later step keeps that: who looks at Z at the end sees it. No point met here is at infinity otherwise.
#pragma once

#include "p256_ifma_field.h"

typedef struct {
    element x, y, z;
} point;

/// The curve's b in Montgomery form.
static const uint64_t b_limbs[5] = {0xdf6229c4bddfd, 0xca8843090d89c, 0x212ed6acf005c, 0x83415a220abf7, 0x0c30061dd4874};

/// Coordinates below 2 p.
typedef struct {
    element x, y;
} affine;

/// 2 P: dbl-2001-b of the Explicit-Formulas Database for a = -3.
INLINE point doubled(point p) {
    element delta = sqr(p.z), gamma = sqr(p.y);               // 1.4 p, 1.7 p
    element beta = raw_product(p.x, gamma);                   // 1.11 p
    element left = carried(plus_p(difference(p.x, delta), 2)); // 3.1 p
    element right = carried(sum(p.x, delta));                 // 2.5 p
    element third = raw_product(left, right);                 // 1.5 p
    element alpha = carried(sum(third, sum(third, third)));   // 4.5 p
    point result;
    result.z = carried(shifted(raw_product(p.y, p.z), 1));
    result.x = folded(plus_p(difference(raw_square(alpha), shifted(beta, 3)), 9));
    element rest = carried(plus_p(difference(shifted(beta, 2), result.x), 2)); // 6.5 p
    product columns = multiplied(alpha, rest), square = squared(gamma);
    for (int i = 0; i < 10; i++) {
        columns.column[i] = _mm512_sub_epi64(columns.column[i], _mm512_slli_epi64(square.column[i], 3));
    }
    result.y = folded(plus_p(reduced(columns), 2));
    return result;
}

/// P + Q, with Q affine; where a bit of `negative` is set, P - Q.
INLINE point added(point p, affine q, __mmask8 negative) {
    element square = sqr(p.z);                                           // 1.4 p
    element h = carried(plus_p(difference(raw_product(q.x, square), p.x), 2)); // 3.2 p
    element cube = mul(p.z, square);                                     // 1.3 p
    element s = raw_product(q.y, cube);                                  // 1.2 p
    element r = difference((element){0}, p.y);
    for (int i = 0; i < 5; i++) {
        lane plus = _mm512_add_epi64(r.limb[i], s.limb[i]);
        r.limb[i] = _mm512_mask_sub_epi64(plus, negative, r.limb[i], s.limb[i]);
    }
    r = carried(plus_p(r, 5));                                           // 6.2 p
    point result;
    result.z = mul(p.z, h);
    element hh = sqr(h);                                                 // 1.7 p
    element hhh = mul(h, hh);                                            // 1.4 p
    element v = raw_product(p.x, hh);                                    // 1.2 p
    element below = sum(hhh, shifted(v, 1));
    result.x = folded(plus_p(difference(raw_square(r), below), 4));
    element rest = carried(plus_p(difference(v, result.x), 2));          // 3.2 p
    product columns = multiplied(r, rest), other = multiplied(p.y, hhh);
    for (int i = 0; i < 10; i++) columns.column[i] = _mm512_sub_epi64(columns.column[i], other.column[i]);
    result.y = carried(plus_p(reduced(columns), 1));
    return result;
}

/// The lanes whose affine point, with coordinates below 2 p, is on the curve: y^2 = x^3 - 3 x + b.
INLINE __mmask8 is_on_curve(affine p) {
    element cube = raw_product(sqr(p.x), p.x);
    element right = sum(difference(cube, sum(p.x, sum(p.x, p.x))), broadcast(b_limbs));
    return is_zero(carried(plus_p(difference(right, raw_square(p.y)), 9)));
}

/// Points of P-256 in eight lanes, in Jacobian coordinates: the affine x is X / Z^2, y is Y / Z^3.
///
/// Between the steps X < 1.01 p, Y < 3.2 p and Z < 2.5 p. An addition of equal or opposite points gives Z = 0, and every
/// later step keeps that: who looks at Z at the end sees it. No point met here is at infinity otherwise.
#pragma once

#include "p256_ifma_field.h"

typedef struct {
    element x, y, z;
} point;

/// 3 and the curve's b in Montgomery form.
static const uint64_t three_limbs[5] = {0x0000000000030, 0xd000000000000, 0xfffffffffffff, 0xffcffffffffff, 0x00000002fffff};
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

/// Two points with the same Z, of which only the factors are computed: the caller keeps their product.
typedef struct {
    affine fixed, moving;
} pair;

/// Makes the first pair from an affine P: 2 P (fixed) and P (moving), with the common Z = 2 y.
///
/// This and the next step: Goundar, Joye, Miyaji, Rivain, Venelli, "Scalar multiplication on Weierstrass elliptic curves
/// from Co-Z arithmetic" (2011).
INLINE pair begun(affine p) {
    const element three = broadcast(three_limbs);
    element b = sqr(p.x), e = sqr(p.y);                                  // 1.1 p
    element s = raw_product(p.x, e);                                     // 1.1 p
    element m = sum(b, sum(b, b));
    m = carried(plus_p(difference(m, three), 1));                        // 4.3 p
    pair result;
    result.moving.x = folded(shifted(s, 2));
    result.moving.y = folded(shifted(raw_square(e), 3));
    result.fixed.x = folded(plus_p(difference(raw_square(m), shifted(s, 3)), 9));
    element rest = carried(plus_p(difference(result.moving.x, result.fixed.x), 2)); // 3.1 p
    result.fixed.y = folded(plus_p(difference(raw_product(m, rest), result.moving.y), 2));
    return result;
}

/// moving + fixed (moving), and fixed itself, with a common Z that is `ratio` times the one before.
INLINE pair advanced(pair p, element *ratio) {
    element h = carried(plus_p(difference(p.fixed.x, p.moving.x), 2));   // 3.2 p
    element c = sqr(h);                                                  // 1.7 p
    element w1 = mul(p.fixed.x, c), w2 = raw_product(p.moving.x, c);     // 1.2 p
    element dy = carried(plus_p(difference(p.fixed.y, p.moving.y), 2));  // 3.4 p
    pair result;
    result.fixed.x = w1;
    result.fixed.y = mul(p.fixed.y, carried(plus_p(difference(w1, w2), 2))); // 1.3 p
    result.moving.x = folded(plus_p(difference(raw_square(dy), sum(w1, w2)), 3));
    element rest = carried(plus_p(difference(w1, result.moving.x), 2));
    result.moving.y = folded(plus_p(difference(raw_product(dy, rest), result.fixed.y), 2));
    *ratio = h;
    return result;
}

/// The lanes whose affine point, with coordinates below 2 p, is on the curve: y^2 = x^3 - 3 x + b.
INLINE __mmask8 is_on_curve(affine p) {
    element cube = raw_product(sqr(p.x), p.x);
    element right = sum(difference(cube, sum(p.x, sum(p.x, p.x))), broadcast(b_limbs));
    return is_zero(carried(plus_p(difference(right, raw_square(p.y)), 9)));
}

INLINE element squared_times(element a, int count) {
    for (int i = 0; i < count; i++) a = sqr(a);
    return a;
}

/// a^(p - 2): the inverse, and zero for zero.
__attribute__((noinline)) IFMA static element inverted(element a) {
    element x2 = mul(squared_times(a, 1), a), x3 = mul(squared_times(x2, 1), a);
    element x6 = mul(squared_times(x3, 3), x3), x12 = mul(squared_times(x6, 6), x6);
    element x15 = mul(squared_times(x12, 3), x3), x30 = mul(squared_times(x15, 15), x15);
    element x32 = mul(squared_times(x30, 2), x2);
    element t = mul(squared_times(x32, 32), a);
    t = mul(squared_times(t, 128), x32);
    t = mul(squared_times(t, 32), x32);
    t = mul(squared_times(t, 30), x30);
    return mul(squared_times(t, 2), a);
}

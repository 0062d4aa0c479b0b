/// The field of P-256 in eight lanes: p = 2^256 - 2^224 + 2^192 + 2^96 - 1, Montgomery form with R = 2^260.
///
/// An element is five limbs of 52 bits in each of eight lanes, reduced modulo p only as far as a step needs it: the
/// comments bound values in multiples of p. Every element has limbs below 2^52, hence is below 16 p. Raw limbs are sums
/// before their carries: signed 64-bit numbers.
#pragma once

#include <immintrin.h>
#include <stdint.h>

#define IFMA __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512ifma")))
#ifdef __OPTIMIZE__
#define INLINE static inline __attribute__((always_inline)) IFMA
#else
// Unoptimized code keeps every value in the frame: with everything inlined, frames would overflow a small stack.
#define INLINE static inline IFMA
#endif

typedef __m512i lane;

typedef struct {
    lane limb[5];
} element;

/// Sums of products by weight: ten columns of a product before its reduction.
typedef struct {
    lane column[10];
} product;

#define MASK52 0xFFFFFFFFFFFFFll

INLINE lane constant(int64_t value) { return _mm512_set1_epi64(value); }

INLINE element broadcast(const uint64_t limbs[5]) {
    element result;
    for (int i = 0; i < 5; i++) result.limb[i] = constant((int64_t)limbs[i]);
    return result;
}

INLINE product multiplied(element a, element b) {
    lane low[9], high[9];
    for (int i = 0; i < 9; i++) low[i] = high[i] = _mm512_setzero_si512();
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) {
            low[i + j] = _mm512_madd52lo_epu64(low[i + j], a.limb[i], b.limb[j]);
            high[i + j] = _mm512_madd52hi_epu64(high[i + j], a.limb[i], b.limb[j]);
        }
    }
    product result;
    result.column[0] = low[0];
    for (int i = 1; i < 9; i++) result.column[i] = _mm512_add_epi64(low[i], high[i - 1]);
    result.column[9] = high[8];
    return result;
}

INLINE product squared(element a) {
    lane low[9], high[9];
    for (int i = 0; i < 9; i++) low[i] = high[i] = _mm512_setzero_si512();
    for (int i = 0; i < 5; i++) {
        for (int j = i + 1; j < 5; j++) {
            low[i + j] = _mm512_madd52lo_epu64(low[i + j], a.limb[i], a.limb[j]);
            high[i + j] = _mm512_madd52hi_epu64(high[i + j], a.limb[i], a.limb[j]);
        }
    }
    // Each product of two different limbs occurs twice.
    lane column[10];
    column[0] = _mm512_setzero_si512();
    for (int i = 1; i < 9; i++) {
        lane once = _mm512_add_epi64(low[i], high[i - 1]);
        column[i] = _mm512_add_epi64(once, once);
    }
    column[9] = _mm512_setzero_si512();
    for (int i = 0; i < 5; i++) {
        column[2 * i] = _mm512_madd52lo_epu64(column[2 * i], a.limb[i], a.limb[i]);
        column[2 * i + 1] = _mm512_madd52hi_epu64(column[2 * i + 1], a.limb[i], a.limb[i]);
    }
    product result;
    for (int i = 0; i < 10; i++) result.column[i] = column[i];
    return result;
}

/// The five upper columns after Montgomery's reduction, raw; columns may be negative.
///
/// -1/p is 1 modulo 2^52, so each step's factor q is the column itself: q p = q (p + 1) - q clears it.
INLINE element reduced(product t) {
    const lane one = constant(1ll << 44), three = constant(1ll << 36), four = constant(0xFFFFFFFF0000ll);
    for (int i = 0; i < 5; i++) {
        lane q = t.column[i];
        lane carry = _mm512_srai_epi64(q, 52);
        t.column[i + 1] = _mm512_add_epi64(t.column[i + 1], carry);
        t.column[i + 1] = _mm512_madd52lo_epu64(t.column[i + 1], q, one);
        t.column[i + 2] = _mm512_madd52hi_epu64(t.column[i + 2], q, one);
        t.column[i + 3] = _mm512_madd52lo_epu64(t.column[i + 3], q, three);
        t.column[i + 4] = _mm512_madd52hi_epu64(t.column[i + 4], q, three);
        t.column[i + 4] = _mm512_madd52lo_epu64(t.column[i + 4], q, four);
        if (i < 4) {
            t.column[i + 5] = _mm512_madd52hi_epu64(t.column[i + 5], q, four);
        } else {
            t.column[9] = _mm512_madd52hi_epu64(t.column[9], q, four);
        }
    }
    element result;
    for (int i = 0; i < 5; i++) result.limb[i] = t.column[i + 5];
    return result;
}

/// Raw limbs with every carry done. The value must lie in 0 ..< 2^260.
INLINE element carried(element raw) {
    const lane mask = constant(MASK52);
    for (int i = 0; i < 4; i++) {
        raw.limb[i + 1] = _mm512_add_epi64(raw.limb[i + 1], _mm512_srai_epi64(raw.limb[i], 52));
        raw.limb[i] = _mm512_and_si512(raw.limb[i], mask);
    }
    return raw;
}

/// The same, and what exceeds 2^256 folded below it: the result is below 1.01 p.
///
/// 2^256 = 2^224 - 2^192 - 2^96 + 1. The excess is taken before the lowest carries, so it may be one too high where the
/// rest is within 2^210 of 2^256; the 2^224 that it brings keeps the result positive.
INLINE element folded(element raw) {
    lane top = _mm512_add_epi64(raw.limb[4], _mm512_srai_epi64(raw.limb[3], 52));
    lane excess = _mm512_srai_epi64(top, 48);
    raw.limb[0] = _mm512_add_epi64(raw.limb[0], excess);
    raw.limb[1] = _mm512_sub_epi64(raw.limb[1], _mm512_slli_epi64(excess, 44));
    raw.limb[3] = _mm512_sub_epi64(raw.limb[3], _mm512_slli_epi64(excess, 36));
    lane fall = _mm512_sub_epi64(_mm512_slli_epi64(excess, 48), _mm512_slli_epi64(excess, 16));
    raw.limb[4] = _mm512_sub_epi64(raw.limb[4], fall);
    return carried(raw);
}

INLINE element sum(element a, element b) {
    for (int i = 0; i < 5; i++) a.limb[i] = _mm512_add_epi64(a.limb[i], b.limb[i]);
    return a;
}

INLINE element difference(element a, element b) {
    for (int i = 0; i < 5; i++) a.limb[i] = _mm512_sub_epi64(a.limb[i], b.limb[i]);
    return a;
}

INLINE element shifted(element a, int bits) {
    for (int i = 0; i < 5; i++) a.limb[i] = _mm512_slli_epi64(a.limb[i], bits);
    return a;
}

/// a + k p, raw.
INLINE element plus_p(element a, int k) {
    a.limb[0] = _mm512_sub_epi64(a.limb[0], constant(k));
    a.limb[1] = _mm512_add_epi64(a.limb[1], constant((int64_t)k << 44));
    a.limb[3] = _mm512_add_epi64(a.limb[3], constant((int64_t)k << 36));
    a.limb[4] = _mm512_add_epi64(a.limb[4], constant((int64_t)k * 0xFFFFFFFF0000ll));
    return a;
}

/// a b / R, below (ab / 16 p + 1) p; raw.
INLINE element raw_product(element a, element b) { return reduced(multiplied(a, b)); }
INLINE element raw_square(element a) { return reduced(squared(a)); }

INLINE element mul(element a, element b) { return carried(raw_product(a, b)); }
INLINE element sqr(element a) { return carried(raw_square(a)); }

INLINE element selected(__mmask8 mask, element a, element b) {
    for (int i = 0; i < 5; i++) a.limb[i] = _mm512_mask_mov_epi64(a.limb[i], mask, b.limb[i]);
    return a;
}

/// The lanes whose element, as a number, is k p.
INLINE __mmask8 equals_p(element a, int k) {
    const element multiple = carried(plus_p((element){{constant(0), constant(0), constant(0), constant(0), constant(0)}}, k));
    __mmask8 equal = 0xFF;
    for (int i = 0; i < 5; i++) equal &= _mm512_cmpeq_epi64_mask(a.limb[i], multiple.limb[i]);
    return equal;
}

/// The lanes whose element is zero modulo p.
INLINE __mmask8 is_zero(element a) {
    const element one = {{constant(1), constant(0), constant(0), constant(0), constant(0)}};
    // a / R is at most p, and a multiple of p if a is one.
    element quotient = mul(a, one);
    return equals_p(quotient, 0) | equals_p(quotient, 1);
}

/// Out of Montgomery form, the number below p.
INLINE element plain(element a) {
    const element one = {{constant(1), constant(0), constant(0), constant(0), constant(0)}};
    element number = mul(a, one);
    const element zero = {{constant(0), constant(0), constant(0), constant(0), constant(0)}};
    return selected(equals_p(number, 1), number, zero);
}

/// Points of P-256 as the callers and the tables have them, in eight lanes.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "p256_ifma_point.h"
#include "p256_points.h"
#include "p256_words.h"

/// R, R^2, 2^264 and the order in Montgomery form; a number times 2^256 becomes one times R by 2^264.
static const uint64_t r_limbs[5] = {0x0000000000010, 0xf000000000000, 0xfffffffffffff, 0xffeffffffffff, 0x00000000fffff};
static const uint64_t r_squared_limbs[5] = {0x0000000000300, 0xffffffff00000, 0xffffefffffffb, 0xfdfffffffffff,
                                            0x0000004ffffff};
static const uint64_t kept_limbs[5] = {0x0000000000100, 0x0000000000000, 0xfffffffffffff, 0xfefffffffffff, 0x0000000ffffff};
static const uint64_t order_limbs[5] = {0x69483335f5689, 0x3d3fe99319ad1, 0x2e96b789b1054, 0xfeb0c0166ce65,
                                        0x08648c209fe30};

/// One number for each lane as four words, the least significant first.
INLINE void load_words(const uint64_t *const from[8], lane words[4]) {
    for (int i = 0; i < 4; i++) {
        int64_t word[8];
        for (int j = 0; j < 8; j++) word[j] = (int64_t)from[j][3 - i];
        words[i] = _mm512_loadu_si512(word);
    }
}

/// Limbs of 52 bits from words of 64, the least significant first.
INLINE element limbs_of(const lane words[4]) {
    const lane mask = constant(MASK52);
    element result;
    result.limb[0] = _mm512_and_si512(words[0], mask);
    for (int i = 1; i < 4; i++) {
        lane low = _mm512_srli_epi64(words[i - 1], (unsigned)(64 - 12 * i));
        lane high = _mm512_slli_epi64(words[i], (unsigned)(12 * i));
        result.limb[i] = _mm512_and_si512(_mm512_or_si512(low, high), mask);
    }
    result.limb[4] = _mm512_srli_epi64(words[3], 16);
    return result;
}

INLINE void words_of(element a, lane words[4]) {
    for (int i = 0; i < 4; i++) {
        lane low = _mm512_srli_epi64(a.limb[i], (unsigned)(12 * i));
        words[i] = _mm512_or_si512(low, _mm512_slli_epi64(a.limb[i + 1], (unsigned)(52 - 12 * i)));
    }
}

/// A number for each lane times `factor` over R, below 1.1 p.
INLINE element load_times(const uint64_t *const from[8], const uint64_t factor[5]) {
    lane words[4];
    load_words(from, words);
    return mul(limbs_of(words), broadcast(factor));
}

/// A number for each lane in Montgomery form.
INLINE element load_element(const uint64_t *const from[8]) { return load_times(from, r_squared_limbs); }

/// The points (x, y), at most eight. A lane without a point of the curve gets the generator.
__attribute__((noinline, unused)) IFMA static affine load_points(size_t count, const uint64_t *x, const uint64_t *y,
                                                                  __mmask8 *usable) {
    const uint64_t *xs[8], *ys[8], *generator_x[8], *generator_y[8];
    unsigned in_range = 0;
    for (size_t i = 0; i < 8; i++) {
        generator_x[i] = p256_generator;
        generator_y[i] = p256_generator + 4;
        bool is_in_range = i < count && p256_is_less(x + 4 * i, p256_prime) && p256_is_less(y + 4 * i, p256_prime);
        xs[i] = is_in_range ? x + 4 * i : generator_x[i];
        ys[i] = is_in_range ? y + 4 * i : generator_y[i];
        in_range |= (unsigned)is_in_range << i;
    }
    affine points = {load_element(xs), load_element(ys)};
    __mmask8 on_curve = is_on_curve(points);
    *usable = (__mmask8)(in_range & on_curve);
    points.x = selected((__mmask8)~on_curve, points.x, load_element(generator_x));
    points.y = selected((__mmask8)~on_curve, points.y, load_element(generator_y));
    return points;
}

enum {
    /// Chains of products of a shared inversion, so that no product waits for the one before it.
    CHAINS = 4,
};

/// The inverses of elements, none of them zero: one for all lanes, in scalar code, takes half of the time of powers in lanes.
__attribute__((noinline, unused)) IFMA static element inverted(element a) {
    // An element of the scalar code is its value times 2^256.
    const struct cbv_element sixteen = cbv_element_of((struct cbv_element){{16}});
    struct cbv_element value[8], through[8 + CBV_CHAINS];
    lane words[4];
    uint64_t word[4][8];
    words_of(plain(a), words);
    for (int i = 0; i < 4; i++) _mm512_storeu_si512(word[i], words[i]);
    for (int j = 0; j < 8; j++) {
        value[j] = cbv_element_of((struct cbv_element){{word[0][j], word[1][j], word[2][j], word[3][j]}});
    }
    cbv_element_invert(value, through, 8);
    for (int j = 0; j < 8; j++) {
        value[j] = cbv_element_multiply(value[j], sixteen);
        for (int i = 0; i < 4; i++) word[i][j] = value[j].word[i];
    }
    for (int i = 0; i < 4; i++) words[i] = _mm512_loadu_si512(word[i]);
    return limbs_of(words);
}

/// Montgomery's trick: replaces each of `count` elements, none of them zero, by its inverse. `prefix` has room for CHAINS
/// more.
__attribute__((noinline, unused)) IFMA static void invert_all(size_t count, element *elements, element *prefix) {
    element inverse[CHAINS];
    const element *last = prefix + count;
    for (size_t i = 0; i < CHAINS; i++) prefix[i] = broadcast(r_limbs);
    for (size_t i = 0; i < count; i++) prefix[i + CHAINS] = mul(prefix[i], elements[i]);
    element low = mul(last[0], last[1]), high = mul(last[2], last[3]), all = inverted(mul(low, high));
    // The inverses of the first two chains' products, and of the others'.
    high = mul(all, high), low = mul(all, low);
    for (size_t i = 0; i < CHAINS; i++) inverse[(count + i) % CHAINS] = mul(i < 2 ? high : low, last[i ^ 1]);
    for (size_t i = count; i-- > 0;) {
        element own = mul(inverse[i % CHAINS], prefix[i]);
        inverse[i % CHAINS] = mul(inverse[i % CHAINS], elements[i]);
        elements[i] = own;
    }
}

/// The affine form of a point with the inverse of its Z.
INLINE affine normalized(point p, element inverse) {
    element square = sqr(inverse);
    return (affine){mul(p.x, square), mul(p.y, mul(square, inverse))};
}

/// Points of P-256 as the callers and the tables have them, in eight lanes.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "p256_ifma_point.h"
#include "p256_words.h"

/// R, R^2 and the order in Montgomery form.
static const uint64_t r_limbs[5] = {0x0000000000010, 0xf000000000000, 0xfffffffffffff, 0xffeffffffffff, 0x00000000fffff};
static const uint64_t r_squared_limbs[5] = {0x0000000000300, 0xffffffff00000, 0xffffefffffffb, 0xfdfffffffffff,
                                            0x0000004ffffff};
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

/// A number for each lane in Montgomery form, below 1.1 p.
INLINE element load_element(const uint64_t *const from[8]) {
    lane words[4];
    load_words(from, words);
    return mul(limbs_of(words), broadcast(r_squared_limbs));
}

/// Points whose x and y are `stride` words apart. A lane without a point of the curve gets the generator.
__attribute__((noinline, unused)) IFMA static affine load_points(size_t count, const uint64_t *x, const uint64_t *y,
                                                                  size_t stride, __mmask8 *usable) {
    const uint64_t *xs[8], *ys[8], *generator_x[8], *generator_y[8];
    unsigned in_range = 0;
    for (size_t i = 0; i < 8; i++) {
        generator_x[i] = p256_generator;
        generator_y[i] = p256_generator + 4;
        bool is_in_range = i < count && p256_is_less(x + stride * i, p256_prime) &&
                           p256_is_less(y + stride * i, p256_prime);
        xs[i] = is_in_range ? x + stride * i : generator_x[i];
        ys[i] = is_in_range ? y + stride * i : generator_y[i];
        in_range |= (unsigned)is_in_range << i;
    }
    affine points = {load_element(xs), load_element(ys)};
    __mmask8 on_curve = is_on_curve(points);
    *usable = (__mmask8)(in_range & on_curve);
    points.x = selected((__mmask8)~on_curve, points.x, load_element(generator_x));
    points.y = selected((__mmask8)~on_curve, points.y, load_element(generator_y));
    return points;
}

/// Montgomery's trick: replaces each of `count` elements, none of them zero, by its inverse. `prefix` has as many.
__attribute__((noinline, unused)) IFMA static void invert_all(size_t count, element *elements, element *prefix) {
    prefix[0] = elements[0];
    for (size_t i = 1; i < count; i++) prefix[i] = mul(prefix[i - 1], elements[i]);
    element inverse = inverted(prefix[count - 1]);
    for (size_t i = count - 1; i > 0; i--) {
        element own = mul(inverse, prefix[i - 1]);
        inverse = mul(inverse, elements[i]);
        elements[i] = own;
    }
    elements[0] = inverse;
}

/// The affine form of a point with the inverse of its Z.
INLINE affine normalized(point p, element inverse) {
    element square = sqr(inverse);
    return (affine){mul(p.x, square), mul(p.y, mul(square, inverse))};
}

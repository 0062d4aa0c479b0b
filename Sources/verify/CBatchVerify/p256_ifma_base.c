// The generator's odd multiples, made by the IFMA engine itself: lane j makes the j-th eighth of a table.

#include "p256_ifma_base.h"

#if defined(__x86_64__)

#include "p256_ifma_keys.h"

_Alignas(64) uint64_t cbv_p256_ifma_base[2][P256_BASE_ENTRIES][8];

enum { SHARE = P256_BASE_ENTRIES / 8, CHUNK = 32 };

/// Reduces a number below 2 p to one below p.
INLINE element lowest(element a) {
    // Back and forth through the plain form: the result of a product by one is p at most.
    return mul(plain(a), broadcast(r_squared_limbs));
}

IFMA static void store(uint64_t (*table)[8], size_t step, affine p) {
    lane words[8];
    words_of(lowest(p.x), words);
    words_of(lowest(p.y), words + 4);
    for (int i = 0; i < 8; i++) {
        int64_t word[8];
        _mm512_storeu_si512(word, words[i]);
        for (size_t j = 0; j < 8; j++) table[SHARE * j + step][i] = (uint64_t)word[j];
    }
}

IFMA static affine made_affine(point p) { return normalized(p, inverted(p.z)); }

/// The odd multiples of `base`, which is the same in all lanes. Returns 2^128 times the base.
IFMA static affine make_table(affine base, uint64_t (*table)[8]) {
    static _Alignas(64) point points[CHUNK];
    static _Alignas(64) element z[CHUNK], prefix[CHUNK];
    point p = {base.x, base.y, broadcast(r_limbs)};
    affine two = made_affine(doubled(p));
    point shift = p;
    for (int i = 1; i < 2 * SHARE; i *= 2) shift = doubled(shift);
    affine share = made_affine(shift);
    for (int j = 1; j < 8; j++) {
        point next = added(p, share, 0);
        __mmask8 above = (__mmask8)(0xFF << j);
        p.x = selected(above, p.x, next.x);
        p.y = selected(above, p.y, next.y);
        p.z = selected(above, p.z, next.z);
    }
    for (size_t step = 0; step < SHARE; step += CHUNK) {
        for (size_t i = 0; i < CHUNK; i++) {
            points[i] = p;
            z[i] = p.z;
            p = added(p, two, 0);
        }
        invert_all(CHUNK, z, prefix);
        for (size_t i = 0; i < CHUNK; i++) store(table, step + i, normalized(points[i], z[i]));
    }
    p = (point){base.x, base.y, broadcast(r_limbs)};
    for (int i = 0; i < 128; i++) p = doubled(p);
    return made_affine(p);
}

IFMA void cbv_p256_ifma_prepare(void) {
    const uint64_t *x[8], *y[8];
    for (int i = 0; i < 8; i++) {
        x[i] = p256_generator;
        y[i] = p256_generator + 4;
    }
    affine generator = {load_element(x), load_element(y)};
    make_table(make_table(generator, cbv_p256_ifma_base[0]), cbv_p256_ifma_base[1]);
}

#else

void cbv_p256_ifma_prepare(void) {}

#endif

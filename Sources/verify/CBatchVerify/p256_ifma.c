// ECDSA over P-256 in lanes of eight: AVX-512 with IFMA.
//
// u1 G + u2 Q from odd multiples of G, 2^128 G, Q and 2^128 Q on the same 128 doublings. A scalar is made odd by a change
// of its sign; then every window has a digit that is not zero, and no lane ever skips an addition.

#include "CBatchVerify.h"
#include "p256_ifma.h"

#if defined(__x86_64__)

#include <string.h>

#include "p256_ifma_base.h"
#include "p256_ifma_keys.h"
#include "p256_order.h"

enum {
    GROUPS = CBV_MOST / 8,
    KEY_WINDOW = 4,
    KEY_ENTRIES = 1 << (KEY_WINDOW - 1),
};

/// The odd multiples of a point: P, 3 P, 5 P and so on.
typedef struct {
    affine entry[KEY_ENTRIES];
    /// The ratio of an entry's Z to the Z of the entry before it, until all are affine.
    element ratio[KEY_ENTRIES];
    element z;
} multiples;

/// A scalar of each lane as words, the least significant first; the lanes whose sign was changed.
typedef struct {
    lane word[5];
    __mmask8 negated;
} scalars;

/// Eight signatures.
typedef struct {
    /// The multiples of Q and of 2^128 Q.
    multiples keys[2];
    __mmask8 usable, has_second;
} group;

typedef struct {
    group groups[GROUPS];
    element inverse[GROUPS], prefix[GROUPS];
    point points[GROUPS];
    uint64_t u1[4 * CBV_MOST], u2[4 * CBV_MOST];
    uint8_t sound[CBV_MOST];
} workspace;

size_t cbv_p256_ifma_scratch_bytes(void) { return sizeof(workspace); }

/// The multiples of P, each with its own Z.
__attribute__((noinline)) IFMA static void make_multiples(affine p, multiples *m) {
    m->entry[0] = p;
    pair points = begun(p);
    element z = carried(shifted(p.y, 1));
    for (int i = 1; i < KEY_ENTRIES; i++) {
        points = advanced(points, &m->ratio[i]);
        m->entry[i] = points.moving;
        z = mul(z, m->ratio[i]);
    }
    m->z = z;
}

/// Makes the multiples affine; `inverse` is that of the last one's Z.
__attribute__((noinline)) IFMA static void normalize(multiples *m, element inverse) {
    for (int i = KEY_ENTRIES - 1; i >= 1; i--) {
        element square = sqr(inverse);
        m->entry[i].x = mul(m->entry[i].x, square);
        m->entry[i].y = mul(m->entry[i].y, mul(square, inverse));
        inverse = mul(inverse, m->ratio[i]);
    }
}

IFMA static void make_tables(size_t n, const uint64_t *x, const uint64_t *y, const uint64_t *second, workspace *w) {
    size_t count = (n + 7) / 8;
    for (size_t i = 0; i < count; i++) {
        group *g = &w->groups[i];
        size_t left = n - 8 * i;
        make_multiples(load_points(left, x + 32 * i, y + 32 * i, 4, &g->usable), &g->keys[0]);
        make_multiples(load_points(left, second + 64 * i, second + 64 * i + 4, 8, &g->has_second), &g->keys[1]);
        w->inverse[i] = mul(g->keys[0].z, g->keys[1].z);
    }
    invert_all(count, w->inverse, w->prefix);
    for (size_t i = 0; i < count; i++) {
        group *g = &w->groups[i];
        normalize(&g->keys[0], mul(w->inverse[i], g->keys[1].z));
        normalize(&g->keys[1], mul(w->inverse[i], g->keys[0].z));
    }
}

/// The numbers, or the order minus them where they are even; 1 in the lanes from `count` on.
IFMA static scalars load_odd(size_t count, const uint64_t *numbers) {
    uint64_t negated[8][4];
    const uint64_t *from[8];
    unsigned mask = 0;
    for (size_t i = 0; i < 8; i++) {
        from[i] = i < count ? numbers + 4 * i : p256_one;
        if (from[i][3] & 1) continue;
        p256_negate_scalar(from[i], negated[i]);
        from[i] = negated[i];
        mask |= 1u << i;
    }
    scalars result;
    load_words(from, result.word);
    result.word[4] = _mm512_setzero_si512();
    result.negated = (__mmask8)mask;
    return result;
}

/// The bits above `position` of the scalars, `width` of them.
INLINE lane bits_above(const scalars *s, int position, int width) {
    int first = position + 1;
    lane low = _mm512_srl_epi64(s->word[first / 64], _mm_cvtsi32_si128(first % 64));
    lane high = _mm512_sll_epi64(s->word[first / 64 + 1], _mm_cvtsi32_si128(64 - first % 64));
    return _mm512_and_si512(_mm512_or_si512(low, high), constant((1ll << width) - 1));
}

/// The odd digit d of a window below the topmost: the index (|d| - 1) / 2 and the lanes whose term is negative.
INLINE lane digit(const scalars *s, int position, int width, __mmask8 *negative) {
    const lane half = constant(1ll << (width - 1));
    lane bits = bits_above(s, position, width);
    __mmask8 below = _mm512_cmplt_epu64_mask(bits, half);
    *negative = below ^ s->negated;
    lane magnitude = _mm512_mask_andnot_epi64(bits, below, bits, constant(-1));
    return _mm512_and_si512(magnitude, _mm512_sub_epi64(half, constant(1)));
}

/// The entry that each lane asks for.
INLINE affine chosen(const multiples *m, lane index) {
    affine result = m->entry[0];
    for (int i = 1; i < KEY_ENTRIES; i++) {
        __mmask8 here = _mm512_cmpeq_epi64_mask(index, constant(i));
        result.x = selected(here, result.x, m->entry[i].x);
        result.y = selected(here, result.y, m->entry[i].y);
    }
    return result;
}

/// Eight rows of eight words become columns.
INLINE void transpose(lane r[8]) {
    lane pairs[8], quads[8];
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = _mm512_unpacklo_epi64(r[i], r[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi64(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        for (int j = 0; j < 2; j++) {
            quads[i + j] = _mm512_shuffle_i64x2(pairs[i + j], pairs[i + j + 2], 0x88);
            quads[i + j + 2] = _mm512_shuffle_i64x2(pairs[i + j], pairs[i + j + 2], 0xDD);
        }
    }
    for (int j = 0; j < 4; j++) {
        r[j] = _mm512_shuffle_i64x2(quads[j], quads[j + 4], 0x88);
        r[j + 4] = _mm512_shuffle_i64x2(quads[j], quads[j + 4], 0xDD);
    }
}

INLINE affine base_multiple(const uint64_t (*table)[8], lane index) {
    int64_t place[8];
    _mm512_storeu_si512(place, index);
    lane rows[8];
    for (int i = 0; i < 8; i++) rows[i] = _mm512_load_si512(table[place[i]]);
    transpose(rows);
    return (affine){limbs_of(rows), limbs_of(rows + 4)};
}

__attribute__((noinline)) IFMA static void double_point(point *p) { *p = doubled(*p); }

__attribute__((noinline)) IFMA static void add_key(point *p, const multiples *m, const scalars *s, int position) {
    __mmask8 negative;
    lane index = digit(s, position, KEY_WINDOW, &negative);
    *p = added(*p, chosen(m, index), negative);
}

/// The positions of the windows of the generator's scalar in each half of 128 bits, the topmost first; their widths.
static const struct {
    int position, width;
} base_windows[] = {{116, 12}, {104, 12}, {91, 13}, {78, 13}, {65, 13}, {52, 13}, {39, 13}, {26, 13}, {13, 13}, {0, 13}};

__attribute__((noinline)) IFMA static void add_base(point *p, const scalars *s, int position, int width) {
    __mmask8 negative;
    lane index;
    if (position == 116) {
        index = bits_above(s, 128 + position, width);
        negative = s->negated;
    } else {
        index = digit(s, 128 + position, width, &negative);
    }
    *p = added(*p, base_multiple(cbv_p256_ifma_base[1], index), negative);
    index = digit(s, position, width, &negative);
    *p = added(*p, base_multiple(cbv_p256_ifma_base[0], index), negative);
}

/// u1 G + u2 Q.
IFMA static point combined(const group *g, const scalars *u1, const scalars *u2) {
    const int top = 128 - KEY_WINDOW;
    affine first = chosen(&g->keys[1], bits_above(u2, 128 + top, KEY_WINDOW));
    element opposite = carried(plus_p(difference((element){0}, first.y), 2));
    point p = {first.x, selected(u2->negated, first.y, opposite), broadcast(r_limbs)};
    add_key(&p, &g->keys[0], u2, top);
    int next = 0;
    for (int position = top - 1; position >= 0; position--) {
        double_point(&p);
        if (position % KEY_WINDOW == 0) {
            add_key(&p, &g->keys[1], u2, 128 + position);
            add_key(&p, &g->keys[0], u2, position);
        }
        if (position == base_windows[next].position) {
            add_base(&p, u1, position, base_windows[next].width);
            next++;
        }
    }
    return p;
}

/// Whether the point's x is r modulo the order; the lanes whose point cannot be judged.
IFMA static __mmask8 has_x(point p, size_t count, const uint64_t *r, __mmask8 *unclear) {
    const uint64_t *from[8];
    unsigned below = 0;
    for (size_t i = 0; i < 8; i++) {
        from[i] = i < count ? r + 4 * i : p256_one;
        below |= (unsigned)p256_is_less(from[i], p256_prime_over_order) << i;
    }
    element square = sqr(p.z), x = load_element(from);
    element other = carried(sum(x, broadcast(order_limbs)));
    __mmask8 equal = is_zero(carried(plus_p(difference(p.x, raw_product(x, square)), 2)));
    __mmask8 wrapped = is_zero(carried(plus_p(difference(p.x, raw_product(other, square)), 2)));
    *unclear = is_zero(p.z);
    return equal | (wrapped & (__mmask8)below);
}

IFMA void cbv_p256_verify_ifma(size_t n, const uint64_t *x, const uint64_t *y, const uint64_t *second,
                                 const uint64_t *digest, const uint64_t *r, const uint64_t *s, uint8_t *verdict,
                                 void *scratch) {
    workspace *w = scratch;
    cbv_p256_scalars(n, digest, r, s, w->u1, w->u2, w->sound);
    make_tables(n, x, y, second, w);
    for (size_t first = 0; first < n; first += 8) {
        const group *g = &w->groups[first / 8];
        size_t count = n - first < 8 ? n - first : 8;
        scalars u1 = load_odd(count, w->u1 + 4 * first), u2 = load_odd(count, w->u2 + 4 * first);
        point p = combined(g, &u1, &u2);
        __mmask8 unclear;
        __mmask8 valid = has_x(p, count, r + 4 * first, &unclear);
        unclear |= (__mmask8)~g->has_second;
        for (size_t i = 0; i < count; i++) {
            bool is_sound = w->sound[first + i] && (g->usable >> i & 1);
            uint8_t judged = valid >> i & 1 ? CBV_VALID : CBV_REFUSED;
            verdict[first + i] = !is_sound ? CBV_REFUSED : unclear >> i & 1 ? CBV_UNDECIDED : judged;
        }
    }
}

/// Writes a group's affine points; zeros where they are not usable.
IFMA static void store_points(size_t count, affine p, __mmask8 usable, uint64_t *to) {
    lane words[8];
    words_of(plain(p.x), words);
    words_of(plain(p.y), words + 4);
    for (int i = 0; i < 4; i++) {
        uint64_t xs[8], ys[8];
        _mm512_storeu_si512(xs, _mm512_maskz_mov_epi64(usable, words[3 - i]));
        _mm512_storeu_si512(ys, _mm512_maskz_mov_epi64(usable, words[7 - i]));
        for (size_t j = 0; j < count; j++) {
            to[8 * j + (size_t)i] = xs[j];
            to[8 * j + 4 + (size_t)i] = ys[j];
        }
    }
}

IFMA void cbv_p256_second_ifma(size_t n, const uint64_t *x, const uint64_t *y, uint64_t *second, void *scratch) {
    workspace *w = scratch;
    size_t count = (n + 7) / 8;
    for (size_t i = 0; i < count; i++) {
        affine q = load_points(n - 8 * i, x + 32 * i, y + 32 * i, 4, &w->groups[i].usable);
        point p = {q.x, q.y, broadcast(r_limbs)};
        for (int j = 0; j < 128; j++) double_point(&p);
        w->points[i] = p;
        w->inverse[i] = p.z;
    }
    invert_all(count, w->inverse, w->prefix);
    for (size_t i = 0; i < count; i++) {
        size_t left = n - 8 * i;
        affine p = normalized(w->points[i], w->inverse[i]);
        store_points(left < 8 ? left : 8, p, w->groups[i].usable, second + 64 * i);
    }
}

#else

#include <stdlib.h>

// cbv_missing_feature() says that there is no IFMA here.

size_t cbv_p256_ifma_scratch_bytes(void) { return 0; }

void cbv_p256_verify_ifma(size_t n, const uint64_t *x, const uint64_t *y, const uint64_t *second,
                           const uint64_t *digest, const uint64_t *r, const uint64_t *s, uint8_t *verdict,
                           void *scratch) {
    (void)n, (void)x, (void)y, (void)second, (void)digest, (void)r, (void)s, (void)verdict, (void)scratch;
    abort();
}

void cbv_p256_second_ifma(size_t n, const uint64_t *x, const uint64_t *y, uint64_t *second, void *scratch) {
    (void)n, (void)x, (void)y, (void)second, (void)scratch;
    abort();
}

#endif

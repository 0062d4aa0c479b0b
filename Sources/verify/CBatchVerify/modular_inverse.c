#include "modular_inverse.h"

#include "division_steps.h"

typedef unsigned __int128 u128;
typedef __int128 i128;

/// A number in signed 62-bit limbs: only the highest one may be negative.
struct signed62 {
    int64_t limb[5];
};

static void split(const uint64_t word[4], struct signed62 *number) {
    number->limb[0] = (int64_t)(word[0] & cbv_low62);
    number->limb[1] = (int64_t)((word[0] >> 62 | word[1] << 2) & cbv_low62);
    number->limb[2] = (int64_t)((word[1] >> 60 | word[2] << 4) & cbv_low62);
    number->limb[3] = (int64_t)((word[2] >> 58 | word[3] << 6) & cbv_low62);
    number->limb[4] = (int64_t)(word[3] >> 56);
}

static void join(const struct signed62 *number, uint64_t word[4]) {
    uint64_t limb[5];
    for (int index = 0; index < 5; index++) limb[index] = (uint64_t)number->limb[index];
    word[0] = limb[0] | limb[1] << 62;
    word[1] = limb[1] >> 2 | limb[2] << 60;
    word[2] = limb[2] >> 4 | limb[3] << 58;
    word[3] = limb[3] >> 6 | limb[4] << 56;
}

/// (f, g) = done (f, g) / 2^62, which is exact. The first `size` limbs count.
static void advance(const struct cbv_transition *done, struct signed62 *f, struct signed62 *g, int size) {
    i128 next_f = (i128)done->u * f->limb[0] + (i128)done->v * g->limb[0];
    i128 next_g = (i128)done->q * f->limb[0] + (i128)done->r * g->limb[0];
    next_f >>= 62;
    next_g >>= 62;
    for (int index = 1; index < size; index++) {
        next_f += (i128)done->u * f->limb[index] + (i128)done->v * g->limb[index];
        next_g += (i128)done->q * f->limb[index] + (i128)done->r * g->limb[index];
        f->limb[index - 1] = (int64_t)((uint64_t)next_f & cbv_low62);
        g->limb[index - 1] = (int64_t)((uint64_t)next_g & cbv_low62);
        next_f >>= 62;
        next_g >>= 62;
    }
    f->limb[size - 1] = (int64_t)next_f;
    g->limb[size - 1] = (int64_t)next_g;
}

/// (d, e) = done (d, e) / 2^62 modulo the modulus. Both stay between -2 and 1 times the modulus.
static void follow(const struct cbv_transition *done, const struct cbv_modulus *modulus, struct signed62 *d,
                   struct signed62 *e) {
    // A negative d counts as d + modulus; then a multiple of the modulus clears the lowest 62 bits.
    int64_t sign_d = d->limb[4] >> 63, sign_e = e->limb[4] >> 63;
    int64_t times_d = (done->u & sign_d) + (done->v & sign_e);
    int64_t times_e = (done->q & sign_d) + (done->r & sign_e);
    i128 next_d = (i128)done->u * d->limb[0] + (i128)done->v * e->limb[0];
    i128 next_e = (i128)done->q * d->limb[0] + (i128)done->r * e->limb[0];
    times_d -= (int64_t)((modulus->inverse * (uint64_t)next_d + (uint64_t)times_d) & cbv_low62);
    times_e -= (int64_t)((modulus->inverse * (uint64_t)next_e + (uint64_t)times_e) & cbv_low62);
    next_d = (next_d + (i128)modulus->limb[0] * times_d) >> 62;
    next_e = (next_e + (i128)modulus->limb[0] * times_e) >> 62;
    for (int index = 1; index < 5; index++) {
        next_d += (i128)done->u * d->limb[index] + (i128)done->v * e->limb[index];
        next_e += (i128)done->q * d->limb[index] + (i128)done->r * e->limb[index];
        next_d += (i128)modulus->limb[index] * times_d;
        next_e += (i128)modulus->limb[index] * times_e;
        d->limb[index - 1] = (int64_t)((uint64_t)next_d & cbv_low62);
        e->limb[index - 1] = (int64_t)((uint64_t)next_e & cbv_low62);
        next_d >>= 62;
        next_e >>= 62;
    }
    d->limb[4] = (int64_t)next_d;
    e->limb[4] = (int64_t)next_e;
}

/// number = sign number + times modulus, carried.
static void combine(struct signed62 *number, int64_t sign, const struct cbv_modulus *modulus, int64_t times) {
    int64_t carry = 0;
    for (int index = 0; index < 5; index++) {
        carry += sign * number->limb[index] + times * modulus->limb[index];
        number->limb[index] = index < 4 ? (int64_t)((uint64_t)carry & cbv_low62) : carry;
        carry >>= 62;
    }
}

static int is_zero(const struct signed62 *number, int size) {
    int64_t all = 0;
    for (int index = 0; index < size; index++) all |= number->limb[index];
    return all == 0;
}

CBV_TWICE void cbv_modular_inverse(const struct cbv_modulus *modulus, const uint64_t number[4], uint64_t inverse[4]) {
    struct signed62 f, g, d = {{0}}, e = {{1}};
    for (int index = 0; index < 5; index++) f.limb[index] = modulus->limb[index];
    split(number, &g);
    int64_t delta = 1;
    int size = 5;
    while (!is_zero(&g, size)) {
        struct cbv_transition done;
        delta = cbv_division_steps(delta, (uint64_t)f.limb[0] | (uint64_t)f.limb[1] << 62,
                                   (uint64_t)g.limb[0] | (uint64_t)g.limb[1] << 62, &done);
        follow(&done, modulus, &d, &e);
        advance(&done, &f, &g, size);
        // Highest limbs that hold no more than a sign go into the next ones.
        int64_t top_f = f.limb[size - 1], top_g = g.limb[size - 1];
        if (size > 1 && (top_f == 0 || top_f == -1) && (top_g == 0 || top_g == -1)) {
            size--;
            f.limb[size - 1] |= (int64_t)((uint64_t)top_f << 62);
            g.limb[size - 1] |= (int64_t)((uint64_t)top_g << 62);
        }
    }
    // f is 1 or -1, and d its sign times the inverse, between -2 and 1 times the modulus.
    if (d.limb[4] < 0) combine(&d, 1, modulus, 1);
    if (f.limb[size - 1] < 0) combine(&d, -1, modulus, 0);
    if (d.limb[4] < 0) combine(&d, 1, modulus, 1);
    join(&d, inverse);
}

#include "p384_invert.h"

#include "division_steps.h"

__extension__ typedef __int128 wide_signed;

/// (f, g) becomes t (f, g) / 2^62, which is exact.
static void apply(const struct cbv_transition *t, p384_signed62 *f, p384_signed62 *g)
{
    wide_signed cf = (wide_signed)t->u * f->limb[0] + (wide_signed)t->v * g->limb[0];
    wide_signed cg = (wide_signed)t->q * f->limb[0] + (wide_signed)t->r * g->limb[0];
    for (int i = 1; i < 7; i++) {
        cf = (cf >> 62) + (wide_signed)t->u * f->limb[i] + (wide_signed)t->v * g->limb[i];
        cg = (cg >> 62) + (wide_signed)t->q * f->limb[i] + (wide_signed)t->r * g->limb[i];
        f->limb[i - 1] = (int64_t)((uint64_t)cf & cbv_low62);
        g->limb[i - 1] = (int64_t)((uint64_t)cg & cbv_low62);
    }
    f->limb[6] = (int64_t)(cf >> 62);
    g->limb[6] = (int64_t)(cg >> 62);
}

/// (d, e) becomes t (d, e) / 2^62 modulo m; both stay between -2m and m.
static void apply_modulo(const struct cbv_transition *t, p384_signed62 *d, p384_signed62 *e, const p384_modulus *m)
{
    const int64_t negative_d = d->limb[6] >> 63, negative_e = e->limb[6] >> 63;
    int64_t md = (t->u & negative_d) + (t->v & negative_e);
    int64_t me = (t->q & negative_d) + (t->r & negative_e);
    wide_signed cd = (wide_signed)t->u * d->limb[0] + (wide_signed)t->v * e->limb[0];
    wide_signed ce = (wide_signed)t->q * d->limb[0] + (wide_signed)t->r * e->limb[0];
    // Multiples of m that clear the low 62 bits.
    md -= (int64_t)((m->inverse62 * (uint64_t)cd + (uint64_t)md) & cbv_low62);
    me -= (int64_t)((m->inverse62 * (uint64_t)ce + (uint64_t)me) & cbv_low62);
    cd += (wide_signed)m->limbs.limb[0] * md;
    ce += (wide_signed)m->limbs.limb[0] * me;
    for (int i = 1; i < 7; i++) {
        cd = (cd >> 62) + (wide_signed)t->u * d->limb[i] + (wide_signed)t->v * e->limb[i]
            + (wide_signed)m->limbs.limb[i] * md;
        ce = (ce >> 62) + (wide_signed)t->q * d->limb[i] + (wide_signed)t->r * e->limb[i]
            + (wide_signed)m->limbs.limb[i] * me;
        d->limb[i - 1] = (int64_t)((uint64_t)cd & cbv_low62);
        e->limb[i - 1] = (int64_t)((uint64_t)ce & cbv_low62);
    }
    d->limb[6] = (int64_t)(cd >> 62);
    e->limb[6] = (int64_t)(ce >> 62);
}

static p384_signed62 split(const p384_number *a)
{
    p384_signed62 s;
    for (int i = 0; i < 7; i++) {
        const int word = 62 * i / 64, shift = 62 * i % 64;
        uint64_t bits = a->word[word] >> shift;
        if (shift > 2 && word < 5) bits |= a->word[word + 1] << (64 - shift);
        s.limb[i] = (int64_t)(bits & cbv_low62);
    }
    return s;
}

/// Joins a number between 0 and 2^384.
static p384_number join(const p384_signed62 *s)
{
    p384_number a;
    for (int i = 0; i < 6; i++) {
        const uint64_t low = (uint64_t)s->limb[i], high = (uint64_t)s->limb[i + 1];
        a.word[i] = low >> (2 * i) | high << (62 - 2 * i);
    }
    return a;
}

/// s times sign (1 or -1) plus multiples of m, with limbs of 62 bits.
static void add_multiple(p384_signed62 *s, int64_t sign, const p384_modulus *m, int64_t multiple)
{
    int64_t carry = 0;
    for (int i = 0; i < 7; i++) {
        const int64_t sum = s->limb[i] * sign + m->limbs.limb[i] * multiple + carry;
        s->limb[i] = i < 6 ? (int64_t)((uint64_t)sum & cbv_low62) : sum;
        carry = sum >> 62;
    }
}

static bool all_zero(const p384_signed62 *s)
{
    int64_t any = 0;
    for (int i = 0; i < 7; i++) any |= s->limb[i];
    return any == 0;
}

void cbv_p384_invert(p384_number *r, const p384_number *a, const p384_modulus *m)
{
    p384_signed62 f = m->limbs, g = split(a), d = {{0}}, e = {{1, 0, 0, 0, 0, 0, 0}};
    int64_t delta = 1;
    while (!all_zero(&g)) {
        struct cbv_transition t;
        const uint64_t low_f = (uint64_t)f.limb[0] | (uint64_t)f.limb[1] << 62;
        const uint64_t low_g = (uint64_t)g.limb[0] | (uint64_t)g.limb[1] << 62;
        delta = cbv_division_steps(delta, low_f, low_g, &t);
        apply_modulo(&t, &d, &e, m);
        apply(&t, &f, &g);
    }
    // f is 1 or -1 now, and d * a = f modulo m, d being between -2m and m: neither step may reach 2^384.
    add_multiple(&d, 1, m, d.limb[6] < 0);
    add_multiple(&d, f.limb[6] < 0 ? -1 : 1, m, 0);
    add_multiple(&d, 1, m, d.limb[6] < 0);
    *r = join(&d);
}

static const p384_modulus prime = {
    P384_PRIME,
    {{0xffffffff, 0x3ffffffc00000000, 0x3fffffffffffffef, 0x3fffffffffffffff, 0x3fffffffffffffff, 0x3fffffffffffffff,
      0xfff}},
    0x3ffffffeffffffff,
};

void cbv_p384_field_invert(p384_number *r, const p384_number *a)
{
    p384_number canonical = *a;
    p384_make_canonical(&canonical);
    cbv_p384_invert(r, &canonical, &prime);
}

#include "p384_scalar.h"

#include "p384_invert.h"

/// The order of the curve.
static const p384_modulus order = {
    {{0xecec196accc52973, 0x581a0db248b0a77a, 0xc7634d81f4372ddf, UINT64_MAX, UINT64_MAX, UINT64_MAX}},
    {{0x2cec196accc52973, 0x206836c922c29deb, 0x3634d81f4372ddf5, 0x3ffffffffffffff1, 0x3fffffffffffffff,
      0x3fffffffffffffff, 0xfff}},
    0x112b9f76177023bb,
};

/// -1 / n modulo 2^64.
static const uint64_t montgomery = 0x6ed46089e88fdc45;

/// 2^768 modulo n.
static const p384_number square_of_radix = {{0x2d319b2419b409a9, 0xff3d81e5df1aa419, 0xbc3e483afcb82947,
                                             0xd40d49174aab1cc5, 0x3fb05b7a28266895, 0x0c84ee012b39bf21}};

/// p - n.
static const p384_number gap = {{0x1313e696333ad68c, 0xa7e5f24cb74f5885, 0x389cb27e0bc8d21f, 0, 0, 0}};

/// (n - 1) / 2.
static const p384_number half = {{0x76760cb5666294b9, 0xac0d06d9245853bd, 0xe3b1a6c0fa1b96ef, UINT64_MAX, UINT64_MAX,
                                  0x7fffffffffffffff}};

/// a b / 2^384 modulo n, below n; one of a and b is below n.
static void multiply(p384_number *r, const p384_number *a, const p384_number *b)
{
    uint64_t t[12];
    p384_multiply_words(t, a, b);
    uint64_t above = 0;
    for (int i = 0; i < 6; i++) {
        const uint64_t q = t[i] * montgomery;
        uint64_t carry = 0;
        for (int j = 0; j < 6; j++) {
            const p384_wide sum = (p384_wide)q * order.value.word[j] + t[i + j] + carry;
            t[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        t[i + 6] = p384_add_carry(t[i + 6], carry, &above);
    }
    memcpy(r, t + 6, sizeof *r);
    if (above != 0 || !p384_is_below(r, &order.value)) p384_subtract_words(r, r, &order.value);
}

/// Whether 1 <= a < n.
static bool is_in_range(const p384_number *a)
{
    return !p384_is_zero(a) && p384_is_below(a, &order.value);
}

/// Digits from -128 to 128; above half of n its complement is taken, so that 48 digits are enough.
static void recode(p384_number *u, int table, size_t signature, p384_digits *digits)
{
    const uint64_t bit = (uint64_t)1 << signature;
    const bool complement = p384_is_below(&half, u);
    if (complement) p384_subtract_words(u, &order.value, u);
    unsigned carry = 0;
    for (int window = 0; window < P384_WINDOWS; window++) {
        const unsigned digit = (unsigned)(u->word[window / 8] >> (8 * (window % 8)) & 0xff) + carry;
        carry = digit > 128;
        const unsigned size = carry ? 256 - digit : digit;
        if (size == 0) continue;
        digits->index[table][window][signature] = (uint8_t)(size - 1);
        digits->zero[table][window] &= ~bit;
        if ((carry != 0) != complement) digits->negative[table][window] |= bit;
    }
}

void cbv_p384_make_digits(size_t n, const uint64_t *digest, const uint64_t *r, const uint64_t *s, p384_scalars *scalars)
{
    p384_digits *digits = &scalars->digits;
    p384_number *product = scalars->product;
    static const p384_number one = {{1, 0, 0, 0, 0, 0}};
    memset(digits, 0, sizeof *digits);
    memset(digits->zero, 0xff, sizeof digits->zero);
    for (size_t i = 0; i < n; i++) {
        const p384_number r_i = p384_read(r + 6 * i);
        scalars->s[i] = p384_read(s + 6 * i);
        // One bad s would void the product of all.
        if (!is_in_range(&r_i) || !is_in_range(&scalars->s[i])) {
            digits->refused |= (uint64_t)1 << i;
            scalars->s[i] = one;
        }
        if (i == 0) product[i] = scalars->s[i];
        else multiply(&product[i], &product[i - 1], &scalars->s[i]);
    }
    // Always 2^384 / product: a Montgomery product with it cancels the radix.
    p384_number inverse;
    cbv_p384_invert(&inverse, &product[n - 1], &order);
    multiply(&inverse, &inverse, &square_of_radix);
    for (size_t i = n; i-- > 0;) {
        p384_number of_s = inverse, u;
        if (i > 0) {
            multiply(&of_s, &inverse, &product[i - 1]);
            multiply(&inverse, &inverse, &scalars->s[i]);
        }
        if (digits->refused >> i & 1) continue;
        u = p384_read(digest + 6 * i);
        multiply(&u, &of_s, &u);
        recode(&u, 0, i, digits);
        u = p384_read(r + 6 * i);
        multiply(&u, &of_s, &u);
        recode(&u, 1, i, digits);
    }
}

bool cbv_p384_is_equal(const p384_number *x, const p384_number *zz, const p384_number *r)
{
    p384_number candidate;
    p384_multiply(&candidate, r, zz);
    p384_make_canonical(&candidate);
    if (p384_is_same(&candidate, x)) return true;
    if (!p384_is_below(r, &gap)) return false;
    // x itself may be r + n, which is below p.
    p384_add_words(&candidate, r, &order.value);
    p384_multiply(&candidate, &candidate, zz);
    p384_make_canonical(&candidate);
    return p384_is_same(&candidate, x);
}

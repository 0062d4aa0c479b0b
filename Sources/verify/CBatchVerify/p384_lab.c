// As p256_windows.c: a point of the generator's table for each byte of the scalar, added in pairs.
#include "p384_lab.h"

#include "CBatchVerify.h"
#include "p256_lab.h"
#include "p384_invert.h"
#include "p384_table.h"

enum {
    /// Signatures that share inversions.
    TOGETHER = 16,
    PAIRS = P384_WINDOWS / 2,
};

typedef struct {
    p384_point point[TOGETHER][P384_WINDOWS];
    /// How many points of a sum are left.
    int left[TOGETHER];
    p384_number value[TOGETHER * PAIRS], through[TOGETHER * PAIRS];
    uint64_t xy[CBV_MOST * 12];
} scratch_space;

static const p384_modulus order = {
    {{0xecec196accc52973, 0x581a0db248b0a77a, 0xc7634d81f4372ddf, UINT64_MAX, UINT64_MAX, UINT64_MAX}},
    {{0x2cec196accc52973, 0x206836c922c29deb, 0x3634d81f4372ddf5, 0x3ffffffffffffff1, 0x3fffffffffffffff,
      0x3fffffffffffffff, 0xfff}},
    0x112b9f76177023bb,
};

/// -1 / n modulo 2^64.
static const uint64_t order_factor = 0x6ed46089e88fdc45;

/// 2^768 modulo n.
static const p384_number order_radix_squared = {{0x2d319b2419b409a9, 0xff3d81e5df1aa419, 0xbc3e483afcb82947,
                                                 0xd40d49174aab1cc5, 0x3fb05b7a28266895, 0x0c84ee012b39bf21}};

/// (n - 1) / 2.
static const p384_number half_order = {{0x76760cb5666294b9, 0xac0d06d9245853bd, 0xe3b1a6c0fa1b96ef, UINT64_MAX,
                                        UINT64_MAX, 0x7fffffffffffffff}};

size_t cbv_lab_p384_scratch_bytes(void) {
    return sizeof(scratch_space);
}

size_t cbv_lab_scratch_bytes(void) {
    size_t p256 = cbv_lab_p256_scratch_bytes(), p384 = cbv_lab_p384_scratch_bytes();
    size_t most = p256 > p384 ? p256 : p384;
    return (most + CBV_ALIGNMENT - 1) / CBV_ALIGNMENT * CBV_ALIGNMENT;
}

static void write_number(const p384_number *number, uint64_t *words) {
    for (int word = 0; word < 6; word++) words[5 - word] = number->word[word];
}

void cbv_lab_p384_reduce(size_t n, uint64_t *words) {
    for (size_t index = 0; index < n; index++) {
        p384_number number = p384_read(words + 6 * index);
        // Once is enough: the order is above 2^383.
        if (!p384_is_below(&number, &order.value)) p384_subtract_words(&number, &number, &order.value);
        if (p384_is_zero(&number)) number.word[0] = 1;
        write_number(&number, words + 6 * index);
    }
}

/// The points of the digits of a scalar, in their order; digits are bytes that may borrow from the next one.
static int gather(const uint64_t *words, const p384_table *table, p384_point *point) {
    p384_number scalar = p384_read(words);
    // Above half of the order, the opposite is taken: so 48 digits are enough, and no sum meets its equal or opposite.
    const int negative = p384_is_below(&half_order, &scalar);
    if (negative) p384_subtract_words(&scalar, &order.value, &scalar);
    int count = 0, carry = 0;
    for (int window = 0; window < P384_WINDOWS; window++) {
        int digit = (int)(scalar.word[window / 8] >> (8 * (window % 8)) & 255) + carry;
        carry = digit > 128;
        if (carry) digit = 256 - digit;
        if (digit == 0) continue;
        point[count] = table->point[window][digit - 1];
        if (carry != negative) p384_negate(&point[count].y, &point[count].y);
        count++;
    }
    return count;
}

/// a + b, given 1 / (b.x - a.x).
static p384_point add_points(const p384_point *a, const p384_point *b, const p384_number *inverse) {
    p384_number slope;
    p384_point sum;
    p384_subtract(&slope, &b->y, &a->y);
    p384_multiply(&slope, &slope, inverse);
    p384_square(&sum.x, &slope);
    p384_subtract(&sum.x, &sum.x, &a->x);
    p384_subtract(&sum.x, &sum.x, &b->x);
    p384_subtract(&sum.y, &a->x, &sum.x);
    p384_multiply(&sum.y, &sum.y, &slope);
    p384_subtract(&sum.y, &sum.y, &a->y);
    return sum;
}

/// Replaces values by their inverses.
static void invert_all(p384_number *value, p384_number *through, size_t count) {
    through[0] = value[0];
    for (size_t index = 1; index < count; index++) {
        p384_multiply(&through[index], &through[index - 1], &value[index]);
    }
    p384_number inverse, own;
    cbv_p384_field_invert(&inverse, &through[count - 1]);
    for (size_t index = count - 1; index > 0; index--) {
        p384_multiply(&own, &inverse, &through[index - 1]);
        p384_multiply(&inverse, &inverse, &value[index]);
        value[index] = own;
    }
    value[0] = inverse;
}

/// Adds neighbours, which halves the number of points. Returns how many pairs there were.
static size_t add_pairs(size_t count, scratch_space *scratch) {
    size_t pairs = 0, next = 0;
    for (size_t index = 0; index < count; index++) {
        const p384_point *point = scratch->point[index];
        for (int place = 0; place + 1 < scratch->left[index]; place += 2) {
            p384_subtract(&scratch->value[pairs++], &point[place + 1].x, &point[place].x);
        }
    }
    if (pairs == 0) return 0;
    invert_all(scratch->value, scratch->through, pairs);
    for (size_t index = 0; index < count; index++) {
        p384_point *point = scratch->point[index];
        int left = scratch->left[index], place = 0;
        for (; 2 * place + 1 < left; place++) {
            point[place] = add_points(&point[2 * place], &point[2 * place + 1], &scratch->value[next++]);
        }
        if (left % 2 != 0) point[place++] = point[left - 1];
        scratch->left[index] = place;
    }
    return pairs;
}

void cbv_lab_p384_multiply(size_t n, const void *generator, const uint64_t *scalar, uint64_t *xy, void *memory) {
    scratch_space *scratch = memory;
    for (size_t start = 0; start < n; start += TOGETHER) {
        const size_t count = n - start < TOGETHER ? n - start : TOGETHER;
        for (size_t index = 0; index < count; index++) {
            scratch->left[index] = gather(scalar + 6 * (start + index), generator, scratch->point[index]);
        }
        while (add_pairs(count, scratch) > 0) {
        }
        for (size_t index = 0; index < count; index++) {
            p384_point sum = scratch->point[index][0];
            p384_make_canonical(&sum.x);
            p384_make_canonical(&sum.y);
            write_number(&sum.x, xy + 12 * (start + index));
            write_number(&sum.y, xy + 12 * (start + index) + 6);
        }
    }
}

/// a b / 2^384 modulo the order, below it; one factor is below it.
static void multiply(p384_number *product, const p384_number *a, const p384_number *b) {
    uint64_t t[12], above = 0;
    p384_multiply_words(t, a, b);
    for (int i = 0; i < 6; i++) {
        const uint64_t factor = t[i] * order_factor;
        uint64_t carry = 0;
        for (int j = 0; j < 6; j++) {
            const p384_wide sum = (p384_wide)factor * order.value.word[j] + t[i + j] + carry;
            t[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        t[i + 6] = p384_add_carry(t[i + 6], carry, &above);
    }
    memcpy(product, t + 6, sizeof *product);
    if (above != 0 || !p384_is_below(product, &order.value)) p384_subtract_words(product, product, &order.value);
}

/// s = (digest + r d) / k modulo the order.
static p384_number finish(const p384_number *r, const uint64_t *d, const uint64_t *k, const uint64_t *digest) {
    p384_number s, key = p384_read(d), nonce = p384_read(k), hash = p384_read(digest);
    multiply(&key, &key, &order_radix_squared);
    multiply(&s, r, &key);
    const uint64_t carry = p384_add_words(&s, &s, &hash);
    // The digest may be above the order, the sum above twice the order.
    if (carry) p384_subtract_words(&s, &s, &order.value);
    while (!p384_is_below(&s, &order.value)) p384_subtract_words(&s, &s, &order.value);
    cbv_p384_invert(&nonce, &nonce, &order);
    multiply(&nonce, &nonce, &order_radix_squared);
    multiply(&s, &s, &nonce);
    return s;
}

void cbv_lab_p384_sign(size_t n, const void *generator, const uint64_t *d, const uint64_t *k, const uint64_t *digest,
                       uint64_t *r, uint64_t *s, void *memory) {
    static const p384_number zero = {{0}};
    scratch_space *scratch = memory;
    cbv_lab_p384_multiply(n, generator, k, scratch->xy, memory);
    for (size_t index = 0; index < n; index++) {
        // p is below twice the order.
        p384_number x = p384_read(scratch->xy + 12 * index);
        if (!p384_is_below(&x, &order.value)) p384_subtract_words(&x, &x, &order.value);
        p384_number second = finish(&x, d + 6 * index, k + 6 * index, digest + 6 * index);
        const bool is_sound = !p384_is_zero(&x) && !p384_is_zero(&second);
        write_number(is_sound ? &x : &zero, r + 6 * index);
        write_number(is_sound ? &second : &zero, s + 6 * index);
    }
}

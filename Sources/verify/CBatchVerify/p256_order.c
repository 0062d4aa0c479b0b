#include "p256_order.h"

#include "CBatchVerify.h"
#include "modular_inverse.h"
#include "words.h"

static const uint64_t order[4] = {0xf3b9cac2fc632551, 0xbce6faada7179e84, 0xffffffffffffffff, 0xffffffff00000000};

/// -1 / order modulo 2^64.
static const uint64_t order_factor = 0xccd1c8aaee00bc4f;

/// 2^256 modulo the order.
static const uint64_t order_radix[4] = {0x0c46353d039cdaaf, 0x4319055258e8617b, 0, 0x00000000ffffffff};

/// 2^512 modulo the order.
static const uint64_t order_radix_squared[4] = {0x83244c95be79eea2, 0x4699799c49bd6fa6, 0x2845b2392b6bec59,
                                                0x66e12d94f3d95620};

static const struct cbv_modulus order_modulus = {
    {0x33b9cac2fc632551, 0x339beab69c5e7a13, 0x3ffffffffffffffb, 0x3fffffc00000003f, 0xff},
    0x332e375511ff43b1,
};

/// A sum below twice the order, whose highest bit is `top`, modulo the order.
CBV_INLINE void reduce(const uint64_t sum[4], uint64_t top, uint64_t reduced[4]) {
    uint64_t less[4], borrow = 0;
    for (int index = 0; index < 4; index++) less[index] = cbv_subtract(sum[index], order[index], &borrow);
    for (int index = 0; index < 4; index++) reduced[index] = top < borrow ? sum[index] : less[index];
}

/// The product over 2^256. One factor may be any number, the other is below the order, as the product is.
CBV_INLINE void multiply(const uint64_t a[4], const uint64_t b[4], uint64_t product[4]) {
    uint64_t sum[8], carry;
    cbv_multiply_words(a, b, sum);
    for (int step = 0; step < 4; step++) {
        // A multiple of the order clears the lowest word; the highest of the next four takes its place.
        uint64_t high[4], low[4], factor = sum[0] * order_factor;
        for (int word = 0; word < 4; word++) low[word] = cbv_product(factor, order[word], &high[word]);
        carry = sum[0] != 0;
        for (int word = 1; word < 4; word++) sum[word - 1] = cbv_add(sum[word], low[word], &carry);
        sum[3] = carry;
        carry = 0;
        for (int word = 0; word < 4; word++) sum[word] = cbv_add(sum[word], high[word], &carry);
    }
    carry = 0;
    for (int word = 0; word < 4; word++) sum[word] = cbv_add(sum[word], sum[word + 4], &carry);
    reduce(sum, carry, product);
}

void cbv_p256_order_multiply(const uint64_t a[4], const uint64_t b[4], uint64_t product[4]) {
    multiply(a, b, product);
}

/// Reads a number whose words stand the most significant first.
CBV_INLINE void read(const uint64_t *words, uint64_t number[4]) {
    for (int index = 0; index < 4; index++) number[index] = words[3 - index];
}

CBV_INLINE void write(const uint64_t number[4], uint64_t *words) {
    for (int index = 0; index < 4; index++) words[3 - index] = number[index];
}

/// Whether 1 <= number < order.
CBV_INLINE int is_scalar(const uint64_t number[4]) {
    uint64_t borrow = 0;
    for (int index = 0; index < 4; index++) cbv_subtract(number[index], order[index], &borrow);
    return borrow && (number[0] | number[1] | number[2] | number[3]);
}

CBV_TWICE void cbv_p256_scalars(size_t count, const uint64_t *digest, const uint64_t *r, const uint64_t *s, uint64_t *u1,
                                uint64_t *u2, uint8_t *sound) {
    // Each s, and the products of every second s up to there, over 2^256 at each step: two chains, so that none waits.
    uint64_t value[CBV_MOST][4], through[CBV_MOST + 2][4], inverse[2][4], number[4];
    for (int word = 0; word < 4; word++) through[0][word] = through[1][word] = order_radix[word];
    for (size_t index = 0; index < count; index++) {
        read(r + 4 * index, number);
        read(s + 4 * index, value[index]);
        sound[index] = is_scalar(number) & is_scalar(value[index]);
        if (!sound[index]) {
            value[index][0] = 1;
            value[index][1] = value[index][2] = value[index][3] = 0;
        }
        multiply(through[index], value[index], through[index + 2]);
    }
    multiply(through[count], through[count + 1], number);
    cbv_modular_inverse(&order_modulus, number, number);
    multiply(number, order_radix_squared, number);
    multiply(number, through[count + 1], inverse[count & 1]);
    multiply(number, through[count], inverse[~count & 1]);
    for (size_t index = count; index-- > 0;) {
        // The inverse of a chain is 2^256 over its product up to here.
        uint64_t own[4], quotient[4], *chain = inverse[index & 1];
        multiply(chain, through[index], own);
        multiply(chain, value[index], chain);
        read(digest + 4 * index, number);
        multiply(number, own, quotient);
        for (int word = 0; word < 4; word++) quotient[word] *= sound[index];
        write(quotient, u1 + 4 * index);
        read(r + 4 * index, number);
        multiply(number, own, quotient);
        for (int word = 0; word < 4; word++) quotient[word] *= sound[index];
        write(quotient, u2 + 4 * index);
    }
}

void cbv_p256_order_negate(uint64_t number[4]) {
    uint64_t borrow = 0;
    for (int word = 0; word < 4; word++) number[word] = cbv_subtract(order[word], number[word], &borrow);
}

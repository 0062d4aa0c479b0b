/// Arithmetic modulo the prime p of P-256, in 64-bit words, the least significant first.
///
/// An element stands for its value times 2^256 (Montgomery), and is always below p.
#pragma once

#include "words.h"

struct cbv_element {
    uint64_t word[4];
};

/// p = 2^256 - 2^224 + 2^192 + 2^96 - 1.
static const uint64_t cbv_p256_prime[4] = {UINT64_MAX, 0x00000000ffffffff, 0, 0xffffffff00000001};

static const struct cbv_element cbv_element_one = {{1, 0xffffffff00000000, UINT64_MAX, 0x00000000fffffffe}};

/// 2^512 modulo p: a plain number times this is an element.
static const struct cbv_element cbv_element_radix = {{3, 0xfffffffbffffffff, 0xfffffffffffffffe, 0x00000004fffffffd}};

/// A sum below twice p, whose highest bit is `top`, modulo p.
CBV_INLINE struct cbv_element cbv_element_reduce(const uint64_t sum[4], uint64_t top) {
    uint64_t less[4], borrow = 0;
    for (int word = 0; word < 4; word++) less[word] = cbv_subtract(sum[word], cbv_p256_prime[word], &borrow);
    cbv_subtract(top, 0, &borrow);
    struct cbv_element reduced;
    for (int word = 0; word < 4; word++) reduced.word[word] = borrow ? sum[word] : less[word];
    return reduced;
}

/// Clears the lowest of four words by a multiple of p, and takes them one word down.
CBV_INLINE void cbv_element_clear_word(uint64_t sum[4]) {
    // -1 / p is 1 modulo 2^64: the word times p is what clears it. p without its lowest word is 2^96 and its highest.
    uint64_t factor = sum[0], high, low = cbv_product(factor, cbv_p256_prime[3], &high), carry = 0;
    sum[0] = cbv_add(sum[1], factor << 32, &carry);
    sum[1] = cbv_add(sum[2], factor >> 32, &carry);
    sum[2] = cbv_add(sum[3], low, &carry);
    sum[3] = cbv_add(high, 0, &carry);
}

/// A number of 512 bits over 2^256, where its upper half is below p.
CBV_INLINE struct cbv_element cbv_element_redeem(uint64_t sum[8]) {
    uint64_t carry = 0;
    cbv_element_clear_word(sum);
    cbv_element_clear_word(sum);
    cbv_element_clear_word(sum);
    cbv_element_clear_word(sum);
    for (int word = 0; word < 4; word++) sum[word] = cbv_add(sum[word], sum[word + 4], &carry);
    return cbv_element_reduce(sum, carry);
}

CBV_INLINE struct cbv_element cbv_element_multiply(struct cbv_element a, struct cbv_element b) {
    uint64_t sum[8];
    cbv_multiply_words(a.word, b.word, sum);
    return cbv_element_redeem(sum);
}

CBV_INLINE struct cbv_element cbv_element_square(struct cbv_element a) {
    uint64_t sum[8];
    cbv_square_words(a.word, sum);
    return cbv_element_redeem(sum);
}

CBV_INLINE struct cbv_element cbv_element_add(struct cbv_element a, struct cbv_element b) {
    uint64_t sum[4], carry = 0;
    for (int word = 0; word < 4; word++) sum[word] = cbv_add(a.word[word], b.word[word], &carry);
    return cbv_element_reduce(sum, carry);
}

CBV_INLINE struct cbv_element cbv_element_subtract(struct cbv_element a, struct cbv_element b) {
    uint64_t borrow = 0, carry = 0;
    struct cbv_element difference;
    for (int word = 0; word < 4; word++) difference.word[word] = cbv_subtract(a.word[word], b.word[word], &borrow);
    uint64_t mask = 0 - borrow;
    for (int word = 0; word < 4; word++) {
        difference.word[word] = cbv_add(difference.word[word], cbv_p256_prime[word] & mask, &carry);
    }
    return difference;
}

CBV_INLINE struct cbv_element cbv_element_half(struct cbv_element a) {
    // An odd number becomes even by p, which is odd.
    uint64_t mask = 0 - (a.word[0] & 1), carry = 0;
    for (int word = 0; word < 4; word++) a.word[word] = cbv_add(a.word[word], cbv_p256_prime[word] & mask, &carry);
    for (int word = 0; word < 3; word++) a.word[word] = a.word[word] >> 1 | a.word[word + 1] << 63;
    a.word[3] = a.word[3] >> 1 | carry << 63;
    return a;
}

CBV_INLINE int cbv_element_is_zero(struct cbv_element a) {
    return (a.word[0] | a.word[1] | a.word[2] | a.word[3]) == 0;
}

CBV_INLINE int cbv_element_equals(struct cbv_element a, struct cbv_element b) {
    uint64_t difference = 0;
    for (int word = 0; word < 4; word++) difference |= a.word[word] ^ b.word[word];
    return difference == 0;
}

CBV_INLINE struct cbv_element cbv_element_negate(struct cbv_element a) {
    return cbv_element_subtract((struct cbv_element){{0}}, a);
}

/// a, which is not zero, or its opposite where all bits of `minus` are set.
CBV_INLINE struct cbv_element cbv_element_signed(struct cbv_element a, uint64_t minus) {
    uint64_t borrow = 0;
    struct cbv_element result;
    for (int word = 0; word < 4; word++) {
        uint64_t opposite = cbv_subtract(cbv_p256_prime[word], a.word[word], &borrow);
        result.word[word] = (opposite & minus) | (a.word[word] & ~minus);
    }
    return result;
}

/// The element of a number below p.
CBV_INLINE struct cbv_element cbv_element_of(struct cbv_element number) {
    return cbv_element_multiply(number, cbv_element_radix);
}

/// The number that an element stands for.
CBV_INLINE struct cbv_element cbv_element_number(struct cbv_element a) {
    uint64_t sum[8] = {a.word[0], a.word[1], a.word[2], a.word[3]};
    return cbv_element_redeem(sum);
}

/// Arithmetic modulo the order n of P-256.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// u1 = digest / s and u2 = r / s modulo the order. Numbers are as in CBatchVerify.h; `count` is 1 to CBV_MOST.
///
/// sound[i] is 1 where r and s are between 1 and the order - 1, else 0, and then u1 and u2 are 0.
void cbv_p256_scalars(size_t count, const uint64_t *digest, const uint64_t *r, const uint64_t *s, uint64_t *u1,
                      uint64_t *u2, uint8_t *sound);

/// The product modulo the order, over 2^256; words stand the least significant first. One factor is below the order.
void cbv_p256_order_multiply(const uint64_t a[4], const uint64_t b[4], uint64_t product[4]);

/// The order minus a number that is not above it; words stand the least significant first.
void cbv_p256_order_negate(uint64_t number[4]);

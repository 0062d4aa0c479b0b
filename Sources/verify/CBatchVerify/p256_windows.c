#include "p256_windows.h"

#include "p256_order.h"

typedef struct cbv_element element;

/// j 2^(9 w) G, for each window w and j from 1 on.
static struct cbv_affine table[CBV_WINDOWS][CBV_MULTIPLES] __attribute__((aligned(64)));

/// (order - 1) / 2.
static const uint64_t half_order[4] = {0x79dce5617e3192a8, 0xde737d56d38bcf42, 0x7fffffffffffffff, 0x7fffffff80000000};

void cbv_p256_window_starts(int bits, size_t windows, struct cbv_affine *start, struct cbv_affine *twice) {
    struct cbv_inverses inverses;
    struct cbv_affine generator = cbv_p256_generator();
    struct cbv_jacobian point[32] = {{generator.x, generator.y, cbv_element_one}};
    for (size_t window = 1; window < windows; window++) {
        point[window] = point[window - 1];
        for (int bit = 0; bit < bits; bit++) cbv_jacobian_double(&point[window]);
    }
    cbv_jacobian_normalise(point, windows, start, &inverses);
    cbv_affine_double(start, windows, twice, &inverses);
}

void cbv_p256_windows_prepare(void) {
    struct cbv_inverses inverses;
    struct cbv_affine start[CBV_WINDOWS], twice[CBV_WINDOWS];
    cbv_p256_window_starts(CBV_WINDOW, CBV_WINDOWS, start, twice);
    for (int window = 0; window < CBV_WINDOWS; window++) table[window][0] = start[window], table[window][1] = twice[window];
    for (int index = 2; index < CBV_MULTIPLES; index++) {
        cbv_affine_add(&table[0][index - 1], CBV_MULTIPLES, start, CBV_WINDOWS, &table[0][index], &inverses);
    }
}

size_t cbv_p256_terms(const uint64_t *words, struct cbv_term term[CBV_WINDOWS]) {
    uint64_t scalar[4], borrow = 0;
    for (int word = 0; word < 4; word++) {
        scalar[word] = words[3 - word];
        cbv_subtract(half_order[word], scalar[word], &borrow);
    }
    // Above half of the order, the opposite is taken: so the digits are enough, and no sum meets its equal or opposite.
    int negative = (int)borrow, carry = 0;
    size_t count = 0;
    if (negative) cbv_p256_order_negate(scalar);
    for (int window = 0; window < CBV_WINDOWS; window++) {
        int bit = CBV_WINDOW * window, word = bit >> 6;
        uint64_t above = word < 3 ? scalar[word + 1] << 1 << (63 - (bit & 63)) : 0;
        int digit = (int)((scalar[word] >> (bit & 63) | above) & (2 * CBV_MULTIPLES - 1)) + carry;
        carry = digit > CBV_MULTIPLES;
        if (carry) digit = 2 * CBV_MULTIPLES - digit;
        if (digit == 0) continue;
        term[count++] = (struct cbv_term){&table[window][digit - 1], 0 - (uint64_t)(carry != negative)};
    }
    return count;
}

/// Adds neighbours, which halves the number of terms. Returns how many pairs there were.
CBV_TWICE static size_t add_pairs(size_t count, struct cbv_sums *sums) {
    size_t pairs = 0, next = 0;
    for (size_t index = 0; index < count; index++) {
        const struct cbv_term *term = sums->term[index];
        for (size_t place = 0; place + 1 < sums->left[index]; place += 2) {
            sums->value[pairs++] = cbv_element_subtract(term[place + 1].point->x, term[place].point->x);
        }
    }
    if (pairs == 0) return 0;
    cbv_element_invert(sums->value, sums->through, pairs);
    for (size_t index = 0; index < count; index++) {
        struct cbv_term *term = sums->term[index];
        size_t left = sums->left[index], place = 0;
        for (; 2 * place + 1 < left; place++) {
            // The sum has the sign of its first term.
            const struct cbv_term a = term[2 * place], b = term[2 * place + 1];
            element y = cbv_element_signed(b.point->y, a.minus ^ b.minus);
            element slope = cbv_element_multiply(cbv_element_subtract(y, a.point->y), sums->value[next++]);
            sums->sum[index][place] = cbv_affine_follow(a.point, b.point->x, slope);
            term[place] = (struct cbv_term){&sums->sum[index][place], a.minus};
        }
        if (left % 2 != 0) term[place++] = term[left - 1];
        sums->left[index] = place;
    }
    return pairs;
}

void cbv_p256_multiply(size_t count, const uint64_t *scalar, struct cbv_affine *multiple, uint8_t *exists,
                       struct cbv_sums *sums) {
    for (size_t first = 0; first < count; first += CBV_CHUNK) {
        size_t chunk = count - first < CBV_CHUNK ? count - first : CBV_CHUNK;
        for (size_t index = 0; index < chunk; index++) {
            sums->left[index] = cbv_p256_terms(scalar + 4 * (first + index), sums->term[index]);
        }
        while (add_pairs(chunk, sums) > 0) {
        }
        for (size_t index = 0; index < chunk; index++) {
            exists[first + index] = sums->left[index] != 0;
            if (!exists[first + index]) continue;
            const struct cbv_term sum = sums->term[index][0];
            multiple[first + index].x = sum.point->x;
            multiple[first + index].y = cbv_element_signed(sum.point->y, sum.minus);
        }
    }
}

import AppAttest
import Testing

@Suite struct ClampedArithmeticTests {
    static let extremes: [Int64] = [.min, .min + 1, -1 << 62, -1000, -1, 0, 1, 1000, 1 << 53, 1 << 62, .max - 1, .max]

    @Test(arguments: extremes, extremes)
    func `a result that does not fit is the nearest number that does`(left: Int64, right: Int64) {
        func clamped(_ exact: Int128) -> Int64 { Int64(clamping: exact) }
        #expect(left.clampedAdding(right) == clamped(Int128(left) + Int128(right)))
        #expect(left.clampedSubtracting(right) == clamped(Int128(left) - Int128(right)))
        #expect(left.clampedMultiplied(by: right) == clamped(Int128(left) * Int128(right)))
    }
}

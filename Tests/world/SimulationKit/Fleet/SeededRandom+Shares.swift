internal import DeviceLab

extension SeededRandom {
    /// Whether something happens that happens in this share of all cases.
    mutating func chance(_ share: Double) -> Bool {
        share > 0 && Double(next() >> 11) * 0x1p-53 < share
    }

    /// 0 ..< count; plain arithmetic, since tests draw millions of these in builds without optimisation.
    mutating func below(_ count: Int) -> Int { Int(next() >> 33) % max(1, count) }
}

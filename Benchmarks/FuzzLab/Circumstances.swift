internal import AppAttest
internal import DeviceLab

/// What surrounds an object: the request's client data, the time, and an app's policy under which the device is
/// accepted.
struct Circumstances {
    var clientDataHash: [UInt8]
    /// When Apple issued leaf and receipt.
    let issued: EvaluationTime
    /// When the object is judged: some minutes later at most, as the receipt's age allows.
    private(set) var judged: EvaluationTime
    var expectations: Expectations

    init(_ device: FakeDevice, _ random: inout SeededRandom) {
        let length = [1, 20, 32, 32, 32, 64, 1024][random.below(7)]
        clientDataHash = random.bytes(length)
        // 2020-08-01 and six years on.
        issued = EvaluationTime(milliseconds: 1_596_240_000_000 + Int64(random.below(6 * 365 * 86_400)) * 1000)
        judged = EvaluationTime(milliseconds: issued.milliseconds + Int64(random.below(240_000)))
        expectations = device.expectations
        expectations.appIDs = Pool.appIDs.map { AppID($0) }.shuffled(using: &random)
        if random.below(2) == 0 { expectations.environments = Set(Environment.allCases) }
        // Without ED a map is missing wherever nothing vouches for it.
        let (shape, counts) = (device.shape, device.shape.setsEDFlag)
        expectations.categories = Self.policy(device.category, has: counts && shape.hasCategory, &random)
        expectations.bundleVersions = Self.policy(
            ExactText(device.bundleVersion),
            has: counts && shape.hasBundleVersion,
            &random
        )
        expectations.extensionTrust = random.below(2) == 0 ? .flagged : .any
        expectations.macACL = random.below(4) == 0 ? .accept : .require
        expectations.receipt = [.report, .require, .ignore][random.below(device.shape.hasReceipt ? 3 : 1)]
    }

    /// Faults of dates are measured from the time of issue.
    var atOnce: Circumstances {
        var copy = self
        copy.judged = issued
        return copy
    }

    /// Any policy that accepts `value`, or its absence where the shape has none.
    private static func policy<Value>(
        _ value: Value,
        has: Bool,
        _ random: inout SeededRandom
    ) -> EntryPolicy<Value> {
        EntryPolicy(
            allow: random.below(2) == 0 ? nil : [value],
            whenMissing: has && random.below(2) == 0 ? .refuse : .accept
        )
    }
}

extension SeededRandom {
    /// 0 ..< `bound`, nearly uniform.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

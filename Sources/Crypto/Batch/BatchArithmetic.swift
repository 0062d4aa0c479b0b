internal import CBatchVerify

/// How signatures are computed in groups: eight at once in AVX-512 lanes, or one by one on any processor.
package enum BatchArithmetic: String, Sendable, CaseIterable {
    case lanes = "ifma"
    case portable

    /// The feature that this processor or system lacks for the lanes; nil = they can be used.
    package static var featureMissingForLanes: String? {
        // A constant of the program, or NULL.
        unsafe cbv_missing_feature().map { unsafe String(cString: $0) }
    }

    /// Makes the generator's tables, once in the process; 1 MB.
    static func prepareP256() { prepared }

    private static let prepared: Void = cbv_p256_prepare()

    /// One signature alone fills no lanes.
    func suited(to count: Int) -> BatchArithmetic { count > 1 ? self : .portable }
}

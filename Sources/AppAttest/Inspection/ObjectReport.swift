/// An object explained: its fields as far as they can be read, and its checks in the order in which they are judged.
package struct ObjectReport: Sendable, Equatable {
    package enum Kind: String, Sendable { case attestation, assertion, receipt }

    package let kind: Kind
    package let fields: [ReportField]
    package let checks: [ReportCheck]

    /// The first failed check's reason; nil if all that could be judged passed.
    package var refusal: Refusal? {
        for check in checks {
            if case .failed(let refusal) = check.outcome { return refusal }
        }
        return nil
    }
}

/// One field by its path in the object, such as `leaf.notAfter`.
package struct ReportField: Sendable, Equatable {
    package let name: String
    package let value: ReportValue

    package init(name: String, value: ReportValue) {
        self.name = name
        self.value = value
    }
}

package enum ReportValue: Sendable, Equatable, CustomStringConvertible {
    case text(String)
    case number(Int64)
    case bytes([UInt8])
    case time(EvaluationTime)

    /// Text as it is, bytes as lower-case hex, times as RFC 3339 in UTC.
    package var description: String {
        switch self {
        case .text(let text): text
        case .number(let number): String(number)
        case .bytes(let bytes): Self.hex(bytes)
        case .time(let time): RFC3339.text(time)
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}

/// One check: its name, the reasons it can give, and its outcome.
package struct ReportCheck: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case passed
        case failed(Refusal)
        /// An earlier check failed.
        case notReached
        /// There was nothing to judge by: an argument or a part of the object is missing.
        case notJudged
    }

    package let name: String
    package let codes: [String]
    package let outcome: Outcome
}

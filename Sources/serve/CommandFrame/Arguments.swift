package import Settings

/// A command's arguments as read; names and presence were checked by ``OptionParser``, values are checked on reading.
package struct Arguments: Sendable, Equatable {
    /// The values by option name; a switch holds one empty string.
    package var values: [String: [String]] = [:]
    package var operands: [String] = []

    package func has(_ name: String) -> Bool { values[name] != nil }

    package func string(_ name: String) -> String? { values[name]?.first }

    /// Every value of a repeatable option, in order.
    package func strings(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of an option that is declared as required.
    package func required(_ name: String) throws(UsageFault) -> String {
        guard let value = string(name) else { throw UsageFault("\(name) is required.") }
        return value
    }

    /// The value of an option that `read` understands; nil without it.
    ///
    /// - Parameter kind: what it must be, for the fault.
    private func value<Value>(_ name: String, _ kind: String, _ read: (String) -> Value?) throws(UsageFault) -> Value? {
        guard let text = string(name) else { return nil }
        guard let value = read(text) else { throw UsageFault("\(name) must be \(kind), not '\(text.printable)'.") }
        return value
    }

    package func integer(_ name: String, in range: ClosedRange<Int> = 0...Int.max) throws(UsageFault) -> Int? {
        try value(name, "a whole number \(Self.describe(range))") { Int($0).flatMap { range.contains($0) ? $0 : nil } }
    }

    package func number(_ name: String, in range: ClosedRange<Double>) throws(UsageFault) -> Double? {
        let bounds = "between \(Self.short(range.lowerBound)) and \(Self.short(range.upperBound))"
        return try value(name, "a number \(bounds)") { Double($0).flatMap { range.contains($0) ? $0 : nil } }
    }

    /// A seed: any unsigned 64-bit number.
    package func seed(_ name: String) throws(UsageFault) -> UInt64? {
        try value(name, "a whole number from 0 to \(UInt64.max)") { UInt64($0) }
    }

    /// A time in milliseconds since 1970: RFC 3339 (`2026-11-20T12:00:00Z`) or the milliseconds themselves.
    package func time(_ name: String) throws(UsageFault) -> Int64? {
        try value(name, "a time such as 2026-11-20T12:00:00Z, or milliseconds since 1970", TimeText.milliseconds)
    }

    /// A time as ``time(_:)`` reads it, or `+` and a duration from now on.
    package func end(_ name: String, now: Int64) throws(UsageFault) -> Int64? {
        guard string(name)?.hasPrefix("+") == true else { return try time(name) }
        return try value(name, "a time, or + and a duration such as +2h") { text -> Int64? in
            guard let duration = DurationText.milliseconds(String(text.dropFirst())) else { return nil }
            let (end, overflow) = now.addingReportingOverflow(duration)
            return overflow ? nil : end
        }
    }

    package func engine() throws(UsageFault) -> EngineUse? {
        try value("--engine", "one of \(EngineUse.names)") { EngineUse(rawValue: $0) }
    }

    /// The value of `--partitions`: `3` or `0,2,5-7`; nil without it.
    package func partitions() throws(UsageFault) -> Set<Int32>? {
        try value("--partitions", "numbers like 3 or 0,2,5-7") { text -> Set<Int32>? in
            var numbers: Set<Int32> = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                let bounds = part.split(separator: "-", omittingEmptySubsequences: false).map { Int32($0) }
                guard bounds.count <= 2, let first = bounds[0], let last = bounds[bounds.count - 1] else { return nil }
                guard first >= 0, first <= last, last < 1_000_000 else { return nil }
                numbers.formUnion(first...last)
            }
            return numbers
        }
    }

    private static func describe(_ range: ClosedRange<Int>) -> String {
        range.upperBound == Int.max
            ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
    }

    private static func short(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
    }
}

extension EngineUse {
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension Option {
    /// One may have been sent a configuration.
    package static let runPrograms = flag("--run-programs", "run the programs that write keys of the configuration")

    package static let engine = Option.value(
        "--engine",
        "NAME",
        "engine to verify with instead of the configured one: \(EngineUse.names)",
        choices: EngineUse.allCases.map(\.rawValue)
    )
}

package import Settings

/// A command's arguments as read; names and presence were checked by ``OptionParser``, values are checked on reading.
package struct Arguments: Sendable, Equatable {
    /// The values by option name; a switch holds one empty string.
    package var values: [String: [String]] = [:]
    package var operands: [String] = []

    package init() {}

    package func has(_ name: String) -> Bool { values[name] != nil }

    package func string(_ name: String) -> String? { values[name]?.first }

    /// Every value of a repeatable option, in order.
    package func strings(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of an option that is declared as required.
    package func required(_ name: String) throws(UsageFault) -> String {
        guard let value = string(name) else { throw UsageFault("\(name) is required.") }
        return value
    }

    /// A whole number within `range`.
    package func integer(_ name: String, in range: ClosedRange<Int> = 0...Int.max) throws(UsageFault) -> Int? {
        guard let text = string(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageFault("\(name) must be a whole number \(Self.describe(range)), not '\(text.printable)'.")
        }
        return number
    }

    /// A decimal number within `range`.
    package func number(_ name: String, in range: ClosedRange<Double>) throws(UsageFault) -> Double? {
        guard let text = string(name) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            let bounds = "between \(Self.short(range.lowerBound)) and \(Self.short(range.upperBound))"
            throw UsageFault("\(name) must be a number \(bounds), not '\(text.printable)'.")
        }
        return number
    }

    /// A seed: any unsigned 64-bit number.
    package func seed(_ name: String) throws(UsageFault) -> UInt64? {
        guard let text = string(name) else { return nil }
        guard let seed = UInt64(text) else {
            throw UsageFault("\(name) must be a whole number from 0 to \(UInt64.max), not '\(text.printable)'.")
        }
        return seed
    }

    /// A time in milliseconds since 1970: RFC 3339 (`2026-11-20T12:00:00Z`) or the milliseconds themselves.
    package func time(_ name: String) throws(UsageFault) -> Int64? {
        guard let text = string(name) else { return nil }
        guard let milliseconds = TimeText.milliseconds(text) else {
            throw UsageFault(
                "\(name) must be a time such as 2026-11-20T12:00:00Z, or milliseconds since 1970, not '\(text.printable)'."
            )
        }
        return milliseconds
    }

    /// A time as ``time(_:)`` reads it, or `+` and a duration from now on.
    package func end(_ name: String, now: Int64) throws(UsageFault) -> Int64? {
        guard let text = string(name), text.hasPrefix("+") else { return try time(name) }
        guard let duration = DurationText.milliseconds(String(text.dropFirst())),
            case let (end, overflow) = now.addingReportingOverflow(duration), !overflow
        else { throw UsageFault("\(name) must be a time, or + and a duration such as +2h, not '\(text.printable)'.") }
        return end
    }

    private static func describe(_ range: ClosedRange<Int>) -> String {
        range.upperBound == Int.max
            ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
    }

    private static func short(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
    }
}

extension Arguments {
    /// The engine that `--engine` names; nil where it is absent.
    package func engine() throws(UsageFault) -> EngineUse? {
        guard let name = string("--engine") else { return nil }
        guard let engine = EngineUse(rawValue: name) else {
            throw UsageFault("--engine must be one of \(EngineUse.names), not '\(name.printable)'.")
        }
        return engine
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

extension Arguments {
    /// The value of `--partitions`: `3` or `0,2,5-7`; nil without it.
    package func partitions() throws(UsageFault) -> Set<Int32>? {
        guard let text = string("--partitions") else { return nil }
        let fault = UsageFault("--partitions must be numbers like 3 or 0,2,5-7, not '\(text.printable)'.")
        var numbers: Set<Int32> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let bounds = part.split(separator: "-", omittingEmptySubsequences: false).map { Int32($0) }
            guard bounds.count <= 2, let first = bounds[0], let last = bounds[bounds.count - 1] else { throw fault }
            guard first >= 0, first <= last, last < 1_000_000 else { throw fault }
            numbers.formUnion(first...last)
        }
        return numbers
    }
}

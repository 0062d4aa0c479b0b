internal import JSON

/// The values that a setting takes: how they are read, and what the Configuration page says of them.
struct SettingKind<Value: Sendable>: Sendable {
    let type: String
    var range = ""
    /// Whether the key must be there; then ``read`` refuses an absent one.
    var isRequired = false
    /// The kind as far as JSON Schema can describe it; ``read`` is stricter.
    let schema: JSONTree
    /// A value as the page writes it.
    let text: @Sendable (Value) -> String
    let read: @Sendable (ConfigurationValue) throws(ConfigurationFault) -> Value
}

extension SettingKind {
    /// - Parameters:
    ///   - problem: what a value must be.
    ///   - read: nil for one that is not.
    init(
        _ type: String,
        range: String = "",
        isRequired: Bool = false,
        schema: JSONTree,
        problem: String,
        text: @escaping @Sendable (Value) -> String,
        _ read: @escaping @Sendable (JSONNode) -> Value?
    ) {
        self.init(type: type, range: range, isRequired: isRequired, schema: schema, text: text) {
            value throws(ConfigurationFault) in
            guard let result = value.node.flatMap(read) else { throw value.fault(problem, shown: true) }
            return result
        }
    }

    /// A list of values that are all read in one way; the page's default is that of an empty list.
    ///
    /// - Parameter kind: what it is a list of.
    static func list<Element>(
        _ type: String,
        range: String = "",
        of kind: String,
        text: String = "`[]`",
        _ element: SettingKind<Element>,
        _ make: @escaping @Sendable ([Element]) -> Value
    ) -> Self {
        SettingKind(type: type, range: range, schema: JSONSchema.list(of: element.schema), text: { _ in text }) {
            value throws(ConfigurationFault) in
            make(try value.list(kind, element.read))
        }
    }

    /// A list of strings; the page's default is that of an empty one.
    static func strings(_ make: @escaping @Sendable ([String]) -> Value) -> Self {
        .list("list of strings", of: "strings", SettingKind<String>.string, make)
    }

    /// - Parameter absent: the page's word for the default.
    static func optional<Wrapped>(_ kind: SettingKind<Wrapped>, absent: String) -> Self where Value == Wrapped? {
        SettingKind(
            type: kind.type,
            range: kind.range,
            schema: kind.schema,
            text: { $0.map(kind.text) ?? absent },
            read: kind.read
        )
    }
}

extension SettingKind where Value: RawRepresentable<String> & CaseIterable & SendableMetatype {
    static var choice: Self {
        let names = Value.allCases.map(\.rawValue)
        return SettingKind(
            type: "choice",
            range: names.map { "`\($0)`" }.joined(separator: ", "),
            schema: JSONSchema.choice(names),
            text: { "`\($0.rawValue)`" }
        ) { value throws(ConfigurationFault) in
            let word = value.node?.string
            if let choice = word.flatMap(Value.init) { return choice }
            let meant = word.map { Suggestion.phrase(for: $0, among: names) } ?? ""
            throw value.fault("must be one of \(names.joined(separator: ", "))", shown: true, meant: meant)
        }
    }
}

extension SettingKind<Bool> {
    static var boolean: Self {
        SettingKind(
            "boolean",
            schema: JSONSchema.boolean,
            problem: "must be true or false",
            text: { "`\($0)`" }
        ) { $0.bool }
    }
}

extension SettingKind where Value: FixedWidthInteger & SendableMetatype {
    static func integer(_ range: ClosedRange<Value>) -> Self {
        SettingKind(
            "integer",
            range: "\(range.lowerBound) to \(range.upperBound)",
            schema: JSONSchema.integer(Int64(range.lowerBound)...Int64(range.upperBound)),
            problem: "must be an integer from \(range.lowerBound) to \(range.upperBound)",
            text: { "`\($0)`" }
        ) { node in node.integer.flatMap { Value(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil } }
    }
}

extension SettingKind<Int64> {
    /// Milliseconds, written as an integer and one of ms, s, m, h, d.
    ///
    /// - Parameter orNever: whether 0 is one, too.
    static func duration(_ range: ClosedRange<Int64>, orNever: Bool = false) -> Self {
        let (least, most) = (DurationText.text(range.lowerBound), DurationText.text(range.upperBound))
        let never = orNever ? DurationText.text(0) : nil
        return SettingKind(
            "duration",
            range: (never.map { "`\($0)`, or " } ?? "") + "`\(least)` to `\(most)`",
            schema: JSONSchema.string(pattern: "^[0-9]{1,19}(ms|s|m|h|d)$"),
            problem: "must be a duration such as \"300s\", \"5m\" or \"96h\", "
                + (never.map { "\($0) or " } ?? "") + "from \(least) to \(most)",
            text: { "`\(DurationText.text($0))`" }
        ) { node in
            node.string.flatMap { DurationText.milliseconds($0) }.flatMap {
                range.contains($0) || (orNever && $0 == 0) ? $0 : nil
            }
        }
    }
}

extension SettingKind<String> {
    static var string: Self {
        SettingKind(
            "string",
            schema: JSONSchema.string,
            problem: "must be a string",
            text: { $0.isEmpty ? "`\"\"`" : "`\($0)`" }
        ) { $0.string }
    }

    /// - Parameter problem: the message for a string for which `isValid` is false.
    static func string(
        range: String,
        schema: JSONTree,
        problem: String,
        _ isValid: @escaping @Sendable (String) -> Bool
    ) -> Self {
        SettingKind(type: "string", range: range, schema: schema, text: string.text) {
            value throws(ConfigurationFault) in
            let text = try string.read(value)
            guard isValid(text) else { throw value.fault(problem, shown: true) }
            return text
        }
    }

    /// A string that must be there, and not empty.
    static var name: Self {
        SettingKind(
            type: "string",
            range: "not empty",
            isRequired: true,
            schema: JSONSchema.string(atLeast: 1),
            text: string.text
        ) {
            value throws(ConfigurationFault) in
            guard value.node != nil, case let name = try string.read(value), !name.isEmpty
            else { throw value.fault("is required") }
            return name
        }
    }

    /// A file's path, which must be there; resolved against the config directory.
    static var path: Self {
        SettingKind(type: "path", isRequired: true, schema: JSONSchema.string(atLeast: 1), text: string.text) {
            value throws(ConfigurationFault) in
            value.files.resolve(try name.read(value))
        }
    }
}

/// `"300s"`, `"5m"`, `"96h"`: a whole number and its unit.
package enum DurationText {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// - Returns: nil for any other text, and for what does not fit.
    package static func milliseconds(_ text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(digits), let unit = units.first(where: { $0.suffix == text.dropFirst(digits.count) })
        else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds)
        return overflow ? nil : product
    }

    /// The duration in the largest unit that has no remainder.
    static func text(_ milliseconds: Int64) -> String {
        let unit = units.last { milliseconds.isMultiple(of: $0.milliseconds) && milliseconds != 0 } ?? units[1]
        return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
    }
}

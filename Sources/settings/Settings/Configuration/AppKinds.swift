internal import AppAttest
internal import AppCheck
internal import Crypto
internal import JSON

/// The kinds that only apps.json's settings have.
extension SettingKind<Set<Environment>> {
    static var environments: Self {
        SettingKind(
            type: "list of choices",
            range: "`production`, `development`",
            schema: JSONSchema.list(of: JSONSchema.choice(Environment.allCases.map(\.rawValue)), atLeast: 1),
            text: { _ in "both" }
        ) {
            value throws(ConfigurationFault) in
            let environments = try value.list("strings", SettingKind<Environment>.choice.read)
            guard !environments.isEmpty else { throw value.fault("must list production, development or both") }
            return Set(environments)
        }
    }
}

extension SettingKind<Set<UInt32>> {
    static var integers: Self {
        let one = SettingKind<UInt32>.integer(0...UInt32.max)
        return .list("list of integers", range: one.range, of: "integers from \(one.range)", text: "", one) { Set($0) }
    }
}

extension SettingKind<Set<ExactText>> {
    static var versions: Self { .strings { Set($0.map { ExactText($0) }) } }
}

extension SettingKind<Set<Digest>> {
    static var installations: Self {
        .list(
            "list of strings",
            range: "64 hex digits each",
            of: "SHA-256 digests, 64 hexadecimal digits each",
            SettingKind<Digest>.digest
        ) { Set($0) }
    }
}

extension SettingKind<Digest> {
    /// A digest that must be there.
    static var digest: Self {
        SettingKind(
            "string",
            range: "64 hex digits",
            isRequired: true,
            schema: JSONSchema.string(pattern: "^[0-9a-fA-F]{64}$"),
            problem: "must be a SHA-256 digest, 64 hexadecimal digits",
            text: { _ in "" }
        ) { node in node.string.flatMap { Hexadecimal.decode(Array($0.utf8)) }.flatMap { Digest($0) } }
    }
}

extension SettingKind<ClientDataHashLength> {
    static var hashLength: Self {
        let integer = SettingKind<Int>.integer(1...65_536)
        return SettingKind(
            "integer or `any`",
            range: "\(integer.range), at most `limits.clientDataHashBytes`",
            schema: JSONSchema.any([integer.schema, JSONSchema.choice(["any"])]),
            problem: "must be an integer from \(integer.range), or \"any\"",
            text: { if case .bytes(let bytes) = $0 { "`\(bytes)`" } else { "`any`" } }
        ) { node in
            if node.string == "any" { return .any }
            return node.integer.flatMap { Int(exactly: $0) }.flatMap { (1...65_536).contains($0) ? .bytes($0) : nil }
        }
    }
}

extension SettingKind<Int64> {
    /// A percentage, as parts of ``Rollout/whole``.
    static var percent: Self {
        SettingKind(
            type: "number",
            range: "0 to 100, at most six decimal places",
            schema: JSONSchema.number(0...100),
            text: { "`\($0 / 1_000_000)`" }
        ) {
            value throws(ConfigurationFault) in
            guard let text = value.node?.numberText else { throw value.fault("must be a number") }
            guard let parts = PercentText.parts(text)
            else { throw value.fault("must be a number from 0 to 100 with at most six decimal places") }
            return parts
        }
    }
}

extension SettingKind<String> {
    static var displayName: Self {
        string(
            range: "1 to 64 characters",
            schema: JSONSchema.string(atLeast: 1, atMost: 64),
            problem: "must have 1 to 64 characters"
        ) { (1...64).contains($0.unicodeScalars.count) }
    }

    static var seed: Self {
        .string(
            range: "at most 32 letters, digits, dots, underscores, hyphens",
            schema: JSONSchema.string(pattern: "^[A-Za-z0-9._-]{0,32}$"),
            problem: "must be up to 32 letters, digits, dots, underscores or hyphens"
        ) { seed in
            seed.utf8.count <= 32
                && seed.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        }
    }
}

/// A percentage with up to six decimal places, exactly.
package enum PercentText {
    private static let places = 6

    /// - Returns: parts of ``Rollout/whole``, nil for any other text.
    package static func parts(_ text: String) -> Int64? {
        let halves = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = halves.count == 2 ? halves[1] : ""
        guard text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), fraction.count <= places,
            let whole = Int64(halves[0]), whole <= 100,
            let millionths = Int64(fraction + String(repeating: "0", count: places - fraction.count))
        else { return nil }
        let parts = whole * 1_000_000 + millionths
        return parts <= Rollout.whole ? parts : nil
    }
}

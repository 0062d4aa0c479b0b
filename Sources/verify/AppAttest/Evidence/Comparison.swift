internal import Crypto

/// A value that is presented, beside what a check expects there.
package struct Comparison: Sendable, Equatable {
    package let name: String
    package let presented: ReportValue
    package let expected: ReportValue

    package init(_ name: String, _ presented: ReportValue, expected: ReportValue) {
        (self.name, self.presented, self.expected) = (name, presented, expected)
    }

    package init(_ name: String, _ presented: String, expected: String) {
        self.init(name, .text(presented), expected: .text(expected))
    }
}

/// The text in place of a value that is not there.
extension ReportValue {
    package static let absent = ReportValue.text("absent")
    static let unreadable = ReportValue.text("unreadable")

    /// The first bytes of an object that cannot be read: they show what was sent in its place.
    static func beginning(_ bytes: [UInt8]) -> String {
        bytes.isEmpty ? "empty" : "beginning with \(ReportValue.bytes(Array(bytes.prefix(16))))"
    }

    package static func list(_ values: [String], none: String = "none") -> ReportValue {
        guard let first = values.first else { return .text(none) }
        return .text(values.count == 1 ? first : "one of " + values.joined(separator: ", "))
    }

    /// A text of an object, as it is shown.
    static func text(_ text: ExactText?, else other: String) -> ReportValue { .text(text.map { "\($0)" } ?? other) }
}

/// The presented values at checks that both kinds of object have.
extension Comparison {
    /// - Parameter form: nil = another form than the one expected.
    static func object(
        _ object: [UInt8],
        _ clientDataHash: [UInt8]?,
        _ limits: ObjectLimits,
        _ form: String?,
        expected: String
    ) -> Comparison {
        if let hash = clientDataHash, !limits.allows(clientDataHash: hash) {
            return Comparison("object", "a client data hash of \(Counted.text(hash.count, "byte"))", expected: expected)
        }
        let form = form ?? "another form, \(ReportValue.beginning(object))"
        return Comparison("object", "\(Counted.text(object.count, "byte")) of \(form)", expected: expected)
    }

    /// The hash presented, and which of all configured App IDs it belongs to.
    ///
    /// - Parameter presented: the App ID in clear, where the object has it.
    static func appID(_ hash: Digest, _ presented: ExactText?, _ listed: [AppID], _ known: [AppID]) -> Comparison {
        let name = (listed + known).first { $0.rpIDHash == hash && !$0.text.isEmpty }?.text
        let isListed = listed.contains { $0.rpIDHash == hash }
        let foreign = presented.map { "\($0), which no app lists" } ?? "of no configured App ID"
        let owner = name.map { isListed ? $0 : "\($0), which another app lists" } ?? foreign
        let expected = listed.map { "\(ReportValue.bytes($0.rpIDHash.bytes)) (\($0.text))" }
        return Comparison(
            "App ID hash",
            .text("\(ReportValue.bytes(hash.bytes)) (\(owner))"),
            expected: .list(expected)
        )
    }
}

package enum ReceiptPolicy: String, Sendable, CaseIterable { case report, require, ignore }

package enum MacACLPolicy: String, Sendable, CaseIterable { case require, accept }

/// Which extension maps of assertions count: those that the ED flag announces, or all.
package enum ExtensionTrust: String, Sendable, CaseIterable { case flagged, any }

/// The rules of one app: the arguments of a verification that come from its configuration.
package struct Expectations: Sendable {
    package var appIDs: [AppID]
    package var environments: Set<Environment> { didSet { accepted = Accepted(environments) } }
    package var categories: EntryPolicy<UInt32>
    package var bundleVersions: EntryPolicy<ExactText>
    package var macACL: MacACLPolicy
    package var receipt: ReceiptPolicy
    package var extensionTrust: ExtensionTrust
    /// Whether the evidence has a genuine receipt's bytes.
    package var keepsReceipts = false
    /// The same as ``environments``: hashing costs more than a look.
    private var accepted: Accepted

    package init(
        appIDs: [AppID],
        environments: Set<Environment> = [.production],
        categories: EntryPolicy<UInt32> = EntryPolicy(),
        bundleVersions: EntryPolicy<ExactText> = EntryPolicy(),
        macACL: MacACLPolicy = .require,
        receipt: ReceiptPolicy = .report,
        extensionTrust: ExtensionTrust = .flagged
    ) {
        self.appIDs = appIDs
        self.environments = environments
        accepted = Accepted(environments)
        (self.categories, self.bundleVersions, self.macACL) = (categories, bundleVersions, macACL)
        (self.receipt, self.extensionTrust) = (receipt, extensionTrust)
    }
    package func accepts(_ environment: Environment) -> Bool {
        environment == .production ? accepted.production : accepted.development
    }

    private struct Accepted {
        let production: Bool
        let development: Bool

        init(_ environments: Set<Environment>) {
            (production, development) = (environments.contains(.production), environments.contains(.development))
        }
    }
}

/// Size limits of an object and its parts, in bytes; more is malformed. Real objects have less than half.
package struct ObjectLimits: Sendable, Equatable {
    package var attestationBytes = 16_384
    package var assertionBytes = 4096
    package var certificateBytes = 4096
    package var receiptBytes = 8192
    package var clientDataHashBytes = 1024

    package static let `default` = ObjectLimits()

    package init() {}

    func allows(clientDataHash: [UInt8]) -> Bool {
        !clientDataHash.isEmpty && clientDataHash.count <= clientDataHashBytes
    }
}

/// A policy on an optional extension entry: the values allowed (nil = any) and what its absence means.
package struct EntryPolicy<Value: Hashable & Sendable>: Sendable {
    package enum WhenMissing: String, Sendable, CaseIterable { case accept, refuse }
    package var allow: Set<Value>?
    package var whenMissing: WhenMissing

    package init(allow: Set<Value>? = nil, whenMissing: WhenMissing = .accept) {
        (self.allow, self.whenMissing) = (allow, whenMissing)
    }

    /// - Parameters:
    ///   - value: the entry as read; nil = absent.
    ///   - isIgnored: there is an entry, and it does not count.
    ///   - listed: the allowed values as texts.
    func judge(
        _ value: Value?,
        _ refusals: (missing: Refusal, notAllowed: Refusal),
        isIgnored: Bool,
        _ name: String,
        _ trace: some CheckTracer,
        listed: (Set<Value>) -> [String]
    ) throws(Refusal) {
        func shown() -> Comparison {
            let list = allow.map { ReportValue.list(listed($0)).description } ?? "any"
            let presented = value.map { "\($0)" } ?? (isIgnored ? "none that counts" : "none")
            return Comparison(name, presented, expected: whenMissing == .accept ? list + ", or none" : list)
        }
        guard value != nil || whenMissing == .accept else { throw trace.failed(name, refusals.missing) { shown() } }
        let isAllowed = value.map { allow?.contains($0) ?? true } ?? true
        try trace.check(name, isAllowed, else: refusals.notAllowed) { shown() }
    }
}

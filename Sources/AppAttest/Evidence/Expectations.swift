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
        self.categories = categories
        self.bundleVersions = bundleVersions
        self.macACL = macACL
        self.receipt = receipt
        self.extensionTrust = extensionTrust
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

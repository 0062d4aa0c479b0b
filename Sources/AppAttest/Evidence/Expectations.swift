package enum ReceiptPolicy: String, Sendable, CaseIterable { case report, require, ignore }

package enum MacACLPolicy: String, Sendable, CaseIterable { case require, accept }

/// Which extension maps of assertions count: those that the ED flag announces, or all.
package enum ExtensionTrust: String, Sendable, CaseIterable { case flagged, any }

/// The rules of one app: the arguments of a verification that come from its configuration.
package struct Expectations: Sendable {
    package var appIDs: [AppID]
    package var environments: Set<Environment>
    package var categories: EntryPolicy<UInt32>
    package var bundleVersions: EntryPolicy<ExactText>
    package var macACL: MacACLPolicy
    package var receipt: ReceiptPolicy
    package var extensionTrust: ExtensionTrust

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
        self.categories = categories
        self.bundleVersions = bundleVersions
        self.macACL = macACL
        self.receipt = receipt
        self.extensionTrust = extensionTrust
    }
}

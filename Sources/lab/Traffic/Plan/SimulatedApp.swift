package import AppAttest
package import AppCheck
package import DeviceLab

/// An app of the configuration, with the device shapes that it accepts.
package struct SimulatedApp: Sendable {
    package let registered: RegisteredApp
    package let appleAppIDs: [String]
    package let environment: Environment
    package let shapes: [DeviceShape]
    package let category: UInt32?
    package let bundleVersion: String?

    /// `projects/{number}/apps/{app id}`.
    package var name: String { registered.name }

    /// - Returns: nil where the app accepts no fake device: it has no App ID, or asks for what no shape has.
    package init?(_ app: RegisteredApp) {
        let expectations = app.expectations
        let shapes = DeviceShape.allCases.filter { Self.pleases($0, expectations) }
        let environments: [Environment] = [.production, .development]
        guard let environment = environments.first(where: expectations.environments.contains),
            !expectations.appIDs.isEmpty, !shapes.isEmpty
        else { return nil }
        registered = app
        appleAppIDs = expectations.appIDs.map(\.text)
        (self.environment, self.shapes) = (environment, shapes)
        category = expectations.categories.allow?.min()
        bundleVersion = expectations.bundleVersions.allow?.map(\.shown).min()
    }

    private static func pleases(_ shape: DeviceShape, _ expectations: Expectations) -> Bool {
        // Where access control is not checked, its faults would be accepted.
        if shape.isMac, expectations.macACL == .accept { return false }
        if !shape.hasReceipt, expectations.receipt == .require { return false }
        return objectsCount(shape, expectations).allSatisfy { counts in
            hasEntry(counts && shape.hasCategory, expectations.categories)
                && hasEntry(counts && shape.hasBundleVersion, expectations.bundleVersions)
        }
    }

    /// Whether the extension maps of a shape's attestations, and those of its assertions, count.
    private static func objectsCount(_ shape: DeviceShape, _ expectations: Expectations) -> [Bool] {
        if shape.setsEDFlag { return [true, true] }
        return [expectations.receipt != .ignore && shape.hasReceipt, expectations.extensionTrust == .any]
    }

    /// Whether a policy accepts an object that has the entry, or has not.
    private static func hasEntry<Value>(_ has: Bool, _ policy: EntryPolicy<Value>) -> Bool {
        has ? policy.allow?.isEmpty != true : policy.whenMissing == .accept
    }
}

/// App Attest's two environments, which differ in the AAGUID.
package enum Environment: String, Sendable, Hashable, CaseIterable {
    case development, production
}

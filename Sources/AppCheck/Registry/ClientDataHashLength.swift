/// How many bytes the `clientDataHash` of verifyAttestation and verifyAssertion has.
///
/// Devices sign it after data that may end in an extension map: if any length were allowed, a sender could move the end
/// of the one into the other.
package enum ClientDataHashLength: Hashable, Sendable {
    case bytes(Int)
    case any

    /// SHA-256's, as Apple's guide has it.
    package static let standard = ClientDataHashLength.bytes(32)

    func allows(_ count: Int) -> Bool {
        switch self {
        case .bytes(let bytes): count == bytes
        case .any: count > 0
        }
    }
}

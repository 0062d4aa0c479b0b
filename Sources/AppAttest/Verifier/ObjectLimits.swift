/// How many bytes an object and its parts may have; more is malformed. Real ones have less than half of it.
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

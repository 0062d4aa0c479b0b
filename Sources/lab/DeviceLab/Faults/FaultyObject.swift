internal import Crypto

/// An object of the lab after signing, before it becomes bytes.
package protocol FaultyObject: SendableMetatype {
    /// The object before it is signed.
    associatedtype Draft: SendableMetatype
    associatedtype Reason: Sendable
    /// The reason for damage to the container.
    static var malformed: Reason { get }
    /// Every fault, in an order that seeded traffic draws from.
    static var faults: [ObjectFault<Self>] { get }
}

/// The column of the tables that attestations and assertions share.
enum FaultSubject: Sendable { case attestation, assertion }

/// An object in CBOR, with authenticator data.
protocol CBORObject: FaultyObject where Draft: AuthenticatedDraft {
    static var subject: FaultSubject { get }
    static var authDataName: String { get }
}

protocol AuthenticatedDraft {
    var device: FakeDevice { get }
    var authData: AuthDataDraft { get set }
    /// Writes an extension map as devices with a map do.
    mutating func announce(map: [UInt8])
}

/// An object with a signature of its own.
protocol SignedObject: FaultyObject {
    /// The right signature, of which ``signature`` is the encoding.
    var ecdsa: LabSignature { get }
    var signature: [UInt8] { get set }
}

extension ObjectFault where Object: SignedObject {
    /// Replaces the right signature.
    static func signature(
        _ name: String,
        _ expected: Object.Reason,
        _ edit: @escaping @Sendable (LabSignature) -> [UInt8]
    ) -> Self { .parts(name, expected) { $0.signature = edit($0.ecdsa) } }
}

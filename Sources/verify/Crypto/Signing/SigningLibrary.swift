internal import Synchronization

/// The state that all lanes share of a library that signs in groups: whether it may go on, and what it has done.
package final class SigningLibrary: Sendable {
    /// Called with a sentence when the library was wrong.
    package typealias Alarm = @Sendable (String) -> Void

    let signer: any GroupSigner
    /// The watch of the engine that verifies ES256 signatures in groups; nil where none is fast enough.
    private let engine: EngineWatch?
    private let alarm: Alarm
    private let stopped = Atomic<Bool>(false)
    private let signed = Atomic<Int>(0)

    /// - Parameter engine: nil keeps ES256 with OpenSSL: verifying one by one costs more than signing.
    package init(_ signer: any GroupSigner, engine: EngineWatch?, alarm: @escaping Alarm) {
        (self.signer, self.engine, self.alarm) = (signer, engine, alarm)
    }

    package var name: String { signer.name }
    /// Whether it was wrong: from then on OpenSSL signs everything.
    package var isStopped: Bool { stopped.load(ordering: .acquiring) }
    /// Signatures of the library that were verified and left.
    package var signedCount: Int { signed.load(ordering: .relaxed) }

    /// Whether it may sign with keys of this kind now.
    func isUsed(for kind: SigningKey.Kind) -> Bool {
        guard !isStopped else { return false }
        return kind == .rsa || engine.map { !$0.isStopped } ?? false
    }

    func noteSigned(_ count: Int) { signed.add(count, ordering: .relaxed) }

    /// A group's signatures do not verify, or the library failed.
    func stop(_ kind: SigningKey.Kind) {
        guard !stopped.exchange(true, ordering: .acquiringAndReleasing) else { return }
        alarm(
            "\(name) made a wrong \(kind == .rsa ? "RSA" : "P-256") signature, which did not leave the worker; "
                + "OpenSSL signs everything from now on"
        )
    }

    /// A key's test at the start failed.
    func refuse(_ key: String) {
        alarm("\(name) and OpenSSL do not sign alike with the key \(key); OpenSSL signs with it")
    }
}

/// Signs eight digests at once with one key: the interface for a multi-buffer library. Nobody trusts its signatures:
/// ``TokenSigner`` verifies each. Called by many lanes at once.
package protocol GroupSigner: Sendable {
    /// Name and version, for people.
    var name: String { get }
    /// Whether it has an operation for keys of this kind and size.
    func canSign(with key: SigningKey) -> Bool
    /// - Parameter digests: ``GroupSize/group`` of them.
    /// - Returns: a signature for each in order, in the form of ``SigningKey/sign(_:)-(Digest)``; nil where the library
    ///   reports an error.
    func sign(_ digests: [Digest], with key: SigningKey) -> [[UInt8]]?
}

/// How many signatures make a group.
package enum GroupSize {
    package static let group = 8
    /// A group costs the same however few of its places are used: below these counts OpenSSL is cheaper.
    package static let leastRSA = 5
    package static let leastP256 = 6

    static func least(_ kind: SigningKey.Kind) -> Int { kind == .rsa ? leastRSA : leastP256 }
}

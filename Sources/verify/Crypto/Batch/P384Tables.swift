internal import Synchronization

/// The tables of the issuers whose signatures are verified, by key id; shared by all lanes of the process.
///
/// A chain that only grows: lanes read it without a lock, and a table is complete before the chain holds it. Callers
/// prepare a key only after its certificate was verified, so no sender can fill the chain.
package final class P384Tables: Sendable {
    private final class Issuer: Sendable {
        let id: Digest
        let table: P384Table
        let next = AtomicLazyReference<Issuer>()

        init(of key: P384PublicKey) {
            id = key.id
            table = P384Table(of: key)
        }
    }

    package static let shared = P384Tables()
    /// The configured roots: see ``CACertificate/prepareRefusals()``.
    package static let roots = P384Tables()
    /// Keys beyond it have no table: OpenSSL verifies what they signed.
    package static let mostIssuers = 8

    private let first = AtomicLazyReference<Issuer>()

    package init() {}

    /// - Returns: nil where the key was not prepared.
    package func table(of key: P384PublicKey) -> P384Table? {
        var link = first.load()
        while let issuer = link {
            if issuer.id == key.id { return issuer.table }
            link = issuer.next.load()
        }
        return nil
    }

    package var count: Int {
        var (count, link) = (0, first.load())
        while let issuer = link { (count, link) = (count + 1, issuer.next.load()) }
        return count
    }

    /// Makes the key's table, if there is none and room for one; until then its signatures are OpenSSL's.
    ///
    /// Two lanes that meet a key at the same time both make its table; one of them is kept.
    package func prepare(_ key: P384PublicKey) {
        guard table(of: key) == nil, count < Self.mostIssuers else { return }
        // Before any lane needs it: who comes second waits for the first.
        _ = P384Table.generator
        append(Issuer(of: key))
    }

    private func append(_ added: Issuer) {
        var issuer = first.storeIfNil(added)
        for _ in 1..<Self.mostIssuers where issuer !== added && issuer.id != added.id {
            issuer = issuer.next.storeIfNil(added)
        }
    }
}

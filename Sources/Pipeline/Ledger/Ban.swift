package import AppAttest

/// A key or an installation that is refused until the ban is lifted. It stands under its ``AppCheck/BanID``, apart from
/// the key's record: neither an attestation nor a forgotten key lifts it.
package struct Ban: Hashable, Sendable {
    package enum Kind: UInt8, Sendable { case key = 1, installation }

    package var kind: Kind
    /// The time of the command.
    package var since: EvaluationTime

    package init(_ kind: Kind, since: EvaluationTime) { (self.kind, self.since) = (kind, since) }
}

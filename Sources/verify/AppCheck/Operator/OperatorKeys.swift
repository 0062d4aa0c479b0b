package import Crypto

extension OperatorKey {
    /// HMAC-SHA256 over all of the command.
    package func code(_ command: OperatorCommand) -> Digest { code(command.message) }
}

/// The keys that an operator and the workers share: those of `sealingKeys`; only where none is listed, those of
/// `challenges.keys`, which gateways may hold too.
package struct OperatorKeys: Sendable {
    private let keys: [OperatorKey]
    private let absent: Set<SealingKeyID>

    /// No keys: no command is genuine.
    package init() { (keys, absent) = ([], []) }

    package init(_ rings: KeyRings) {
        let (sealing, challenges) = (rings.sealing, rings.challenges)
        keys = sealing.isListed ? sealing.keys.map(\.operatorKey) : challenges.keys.map(\.operatorKey)
        absent = sealing.isListed ? sealing.absent : challenges.absent
    }

    /// The key that signs commands: the first one listed.
    package var active: OperatorKey? { keys.first }

    /// - Returns: `unknown-method` for a code that none of the keys made; `no-active-key` where the file of the key that
    ///   is named is absent.
    func authenticate(
        _ command: OperatorCommand,
        key id: SealingKeyID,
        code: [UInt8]
    ) throws(Reason) -> AuthenticCommand {
        guard !absent.contains(id) else { throw .noActiveKey }
        guard let key = keys.first(where: { $0.id == id }) else { throw .unknownMethod }
        let own = key.code(command)
        guard own.withBytes({ ConstantTime.areEqual($0, code.span) }) else { throw .unknownMethod }
        return AuthenticCommand(command: command, code: own, key: id)
    }
}

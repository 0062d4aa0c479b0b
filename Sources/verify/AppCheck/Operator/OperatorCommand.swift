package import AppAttest
package import Crypto

/// An operator's command, written to the requests topic: it reaches the worker that owns the state, in order with the
/// requests, and is applied once, as they are. Its code proves that its writer holds the worker's keys.
package struct OperatorCommand: Sendable, Equatable {
    package enum Action: String, Sendable, CaseIterable { case ban, unban, forget }

    package enum Subject: Sendable, Equatable {
        case key(KeyID)
        /// An installation by its ``BanID/installation(_:)``: no record holds the id itself.
        case installation(Digest)

        /// The id under which the ledger keeps a ban of it.
        package var banID: Digest {
            switch self {
            case .key(let keyID): BanID.key(keyID)
            case .installation(let id): id
            }
        }

        /// The name in a line of a log: the key ID, or the beginning of an installation's hash.
        package var name: String {
            switch self {
            case .key(let keyID): "key \(keyID.base64)"
            case .installation(let id): "installation \(ReportValue.bytes(Array(id.bytes.prefix(8))))…"
            }
        }
    }

    package static let nonceBytes = 16
    /// A command's life from its issue, in stream time: a command that is written later is a copy.
    package static let lifeMilliseconds: Int64 = 900_000

    package var action: Action
    package var subject: Subject
    /// `forget` only: the ban of the key stays.
    package var keepsBan = false
    /// `ban` only: the stream time at which it ends; nil = it lasts until it is lifted.
    package var until: EvaluationTime?
    /// The only partition that the command is for; nil = the one of its key.
    package var partition: Int32?
    package var issuedAt: EvaluationTime
    /// Unpredictable, so that no two commands are alike.
    package var nonce: [UInt8]

    package init(_ action: Action, _ subject: Subject, issuedAt: EvaluationTime, nonce: [UInt8]) {
        precondition(nonce.count == Self.nonceBytes, "sixteen random bytes")
        (self.action, self.subject, self.issuedAt, self.nonce) = (action, subject, issuedAt, nonce)
    }

    /// The record key that a key's command needs; nil = any, or none.
    package var requiredRecordKey: [UInt8]? {
        if case .key(let keyID) = subject { keyID.recordKey } else { nil }
    }

    /// The bytes that the code covers: 71, each member in its place, so that no two commands have the same. With an end of
    /// the ban 79, whose code no version without ends finds genuine.
    var message: [UInt8] {
        var bytes: [UInt8] = [until == nil ? 1 : 2]
        switch action {
        case .ban: bytes.append(1)
        case .unban: bytes.append(2)
        case .forget: bytes.append(keepsBan ? 4 : 3)
        }
        switch subject {
        case .key(let keyID): bytes += [1] + keyID.bytes
        case .installation(let id): bytes += [2] + id.bytes
        }
        bytes += BigEndian.bytes(UInt64(bitPattern: Int64(partition ?? -1)), 8)
        bytes += BigEndian.bytes(UInt64(bitPattern: issuedAt.milliseconds), 8)
        if let until { bytes += BigEndian.bytes(UInt64(bitPattern: until.milliseconds), 8) }
        return bytes + nonce
    }
}

/// The ids under which the ledger keeps bans: hashes, so that it names no device.
package enum BanID {
    private static let keyMark: [UInt8] = [1]
    private static let installationMark: [UInt8] = [2]

    package static func key(_ keyID: KeyID) -> Digest {
        keyID.digest.withBytes { SHA256.hash(keyMark.span, $0) }
    }

    package static func installation(_ id: ExactText) -> Digest {
        let utf8 = id.utf8
        return SHA256.hash(installationMark.span, utf8.span)
    }
}

/// A command whose code is genuine.
package struct AuthenticCommand: Sendable, Equatable {
    package let command: OperatorCommand
    /// Unlike any other command's: what its one use is remembered by.
    package let code: Digest
    /// The id of the operator's key.
    package let key: SealingKeyID
}

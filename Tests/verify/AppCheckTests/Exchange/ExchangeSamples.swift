import AppAttest
import AppCheck
import Crypto
import TestKit
import Testing

/// Keys, claims and a time that the tests of the exchange share.
enum Exchange {
    static let now = EvaluationTime(milliseconds: 1_795_000_000_000)

    static func publicKey(_ seed: UInt8) throws -> P256PublicKey {
        try #require(P256PublicKey(x963: LabKey(.p256, seed: [seed]).x963))
    }

    static func claims(
        limitedUse: Bool = false,
        subject: String = ExchangeKit.appID,
        issuedAt: Int64 = now.milliseconds / 1000
    ) -> TokenClaims {
        TokenClaims(
            subject: subject,
            projectNumber: ExchangeKit.projectNumber,
            projectID: ExchangeKit.projectID,
            issuedAt: issuedAt,
            expiresAt: issuedAt + (limitedUse ? 300 : 3600),
            id: Contract.root["token"][limitedUse ? "limitedUseClaims" : "sessionClaims"]["jti"].string
        )
    }
}

extension TokenKeyRing {
    /// The claims of a token that one of these keys signed, for the tests' project and its app or client.
    func claims(
        of token: [UInt8],
        number: String = ExchangeKit.projectNumber,
        id: String? = ExchangeKit.projectID,
        subjects: [String] = [ExchangeKit.appID, ExchangeKit.client],
        at time: EvaluationTime = Exchange.now
    ) -> TokenClaims? {
        let result = TokenVerifier(keys: self).verify(
            token,
            projectNumber: number,
            projectID: id,
            at: time,
            isSubject: { subjects.contains($0.subject) && !$0.isDebug }
        )
        return try? result.get()
    }
}

extension Result {
    var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}

/// `bytes` with one bit turned.
func flipping(_ bit: Int, of bytes: [UInt8]) -> [UInt8] {
    var changed = bytes
    changed[bit / 8] ^= 1 << (bit % 8)
    return changed
}

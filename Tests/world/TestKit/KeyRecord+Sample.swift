internal import AppAttest
package import Crypto
package import Pipeline

extension KeyRecord {
    /// A production key's record in the ledger; a test sets the rest of what it is about.
    package static func sample(
        _ publicKey: P256PublicKey? = nil,
        counter: UInt32 = 0,
        app: String? = nil,
        registeredAt: Int64 = 0
    ) -> KeyRecord {
        KeyRecord(
            publicKey: publicKey,
            counter: counter,
            app: app,
            appleAppID: ExchangeKit.appleAppID,
            environment: .production,
            registeredAt: EvaluationTime(milliseconds: registeredAt)
        )
    }
}

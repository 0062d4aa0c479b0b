package import AppAttest
package import Crypto

extension KeyLedger {
    package func second(of key: KeyID, publicKey: P256PublicKey) -> P256SecondPoint? { nil }
    package mutating func setSecond(_ second: P256SecondPoint, of key: KeyID, publicKey: P256PublicKey) {}
}

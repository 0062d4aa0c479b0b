package import AppAttest
package import Crypto

/// The second points of keys in use: in memory only, neither written nor received.
extension KeyLedger {
    /// Keeps a point until the key is removed or gets another public key. Does nothing where the ledger does not have
    /// this public key.
    ///
    /// - Parameters:
    ///   - second: 2^128 times `publicKey`.
    ///   - publicKey: the key that the point was computed from.
    package mutating func setSecond(_ second: P256SecondPoint, of key: KeyID, publicKey: P256PublicKey) {
        guard let slot = find(key), self.publicKey(at: slot) == publicKey else { return }
        seconds.set(slot, second)
    }

    /// How many keys have a second point.
    package var secondCount: Int { seconds.count }
}

/// 2¹²⁸ times a P-256 public key: verification with it needs half of the doublings. It is computed here, never
/// received, and kept in memory only, with the key.
package struct P256SecondPoint: Hashable, Sendable {
    package let x: Digest
    package let y: Digest

    package init(x: Digest, y: Digest) {
        self.x = x
        self.y = y
    }
}

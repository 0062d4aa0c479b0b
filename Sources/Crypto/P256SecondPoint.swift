/// 2^128·Q of a public key Q: affine coordinates. Computed here, never received, so it is not checked.
package struct P256SecondPoint: Hashable, Sendable {
    package let x: Digest
    package let y: Digest

    package init(x: Digest, y: Digest) {
        self.x = x
        self.y = y
    }
}

internal import Crypto

/// The first 37 bytes of the authenticator data in both objects.
///
/// The flags never decide how the rest is read: real assertions set AT without credential data, and iOS 27 writes an
/// extension map with ED set or clear. But the flags are signed, and a sender can move the end of what follows the
/// fixed part: ED proves that the map is the device's own, not the beginning of a hash that its sender chose.
struct AuthenticatorData: Sendable {
    let rpIDHash: Digest
    let flags: UInt8
    let counter: UInt32

    static let byteCount = 37
    /// AT: attested credential data follows.
    static let attestedCredentialData: UInt8 = 0x40
    /// ED: an extension map follows.
    static let extensionData: UInt8 = 0x80

    /// - Returns: nil if `range` is shorter than the fixed part.
    init?(_ range: Range<Int>, _ bytes: Span<UInt8>) {
        let start = range.lowerBound
        guard range.count >= Self.byteCount, let rpIDHash = bytes.digest(start..<(start + 32)),
            let counter = bytes.bigEndian((start + 33)..<(start + 37))
        else { return nil }
        (self.rpIDHash, self.counter) = (rpIDHash, counter)
        flags = bytes[start + 32]
    }

    var announcesMap: Bool { flags & Self.extensionData != 0 }

    /// The flags in hex, with the names of those that are set.
    var flagNames: String {
        let names = ["UP", "", "UV", "", "", "", "AT", "ED"]
        let set = names.indices.filter { flags & 1 << UInt8($0) != 0 && !names[$0].isEmpty }.map { names[$0] }
        return "0x\(Hexadecimal.encode([flags]))\(set.isEmpty ? "" : " (\(set.joined(separator: ", ")))")"
    }

    /// Whether the ED flag is set but the data ends where the map should start: a sender cut the map off, or moved it
    /// into the hash that follows.
    ///
    /// - Parameter end: where the fixed part ends, counted from the start of `range`.
    static func lacksAnnouncedMap(_ range: Range<Int>, after end: Int, _ bytes: Span<UInt8>) -> Bool {
        range.count == end && bytes[range.lowerBound + 32] & extensionData != 0
    }
}

/// The one COSE_Key (RFC 9053 section 7.1) that Apple writes: kty EC2, alg ES256, crv P-256, x, y in this order.
enum COSEKey {
    private static let beforeX: [UInt8] = [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]
    private static let beforeY: [UInt8] = [0x22, 0x58, 0x20]

    /// The 77 bytes of this key.
    static func bytes(of key: P256PublicKey) -> [UInt8] { beforeX + key.x.bytes + beforeY + key.y.bytes }

    /// Whether the 77 bytes of `range` are exactly this key's.
    static func holds(_ key: P256PublicKey, _ range: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        let start = range.lowerBound
        guard range.count == 77 else { return false }
        return bytes.holds(beforeX, in: start..<(start + 10))
            && bytes.digest((start + 10)..<(start + 42)) == key.x
            && bytes.holds(beforeY, in: (start + 42)..<(start + 45))
            && bytes.digest((start + 45)..<(start + 77)) == key.y
    }
}

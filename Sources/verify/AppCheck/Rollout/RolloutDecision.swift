package import AppAttest
internal import Crypto

/// Whether a device may attest, and why.
package struct RolloutDecision: Hashable, Sendable {
    /// 0 to 99,999,999.
    package let bucket: Int64
    /// The share, in parts of ``Rollout/whole``.
    package let parts: Int64
    /// The decision by the share, or by a list of test devices.
    package let isInside: Bool
    /// The list that holds the device, `always` or `never`; nil = the share decides.
    package let list: Rollout.TestList?
    /// Whether the device is admitted: always in `shadow`.
    package let isAdmitted: Bool
}

extension Rollout {
    /// - Parameter id: the header `installation-id`, else the key ID's text.
    /// - Returns: nil = no gate at all (`off`).
    package func decide(id: ExactText) -> RolloutDecision? {
        guard mode != .off else { return nil }
        let bucket = Self.bucket(seed: seed, id: id)
        // Firebase's rule alone would admit bucket 0 at 0 %.
        let list = testList(of: id)
        let isInside = list.map { $0 == .always } ?? (parts > 0 && bucket <= parts)
        return RolloutDecision(
            bucket: bucket,
            parts: parts,
            isInside: isInside,
            list: list,
            isAdmitted: isInside || mode == .shadow
        )
    }

    package enum TestList: String, Sendable { case always, never }

    /// Most apps list no test devices: then the id is not hashed.
    private func testList(of id: ExactText) -> TestList? {
        guard !always.isEmpty || !never.isEmpty else { return nil }
        let digest = SHA256.hash(id.utf8)
        return never.contains(digest) ? .never : always.contains(digest) ? .always : nil
    }

    /// Firebase's micro-percentile: SHA-256 of `seed.id` (`id` alone with an empty seed) as one big-endian number,
    /// modulo 100,000,000.
    package static func bucket(seed: String, id: ExactText) -> Int64 {
        let words = SHA256.hash(seed.isEmpty ? id.utf8 : Array(seed.utf8) + [UInt8(ascii: ".")] + id.utf8).words
        var rest: UInt64 = 0
        for word in [words.0, words.1, words.2, words.3] {
            // Halves, so that the remainder and the next 32 bits fit one word.
            rest = (rest << 32 | word >> 32) % UInt64(whole)
            rest = (rest << 32 | word & 0xFFFF_FFFF) % UInt64(whole)
        }
        return Int64(rest)
    }

    /// A share as a percentage with as many decimal places as it needs, six at most: a JSON number.
    package static func percentText(_ parts: Int64) -> String {
        let perCent = whole / 100
        let (percent, rest) = parts.quotientAndRemainder(dividingBy: perCent)
        guard rest != 0 else { return "\(percent)" }
        // A leading one keeps the zeros after the point.
        var digits = String(String(perCent + rest).dropFirst())
        while digits.last == "0" { digits.removeLast() }
        return "\(percent).\(digits)"
    }
}

/// 16 hexadecimal digits that distinguish one device's events from another's without identifying the device.
package enum DeviceTag {
    /// - Parameter id: the installation id, else the key ID's text.
    package static func text(of id: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(16)
        SHA256.hash(id).withBytes { Hexadecimal.append($0.extracting(..<8), to: &text) }
        return text
    }
}

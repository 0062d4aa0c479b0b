internal import Glibc

/// IP addresses with the same first bits: `10.0.0.0/8`, `::1`.
package struct NetworkPrefix: Sendable, Equatable {
    /// 4 or 16 bytes; those after the prefix are zero.
    private let address: [UInt8]
    private let bits: Int

    /// - Returns: nil for any other text, and where a bit after the prefix is set: a mistyped network.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = Self.address(String(parts[0])) else { return nil }
        var bits = 8 * address.count
        if parts.count == 2 {
            guard parts[1].allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(parts[1]), count <= bits
            else { return nil }
            bits = count
        }
        guard address == Self.masked(address, bits) else { return nil }
        (self.address, self.bits) = (address, bits)
    }

    /// Whether it has each address of its kind.
    var isEverything: Bool { bits == 0 }

    /// - Parameter address: 4 or 16 bytes.
    package func contains(_ address: [UInt8]) -> Bool {
        address.count == self.address.count && Self.masked(address, bits) == self.address
    }

    private static func masked(_ address: [UInt8], _ bits: Int) -> [UInt8] {
        address.indices.map { index in
            let kept = min(max(bits - 8 * index, 0), 8)
            return kept == 0 ? 0 : address[index] & (0xFF << UInt8(8 - kept))
        }
    }

    /// An address in digits: 4 or 16 bytes.
    package static func address(_ text: String) -> [UInt8]? {
        // Room for either kind of address, on this stack.
        var (four, sixteen) = (in_addr(), in6_addr())
        if unsafe inet_pton(AF_INET, text, &four) == 1 { return unsafe withUnsafeBytes(of: &four) { unsafe Array($0) } }
        if unsafe inet_pton(AF_INET6, text, &sixteen) == 1 {
            return unsafe withUnsafeBytes(of: &sixteen) { unsafe Array($0) }
        }
        return nil
    }
}

internal import HTTP
internal import Settings

/// The address that a call comes from, as rates count it.
enum ClientAddress {
    /// - Returns: the 4 bytes of an IPv4 address, or the first 8 of an IPv6 one, of which a client has as many as it likes
    ///   within them. Where trusted proxies do not say whose call it is, it is the last one's.
    static func key(of call: HTTPCall, _ settings: GatewaySettings) -> [UInt8] {
        guard settings.trusts(call.peer.bytes) else { return network(call.peer.bytes) }
        // Each proxy appends the address that it saw, so what stands before the first stranger's is the stranger's word.
        let named = call.values("x-forwarded-for").flatMap { $0.split(separator: UInt8(ascii: ",")) }
        for text in named.reversed() {
            let text = String(decoding: text, as: UTF8.self).filter { $0 != " " && $0 != "\t" }
            guard let address = NetworkPrefix.address(withoutPort(text)).map(PeerAddress.plain) else { break }
            if !settings.trusts(address) { return network(address) }
        }
        return network(call.peer.bytes)
    }

    /// Some proxies write the client's port too: `1.2.3.4:5`, `[2001:db8::1]:5`.
    private static func withoutPort(_ text: String) -> String {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") { return String(text[..<end].dropFirst()) }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[0]) : text
    }

    /// RFC 6052: IPv4 clients of a network that has IPv6 alone. All of them stand within 64 bits.
    private static let translated = [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8)

    private static func network(_ address: [UInt8]) -> [UInt8] {
        guard address.count == 16 else { return address }
        return address.starts(with: translated) ? Array(address[12...]) : Array(address[..<8])
    }
}

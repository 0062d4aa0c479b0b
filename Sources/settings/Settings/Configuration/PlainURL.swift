/// A URL of http or https that has a host and perhaps a port and a path: no user, password, query or fragment.
struct PlainURL {
    private static let mostBytes = 2_048

    let isSecure: Bool
    /// An IPv6 address has no brackets here.
    let host: String
    let port: UInt16?
    /// The path and its slash; empty where there is none.
    let path: String

    /// - Returns: nil for any other text.
    init?(_ text: String) {
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"?#@\\\"<>".utf8.contains($0) }
        guard isPlain, text.utf8.count <= Self.mostBytes,
            let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) })
        else { return nil }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        guard let (host, port) = Self.parts(authority) else { return nil }
        isSecure = scheme == "https://"
        (self.host, self.port, path) = (String(host), port, String(rest.dropFirst(authority.count)))
    }

    /// Whether the host is a loopback address in digits. Names do not count, since a resolver may lead elsewhere.
    var isLoopback: Bool {
        host == "::1" || (NetworkPrefix.address(host)?.count == 4 && host.hasPrefix("127."))
    }

    private static func parts(_ authority: Substring) -> (host: Substring, port: UInt16?)? {
        let host: Substring
        let rest: Substring
        if authority.hasPrefix("[") {
            host = authority.dropFirst().prefix { $0 != "]" }
            rest = authority.dropFirst(host.count + 2)
            guard authority.contains("]"), NetworkPrefix.address(String(host))?.count == 16 else { return nil }
        } else {
            host = authority.prefix { $0 != ":" }
            rest = authority.dropFirst(host.count)
            guard !host.isEmpty, host.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) })
            else { return nil }
        }
        guard !rest.isEmpty else { return (host, nil) }
        let digits = rest.dropFirst()
        guard rest.first == ":", digits.first != "0", digits.allSatisfy({ $0.isASCII && $0.isNumber }),
            let port = UInt16(digits)
        else { return nil }
        return (host, port)
    }
}

/// The same rules for JSON Schema, as far as it can say them.
extension PlainURL {
    private static let portPattern =
        ":([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
    private static let hostPattern = "([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\\])"
    private static let loopbackPattern = "(127(\\.[0-9]{1,3}){3}|\\[::1\\])"
    private static let pathPattern = "(/[^?#@\\\\\"<>\\s]*)?"

    static let endpointPattern =
        "^(https://\(hostPattern)|http://\(loopbackPattern))(\(portPattern))?\(pathPattern)$"
    static let proxyPattern = "^http://\(hostPattern)\(portPattern)$"
}

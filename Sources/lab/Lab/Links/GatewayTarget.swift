package import CommandFrame
internal import HTTPClient
internal import Settings
internal import Traffic

/// The address at which stock clients find a gateway, and the secret with which their backends prove themselves there.
package struct GatewayTarget {
    /// The address without a slash at the end.
    package let base: String
    /// The secret of the backends; nil = they make no calls.
    package var secret: String?
    /// A PEM file; nil = the system's certificates.
    var authorities: String?

    private static let mostSecretBytes = 4_096

    package init(base: String) { self.base = base }

    /// - Returns: nil without `--via`.
    package init?(_ arguments: Arguments) throws {
        guard let url = arguments.string("--via") else {
            for name in ["--verifier-secret", "--ca-file", "--connections"] where arguments.has(name) {
                throw UsageFault("\(name) needs --via.")
            }
            return nil
        }
        guard let base = Self.base(url) else {
            throw UsageFault(
                "--via must be a gateway's address such as http://127.0.0.1:8080 or https://host, not '\(url.printable)'."
            )
        }
        self.base = base
        secret = try arguments.string("--verifier-secret").map(Self.secret)
        authorities = arguments.string("--ca-file")
        if let authorities { _ = try WholeFile.read(authorities, most: 1) }
    }

    /// A scheme, a host and perhaps a path: no user, no query.
    static func base(_ url: String) -> String? {
        guard let scheme = ["http://", "https://"].first(where: { url.lowercased().hasPrefix($0) }) else { return nil }
        var rest = url.dropFirst(scheme.count)
        while rest.last == "/" { rest.removeLast() }
        let isPlain = rest.utf8.allSatisfy { (0x21...0x7E).contains($0) && !#"@?#"<>\^`{|}"#.utf8.contains($0) }
        guard isPlain, let first = rest.first, first != "/", first != ":" else { return nil }
        return scheme + rest
    }

    private static func secret(_ path: String) throws -> String {
        let bytes = try WholeFile.read(path, most: mostSecretBytes)
        let line = bytes.last == 0x0A ? bytes.dropLast() : bytes[...]
        guard !line.isEmpty, bytes.count <= mostSecretBytes, line.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ConfigurationFault(
                "\(path.printable) is not a secret: it must be one line of visible ASCII, "
                    + "at most \(mostSecretBytes) bytes."
            )
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// - Parameter tag: of this call alone.
    func request(_ call: StockMember.Call, tag: UInt64) -> ClientCall {
        var headers = call.web.headers
        if case .backend = call.asker, let secret { headers.append(("Authorization", "Bearer \(secret)")) }
        return ClientCall(tag: tag, method: .post, url: base + call.web.path, headers: headers, body: call.web.body)
    }
}

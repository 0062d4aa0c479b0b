internal import AppAttest
internal import AppCheck
internal import DeviceLab

/// A call as its client sends it to a gateway: always a POST.
package struct WebCall: Sendable {
    /// The path with the leading slash, escaped, without host.
    package let path: String
    package let headers: [(name: String, value: String)]
    /// Empty for a challenge.
    package let body: [UInt8]

    private static let json = (name: "Content-Type", value: "application/json")

    /// A call of the iOS SDK; an own hook of the app adds the headers for the rollout.
    ///
    /// Source: google/app-check, GACAppAttestAPIService.m and GACAppCheckAPIService.m.
    init(_ call: StockCall, of app: RegisteredApp, isOAuthClient: Bool) {
        path = Self.escape(call.path)
        body = call.body ?? []
        var headers: [(name: String, value: String)] = []
        // Google Sign-In has no key.
        if !isOAuthClient, let key = app.apiKeys?.min(by: ExactText.isBefore) {
            headers.append(("X-Goog-Api-Key", key.shown))
        }
        if let bundle = Self.bundle(of: app) { headers.append(("X-Ios-Bundle-Identifier", bundle)) }
        if call.body != nil { headers.append(Self.json) }
        headers.append(("X-Installation-Id", call.installationID))
        if call.kind == .challengeForAttestation { headers.append(("X-App-Attest-Handshake", "attestation")) }
        self.headers = headers
    }

    /// A call of the app's backend, which authenticates itself.
    init(path: String, body: [UInt8]) {
        self.path = Self.escape(path)
        self.body = body
        headers = [Self.json]
    }

    /// The App ID after the team's id.
    private static func bundle(of app: RegisteredApp) -> String? {
        guard let id = app.expectations.appIDs.first?.text, let dot = id.firstIndex(of: ".") else { return nil }
        return String(id[id.index(after: dot)...])
    }

    /// Escapes as `NSURL` does: what RFC 3986 allows in a path stays as it is, the colons of app ids included.
    static func escape(_ path: String) -> String {
        path.utf8.reduce(into: "") { text, byte in
            if allowed.contains(byte) {
                text.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                text += "%" + Hexadecimal.encode([byte]).uppercased()
            }
        }
    }

    private static let allowed = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/".utf8
    )
}

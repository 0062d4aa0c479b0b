internal import HTTP
internal import Settings

/// Who sends a call, as far as it proves it.
struct Caller {
    /// Whether the peer is a proxy whose headers are believed.
    let isTrustedProxy: Bool
    /// The verifier's name, by its secret or by a trusted proxy's word; nil for everyone else.
    let verifier: String?
    /// Whether it showed the verifier's secret. A proxy that names its clients passes their headers on too.
    let hasSecret: Bool

    init(_ call: HTTPCall, _ settings: GatewaySettings, _ verifiers: Verifiers) {
        let isTrustedProxy = settings.trusts(call.peer.bytes)
        let holder = Self.bearer(call).flatMap { verifiers.name(secret: $0) }
        (self.isTrustedProxy, hasSecret) = (isTrustedProxy, holder != nil)
        verifier = holder ?? (isTrustedProxy ? Self.named(call, settings) : nil)
    }

    /// RFC 6750: the scheme in any case, a blank, the secret. Two such headers name no caller.
    private static func bearer(_ call: HTTPCall) -> ArraySlice<UInt8>? {
        let values = call.values("authorization")
        guard values.count == 1, let value = values.first, value.count > 7,
            String(decoding: value[..<7], as: UTF8.self).lowercased() == "bearer "
        else { return nil }
        return value[7...].drop { $0 == 0x20 }
    }

    private static func named(_ call: HTTPCall, _ settings: GatewaySettings) -> String? {
        guard !settings.verifierHeader.isEmpty else { return nil }
        let values = call.values(settings.verifierHeader.lowercased())
        guard values.count == 1 else { return nil }
        return settings.verifierNames.first { values[0].elementsEqual($0.utf8) }
    }
}

extension GatewaySettings {
    /// Whether an address is that of a proxy whose headers are believed.
    func trusts(_ address: [UInt8]) -> Bool { trustedProxies.contains { $0.contains(address) } }
}

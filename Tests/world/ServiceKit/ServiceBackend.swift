internal import AppAttest
internal import AppCheck
internal import DeviceLab
internal import HTTP
internal import JSON
internal import SimulationKit

/// An app's backend: it verifies tokens by a clock of its own without leeway, and by a key set that it keeps as the common
/// libraries do, or lets the gateway use them up.
final class ServiceBackend {
    /// How long a backend caches a key set, and the pause before it fetches one again for an unknown `kid`.
    private static let life: Int64 = 6 * 3_600_000
    private static let pause: Int64 = 30_000
    /// How often a backend tries a call.
    private static let mostTries = 4

    private struct Waiting {
        let token: [UInt8]
        let device: String
        let since: Int64
    }

    let name: String
    let clock = ServiceClock()
    private unowned let world: ServiceWorld
    private var keys: VerificationKeys?
    private var fetchedAt: Int64 = 0
    private var triedAt: Int64 = .min / 2
    private var isFetching = false
    private var waiting: [Waiting] = []
    private var open = 0

    init(_ name: String, _ world: ServiceWorld) { (self.name, self.world) = (name, world) }

    var rests: Bool { !isCalling && waiting.isEmpty }

    var isCalling: Bool { open > 0 || isFetching }

    /// When it fetches the key set again; nil = no token waits for it.
    var fetchesAt: Int64? { waiting.isEmpty ? nil : triedAt + Self.pause }

    private var now: Int64 { world.broker.time + clock.ahead }

    func move() {
        clock.tick(world.now)
        if !waiting.isEmpty, !isFetching, world.now - triedAt >= Self.pause { fetch() }
    }

    /// A device presents a token.
    func present(_ token: [UInt8], by device: String) {
        if let keys, now - fetchedAt < Self.life, Self.knows(token, keys) {
            return verify(token, keys, device, world.now)
        }
        waiting.append(Waiting(token: token, device: device, since: world.now))
        if !isFetching, world.now - triedAt >= Self.pause { fetch() }
    }

    private static func knows(_ token: [UInt8], _ keys: VerificationKeys) -> Bool {
        kid(of: token).map { keys.publicKey($0) != nil } ?? false
    }

    static func kid(of token: [UInt8]) -> String? { part(0, of: token)?["kid"]?.string }

    static func id(of token: [UInt8]) -> String? { part(1, of: token)?["jti"]?.string }

    /// The app, or the OAuth client.
    static func subject(of token: [UInt8]) -> String? { part(1, of: token)?["sub"]?.string }

    /// The end of its life, in seconds since 1970.
    static func expiry(of token: [UInt8]) -> Int64 { part(1, of: token)?["exp"]?.integer ?? 0 }

    private static func part(_ index: Int, of token: [UInt8]) -> JSONNode? {
        let parts = token.split(separator: UInt8(ascii: "."))
        guard parts.count == 3, let bytes = Base64.decode(Array(parts[index])) else { return nil }
        return try? JSONDocument(parsing: bytes).root
    }

    private func fetch() {
        (isFetching, triedAt) = (true, world.now)
        _ = world.call("GET", "/v1/jwks", [], []) { [weak self] reply in self?.fetched(reply) }
    }

    private func fetched(_ reply: HTTPReply?) {
        isFetching = false
        guard let reply, reply.status == 200 else { return }
        guard let set = try? VerificationKeys(jsonWebKeySet: reply.body) else {
            return world.complain("\(name) cannot read the key set")
        }
        (keys, fetchedAt) = (set, now)
        let all = waiting
        waiting = []
        for item in all { verify(item.token, set, item.device, item.since) }
    }

    private func verify(_ token: [UInt8], _ keys: VerificationKeys, _ device: String, _ since: Int64) {
        let verdict = TokenVerifier(publicKeys: keys).verify(
            token,
            projectNumber: ServiceFiles.project,
            projectID: ServiceFiles.projectID,
            at: EvaluationTime(milliseconds: now)
        ) { _ in true }
        switch verdict {
        case .success(let claims) where claims.issuedAt * 1_000 > now:
            world.noteRefused(
                token,
                "issued in \(claims.issuedAt * 1_000 - now) ms",
                since: since,
                by: self,
                of: device
            )
        case .success: world.noteAccepted(token, by: self)
        case .failure(let fault): world.noteRefused(token, "\(fault)", since: since, by: self, of: device)
        }
    }

    /// A proxy in front of the backend asks the gateway whether the token is one.
    func ask(about token: [UInt8]) {
        open += 1
        _ = world.call("GET", "/v1/verify", [HTTPHeader(name: Array("x-firebase-appcheck".utf8), value: token)], []) {
            [weak self] reply in
            guard let self else { return }
            open -= 1
            if let reply { world.noteVerified(token, reply, by: self) }
        }
    }

    // MARK: consume

    /// Lets the gateway use a token up. Retries carry the same idempotency key.
    func consume(_ token: [UInt8], use: Int) {
        open += 1
        consume(token, key: "use-\(use)", tries: Self.mostTries)
    }

    private func consume(_ token: [UInt8], key: String, tries: Int) {
        var body = StockBody()
        body.add("app_check_token", text: token)
        var order = SeededRandom(seed: 0)
        let id = Self.id(of: token) ?? ""
        let headers = [
            HTTPHeader("authorization", "Bearer \(ServiceFolder.secret)"),
            HTTPHeader("idempotency-key", "\(id)-\(key)"),
        ]
        let path = "/v1beta/projects/\(ServiceFiles.projectID):verifyAppCheckToken"
        _ = world.call("POST", path, headers, body.bytes(using: &order)) { [weak self] reply in
            guard let self else { return }
            let answer = reply.flatMap { $0.status < 500 ? $0 : nil }
            if answer != nil || tries == 1 { open -= 1 }
            if let answer { return world.noteConsumed(token, answer, key, by: self) }
            guard tries > 1 else { return world.noteWithoutOutcome(id, by: self) }
            world.later(2_000) { [weak self] in self?.consume(token, key: key, tries: tries - 1) }
        }
    }
}

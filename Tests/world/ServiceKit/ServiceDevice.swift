internal import AppAttest
internal import AppCheck
internal import DeviceLab
internal import HTTP
internal import SimulationKit

/// A phone with one app, which asks Google's stock client for tokens and presents them to backends.
final class ServiceDevice {
    enum Kind: Sendable {
        /// The app itself, and its App Clip, which attests by the app's App ID.
        case app, clip
        /// It forges its objects: it never gets a token.
        case forger
    }

    /// The pause before an app asks again, in milliseconds.
    private static let pause: ClosedRange<Int64> = 500...90_000

    let name: String
    let kind: Kind
    let app: String
    let clock = ServiceClock()
    private unowned let world: ServiceWorld
    private let appleID: String
    private var client: StockClient
    /// The open call; nil = none.
    private var call: ServiceCall?
    /// The call that it sends once Apple has answered; nil = none.
    private var prepared: StockCall?
    /// The key by which it got a token last.
    private(set) var keyID: KeyID?
    /// A gateway made its challenge before it could know that its clock is wrong.
    private(set) var hasDoubtfulChallenge = false
    /// How far ahead the clocks of the gateways are that issued its challenge and answered it, in milliseconds.
    private(set) var challengeAhead: Int64 = 0, answerAhead: Int64 = 0
    /// When it asked for its challenge.
    private(set) var challengedAt: Int64 = 0
    private(set) var asksAt: Int64
    /// When it first asked for the token that it still lacks; nil = it lacks none.
    private(set) var wishedAt: Int64?
    private(set) var lastToken: Int64?

    init(_ name: String, _ kind: Kind, app: ServiceFiles.App, _ world: ServiceWorld) {
        (self.name, self.kind, self.app, self.world) = (name, kind, app.id, world)
        appleID = app.appleIDs.randomElement(using: &world.random) ?? ""
        client = Self.install(kind, app.id, appleID, world)
        asksAt = world.now + Int64(world.dice(5_000))
    }

    private static func install(_ kind: Kind, _ app: String, _ appleID: String, _ world: ServiceWorld) -> StockClient {
        let model = DeviceModel(ca: world.ca, appID: appleID)
        let resource = StockClient.resource(projectID: ServiceFiles.projectID, appID: app)
        var client = StockClient(model, resource: resource, seed: world.random.next())
        if kind == .forger { client.attestationFault = AttestationFault.allCases.first { $0.name == "nonce-flipped" } }
        return client
    }

    private var time: EvaluationTime { EvaluationTime(milliseconds: world.broker.time + clock.ahead) }

    /// Whether nothing of it is under way.
    var rests: Bool { call == nil && prepared == nil }

    func move() {
        clock.tick(world.now)
        if let next = prepared, call == nil, world.now >= asksAt {
            prepared = nil
            return send(next)
        }
        // In a calm world each device asks until it has one more token.
        guard rests, world.now >= asksAt, world.isChaotic || world.isWanting(self) else { return }
        if world.isChaotic, world.dice(60) == 0 { return reinstall() }
        if world.isChaotic, world.dice(40) == 0 { client.restart() }
        wishedAt = wishedAt ?? world.now
        take(client.want(limitedUse: world.dice(3) == 0, at: time))
    }

    private func reinstall() {
        client = Self.install(kind, app, appleID, world)
        world.note(name, "is reinstalled")
    }

    private func take(_ reply: StockReply) {
        for outcome in reply.outcomes { take(outcome) }
        guard let next = reply.call else { return }
        guard next.kind == .attestation || next.kind == .assertion else { return send(next) }
        // Apple or the phone is slow: mostly nearly as long as a challenge lives.
        let pause = world.isChaotic && world.dice(3) == 0 ? world.plan.challengeSeconds * (600 + world.dice(380)) : 0
        (prepared, asksAt) = (next, world.now + Int64(pause))
    }

    private func take(_ outcome: StockOutcome) {
        asksAt = world.now + Int64.random(in: Self.pause, using: &world.random)
        switch outcome {
        case .token(let token):
            (wishedAt, lastToken) = (nil, world.now)
            world.noteToken(token, of: self)
        case .cached: wishedAt = nil
        case .backingOff(let until):
            // By the device's own clock.
            asksAt = max(asksAt, until.milliseconds - clock.ahead - world.broker.time + world.now)
        case .refused(let status): world.noteRefusal(status, of: self)
        case .unreadable(let problem): world.noteUnreadable(problem, of: self)
        case .disconnected: break
        }
    }

    private func send(_ next: StockCall) {
        if next.body == nil { challengedAt = world.now }
        let headers = [
            HTTPHeader("x-ios-bundle-identifier", bundle), HTTPHeader("x-installation-id", next.installationID),
        ]
        let handshake =
            next.kind == .challengeForAttestation ? [HTTPHeader("x-app-attest-handshake", "attestation")] : []
        world.note(name, "asks: \(next.kind)")
        call = world.call("POST", next.path, headers + handshake, next.body ?? []) { [weak self] reply in
            self?.answered(reply, to: next, headers)
        }
    }

    private func answered(_ reply: HTTPReply?, to asked: StockCall, _ headers: [HTTPHeader]) {
        if call?.reply?.status == 200 { world.noteHeard(asked, headers) }
        if let call, asked.body == nil { (hasDoubtfulChallenge, challengeAhead) = (call.isDoubtful, call.ahead) }
        answerAhead = call?.ahead ?? 0
        call = nil
        guard let reply else { return take(client.disconnect(at: time)) }
        world.noteAnswer(reply, to: asked, of: self)
        if reply.status == 200, asked.body != nil { keyID = asked.keyID }
        client.appleTime = EvaluationTime(milliseconds: world.broker.time)
        take(client.answer(status: reply.status, body: reply.body, at: time))
    }

    private var bundle: String {
        let own = String(appleID.drop { $0 != "." }.dropFirst())
        return kind == .clip ? own + ".Clip" : own
    }
}

extension HTTPHeader {
    init(_ name: String, _ value: String) { self.init(name: Array(name.utf8), value: Array(value.utf8)) }
}

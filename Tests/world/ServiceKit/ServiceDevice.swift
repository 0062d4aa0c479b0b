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
        /// It forges its attestations: it never gets a token.
        case forger
        /// It attests validly, then forges assertions or signs a used challenge again.
        case cheat

        var isHonest: Bool { self == .app || self == .clip }
    }

    /// The pause before an app asks again, in milliseconds.
    private static let pause: ClosedRange<Int64> = 500...90_000

    let name: String
    let kind: Kind
    let app: String
    let clock = ServiceClock()
    private unowned let world: ServiceWorld
    let appleID: String
    /// The OAuth client by which Google Sign-In calls, which wants tokens for one use only; nil = the app's own calls.
    private let oauthClient: String?
    private var client: StockClient
    /// What a dishonest device does; nil = it is honest.
    private let faults: FaultPool?
    /// Whether its next assertion is over a used challenge; the answer that brought that one, and the last.
    private var repeatsChallenge = false, usedChallenge: [UInt8]?, lastChallenge: [UInt8]?
    /// Whether its last object was right.
    private(set) var isRight = true
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
    /// How often it has been refused since then.
    private(set) var refusals = 0
    private(set) var lastToken: Int64?

    init(_ name: String, _ kind: Kind, app: ServiceFiles.App, _ world: ServiceWorld) {
        (self.name, self.kind, self.app, self.world) = (name, kind, app.id, world)
        appleID = app.appleIDs.randomElement(using: &world.random) ?? ""
        oauthClient = app.clients.randomElement(using: &world.random).flatMap { world.dice(2) == 0 ? $0 : nil }
        client = Self.install(app.id, oauthClient, appleID, world)
        faults = kind.isHonest ? nil : FaultPool(.ios27_0_1, [kind == .forger ? .attestation : .assertion])
        asksAt = world.now + Int64(world.dice(5_000))
    }

    private static func install(
        _ app: String,
        _ client: String?,
        _ appleID: String,
        _ world: ServiceWorld
    ) -> StockClient {
        let model = DeviceModel(ca: world.ca, appID: appleID)
        let own = StockClient.resource(projectID: ServiceFiles.projectID, appID: app)
        let resource = client.map { StockClient.resource(oauthClientID: $0) } ?? own
        return StockClient(model, resource: resource, seed: world.random.next())
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
        if world.isChaotic, world.dice(60) == 0 { restore() }
        wishedAt = wishedAt ?? world.now
        if let faults { cheat(faults.draw(world.random.next())) }
        take(client.want(limitedUse: oauthClient != nil || world.dice(3) == 0, at: time))
    }

    private func reinstall() {
        client = Self.install(app, oauthClient, appleID, world)
        world.note(name, "is reinstalled")
    }

    private func restore() {
        client.restoreFromBackup()
        world.note(name, "comes to a new phone from a backup")
    }

    private func cheat(_ fault: FleetFault) {
        (client.assertionFault, repeatsChallenge) = (nil, false)
        switch fault {
        // The commonest is over another challenge, as a stolen one is.
        case .attestation(let fault): client.attestationFault = world.dice(2) == 0 ? .nonceFlipped : fault
        case .assertion(let fault): client.assertionFault = fault
        case .replay: repeatsChallenge = true
        }
        world.note(name, "tries \(client.attestationFault?.name ?? fault.name)")
    }

    /// The challenge that it signs: a dishonest device may take a used one again.
    private func challenge(in body: [UInt8], for next: StockCall.Kind) -> [UInt8] {
        let repeated = repeatsChallenge && next == .challengeForAssertion ? usedChallenge : nil
        isRight =
            kind.isHonest
            || kind == .cheat && repeated == nil && (client.assertionFault == nil || next == .challengeForAttestation)
        lastChallenge = repeated ?? body
        return repeated ?? body
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
            (wishedAt, lastToken, refusals) = (nil, world.now, 0)
            world.noteToken(token, of: self)
        case .cached: (wishedAt, refusals) = (nil, 0)
        case .backingOff(let until):
            // By the device's own clock.
            asksAt = max(asksAt, until.milliseconds - clock.ahead - world.broker.time + world.now)
        case .refused(let status):
            refusals += 1
            world.noteRefusal(status, of: self)
        case .unreadable(let problem): world.noteUnreadable(problem, of: self)
        case .disconnected, .keyIsElsewhere: break
        }
    }

    private func send(_ next: StockCall) {
        if next.body == nil { challengedAt = world.now }
        let own = oauthClient == nil ? [HTTPHeader("x-ios-bundle-identifier", bundle)] : []
        let headers = own + [HTTPHeader("x-installation-id", next.installationID)]
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
        let isChallenge = asked.body == nil && reply.status == 200
        if reply.status == 200, asked.body != nil { usedChallenge = lastChallenge }
        let body = isChallenge ? challenge(in: reply.body, for: asked.kind) : reply.body
        take(client.answer(status: reply.status, body: body, at: time))
    }

    private var bundle: String {
        let own = String(appleID.drop { $0 != "." }.dropFirst())
        return kind == .clip ? own + ".Clip" : own
    }
}

extension HTTPHeader {
    init(_ name: String, _ value: String) { self.init(name: Array(name.utf8), value: Array(value.utf8)) }
}

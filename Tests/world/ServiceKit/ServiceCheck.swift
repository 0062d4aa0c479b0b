internal import AppCheck
internal import DeviceLab
internal import Gateway
internal import HTTP
internal import JSON
internal import Pipeline
internal import SimulationKit
internal import Streams
internal import Telemetry

/// Checks promises as things happen. The page Promises has the sentences.
extension ServiceWorld {
    func note(_ actor: String, _ text: @autoclosure () -> String) {
        guard account.story != nil else { return }
        let milliseconds = String(now % 1_000 + 1_000).dropFirst()
        let text = text().replacing(folder.path, with: "DIR")
        account.story?.append("\(now / 1_000).\(milliseconds) \(actor): \(text)")
    }

    func complain(_ sentence: String) {
        note("complaint", sentence)
        account.complain(sentence)
    }

    func hear(_ event: LogEvent, from name: String) {
        note(name, "logs \(event.name.rawValue): \(event.message)")
        account.hear(event, at: now)
        if event.name == .gatewayUnknownKey { account.unknownKeyLine = now }
        // The operator restarts a process that refuses a file: an app that it started with is gone.
        if event.name == .configurationRefused {
            refusing.insert(name)
            if !isChaotic { later(200) { [unowned self] in restartRefusing() } }
            // The right files lack what a wrong one had.
            let isStep = ["no longer listed", "was the first", "was active"].contains(where: event.message.contains)
            if !isChaotic, !isStep { complain("refused: \(name) \(event.message)") }
        }
        let isWhole = event.message.hasPrefix("the configuration is reloaded")
        if event.name == .configurationReloaded, isWhole { refusing.remove(name) }
    }

    /// A program that does not start logs why.
    func hearRefusal(of name: String) { account.lastFaultLine = now }

    func noteWritten(_ record: InboundRecord) {
        account.written.append(record)
        note(
            "requests",
            "\(record.partition)/\(record.offset) is written: \(Self.verb(of: record)), \(Self.challenge(of: record)?.suffix(12) ?? "")"
        )
    }

    private static func verb(of record: InboundRecord) -> String {
        let path = (try? JSONDocument(parsing: record.value ?? []).root)?["path"]?.string
        return path.flatMap { $0.split(separator: ":").last.map(String.init) } ?? "no verb"
    }

    static func challenge(of record: InboundRecord) -> String? {
        (try? JSONDocument(parsing: record.value ?? []).root)?["body"]?["challenge"]?.string
    }

    // MARK: devices

    /// Promise: no healthy device is silenced, and none loses its key.
    func noteAnswer(_ reply: HTTPReply, to call: StockCall, of device: ServiceDevice) {
        if reply.status != 200 { note(device.name, "gets \(reply.status) for \(call.kind)") }
        guard device.kind.isHonest, !files.retires(device.app) else { return }
        switch reply.status {
        case 400, 404: complain("silenced: \(device.name), healthy, gets \(reply.status) for \(call.kind)")
        case 403 where call.body != nil && mayBeRefused(device, call): break
        case 403: complain("key lost: \(device.name), healthy, gets 403 for \(call.kind)")
        default: break
        }
    }

    /// Whether the device was slow, its gateway could not know yet that its clock is wrong, or an operator banned or forgot
    /// its key.
    private func mayBeRefused(_ device: ServiceDevice, _ call: StockCall) -> Bool {
        // At a refresh it keeps its key, and only backs off.
        let isListed = desks.values.allSatisfy { $0.files.apps.contains { $0.appleIDs.contains(device.appleID) } }
        return device.hasDoubtfulChallenge || call.kind == .assertion && !isListed || mayBeLate(device)
            || call.kind == .assertion && device.lastToken ?? -1 < account.forgottenSince ?? .min
            || (call.keyID.map { account.touched.contains($0.recordKey) } ?? false)
    }

    /// Whether a challenge has expired by the clock of the gateway that answers; beyond the tolerance the brokers' counts.
    private func mayBeLate(_ device: ServiceDevice) -> Bool {
        func seen(_ ahead: Int64) -> Int64 { abs(ahead) > clockTolerance ? 0 : ahead }
        let age = now - device.challengedAt + seen(device.answerAhead) - seen(device.challengeAhead)
        return age > Int64(plan.challengeSeconds) * 1_000 - 1_000
    }

    private var clockTolerance: Int64 { min(60_000, Int64(plan.challengeSeconds) * 250) }

    /// Promise: nothing that is broken for long is silent.
    func noteRefusal(_ status: Int, of device: ServiceDevice) {
        guard status >= 500, device.kind.isHonest, let since = device.wishedAt, now - since > 600_000,
            device.refusals > 2
        else { return }
        // Nothing has happened to the group for long, either.
        if account.lastFaultLine < since, now - account.lastGroupLine > 300_000 {
            complain("silent: \(device.name) is refused with \(status) for 10 min, and no log says why")
        }
    }

    func noteUnreadable(_ problem: String, of device: ServiceDevice) {
        complain("unreadable: \(device.name) cannot read an answer: \(problem)")
    }

    func noteToken(_ token: StockToken, of device: ServiceDevice) {
        if !device.isRight { complain("false accept: \(device.name) forges, and gets a token") }
        let bytes = Array(token.text.utf8)
        // The file is on its way to the workers, and requests are.
        if let since = ServiceBackend.kid(of: bytes).flatMap({ account.revoked[$0] }),
            now - since > plan.arrival + 40_000
        {
            complain("revoked: \(device.name) gets a token by a key that was revoked \((now - since) / 1_000) s ago")
        }
        guard let backend = backends.randomElement(using: &random) else { return }
        note(device.name, "presents token \(Self.short(bytes)) to \(backend.name)")
        if dice(3) == 0 { backend.ask(about: bytes) } else { backend.present(bytes, by: device.name) }
        guard token.isLimitedUse else { return }
        backend.consume(bytes, use: 1)
        if dice(2) == 0 {
            let second = backends.randomElement(using: &random)
            later(Int64(dice(3_000))) { second?.consume(bytes, use: 2) }
        }
    }

    // MARK: backends

    /// The first characters of a token's id, as stories name it.
    private static func short(_ token: [UInt8]) -> Substring { (ServiceBackend.id(of: token) ?? "").prefix(8) }

    func noteAccepted(_ token: [UInt8], by backend: ServiceBackend) { account.noteAccepted() }

    /// Promise: a fresh token is accepted by each backend whose clock is right, at once.
    func noteRefused(_ token: [UInt8], _ why: String, since: Int64, by backend: ServiceBackend, of device: String) {
        note(backend.name, "refuses token \(Self.short(token)) of \(device): \(why)")
        // Where the brokers are further behind, workers judge one record in a minute, at the brokers' time.
        guard trueAhead <= 60_000, backend.clock.isRight(trueAhead), now - since < 60_000, now - shiftedAt > 60_000
        else { return }
        guard areDesksSteady else { return }
        let kid = ServiceBackend.kid(of: token) ?? ""
        let isUnknown = why == "unknownKey"
        if isUnknown, account.early.contains(kid) { return noteUnknown(kid, why) }
        guard !isUnknown || account.revoked[kid] == nil else { return }
        complain("fresh token refused: \(backend.name), whose clock is right, says '\(why)' of a token of \(device)")
    }

    /// Promise: nothing that is broken for long is silent. A gateway looks at one token in a second, and logs once in a minute.
    private func noteUnknown(_ kid: String, _ why: String) {
        let since = account.unknownSince[kid] ?? now
        account.unknownSince[kid] = since
        guard now - since > 200_000, now - account.unknownKeyLine > 200_000, why == "unknownKey" else { return }
        complain(
            "silent: tokens by \(kid) are refused for \((now - since) / 1_000) s, and no gateway says that its key set lacks it"
        )
    }

    /// Promise: a used token never passes again.
    func noteConsumed(_ token: [UInt8], _ reply: HTTPReply, _ key: String, by backend: ServiceBackend) {
        let id = ServiceBackend.id(of: token) ?? ""
        let isConsumed = (try? JSONDocument(parsing: reply.body).root["alreadyConsumed"]?.bool) == true
        note(
            backend.name,
            "uses token \(Self.short(token)) up (\(key)): \(reply.status)\(isConsumed ? ", already consumed" : "")"
        )
        if reply.status == 200 { account.meet("consumed") }
        if reply.status < 500, reply.status != 200 { noteUseRefused(token, reply, by: backend) }
        if reply.status == 200, isConsumed { account.foundUsed.insert(id) }
        guard reply.status == 200, !isConsumed else { return }
        account.used[id, default: []].insert(key)
        if account.used[id]?.count ?? 0 > 1 {
            complain("used twice: \(backend.name) may use token \(Self.short(token)) again")
        }
    }

    /// Whether no worker's clock was set lately: one that is set while a batch is judged mints by both times.
    private var areDesksSteady: Bool { desks.values.allSatisfy { now - $0.clock.since > 30_000 } }

    /// Whether a token lives, its key and app are those that all gateways have, and nobody's clock was set lately.
    private func isKnown(_ token: [UInt8]) -> Bool {
        let (kid, subject) = (ServiceBackend.kid(of: token) ?? "", ServiceBackend.subject(of: token) ?? "")
        let isRolledOut = gateways.allSatisfy { $0.files.keySet.contains(kid) }
        let isLiving = ServiceBackend.expiry(of: token) * 1_000 > broker.time
        return isLiving && account.revoked[kid] == nil && isRolledOut && !files.retires(subject) && areDesksSteady
            && now - shiftedAt > 60_000
    }

    /// Promise: a fresh token is one at each gateway that lists its app.
    func noteVerified(_ token: [UInt8], _ reply: HTTPReply, by backend: ServiceBackend) {
        note(backend.name, "hears of token \(Self.short(token)): \(reply.status)")
        if reply.status == 200 { return account.noteAccepted() }
        let subject = ServiceBackend.subject(of: token) ?? ""
        let isListed = gateways.allSatisfy { gateway in
            let isRight = gateway.lists(subject) && !refusing.contains(gateway.name)
            return isRight && abs(gateway.clock.ahead) < 1_000
        }
        guard reply.status < 500, isKnown(token), isListed else { return }
        complain("fresh token refused: a gateway says \(reply.status) of token \(Self.short(token))")
    }

    private func noteUseRefused(_ token: [UInt8], _ reply: HTTPReply, by backend: ServiceBackend) {
        guard reply.status != 403 || isKnown(token) else { return }
        complain("fresh token refused: \(backend.name) may not use token \(Self.short(token)): \(reply.status)")
    }

    func noteWithoutOutcome(_ id: String, by backend: ServiceBackend) {
        account.withoutOutcome.insert(id)
        guard let calmSince, now - calmSince > 120_000 else { return }
        complain("fresh token refused: \(backend.name) cannot use token \(id.prefix(8)) up, although all is well")
    }

    // MARK: fitness

    /// Promise: a gateway that calls itself unfit names the cause.
    func check(_ unfitness: String, of gateway: ServiceGateway) {
        let isTrue: Bool
        switch unfitness {
        case _ where unfitness.contains("machine's clock"): isTrue = abs(gateway.clock.ahead) > clockTolerance - 5_000
        case _ where unfitness.contains("no broker"): isTrue = gateway.isCutOff || gateway.wasCutOff(within: 30_000)
        case _ where unfitness.contains("lists no app"): isTrue = gateway.listsNoApp(within: 10_000)
        case _ where unfitness.contains("no answer on"): isTrue = gateway.run?.timeouts ?? 0 > 2
        default: isTrue = false
        }
        if !isTrue { complain("wrongly blamed: \(gateway.name) says '\(unfitness)'") }
    }
}

/// Checks promises at the end of a seed.
struct ServiceCheck {
    private let world: ServiceWorld
    private(set) var complaints: [String] = []

    init(_ world: ServiceWorld) {
        self.world = world
        checkResults()
        checkUses()
        checkSecrecy()
    }

    /// Promises: each request has one result; a used challenge never passes again; a banned key gets no token.
    private mutating func checkResults() {
        var results: [RecordPlace: [OutboundRecord]] = [:]
        for stream in [OutputTopic.results, .deadLetters] {
            for output in world.broker.visible(stream).values.joined() {
                let place = RecordPlace(partition: output.partition, offset: output.sourceOffset)
                results[place, default: []].append(output)
            }
        }
        let account = world.account
        for (index, record) in account.written.enumerated() {
            if account.forgottenAt.contains(index) { account.banned = [] }
            let place = RecordPlace(partition: record.partition, offset: record.offset)
            let name = "\(place.partition)/\(place.offset)"
            let own = results[place] ?? []
            if let output = own.first, let result = try? ReadResult(output), let reason = result.reason {
                world.note(
                    "results",
                    "\(name) of \(record.timestamp - world.broker.time + world.now): \(reason)"
                )
            }
            if own.isEmpty, account.unjudged.contains(place) { continue }
            if own.count != 1 { complaints.append("results: request \(name) has \(own.count)") }
            if account.bans[place] != nil, own.first.flatMap({ try? ReadResult($0).verdict }) != "accepted" {
                complaints.append("banned: command \(name) is refused")
            }
            guard let output = own.first, output.stream == .results, let result = try? ReadResult(output),
                result.verdict == "accepted", !result.duplicate
            else { continue }
            if let key = record.key, let isBan = account.bans[place] {
                if isBan { account.banned.insert(key) } else { account.banned.remove(key) }
            } else if let key = record.key, account.banned.contains(key) {
                complaints.append("banned: request \(name) is accepted, whose key is banned")
            }
            guard
                let body = (try? JSONDocument(parsing: record.value ?? []).root)?["body"],
                let challenge = body["challenge"]?.string
            else { continue }
            account.passed[challenge, default: 0] += 1
            if account.passed[challenge] == 2 {
                complaints.append("used twice: the challenge of request \(name) passed before")
            }
        }
    }

    /// Promise: a token stands on no topic but those of tokens, replies and requests.
    private mutating func checkSecrecy() {
        // How every token of ours begins: {"kid":"
        let begin = Array("eyJraWQiOi".utf8)
        for stream in [OutputTopic.results, .events, .deadLetters, .ledger] {
            for record in world.broker.visible(stream).values.joined() where record.value?.contains(begin) ?? false {
                complaints.append("secret: a token stands on \(stream.rawValue), \(record.partition)")
            }
        }
    }

    /// Promise: a backend that retries its call gets the same answer.
    private mutating func checkUses() {
        let account = world.account
        for id in account.foundUsed.subtracting(account.used.keys).subtracting(account.withoutOutcome).sorted() {
            complaints.append("use lost: token \(id.prefix(8)) is used up, and nobody may use it")
        }
    }
}

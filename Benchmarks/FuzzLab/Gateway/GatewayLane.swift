internal import DeviceLab
internal import Foundation
internal import Gateway
internal import HTTP

/// Hostile clients in batches side by side, against servers that live for some batches each.
final class GatewayLane {
    private var random: SeededRandom
    private var number = 0
    private(set) var tally = GatewayTally()

    private static let (clients, batches) = (256, 12)

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// - Throws: where no server can be started.
    func run(until end: ContinuousClock.Instant) throws {
        while ContinuousClock.now < end, tally.mistakes.isEmpty {
            let lab = try LabGateway()
            let isStoppedAmid = random.below(2) == 0
            for batch in 0..<Self.batches where ContinuousClock.now < end {
                // Those that hold their connections wait for the server's deadlines, which takes long.
                play(lab, isHeld: batch % 3 == 0, isStopping: isStoppedAmid && batch == Self.batches - 1)
            }
            if !isStoppedAmid { judgeRest(lab) }
            lab.stop()
            tally.lives += 1
        }
    }

    private func play(_ lab: LabGateway, isHeld: Bool, isStopping: Bool) {
        var clients: [(visit: HostileVisit, client: HostileClient?)] = []
        for _ in 0..<Self.clients {
            let visit = HostileVisit.random(nextSource(), isHeld: isHeld, &random)
            lab.expect(visit.source, visit.answering)
            clients.append((visit, HostileClient(port: lab.server.port, from: visit.source)))
        }
        send(&clients)
        if isStopping {
            lab.stop()
        } else if !Self.isServed(lab) {
            tally.mistake("a healthy client is not served beside: \(clients.map(\.visit.text).prefix(3))")
        }
        for (visit, client) in clients {
            judge(lab, visit, client, isStopping: isStopping)
            lab.forget(visit.source)
        }
    }

    private func send(_ clients: inout [(visit: HostileVisit, client: HostileClient?)]) {
        let rounds = clients.map(\.visit.cuts.count).max() ?? 0
        for round in 1..<max(rounds, 1) {
            for index in clients.indices {
                let (visit, client) = clients[index]
                guard round < visit.cuts.count, let client else { continue }
                client.write(visit.bytes[visit.cuts[round - 1]..<visit.cuts[round]])
                guard round == visit.cuts.count - 1 else { continue }
                switch visit.ending {
                case .halfClose: client.finishWriting()
                case .hold: break
                case .abort:
                    client.abortAtEnd()
                    clients[index].client = nil
                }
            }
        }
    }

    // MARK: Judgement

    private func judge(_ lab: LabGateway, _ visit: HostileVisit, _ client: HostileClient?, isStopping: Bool) {
        tally.inputs += 1
        if visit.isHidden { tally.hidden += 1 }
        guard visit.ending != .abort else {
            tally.aborted += 1
            let seen = lab.calls(from: visit.source)
            tally.requests += seen.count
            if !visit.isHidden, let crime = visit.crime(seen: seen, nil) { tally.mistake("\(crime): \(visit.text)") }
            return
        }
        guard let client else { return tally.mistake("a client cannot connect") }
        let (crime, doubt) = look(lab, visit, client, isStopping: isStopping)
        if let crime { return tally.mistake("\(crime): \(visit.text)") }
        guard let doubt, !isStopping else { return }
        tally.retried += 1
        for _ in 0..<3 {
            let again = HostileVisit(nextSource(), visit.bytes, visit.answering, visit.ending)
            lab.expect(again.source, again.answering)
            guard let client = HostileClient(port: lab.server.port, from: again.source) else { continue }
            client.write(again.bytes[...])
            if again.ending == .halfClose { client.finishWriting() }
            let found = look(lab, again, client, isStopping: false)
            lab.forget(again.source)
            if found.crime == nil, found.doubt == nil { return }
        }
        tally.mistake("\(doubt): \(visit.text)")
    }

    private func look(
        _ lab: LabGateway,
        _ visit: HostileVisit,
        _ client: HostileClient,
        isStopping: Bool
    ) -> (crime: String?, doubt: String?) {
        let (bytes, end) = client.readAll()
        // The server calls its handler before it ends the connection, on one thread.
        let seen = lab.calls(from: visit.source)
        tally.requests += seen.count
        let answers = AnswerStream(bytes, methods: seen.map(\.method))
        if let refusal = answers.refusal { tally.refusals[refusal, default: 0] += 1 }
        if visit.isHidden { return (nil, end == .silent ? "the connection does not end" : nil) }
        // A server that stops answers open calls by itself.
        let crime = visit.crime(seen: seen, isStopping ? nil : answers)
        return (crime, visit.doubt(seen: seen, answers, end))
    }

    private static func isServed(_ lab: LabGateway) -> Bool {
        guard let client = HostileClient(port: lab.server.port, from: [127, 0, 0, 1]) else { return false }
        client.write(Array("GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".utf8)[...])
        let (bytes, end) = client.readAll()
        return end == .closed && bytes.starts(with: "HTTP/1.1 200 ".utf8)
    }

    /// Nothing stays open once every client has gone.
    private func judgeRest(_ lab: LabGateway) {
        for _ in 0..<500 {
            let counts = lab.server.counts
            if counts.openConnections == 0, counts.openCalls == 0, lab.gateway.counts.waiting == 0 { return }
            usleep(10_000)
        }
        tally.mistake("open at the end: \(lab.server.counts), \(lab.gateway.counts.waiting) calls wait")
    }

    /// An address of 127.0.0.0/8 that no client had lately.
    private func nextSource() -> [UInt8] {
        number += 1
        return [127, UInt8(16 + number >> 16 & 63), UInt8(number >> 8 & 255), UInt8(number & 255)]
    }
}

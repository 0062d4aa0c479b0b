internal import DeviceLab
internal import Foundation
internal import HostileHTTP

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
            let world = try HostileWorld(isStepped: false)
            let isStoppedAmid = random.below(2) == 0
            for batch in 0..<Self.batches where ContinuousClock.now < end {
                // Those that hold their connections wait for the server's deadlines, which takes long.
                play(world, isHeld: batch % 3 == 0, isStopping: isStoppedAmid && batch == Self.batches - 1)
            }
            if !isStoppedAmid, let rest = world.leftOpen(beside: 0) { tally.mistake(rest) }
            world.stop()
            tally[.lives] += 1
        }
    }

    private func play(_ world: HostileWorld, isHeld: Bool, isStopping: Bool) {
        var clients: [(visit: HostileVisit, client: HostileClient?)] = []
        for _ in 0..<Self.clients {
            let visit = randomVisit(isHeld: isHeld)
            world.expect(visit)
            clients.append((visit, HostileClient(port: world.port, from: visit.source)))
        }
        send(&clients)
        if isStopping {
            world.stop()
        } else if !Self.isServed(world) {
            tally.mistake("a healthy client is not served beside: \(clients.map(\.visit.text).prefix(3))")
        }
        for (visit, client) in clients {
            judge(world, visit, client, isStopping: isStopping)
            world.forget(visit.source)
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
                case .hold, .patient: break
                case .abort:
                    client.abortAtEnd()
                    clients[index].client = nil
                }
            }
        }
    }

    // MARK: Judgement

    private func judge(_ world: HostileWorld, _ visit: HostileVisit, _ client: HostileClient?, isStopping: Bool) {
        tally[.inputs] += 1
        if visit.isHidden { tally[.hidden] += 1 }
        guard visit.ending != .abort else {
            tally[.aborted] += 1
            let found = visit.outcome(world)
            tally[.requests] += found.seen
            if let crime = found.crime { tally.mistake("\(crime): \(visit.text)") }
            return
        }
        guard let client else { return tally.mistake("a client cannot connect") }
        let found = visit.outcome(world, client, isStopping: isStopping)
        tally[.requests] += found.seen
        if let refusal = found.refusal { tally[.refusals(refusal)] += 1 }
        if let crime = found.crime { return tally.mistake("\(crime): \(visit.text)") }
        guard let doubt = found.doubt, !isStopping else { return }
        tally[.retried] += 1
        for _ in 0..<3 {
            let again = HostileVisit(nextSource(), visit.bytes, visit.answering, visit.ending)
            world.expect(again)
            guard let client = HostileClient(port: world.port, from: again.source) else { continue }
            client.write(again.bytes[...])
            if again.ending == .halfClose { client.finishWriting() }
            let found = again.outcome(world, client)
            world.forget(again.source)
            if found.crime == nil, found.doubt == nil { return }
        }
        tally.mistake("\(doubt): \(visit.text)")
    }

    private func randomVisit(isHeld: Bool) -> HostileVisit {
        let bytes = HostileRequests.next(&random)
        let answering = random.below(2) == 0 ? .gateway : HostileWorld.Answering.allCases[random.below(4)]
        let isPatient = random.below(2) == 0
        let ending: HostileVisit.Ending =
            random.below(6) == 0 ? .abort : isHeld ? .hold : isPatient ? .patient : .halfClose
        let cuts = (0..<random.below(4)).map { _ in random.below(bytes.count + 1) }
        return HostileVisit(nextSource(), bytes, answering, ending, cuts: cuts)
    }

    private static func isServed(_ world: HostileWorld) -> Bool {
        HostileClient(port: world.port, from: [127, 0, 0, 1])?.isServed() ?? false
    }

    /// An address of 127.0.0.0/8 that no client had lately.
    private func nextSource() -> [UInt8] {
        number += 1
        return [127, UInt8(16 + number >> 16 & 63), UInt8(number >> 8 & 255), UInt8(number & 255)]
    }
}

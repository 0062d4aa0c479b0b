internal import DeviceLab
internal import Foundation
internal import HostileHTTP

/// Hostile HTTP over loopback, through the real server into the gateway: what its handler sees must be what a strict
/// reader of RFC 9112 reads, every connection must end, answers must be of their calls, and healthy clients are served.
struct GatewayLab {
    let seconds: Int
    let seed: UInt64
    let lanes: Int

    /// A sanitizer keeps freed memory back.
    private static let growthMebibytes = 192

    /// - Returns: the program's exit code.
    func run() -> Int32 {
        var total = GatewayTally()
        for seed in HostileSeeds.served {
            let count = StrictReader.requests(in: seed.bytes).count
            if count != seed.count {
                total.mistake("the strict reader sees \(count) requests in a seed of \(seed.count)")
            }
        }
        let start = ContinuousClock.now
        // What a server needs, and the allocator keeps, is there after the first part.
        let warm = start + .seconds(seconds) / 4
        total.add(inParallel(seed, until: warm))
        let before = Self.residentMebibytes
        total.add(inParallel(seed ^ 0xD134_2543_DE82_EF95, until: start + .seconds(seconds)))
        let after = Self.residentMebibytes
        if after - before > Self.growthMebibytes { total.mistake("memory grows from \(before) MiB to \(after) MiB") }
        report(total, (ContinuousClock.now - start) / .seconds(1))
        print("memory: \(before) MiB after a quarter of the time, \(after) MiB at the end")
        // Both must have been asked for, or nothing was tried.
        let refused = total.refusals.reduce(0) { $0 + $1.count }
        let isEven = min(total[.requests], refused) > total[.inputs] / 10
        if !isEven { print("MISTAKE: too few requests or too few refusals") }
        return total.mistakes.isEmpty && isEven ? 0 : 1
    }

    private func inParallel(_ seed: UInt64, until end: ContinuousClock.Instant) -> GatewayTally {
        GatewayTally.sum(lanes: lanes) { number in
            // Neighbouring seeds would give one stream, shifted.
            var random = SeededRandom(seed: seed &+ UInt64(number))
            let lane = GatewayLane(seed: random.next())
            var tally = GatewayTally()
            do {
                try lane.run(until: end)
            } catch {
                tally.mistake("no server: \(error)")
            }
            tally.add(lane.tally)
            return tally
        }
    }

    private func report(_ tally: GatewayTally, _ seconds: Double) {
        let rate = Int(Double(tally[.inputs]) / seconds)
        print("\(tally[.inputs]) hostile connections, seed \(seed), \(lanes) lanes: \(rate)/s")
        print("\(tally[.lives]) servers")
        print("\(tally[.requests]) requests served; refused: \(tally.refusals.map { "\($0.count) × \($0.status)" })")
        print("\(tally[.aborted]) aborted, \(tally[.hidden]) with a hidden line end, \(tally[.retried]) tried again")
        for mistake in tally.mistakes { print("MISTAKE: \(mistake)") }
    }

    private static var residentMebibytes: Int {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return (pages.flatMap { Int($0[1]) } ?? 0) * sysconf(Int32(_SC_PAGESIZE)) / 1_048_576
    }
}

internal import Foundation
internal import Worker

/// What a record costs: each path next to OpenSSL's bare signatures in the same process, in turns; medians.
@main
struct Benchmarks {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case (nil, _): try all(isTiny: false)
        case ("--tiny", 1): try all(isTiny: true)
        case ("--allocations", 1): print(try stages(rounds: 11).table(rounded))
        case ("--check", 2): try check(arguments[1])
        default:
            print("Usage: Benchmarks [--tiny | --allocations | --check THRESHOLDS]")
            exit(2)
        }
    }

    /// All but signatures, by stage.
    private static func stages(rounds: Int) throws -> StageReport {
        StageReport(try Fixtures(count: 512), perDevice: rounds > 1 ? 10 : 4, rounds: rounds)
    }

    /// Ends with 1 where a record allocates more than the file allows.
    private static func check(_ path: String) throws {
        let report = try stages(rounds: 1)
        print(report.table(rounded))
        guard StageReport.counts else { return print("SKIPPED: this build does not count allocations") }
        let breaches: [String]
        do { breaches = try Thresholds(path: path).breaches(report) } catch let fault as Thresholds.Fault {
            breaches = [fault.sentence]
        }
        for breach in breaches { print(breach) }
        if !breaches.isEmpty { exit(1) }
    }

    private static func all(isTiny: Bool) throws {
        let fixtures = try Fixtures(count: isTiny ? 16 : 256)
        let harness = Harness(rounds: isTiny ? 1 : 11)
        let objects = ObjectCandidates(fixtures, scale: isTiny ? 4 : 64)
        let replay = try ReplayCandidate(records: isTiny ? 2000 : 50_000, devices: isTiny ? 20 : 500)
        let engines = EngineCandidates(fixtures, scale: isTiny ? 1 : 32)
        print(EngineCandidates.processor)
        print("")
        print(table(harness.measure(engines.p256()), "P-256 engines, one core"))
        print("")
        print(table(harness.measure(engines.p384()), "P-384 engines, one core"))
        print("")
        print(table(harness.measure([objects.bare()] + replay.oneLane), "assertions, file to files, one lane"))
        print("")
        let attestations = try ReplayCandidate(records: isTiny ? 50 : 2_000, devices: isTiny ? 50 : 2_000)
        print(table(harness.measure([objects.p384()] + attestations.oneLane), "attestations, file to files, one lane"))
        print("")
        print(table(harness.measure(try objects.all()), "one core"))
        print("")
        let exchange = try ExchangeCandidates(fixtures, scale: isTiny ? 1 : 16)
        print(table(harness.measure(try exchange.all()), "App Check exchange, one core"))
        print("")
        let es256 = try ExchangeCandidates.es256(fixtures, scale: isTiny ? 1 : 16)
        print(table(harness.measure(try es256.all()), "App Check exchange with ES256, one core"))
        print("")
        print(try tokens(SigningPairs(turns: isTiny ? 3 : 400)))
        print("")
        print(table(harness.measure([objects.bareOnAllCores(), replay.candidate]), "all cores"))
    }

    private static func table(_ measurements: [Measurement], _ title: String) -> String {
        var table = TextTable([.left, .right, .right, .right, .right])
        table.add(title, "records/s", "per core", "µs of a core", "of the bare rate")
        for measured in measurements {
            table.add(
                measured.name,
                Int(measured.perSecond).grouped,
                Int(measured.perCore).grouped,
                rounded(1_000_000 / measured.perCore, 1),
                rounded(measured.ratio, 2)
            )
        }
        return table.text
    }

    private static func tokens(_ pairs: SigningPairs) throws -> String {
        var table = TextTable([.left, .right, .right, .right])
        table.add("a token minted", "µs of a core", "bare signature", "of the bare cost")
        for cost in try pairs.all() {
            table.add(cost.name, rounded(cost.minted, 1), rounded(cost.bare, 1), rounded(cost.ratio, 3))
        }
        return table.text
    }

    private static func rounded(_ value: Double, _ places: Int) -> String { String(format: "%.\(places)f", value) }
}

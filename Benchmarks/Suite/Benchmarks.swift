internal import Commands
internal import Foundation
internal import Reports

/// What a record costs: each path next to OpenSSL's bare signatures in the same process, in turns; medians.
@main
struct Benchmarks {
    static func main() throws {
        switch Options(Array(CommandLine.arguments.dropFirst())) {
        case .allocations: print(try Suite.stages(rounds: 11).table(rounded))
        case .check(let thresholds): try check(thresholds)
        case .all(let isTiny, let files): try all(isTiny, files)
        case nil:
            print(Options.usage)
            exit(2)
        }
    }

    /// Ends with 1 where a record allocates more than the file allows.
    private static func check(_ path: String) throws {
        let report = try Suite.stages(rounds: 1)
        print(report.table(rounded))
        guard StageReport.counts else { return print("SKIPPED: this build does not count allocations") }
        let breaches: [String]
        do { breaches = try Thresholds(path: path).breaches(report) } catch let fault as Thresholds.Fault {
            breaches = [fault.sentence]
        }
        for breach in breaches { print(breach) }
        if !breaches.isEmpty { exit(1) }
    }

    private static func all(_ isTiny: Bool, _ files: Options.Files) throws {
        // A path that cannot be written shows before minutes of work, not after them.
        for path in [files.json, files.page, files.chart].compactMap({ $0 }) { write([], to: path) }
        let figures = try Suite(isTiny: isTiny).run(date: files.date) { print($0 + "\n") }
        let report = figures.report
        if let path = files.json { write(report.json, to: path) }
        if let path = files.page { write(report.html, to: path) }
        if let path = files.chart { write(figures.picture, to: path) }
    }

    private static func write(_ bytes: [UInt8], to path: String) {
        // In place: it may be a device or a pipe.
        do { try Data(bytes).write(to: URL(filePath: path)) } catch {
            print("cannot write \(path): \(error.localizedDescription)")
            exit(1)
        }
    }

    static func rounded(_ value: Double, _ places: Int) -> String { String(format: "%.\(places)f", value) }
}

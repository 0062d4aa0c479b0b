import BrokerKit
import Foundation
import TestKit
import Testing

/// The library that gives a process a wall clock of its own.
@Suite("A clock of a process's own", .enabled(if: ClockShim.compiler != nil, Comment(rawValue: ClockShim.whyMissing)))
struct ClockShimTests {
    @Test(arguments: [0, 90_000, -90_000, -12_345, 1])
    func `it is off by what was set, and by nothing else`(milliseconds: Int) throws {
        let clock = try ClockShim(keep: nil).clock("one")
        try clock.set(milliseconds: milliseconds)
        let before = Date().timeIntervalSince1970 * 1000
        let run = PythonLab.run(clock.environment.map { "\($0.key)=\($0.value)" } + ["date", "+%s%3N"])
        let text = String(decoding: run.output, as: UTF8.self)
        let after = Date().timeIntervalSince1970 * 1000
        let time = try #require(text.split(separator: "\n").first.flatMap { Double($0) })
        #expect(
            time >= (before + Double(milliseconds)).rounded(.down) && time <= after + Double(milliseconds),
            "\(text)"
        )
    }

    @Test func `it jumps while a process runs`() throws {
        let clock = try ClockShim(keep: nil).clock("one")
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        // One process all the time: bash reads the clock itself.
        process.arguments = ["bash", "-c", "while read -r _; do printf '%(%s)T\\n' -1; done"]
        process.environment = ProcessInfo.processInfo.environment.merging(clock.environment) { $1 }
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        func time() throws -> Double {
            try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
            let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            return try #require(Double(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        }
        let start = try time()
        try clock.set(milliseconds: -3_600_000)
        #expect(try abs(time() - start + 3600) < 60)
        try clock.set(milliseconds: 0)
        #expect(try abs(time() - start) < 60)
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

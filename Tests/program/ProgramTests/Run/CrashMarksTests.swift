import Foundation
import Pipeline
import Settings
import Streams
import TestKit
import Testing

@testable import Run

extension WorkSlot {
    fileprivate func work(upTo end: Int64) {
        during(.verifying, alone: false) {
            for offset in 0..<end { note(Self.record(offset, partition: 3)) }
        }
    }

    /// For as long as the process lives.
    fileprivate func hang(at offset: Int64) {
        during(.decoding, alone: false) {
            note(Self.record(offset, partition: 1))
            while true { pause(milliseconds: 1_000) }
        }
    }

    private static func record(_ offset: Int64, partition: Int32) -> InboundRecord {
        RequestRecords.record(nil, key: nil, partition: partition, offset: offset)
    }
}

/// Crashes of real processes, and the marks that the next process reads.
@Suite("Crash marks", .waiting)
struct CrashMarksTests {
    private static func marks(_ path: String, slots: Int) throws -> CrashMarks {
        try CrashMarks(in: StateFolder(configuration: path, identity: "one", environment: [:]), slots: slots)
    }

    private static let item = WorkItem(
        place: RecordPlace(partition: 3, offset: 17),
        timestamp: RequestRecords.time + 17
    )

    #if DEBUG
        /// The process whose second lane of three crashes at record 17, while the others are at work too.
        @Sendable private static func crash(_ path: String, _ signal: Int32) throws {
            let works = (0..<3).map { _ in WorkSlot() }
            let marks = try marks(path, slots: 3)
            guard marks.install(works) else { return }
            for lane in [0, 2] { Thread.detachNewThread { works[lane].hang(at: Int64(lane)) } }
            while works[0].snapshot() == nil || works[2].snapshot() == nil { pause(milliseconds: 1) }
            works[1].sabotage = { _, items in if items == [item] { CrashSabotage.crash(signal) } }
            let lane = Thread { works[1].work(upTo: 20) }
            lane.start()
            pause(milliseconds: .noLimit)
        }

        @Test(.startsItself) func `a crash counts against the record of the crashed thread, and no other`() async throws
        {
            for signal in [SIGILL, SIGSEGV, SIGABRT, SIGTRAP, SIGBUS, 0] {
                let folder = try SimulationFolder()
                let path = folder.path
                await #expect(processExitsWith: .failure) { [path = path as String, signal = signal as Int32] in
                    try Self.crash(path, signal)
                }
                let next = try Self.marks(path, slots: 3)
                #expect(next.suspects.counts == [Self.item: CrashSuspects.Count(total: 1)], "signal \(signal)")
                #expect(next.reports.count == 1 && next.reports[0].contains("partition 3, offset 17"))
            }
        }

        @Test(.startsItself) func `a signal from outside counts against no record`() async throws {
            for signal in [SIGKILL, SIGSEGV, SIGABRT, SIGILL] {
                let folder = try SimulationFolder()
                let path = folder.path
                await #expect(processExitsWith: .failure) { [path = path as String, signal = signal as Int32] in
                    let works = [WorkSlot()]
                    let marks = try Self.marks(path, slots: 1)
                    guard marks.install(works) else { return }
                    Thread.detachNewThread { works[0].hang(at: 5) }
                    while works[0].snapshot() == nil { pause(milliseconds: 1) }
                    let killer = Process()
                    killer.executableURL = URL(filePath: "/bin/kill")
                    killer.arguments = ["-\(signal)", "\(getpid())"]
                    try killer.run()
                    pause(milliseconds: .noLimit)
                }
                #expect(try Self.marks(path, slots: 1).suspects.isEmpty, "signal \(signal)")
            }
        }
    #endif

    @Test func `counts add up over processes, and end once the record is committed`() throws {
        var file = CrashFile(slots: 2)
        file.suspects = CrashSuspects([Self.item: .init(total: 2, alone: 1)])
        let (words, places) = file.written()
        let past = try #require(CrashFile.past(in: words))
        #expect(past.suspects == file.suspects && past.crashes.isEmpty && places.count == 1)
        var passed = words
        passed[try #require(places[Self.item])] = 0
        #expect(try #require(CrashFile.past(in: passed)).suspects.isEmpty)
    }

    @Test(arguments: [0, 1, 7, 8, 100])
    func `a file in another format, or a truncated one, yields nothing`(count: Int) throws {
        let words = CrashFile(slots: 2).written().words
        #expect(CrashFile.past(in: Array(words.prefix(count))) == nil)
        var other = words
        other[1] += 1
        #expect(CrashFile.past(in: other) == nil && CrashFile.past(in: words) != nil)
    }

    @Test func `a folder that others may write, or a link, is refused, and the next candidate is used`() throws {
        let folder = try SimulationFolder()
        let path = folder.path
        func make(_ name: String) throws -> StateFolder {
            try StateFolder(configuration: path, identity: "one", environment: ["STATE_DIRECTORY": path + name])
        }
        try FileManager.default.createDirectory(atPath: path + "/open", withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path + "/open")
        try FileManager.default.createSymbolicLink(atPath: path + "/link", withDestinationPath: path)
        for name in ["/open", "/link"] { #expect(throws: StateFolderFault.self, "\(name)") { try make(name) } }
        let made = try make("/own")
        #expect(made.path == path + "/own/one")
        #expect(throws: StateFolderFault.self, "held by this process already") { try make("/own") }
        let beside = try StateFolder(configuration: path, identity: "two", environment: [:])
        #expect(beside.path == path + "/state/two")
        let last = try StateFolder(configuration: path + "/none", identity: "one", environment: ["TMPDIR": path])
        #expect(last.path.hasPrefix(path + "/attest-worker-"))
    }
}

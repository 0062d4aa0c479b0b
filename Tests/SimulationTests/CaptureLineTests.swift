import AppAttest
import AppCheck
import Crypto
import DeviceLab
import Log
import Pipeline
import SimulationKit
import TestKit
import Testing

@Suite("Lines of a capture")
struct CaptureLineTests {
    /// A capture in memory.
    private final class LineLog: RecordLog {
        private var lines: [[UInt8]]
        private var lineNumber = 0
        private(set) var results = 0
        private(set) var positions: [PartitionPosition] = []

        init(_ lines: [[UInt8]]) { self.lines = lines }

        func poll(_ limits: BatchLimits, waitMilliseconds: Int) -> PollRound {
            var round = PollRound()
            while round.records.count < limits.records, !lines.isEmpty {
                lineNumber += 1
                let line = lines.removeFirst()
                round.records.append(.captureLine(chunk: line, range: line.indices, lineNumber: lineNumber))
            }
            round.ended = lines.isEmpty
            return round
        }

        func begin() {}
        func append(_ records: [OutboundRecord]) { results += records.count }
        func commit(_ positions: [PartitionPosition], of generation: Generation) { self.positions = positions }
        var hasLedger: Bool { false }
        var isAtomic: Bool { true }
        func beginRestore(_ partitions: [Int32], kept: Set<Int32>) {}
        func restore(_ records: Int, waitMilliseconds: Int) -> RestoreRound {
            var round = RestoreRound()
            round.isComplete = true
            return round
        }
        func abort() {}
        func releaseRevoked() {}
        func close() {}
    }

    private static func line(_ offset: Int64) -> [UInt8] {
        var line: [UInt8] = []
        let record = RequestRecords.record(Array("x".utf8), key: nil, offset: offset, timestamp: -offset)
        CaptureCodec.encode(record, into: &line)
        return line.dropLast()
    }

    private static func loop(_ log: LineLog, seed: UInt64) throws -> (BatchLoop, SimulatedLanes) {
        let settings = PipelineSettings(registry: try RequestRecords.registry())
        let scratch = LaneScratch(
            verifier: ObjectVerifier(anchors: try LoopTests.ca.anchors(), limits: settings.objectLimits),
            engine: OpenSSLEngine()
        )
        let lanes = SimulatedLanes(scratch: scratch, seed: seed)
        var options = BatchLoop.Options()
        options.batch.records = 4
        let loop = BatchLoop(
            log: log,
            settings: settings,
            lanes: lanes,
            options: options,
            post: lanes.post,
            wallClock: { nil }
        )
        return (loop, lanes)
    }

    @Test("the first bad line is reported, after all batches before it are done", arguments: LoopTests.seeds)
    func first(seed: UInt64) throws {
        var lines = (0..<24 as Range<Int64>).map { Self.line($0) }
        lines[9] = Array("{}".utf8)
        lines[17] = Array("[]".utf8)
        let log = LineLog(lines)
        let (loop, lanes) = try Self.loop(log, seed: seed)
        let fault = #expect(throws: CaptureFault.self) { try lanes.run(loop) }
        #expect(fault?.lineNumber == 10)
        #expect(log.results == 8)
    }

    @Test("a record at the largest possible offset is judged like others")
    func lastOffset() throws {
        let log = LineLog([Self.line(.max - 1), Self.line(.max)])
        let (loop, lanes) = try Self.loop(log, seed: 1)
        #expect(try lanes.run(loop))
        #expect(log.results == 2)
        #expect(log.positions == [PartitionPosition(partition: 0, offset: .max)])
    }
}

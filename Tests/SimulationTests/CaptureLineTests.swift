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
    private final class LineLog: RequestSource {
        private var lines: [[UInt8]]
        private var lineNumber = 0
        let unit = MemoryUnit()
        let member: (any GroupMember)? = nil

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
        return (lanes.loop(LogRoles(source: log, unit: log.unit), settings, options), lanes)
    }

    @Test(arguments: LoopTests.seeds)
    func `the first bad line is reported, after all batches before it are done`(seed: UInt64) throws {
        var lines = (0..<24 as Range<Int64>).map { Self.line($0) }
        lines[9] = Array("{}".utf8)
        lines[17] = Array("[]".utf8)
        let log = LineLog(lines)
        let (loop, lanes) = try Self.loop(log, seed: seed)
        let fault = #expect(throws: CaptureFault.self) { try lanes.run(loop) }
        #expect(fault?.lineNumber == 10)
        #expect(log.unit.outputs.count == 8)
    }

    @Test func `a record at the largest possible offset is judged like others`() throws {
        let log = LineLog([Self.line(.max - 1), Self.line(.max)])
        let (loop, lanes) = try Self.loop(log, seed: 1)
        #expect(try lanes.run(loop))
        #expect(log.unit.outputs.count == 2)
        #expect(log.unit.commits.last == [PartitionPosition(partition: 0, offset: .max)])
    }
}

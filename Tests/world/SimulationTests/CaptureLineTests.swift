import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

@Suite("Lines of a capture")
struct CaptureLineTests {
    private static func line(_ offset: Int64) -> [UInt8] {
        var line: [UInt8] = []
        let record = RequestRecords.record(Array("x".utf8), key: nil, offset: offset, timestamp: -offset)
        CaptureCodec.encode(record, into: &line)
        return line.dropLast()
    }

    private static func loop(
        _ lines: [[UInt8]],
        _ transaction: MemoryTransaction,
        seed: UInt64 = 1
    ) throws -> TrafficLoop {
        var read = 0
        let source = PolledSource { round, _, limits in
            for line in lines[read...].prefix(limits.records) {
                read += 1
                round.records.append(.captureLine(chunk: line, range: line.indices, lineNumber: read))
            }
            round.ended = read == lines.count
        }
        let roles = StreamRoles(source: source, transaction: transaction)
        return try TrafficLoop(roles, seed: seed, options: { $0.batch.records = 4 })
    }

    @Test(arguments: LoopTests.seeds)
    func `the first bad line is reported, after all batches before it are done`(seed: UInt64) throws {
        var lines = (0..<24 as Range<Int64>).map { Self.line($0) }
        lines[9] = Array("{}".utf8)
        lines[17] = Array("[]".utf8)
        let transaction = MemoryTransaction()
        let rig = try Self.loop(lines, transaction, seed: seed)
        let fault = #expect(throws: CaptureFault.self) { try rig.run() }
        #expect(fault?.lineNumber == 10)
        #expect(transaction.outputs.count == 8)
    }

    @Test func `a record at the largest possible offset is judged like others`() throws {
        let transaction = MemoryTransaction()
        #expect(try Self.loop([Self.line(.max - 1), Self.line(.max)], transaction).run())
        #expect(transaction.outputs.count == 2)
        #expect(transaction.commits.last == [PartitionPosition(partition: 0, offset: .max)])
    }
}

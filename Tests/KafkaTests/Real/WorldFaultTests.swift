import DeviceLab
import Foundation
import Kafka
import TestSupport
import Testing

/// What the world does to a worker: each ends in recovery or in one clear line, and no request is lost.
@Suite(
    .enabled(if: KafkaInstallation.found != nil, Comment(rawValue: KafkaInstallation.whyMissing)),
    .cluster(ClusterSettings()),
    .serialized,
    .timeLimit(.minutes(20))
)
struct WorldFaultTests {
    private func cluster() throws -> RealCluster { try #require(RealClusterTrait.cluster) }

    private func workplace(
        _ prefix: String,
        adjust: (inout ProgramWorkplace.Options) -> Void = { _ in }
    ) throws -> ProgramWorkplace {
        var options = ProgramWorkplace.Options()
        options.prefix = prefix
        options.partitions = 3
        adjust(&options)
        return try ProgramWorkplace(servers: cluster().bootstrapServers, options)
    }

    /// The worker works everything off, ends in order, and everything is as it should be.
    private func expectsOrder(_ worker: ProgramProcess, _ workplace: ProgramWorkplace) throws {
        #expect(try workplace.drains(seconds: 90) { worker.isRunning }, "\(worker.error)")
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")
        let findings = try workplace.reckon()
        #expect(findings.isClean, "\(findings.lines.joined(separator: "\n"))\n\(worker.error)")
    }

    @Test func `a broker that is down at the start is waited for, and a check says so`() throws {
        let workplace = try workplace("absent")
        try workplace.publish(300)
        try cluster().kill()
        let worker: ProgramProcess
        do {
            defer { try? cluster().start() }
            worker = try workplace.start("run", "--instance", "one")
            #expect(worker.says("waiting for the broker"))
            let check = try workplace.start("run", "--check")
            #expect(check.waitForEnd() == .exit(1))
            #expect(check.error.split(separator: "\n").count == 1, "\(check.error)")
        }
        try expectsOrder(worker, workplace)
        #expect(worker.error.components(separatedBy: "waiting for the broker").count == 2, "said once: \(worker.error)")
    }

    @Test(arguments: ["kill -9", "restart", "pause"])
    func `a broker's fault in the middle of the work is ridden out`(fault: String) throws {
        let workplace = try workplace("ridden-\(fault.prefix(4).filter(\.isLetter))") {
            $0.members = #""batch": {"records": 100},"#
        }
        try workplace.publish(2_000)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(try outcomes(of: workplace, atLeast: 200), "\(worker.error)")
        switch fault {
        case "kill -9": try cluster().kill()
        case "restart": try cluster().terminate()
        default: try cluster().pause()
        }
        sleep(3)
        if fault == "pause" { try cluster().resume() } else { try cluster().start() }
        try expectsOrder(worker, workplace)
    }

    /// Waits for results.
    private func outcomes(of workplace: ProgramWorkplace, atLeast count: Int64) throws -> Bool {
        try Patience.wait(60) {
            let ends = try TopicDump.ends(
                of: workplace.topic("results"),
                workplace.properties,
                partitions: workplace.partitions
            )
            return ends.values.reduce(0) { $0 + $1.committed } >= count
        }
    }

    @Test func `an output that the broker finds too large costs its own request a dead letter, and no other`() throws {
        let workplace = try workplace("oversize") { options in
            options.topics["results"] = [("max.message.bytes", "20000")]
            // Only a batch of its own is refused for one record's sake.
            options.kafka = [("batch.size", "8000")]
        }
        try workplace.publish(200)
        let path = "v1/projects/1/apps/" + String(repeating: "a", count: 30_000) + ":noSuchMethod"
        let producer = try Producer(workplace.properties)
        try producer.produce(
            topic: workplace.requests,
            partition: 1,
            key: nil,
            value: Array(#"{"path": "\#(path)", "body": {}}"#.utf8),
            headers: [KafkaHeader(name: Array("request-id".utf8), value: Array("oversize".utf8))]
        )
        try producer.flush(timeoutMilliseconds: 30_000)
        try workplace.publish(200, seed: 2)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(try workplace.drains(seconds: 90) { worker.isRunning }, "\(worker.error)")
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")
        let findings = try workplace.reckon()
        // The replay has no such limit, so the one request differs there.
        #expect(findings[.lost] == 0 && findings[.doubled] == 0 && findings[.outOfOrder] == 0)
        #expect(findings[.verdictDiffers] == 1, "\(findings.lines.joined(separator: "\n"))")
        #expect(findings.examples[.verdictDiffers]?.first?.contains("dead letter") ?? false)
    }

    @Test func `a worker killed at any instant loses and doubles nothing`() throws {
        let workplace = try workplace("killed") { $0.members = #""batch": {"records": 200},"# }
        try workplace.publish(5_000)
        var random = SeededRandom(seed: 4)
        for kill in 1...10 {
            let worker = try workplace.start("run", "--instance", "one")
            // Some are killed while they start or restore, most of them in the middle of a batch.
            if kill % 4 != 0 { #expect(try outcomes(of: workplace, atLeast: Int64(kill * 300)), "\(worker.error)") }
            usleep(UInt32(random.next() % 150_000))
            worker.signal(SIGKILL)
            #expect(worker.waitForEnd() == .signal(SIGKILL))
        }
        try expectsOrder(workplace.start("run", "--instance", "one"), workplace)
    }

    /// Several times: a lane that is at work while the process ends must not find its libraries gone.
    @Test func `SIGTERM in the middle of the work ends it in order`() throws {
        let workplace = try workplace("asked") { $0.members = #""batch": {"records": 200},"# }
        try workplace.publish(6_000)
        for round in 1...6 {
            let worker = try workplace.start("run", "--instance", "one")
            #expect(try outcomes(of: workplace, atLeast: Int64(round * 600)), "\(worker.error)")
            worker.signal(SIGTERM)
            #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")
        }
        let findings = try workplace.reckon()
        #expect(findings[.doubled] == 0 && findings[.outOfOrder] == 0, "\(findings.lines)")
    }
}

private let smallDisk: ClusterSettings = {
    var settings = ClusterSettings()
    settings.diskMegabytes = 64
    // Small files, so that there is room for some.
    settings.properties = [
        ("log.segment.bytes", "1048576"), ("log.index.size.max.bytes", "65536"),
        ("offsets.topic.segment.bytes", "1048576"), ("transaction.state.log.segment.bytes", "1048576"),
    ]
    return settings
}()

/// A broker whose disk is full. It needs a disk of its own, which takes the right to mount one.
@Suite(
    .enabled(if: KafkaInstallation.found != nil, Comment(rawValue: KafkaInstallation.whyMissing)),
    .enabled(if: RealCluster.canMountDisks, "a small disk cannot be mounted here"),
    .cluster(smallDisk),
    .serialized,
    .timeLimit(.minutes(20))
)
struct FullDiskTests {
    @Test func `a full disk of the broker costs no request`() throws {
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        var options = ProgramWorkplace.Options()
        options.prefix = "full"
        options.partitions = 3
        options.members = #""batch": {"records": 100},"#
        let workplace = try ProgramWorkplace(servers: cluster.bootstrapServers, options)
        try workplace.publish(3_000)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(worker.says("in order"), "\(worker.error)")
        try cluster.fillDisk()
        // The broker gives up when it cannot write; what it held stays as it was.
        #expect(Patience.wait(60) { !cluster.isRunning(1) }, "\(cluster.logTail())")
        #expect(worker.isRunning, "\(worker.error)")
        try cluster.clearDisk()
        try cluster.start()
        #expect(try workplace.drains(seconds: 90) { worker.isRunning }, "\(worker.error)")
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")
        let findings = try workplace.reckon()
        #expect(findings.isClean, "\(findings.lines.joined(separator: "\n"))")
    }
}

import AppAttest
import AppCheck
import KafkaPorts
import Member
import Pipeline
import Streams

@testable import Telemetry

/// Snapshots with something in every family.
enum SnapshotSamples {
    static let statistics = Array(
        #"""
        {"name": "rdkafka#consumer-1", "brokers": {
          "localhost:9092/bootstrap": {"nodeid": -1, "nodename": "localhost:9092", "source": "configured", "state": "UP", "connects": 1},
          "GroupCoordinator": {"nodeid": 1, "nodename": "b1:9092", "source": "logical", "state": "UP", "connects": 1},
          "b1:9092/1": {"nodeid": 1, "nodename": "b1:9092", "source": "learned", "state": "UP", "connects": 2},
          "b2:9092/2": {"nodeid": 2, "nodename": "b2:9092", "source": "learned", "state": "TRY_CONNECT", "connects": 9},
          "b3:9092/3": {"nodeid": 3, "nodename": "b3:9092", "source": "learned", "state": "INIT", "connects": 0}},
         "topics": {"requests": {"topic": "requests", "partitions": {
          "0": {"partition": 0, "ls_offset": 120, "lo_offset": 5, "hi_offset": 121},
          "7": {"partition": 7, "ls_offset": -1001, "lo_offset": -1001},
          "-1": {"partition": -1, "ls_offset": -1001}}}}}
        """#.utf8
    )

    /// As of a worker with so many apps and partitions that has seen every reason.
    static func full(apps: Int, partitions: Int32, reasons: [Reason]) -> WorkerSnapshot {
        var snapshot = WorkerSnapshot()
        snapshot.state = .running
        snapshot.build = .init(version: "1", librdkafka: "2", openSSL: "3", engine: "ifma")
        snapshot.apps = (0..<apps).map { "1:123456789012:ios:\(10_000_000_000_000 + $0)" }
        snapshot.signingKeys = [
            .init(kid: "k\"1", algorithm: "RS256", state: "active", published: 1_700_000_000_123, isAway: nil),
            .init(kid: "t", algorithm: "ES256", state: "active", published: nil, isAway: true),
        ]
        snapshot.anchors = [
            .init(list: "receipt", subject: "/CN=R", fingerprint: "0123456789abcdef", expires: 2_000_000_000)
        ]
        var tally = AnswerTally()
        let places = tally.places(of: snapshot.apps)
        var counts = AnswerCounts()
        for app in places.indices {
            for verb in Verb.allCases {
                let key = { (event: AnswerCounts.Event) in AnswerCounts.Key(app: Int32(app), verb: verb, event: event) }
                for reason in reasons { counts.add(key(.refused(reason))) }
                for event in [
                    .accepted, .minted(limitedUse: true, .es256), .debugToken, .rollout(.on, isInside: false),
                    .restored,
                    .tokenUse(.alreadyConsumed), .outdated, .duplicate, .risk(bucket: 1), .risk(bucket: 8), .riskSum,
                ] as [AnswerCounts.Event] { counts.add(key(event), 1_000_000) }
            }
        }
        tally.add(counts, places)
        snapshot.tally.answers = tally
        snapshot.tally.answerAge.add(40)
        snapshot.tally.endedKeys = ["projects/1/apps/1:123456789012:ios:10000000000000": 5, "": 2]
        var (loop, member) = (LoopSnapshot(), MemberSnapshot())
        loop.condition = .running
        loop.clockOffset = -12
        loop.partitions = (0..<partitions).map { number in
            var partition = LoopSnapshot.Partition(number: number)
            (partition.keys, partition.challenges, partition.tokens) = (5_000_000, 40_000, 3)
            partition.streamTime = 1_790_000_000_123
            return partition
        }
        member.committed = Dictionary(uniqueKeysWithValues: (0..<partitions).map { ($0, Int64(10_000_000 + Int($0))) })
        (member.positions, member.standby) = (member.committed, [12: 40])
        member.errors = ["_TRANSPORT": 3]
        member.statistics = statistics
        (snapshot.loops, snapshot.members) = ([loop], [member])
        snapshot.brokers = BrokerFigures([statistics], topic: "requests")
        snapshot.copies = [3: SnapshotReport(takenAt: 1_790_000_000_123, bytes: 1 << 30)]
        snapshot.lanes = 8
        snapshot.signatures = [.init(curve: "P-256", engine: "ifma", count: 12)]
        snapshot.process = .now(start: 1_700_000_000.25)
        snapshot.process.memoryLimit = 1 << 30
        snapshot.process.throttles = ["b1:9092": 1_500]
        return snapshot
    }
}

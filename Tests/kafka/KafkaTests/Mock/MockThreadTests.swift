import Foundation
import Kafka
import TestKit
import Testing

@Suite("The mock cluster's thread", .waiting)
struct MockThreadTests {
    /// The blocked signals of this process's threads of that name, a bit each.
    private static func blockedSignals(ofThreads name: String) -> [UInt64] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.compactMap { task in
            // A thread may end meanwhile.
            guard let found = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8),
                found == name + "\n",
                let status = try? String(contentsOfFile: "/proc/self/task/\(task)/status", encoding: .utf8),
                let line = status.split(separator: "\n").first(where: { $0.hasPrefix("SigBlk:") })
            else { return nil }
            return UInt64(line.dropFirst(7).drop { $0 == "\t" }, radix: 16)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1])
    func `leaves a signal to other threads, since its handler would end the cluster`(signal: Int32) throws {
        let cluster = try MockCluster()
        var masks: [UInt64] = []
        // The thread takes its name a moment after it has begun.
        #expect(
            eventually {
                masks = Self.blockedSignals(ofThreads: "rdk:mock")
                return masks.count
            } until: {
                $0 > 0
            }
        )
        for mask in masks { #expect(mask & (1 << (UInt64(signal) - 1)) != 0, "blocked: \(String(mask, radix: 16))") }
        withExtendedLifetime(cluster) {}
    }

    @Test func `the thread that makes a cluster keeps its own signals`() throws {
        func own() throws -> Substring? {
            let status = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
            return status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
        }
        let before = try #require(try own())
        let cluster = try MockCluster()
        #expect(try own() == before)
        withExtendedLifetime(cluster) {}
    }
}

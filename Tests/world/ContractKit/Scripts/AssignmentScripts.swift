internal import Kafka
internal import KafkaPorts
internal import Streams

extension ContractScript {
    static let a1 = everywhere("A1: assigned paused: silent until seek, resume", ends: ["silentThenAll"]) { world in
        try world.publishToAll(5)
        let member = try world.loneMember(.paused)
        try world.poll([member], milliseconds: 200)
        guard member.records.isEmpty else { return "earlyRecord" }
        // Half from a known offset, half from the beginning, which the library has to look up.
        let starts = (0..<world.partitions).map {
            PartitionOffset(partition: $0, offset: $0 % 2 == 0 ? 2 : PartitionOffset.beginning)
        }
        try world.start(member, starts)
        try world.poll([member], until: "all records are read") {
            (0..<world.partitions).allSatisfy { member.offsets($0).last == 4 }
        }
        let isRight = (0..<world.partitions).allSatisfy { member.offsets($0) == Array(($0 % 2 == 0 ? 2 : 0)...4) }
        return isRight ? "silentThenAll" : "wrongRecords"
    }

    static let a2 = onMock(
        "A2: second paused assignment: silent, then each started one delivers",
        ends: ["allDeliver"]
    ) { world in
        try world.publishToAll(1)
        let member = try world.loneMember(.paused)
        let starts = world.starts(at: 0)
        for _ in 0..<30 {
            try member.take(starts)
            try member.take(starts)
            member.forgetRecords()
            try world.poll([member], milliseconds: 50)
            guard member.records.isEmpty else { return "notSilent" }
            try world.start(member, starts)
            // A silent partition stands still.
            try world.poll([member], until: "each partition delivers") {
                Set(member.records.map(\.partition)).count == Int(world.partitions)
            }
        }
        return "allDeliver"
    }

    static let a3 = everywhere(
        "A3: seek before the start fails, after it not, in time",
        ends: ["failsThenSucceeds"]
    ) { world in
        let member = try world.silentMember(requests: 5)
        guard member.seek(0, 1) != nil else { return "succeedsBefore" }
        member.manner = .paused
        try member.answerGroup()
        try world.poll([member], until: "the partition can be sought") { member.seek(0, 1) == nil }
        // From then on always: each seek has an answer in its time.
        for offset in 0..<100 as Range<Int64> {
            try world.poll([member], until: "the partition is sought") { member.seek(0, offset % 5) == nil }
        }
        return "failsThenSucceeds"
    }

    static let a4 = everywhere("A4: no record from before a seek comes after it", ends: ["exact"]) { world in
        let member = try world.loneMember(requests: 300)
        for round in 0..<20 as Range<Int64> {
            let target = round * 37 % 280
            try world.poll([member], until: "records come") { member.offsets(0).count >= 5 }
            try world.poll([member], until: "the partition is sought") { member.seek(0, target) == nil }
            member.forgetRecords()
            try world.poll([member], until: "records come") { member.offsets(0).count >= 10 }
            guard Array(member.offsets(0).prefix(10)) == Array(target..<target + 10) else { return "oldRecord" }
        }
        return "exact"
    }

    /// On a loaded machine anything may be late; what the seek is for shows in the model.
    static let a5 = ContractScript(
        "A5: resume: first record up to 1 s; second seek: at once",
        in: [.model, .mock],
        ends: pairs(["no", "upToFetch", "more"]) { "late(resume: \($0), seek: \($1))" },
        dependsOnMachine: true
    ) { world in
        let member = try world.loneMember(.paused, requests: 5)
        let start = [PartitionOffset(partition: 0, offset: 1)]
        /// How late a record was at its worst: below 0.5 s, up to 2 s, longer.
        func worst(withSeek: Bool) throws -> String {
            var worst: Int64 = 0
            for _ in 0..<5 {
                _ = member.consumer.pause([0])
                // The leader's thread goes to sleep.
                try world.poll([member], milliseconds: 300)
                member.forgetRecords()
                try world.poll([member], until: "the partition is sought") { member.seek(0, 1) == nil }
                let begin = world.now
                _ = member.consumer.resume([0])
                if withSeek { _ = member.consumer.seek(start, limit: 400) }
                try world.poll([member], until: "a record comes") { !member.records.isEmpty }
                worst = max(worst, world.now - begin)
            }
            return worst < 500 ? "no" : worst < 2_000 ? "upToFetch" : "more"
        }
        return try "late(resume: \(worst(withSeek: false)), seek: \(worst(withSeek: true)))"
    }

    static let a6 = everywhere(
        "A6: offset gone: one fault, seeks fail until reassigned",
        ends: ["gone(faults: 1, seek: notStarted)"]
    ) { world in
        let member = try world.memberWithoutLookups(requests: 5)
        let gone = [PartitionOffset(partition: 0, offset: 1_000)]
        try member.take(gone)
        // The second seek fails where the fault is faster.
        var isStarted = false
        try world.poll([member], until: "the offset is gone") {
            if member.faults.contains(where: \.isOffsetGone) { return true }
            isStarted = isStarted || member.start(gone)
            return false
        }
        try world.poll([member], milliseconds: 1_500)
        guard member.records.isEmpty else { return "readsOn" }
        let seek = member.seek(0, 2).map { "\($0)" } ?? "none"
        let faults = member.faults.count { $0.isOffsetGone && $0.partition == 0 }
        let again = [PartitionOffset(partition: 0, offset: 2)]
        try member.take(again)
        try world.start(member, again)
        try world.poll([member], until: "it reads again") { member.offsets(0) == [2, 3, 4] }
        return "gone(faults: \(faults), seek: \(seek))"
    }

    static let a7 = onMock("A7: paused: silent, prefetched records are dropped", ends: ["silentThenOn"]) { world in
        let member = try world.loneMember(requests: 300)
        try world.poll([member], until: "records come") { member.records.count >= 20 }
        _ = member.consumer.pause([0])
        let last = member.offsets(0).count
        try world.poll([member], milliseconds: 200)
        guard member.offsets(0).count == last else { return "records" }
        _ = member.consumer.resume([0])
        try world.poll([member], until: "all records are read") { member.offsets(0).last == 299 }
        return member.offsets(0) == Array(0..<300) ? "silentThenOn" : "gap"
    }

    static let a8 = onMock(
        "A8: starts wait while an offset commit has no answer",
        ends: ["startsAfterAnswer"]
    ) { world in
        let member = try world.memberWithoutLookups(requests: 5)
        try world.poll([member], until: "the partition can be sought") { member.seek(0, 1) == nil }
        try world.cause(.slow(milliseconds: 1_500))
        let id = try member.consumer.commit([PartitionOffset(partition: 0, offset: 1)])
        try member.take(world.starts(at: 0))
        try world.poll([member], until: "the partition can be sought") { member.seek(0, 1) == nil }
        // An answer that is there already is the next event.
        for _ in 0..<3 { try member.poll(0) }
        let isAnswered = member.commits[id] != nil
        try world.poll([member], until: "the offset is committed") { member.commits[id] != nil }
        try world.cause(.slow(milliseconds: 0))
        return isAnswered ? "startsAfterAnswer" : "startsBefore"
    }

    /// The library keeps the place of the last start or seek, or the next record at a pause, and goes back to it with each
    /// step. So nothing is resumed that is not paused, unless a seek follows. 2.8.0 does nothing where nothing is paused.
    static let a10 = ContractScript(
        "A10: a resume of what is not paused goes back to the last seek",
        ends: ["goesOn(idleResume: atLastSeek, pauseAfterSeek: atLastSeek)"],
        ofNewerLibrary: LibraryVersion.text.hasPrefix("2.0.")
            ? [] : ["goesOn(idleResume: behindLast, pauseAfterSeek: atLastSeek)"]
    ) { world in
        let member = try world.loneMember(requests: 300)
        /// Where reading goes on.
        func place(seek: Int64, last: Int64) throws -> String {
            member.forgetRecords()
            try world.poll([member], until: "records come") { !member.offsets(0).isEmpty }
            switch member.offsets(0)[0] {
            case seek: return "atLastSeek"
            case last + 1: return "behindLast"
            default: return "elsewhere"
            }
        }
        // The first offset is looked up meanwhile: see A11.
        try world.poll([member], until: "records come") { member.offsets(0).count >= 5 }
        try world.poll([member], until: "the partition is sought") { member.seek(0, 50) == nil }
        member.forgetRecords()
        try world.poll([member], until: "records come") { member.offsets(0).count >= 10 }
        let first = try member.offsets(0).last.orThrow("no record")
        _ = member.consumer.resume([0])
        let idle = try place(seek: 50, last: first)
        try world.poll([member], until: "records come") { member.offsets(0).count >= 10 }
        let second = try member.offsets(0).last.orThrow("no record")
        try world.poll([member], until: "the partition is sought") { member.seek(0, 200) == nil }
        _ = member.consumer.pause([0])
        _ = member.consumer.resume([0])
        return try "goesOn(idleResume: \(idle), pauseAfterSeek: \(place(seek: 200, last: second)))"
    }

    /// A lookup that a later step overtakes is repeated after 0.5 s, and its answer counts, whatever was sought since: the
    /// member has to notice records from before its position.
    static let a11 = everywhere(
        "A11: a late lookup of the beginning may set a sought partition back",
        ends: ["neverSetBack", "setBack"]
    ) { world in
        try world.publishToAll(5)
        let member = try world.loneMember(.paused)
        let starts = world.starts(at: 3)
        try member.take(Array(0..<world.partitions))
        try world.poll([member], milliseconds: 1)
        try member.take(starts)
        member.forgetRecords()
        try world.start(member, starts)
        try world.poll([member], milliseconds: 1_000)
        if member.records.contains(where: { $0.offset < 3 }) { return "setBack" }
        return "neverSetBack"
    }

    static let a12 = everywhere(
        "A12: assigned at the group's offset: paused as it was, a resume gives what was not committed",
        ends: ["pausedThenCommitted"]
    ) { world in
        let member = try world.loneMember(requests: 5)
        try world.poll([member], until: "all records are read") { member.offsets(0).last == 4 }
        let id = try member.consumer.commit([PartitionOffset(partition: 0, offset: 3)])
        try world.poll([member], until: "the commit is answered") { member.commits[id] != nil }
        _ = member.consumer.pause([0])
        try member.consumer.unassign()
        // Its answer comes after the stop: see A2.
        _ = try member.consumer.assignment()
        member.forgetRecords()
        try member.take([PartitionOffset(partition: 0, offset: PartitionOffset.stored)])
        try world.poll([member], milliseconds: 1_500)
        guard member.records.isEmpty else { return "notPaused" }
        _ = member.consumer.resume([0])
        try world.poll([member], until: "records come") { !member.records.isEmpty }
        return member.offsets(0).first == 3 ? "pausedThenCommitted" : "elsewhere"
    }

    /// The library repeats a lookup that a later step overtook, and does not ask whether the partition was stopped since.
    static let a13 = onMock(
        "A13: a lookup that a stop overtook lets a stopped partition be sought, and gives no records",
        ends: ["staysStopped", "canBeSought"]
    ) { world in
        let member = try world.silentMember(requests: 5)
        try world.cause(.slow(milliseconds: 300))
        // The partition's leader becomes known, and no answer of its tells the beginning.
        member.manner = .paused
        try member.take(world.starts(at: 0))
        try world.poll([member], milliseconds: 200)
        try member.consumer.unassign()
        try member.take([0])
        try world.poll([member], until: "the partition is sought") { member.seek(0, 1) == nil }
        try member.consumer.unassign()
        guard member.seek(0, 1) != nil else { return "neverStopped" }
        try world.poll([member], milliseconds: 1_500)
        let canBeSought = member.seek(0, 1) == nil
        try world.poll([member], milliseconds: 1_500)
        guard member.records.isEmpty else { return "records" }
        return canBeSought ? "canBeSought" : "staysStopped"
    }
}

internal import Kafka
internal import KafkaPorts

package enum AssignedPaused: ContractScript {
    package enum Outcome: Hashable, Sendable { case silentThenAll, earlyRecord, wrongRecords }

    package static let number = "A1"
    package static let title = "assigned paused: silent until seek, resume"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.silentThenAll]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        for partition in 0..<world.partitions { try world.publish(5, to: partition, of: .requests) }
        let member = try world.loneMember(.paused)
        try world.poll([member], milliseconds: 200)
        guard member.records.isEmpty else { return .earlyRecord }
        // Half from a known offset, half from the beginning, which the library has to look up.
        let starts = (0..<world.partitions).map {
            PartitionOffset(partition: $0, offset: $0 % 2 == 0 ? 2 : PartitionOffset.beginning)
        }
        try world.start(member, starts)
        try world.poll([member], until: "all records are read") {
            (0..<world.partitions).allSatisfy { member.offsets($0).last == 4 }
        }
        let isRight = (0..<world.partitions).allSatisfy { member.offsets($0) == Array(($0 % 2 == 0 ? 2 : 0)...4) }
        return isRight ? .silentThenAll : .wrongRecords
    }
}

package enum SecondPausedAssignment: ContractScript {
    package enum Outcome: Hashable, Sendable { case allDeliver, notSilent }

    package static let number = "A2"
    package static let title = "second paused assignment: silent, then each started one delivers"
    package static let worlds: Set<WorldKind> = [.model, .mock]
    package static let allowed: Set<Outcome> = [.allDeliver]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        for partition in 0..<world.partitions { try world.publish(1, to: partition, of: .requests) }
        let member = try world.loneMember(.paused)
        let starts = (0..<world.partitions).map { PartitionOffset(partition: $0, offset: 0) }
        for _ in 0..<30 {
            try member.take(starts)
            try member.take(starts)
            member.forgetRecords()
            try world.poll([member], milliseconds: 50)
            guard member.records.isEmpty else { return .notSilent }
            try world.start(member, starts)
            // A silent partition stands still.
            try world.poll([member], until: "each partition delivers") {
                Set(member.records.map(\.partition)).count == Int(world.partitions)
            }
        }
        return .allDeliver
    }
}

package enum SeekBeforeStart: ContractScript {
    package enum Outcome: Hashable, Sendable { case failsThenSucceeds, succeedsBefore }

    package static let number = "A3"
    package static let title = "seek before the start fails, after it not, in time"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.failsThenSucceeds]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publish(5, to: 0, of: .requests)
        let member = try world.member("one", .silent)
        try world.poll([member], until: "it is assigned") { member.assignments == 1 }
        guard member.seek(0, 1) != nil else { return .succeedsBefore }
        member.manner = .paused
        try member.answerGroup()
        try world.poll([member], until: "the partition can be sought") { member.seek(0, 1) == nil }
        // From then on always: each seek has an answer in its time.
        for offset in 0..<100 as Range<Int64> {
            try world.poll([member], until: "the partition is sought") { member.seek(0, offset % 5) == nil }
        }
        return .failsThenSucceeds
    }
}

package enum NothingFromBeforeSeek: ContractScript {
    package enum Outcome: Hashable, Sendable { case exact, oldRecord }

    package static let number = "A4"
    package static let title = "no record from before a seek comes after it"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.exact]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publish(300, to: 0, of: .requests)
        let member = try world.loneMember()
        for round in 0..<20 as Range<Int64> {
            let target = round * 37 % 280
            try world.poll([member], until: "records come") { member.offsets(0).count >= 5 }
            try world.poll([member], until: "the partition is sought") { member.seek(0, target) == nil }
            member.forgetRecords()
            try world.poll([member], until: "records come") { member.offsets(0).count >= 10 }
            guard Array(member.offsets(0).prefix(10)) == Array(target..<target + 10) else { return .oldRecord }
        }
        return .exact
    }
}

package enum FirstRecordAfterResume: ContractScript {
    package enum Outcome: Hashable, Sendable {
        /// How late records were at their worst: after a resume alone, and where a seek followed it.
        case late(resume: Lateness, seek: Lateness)
    }

    package enum Lateness: Hashable, Sendable {
        /// Below 0.5 s, up to 2 s, longer.
        case no, upToFetch, more

        init(_ milliseconds: Int64) { self = milliseconds < 500 ? .no : milliseconds < 2_000 ? .upToFetch : .more }
    }

    package static let number = "A5"
    package static let title = "resume: first record up to 1 s; second seek: at once"
    package static let dependsOnMachine = true
    package static let worlds: Set<WorldKind> = [.model, .mock]
    /// On a loaded machine anything may be late; what the seek is for shows in the model.
    package static let allowed: Set<Outcome> = Set(
        [Lateness.no, .upToFetch, .more].flatMap { resume in
            [Lateness.no, .upToFetch, .more].map { Outcome.late(resume: resume, seek: $0) }
        }
    )

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publish(5, to: 0, of: .requests)
        let member = try world.loneMember(.paused)
        let start = [PartitionOffset(partition: 0, offset: 1)]
        func worst(withSeek: Bool) throws -> Int64 {
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
            return worst
        }
        return .late(resume: Lateness(try worst(withSeek: false)), seek: Lateness(try worst(withSeek: true)))
    }
}

package enum OffsetGone: ContractScript {
    package enum Outcome: Hashable, Sendable { case gone(faults: Int, seek: SeekKind), readsOn }

    package enum SeekKind: Hashable, Sendable { case notStarted, overtaken, timedOut, unknown, none }

    package static let number = "A6"
    package static let title = "offset gone: one fault, seeks fail until reassigned"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.gone(faults: 1, seek: .notStarted)]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publish(5, to: 0, of: .requests)
        let member = try world.loneMember(.paused)
        // The first offsets are looked up meanwhile: see A11.
        try world.poll([member], milliseconds: 1_500)
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
        guard member.records.isEmpty else { return .readsOn }
        let fault = member.seek(0, 2)
        let outcome = Outcome.gone(
            faults: member.faults.count { $0.isOffsetGone && $0.partition == 0 },
            seek: fault.map(SeekKind.init) ?? .none
        )
        let again = [PartitionOffset(partition: 0, offset: 2)]
        try member.take(again)
        try world.start(member, again)
        try world.poll([member], until: "it reads again") { member.offsets(0) == [2, 3, 4] }
        return outcome
    }
}

extension OffsetGone.SeekKind {
    init(_ fault: SeekFault) {
        switch fault {
        case .notStarted: self = .notStarted
        case .overtaken: self = .overtaken
        case .timedOut: self = .timedOut
        case .unknown: self = .unknown
        }
    }
}

package enum PausedIsSilent: ContractScript {
    package enum Outcome: Hashable, Sendable { case silentThenOn, records, gap }

    package static let number = "A7"
    package static let title = "paused: silent, prefetched records are dropped"
    package static let worlds: Set<WorldKind> = [.model, .mock]
    package static let allowed: Set<Outcome> = [.silentThenOn]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publish(300, to: 0, of: .requests)
        let member = try world.loneMember()
        try world.poll([member], until: "records come") { member.records.count >= 20 }
        _ = member.consumer.pause([0])
        let last = member.offsets(0).count
        try world.poll([member], milliseconds: 200)
        guard member.offsets(0).count == last else { return .records }
        _ = member.consumer.resume([0])
        try world.poll([member], until: "all records are read") { member.offsets(0).last == 299 }
        return member.offsets(0) == Array(0..<300) ? .silentThenOn : .gap
    }
}

package enum StartsWaitForCommit: ContractScript {
    package enum Outcome: Hashable, Sendable { case startsAfterAnswer, startsBefore }

    package static let number = "A8"
    package static let title = "starts wait while an offset commit has no answer"
    package static let worlds: Set<WorldKind> = [.model, .mock]
    package static let allowed: Set<Outcome> = [.startsAfterAnswer]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publish(5, to: 0, of: .requests)
        let member = try world.loneMember(.paused)
        try world.poll([member], until: "the partition can be sought") { member.seek(0, 1) == nil }
        try world.cause(.slow(milliseconds: 1_500))
        let id = try member.consumer.commit([PartitionOffset(partition: 0, offset: 1)])
        try member.take(Array(0..<world.partitions))
        try world.poll([member], until: "the partition can be sought") { member.seek(0, 1) == nil }
        // An answer that is there already is the next event.
        for _ in 0..<3 { try member.poll(0) }
        let isAnswered = member.commits[id] != nil
        try world.poll([member], until: "the offset is committed") { member.commits[id] != nil }
        try world.cause(.slow(milliseconds: 0))
        return isAnswered ? .startsAfterAnswer : .startsBefore
    }
}

package enum StepsMoveThePosition: ContractScript {
    /// Where reading goes on.
    package enum Place: Hashable, Sendable { case behindLast, atLastSeek, elsewhere }

    package enum Outcome: Hashable, Sendable { case goesOn(idleResume: Place, pauseAfterSeek: Place) }

    package static let number = "A10"
    package static let title = "a resume of what is not paused goes back to the last seek"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    /// The library keeps the place of the last start or seek, or the next record at a pause, and goes back to it with each
    /// step. So nothing is resumed that is not paused, unless a seek follows.
    package static let allowed: Set<Outcome> = [.goesOn(idleResume: .atLastSeek, pauseAfterSeek: .atLastSeek)]
    /// 2.8.0 does nothing where nothing is paused.
    package static let ofNewerLibrary: Set<Outcome> =
        LibraryVersion.text.hasPrefix("2.0.") ? [] : [.goesOn(idleResume: .behindLast, pauseAfterSeek: .atLastSeek)]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publish(300, to: 0, of: .requests)
        let member = try world.loneMember()
        func place(seek: Int64, last: Int64) throws -> Place {
            member.forgetRecords()
            try world.poll([member], until: "records come") { !member.offsets(0).isEmpty }
            switch member.offsets(0)[0] {
            case seek: return .atLastSeek
            case last + 1: return .behindLast
            default: return .elsewhere
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
        return .goesOn(idleResume: idle, pauseAfterSeek: try place(seek: 200, last: second))
    }
}

package enum LateFirstOffset: ContractScript {
    package enum Outcome: Hashable, Sendable { case neverSetBack, setBack }

    package static let number = "A11"
    package static let title = "a late lookup of the beginning may set a sought partition back"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    /// A lookup that a later step overtakes is repeated after 0.5 s, and its answer counts, whatever was sought since: the
    /// member has to notice records from before its position.
    package static let allowed: Set<Outcome> = [.neverSetBack, .setBack]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        for partition in 0..<world.partitions { try world.publish(5, to: partition, of: .requests) }
        let member = try world.loneMember(.paused)
        let starts = (0..<world.partitions).map { PartitionOffset(partition: $0, offset: 3) }
        try member.take(Array(0..<world.partitions))
        try world.poll([member], milliseconds: 1)
        try member.take(starts)
        member.forgetRecords()
        try world.start(member, starts)
        try world.poll([member], milliseconds: 1_000)
        if member.records.contains(where: { $0.offset < 3 }) { return .setBack }
        return .neverSetBack
    }
}

package enum StoredOffset: ContractScript {
    package enum Outcome: Hashable, Sendable { case pausedThenCommitted, notPaused, elsewhere }

    package static let number = "A12"
    package static let title = "assigned at the group's offset: paused as it was, a resume gives what was not committed"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.pausedThenCommitted]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        try world.publish(5, to: 0, of: .requests)
        let member = try world.loneMember()
        try world.poll([member], until: "all records are read") { member.offsets(0).last == 4 }
        let id = try member.consumer.commit([PartitionOffset(partition: 0, offset: 3)])
        try world.poll([member], until: "the commit is answered") { member.commits[id] != nil }
        _ = member.consumer.pause([0])
        try member.consumer.unassign()
        member.forgetRecords()
        try member.take([PartitionOffset(partition: 0, offset: PartitionOffset.stored)])
        try world.poll([member], milliseconds: 1_500)
        guard member.records.isEmpty else { return .notPaused }
        _ = member.consumer.resume([0])
        try world.poll([member], until: "records come") { !member.records.isEmpty }
        return member.offsets(0).first == 3 ? .pausedThenCommitted : .elsewhere
    }
}

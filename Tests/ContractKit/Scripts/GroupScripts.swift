package enum LoneMemberGetsAll: ContractScript {
    package enum Outcome: Hashable, Sendable { case allOnce, repeated }

    package static let number = "G1"
    package static let title = "a lone member gets all partitions, once"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.allOnce]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        for partition in 0..<world.partitions { try world.publish(3, to: partition, of: .requests) }
        let member = try world.loneMember()
        try world.poll([member], until: "all records are read") { member.records.count >= 3 * Int(world.partitions) }
        try world.poll([member], milliseconds: 1_000)
        let isOnce = member.events == 1 && Set(member.records).count == member.records.count
        return isOnce ? .allOnce : .repeated
    }
}

package enum SecondMemberJoins: ContractScript {
    package enum Outcome: Hashable, Sendable { case revokedThenShared, lostThenShared }

    package static let number = "G2"
    package static let title = "a second member joins: revoked, released, shared"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.revokedThenShared]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let first = try world.loneMember()
        let second = try world.member("two")
        try world.poll([first, second], until: "the partitions are shared") {
            guard let one = first.assigned, let two = second.assigned else { return false }
            return one.isDisjoint(with: two) && one.count + two.count == Int(world.partitions) && !two.isEmpty
        }
        return first.losses == 0 && first.revocations > 0 ? .revokedThenShared : .lostThenShared
    }
}

package enum UnansweredAssignment: ContractScript {
    package enum Outcome: Hashable, Sendable { case allWait, toldMeanwhile, othersGoOn }

    package static let number = "G3"
    package static let title = "an unanswered assignment: no revocation, all wait"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.allWait]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let first = try world.member("one", .silent)
        try world.poll([first], until: "it is assigned") { first.assignments == 1 }
        let second = try world.member("two")
        try world.poll([first, second], milliseconds: 2_000)
        guard first.events == 1 else { return .toldMeanwhile }
        guard second.events == 0 else { return .othersGoOn }
        first.manner = .reading
        try first.answerGroup()
        try world.poll([first, second], until: "the partitions are shared") {
            first.events > 1 && (first.assigned?.count ?? 0) + (second.assigned?.count ?? 0) == Int(world.partitions)
                && second.assigned?.isEmpty == false
        }
        return .allWait
    }
}

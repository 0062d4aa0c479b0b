internal import KafkaPorts

package enum CloseWithUnansweredChange: ContractScript {
    package enum Outcome: Hashable, Sendable { case left, timedOut }

    package static let number = "D1"
    package static let title = "close with an unanswered change returns"
    package static let worlds: Set<WorldKind> = [.model, .mock]
    package static let allowed: Set<Outcome> = [.left]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let member = try world.member("one", .silent)
        try world.poll([member], until: "it is assigned") { member.assignments == 1 }
        do throws(KafkaFault) { try member.consumer.close(limit: 30_000) } catch { return .timedOut }
        return .left
    }
}

package enum DiscardedConsumer: ContractScript {
    package enum Outcome: Hashable, Sendable { case partitionsMove, stillAnswers }

    package static let number = "D2"
    package static let title = "discard never waits; no effect of the client's later"
    package static let worlds: Set<WorldKind> = [.model, .mock, .real]
    package static let allowed: Set<Outcome> = [.partitionsMove]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        for partition in 0..<world.partitions { try world.publish(1, to: partition, of: .requests) }
        let first = try world.loneMember()
        try world.poll([first], until: "records come") { first.records.count == Int(world.partitions) }
        // An answer that is outstanding never comes.
        _ = try first.consumer.commit([PartitionOffset(partition: 0, offset: 1)])
        first.consumer.discard()
        let seen = first.progress
        let second = try world.member("two")
        try world.poll([first, second], until: "the partitions move") {
            second.assigned?.count == Int(world.partitions)
        }
        return first.progress == seen ? .partitionsMove : .stillAnswers
    }
}

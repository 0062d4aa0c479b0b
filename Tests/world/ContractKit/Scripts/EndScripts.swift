internal import KafkaPorts

extension ContractScript {
    static let d1 = onMock("D1: close with an unanswered change returns", ends: ["left"]) { world in
        let member = try world.member("one", .silent)
        try world.poll([member], until: "it is assigned") { member.assignments == 1 }
        do throws(KafkaFault) { try member.consumer.close(limit: 30_000) } catch { return "timedOut" }
        return "left"
    }

    static let d2 = everywhere(
        "D2: discard never waits; no effect of the client's later",
        ends: ["partitionsMove"]
    ) { world in
        try world.publishToAll(1)
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
        return first.progress == seen ? "partitionsMove" : "stillAnswers"
    }
}

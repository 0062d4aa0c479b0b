internal import KafkaPorts

package enum TopicsAreListed: ContractScript {
    package enum Outcome: Hashable, Sendable { case missingThenNew, wrong }

    package static let number = "Q4"
    package static let title = "topics: missing, new, grown"
    package static let worlds: Set<WorldKind> = [.mock, .real]
    package static let needs: Set<Ability> = [.topics]
    package static let allowed: Set<Outcome> = [.missingThenNew]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let ports = try world.process("one", isStatic: false)
        let consumer = try ports.makeConsumer()
        func counts() throws -> [String: Int] {
            guard case .topics(let topics) = try world.answer(ports.queries, .topics).get() else { return [:] }
            return Dictionary(uniqueKeysWithValues: topics.map { ($0.name, $0.partitions) })
        }
        let before = try counts()
        guard before["made-later"] == nil, before.values.contains(Int(world.partitions)) else { return .wrong }
        try world.cause(.topicMade("made-later", partitions: 7))
        // Each broker hears of it after a while.
        try world.until("the topic is known", progress: { 0 }) { try counts()["made-later"] == 7 }
        consumer.discard()
        return .missingThenNew
    }
}

package enum QueryWithoutAnswer: ContractScript {
    package enum Outcome: Hashable, Sendable { case faultThenAnswer, wrong }

    package static let number = "Q5"
    package static let title = "no answer: 5 s, then the next query"
    package static let worlds: Set<WorldKind> = [.model, .mock]
    package static let allowed: Set<Outcome> = [.faultThenAnswer]

    package static func run(in world: any ContractWorld) throws -> Outcome {
        let ports = try world.process("one", isStatic: false)
        let consumer = try ports.makeConsumer()
        _ = try world.answer(ports.queries, .topics).get()
        try world.cause(.away)
        let begin = world.now
        guard case .failure(let fault) = try world.answer(ports.queries, .topics), fault.isRetriable,
            !fault.isFatal, world.now - begin >= 4_000
        else { return .wrong }
        try world.cause(.back)
        try world.until("the broker answers", progress: { 0 }) {
            (try? world.answer(ports.queries, .topics).get()) != nil
        }
        consumer.discard()
        return .faultThenAnswer
    }
}

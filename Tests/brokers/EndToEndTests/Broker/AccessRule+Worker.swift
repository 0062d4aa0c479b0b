import BrokerKit

extension AccessRule {
    /// All that a worker named `one` needs on these names, as the Kafka page lists it.
    static func least(_ user: String, _ workplace: ProgramWorkplace) -> [AccessRule] {
        let outputs = ["results", "tokens", "events", "dead-letters", "ledger"].map(workplace.topic)
        let (requests, ledger) = (workplace.requests, workplace.topic("ledger"))
        return [
            AccessRule(user, ["Read"], on: [.topic(requests), .topic(ledger), .group(workplace.group)]),
            AccessRule(user, ["Write", "DescribeConfigs"], on: outputs.map { .topic($0) }),
            AccessRule(user, ["DescribeConfigs"], on: [.topic(requests)]),
            AccessRule(user, ["Write", "Describe"], on: [.transactionalID(workplace.group + "-one")]),
        ]
    }
}

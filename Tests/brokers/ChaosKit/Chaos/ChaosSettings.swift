internal import BrokerKit

package struct ChaosSettings: Sendable {
    package var seed: UInt64 = 1
    package var faults = 20
    package var requests = 20_000
    /// 1 or 3.
    package var brokers = 1
    /// At the start; scaling adds up to ``spareWorkers``.
    package var workers = 3
    package var spareWorkers = 2
    package var partitions: Int32 = 6
    /// As worker.json has it.
    package var delivery = "exactly-once"
    package var membership = "static"
    package var secondsBetweenFaults = 4.0
    /// nil = every kind that the cluster has room for.
    package var kinds: [ChaosFault]?
    /// nil = so many that each asserts some fifty times.
    package var devices: Int?
    package var faultShare = 0.1
    package var hostileShare = 0.01
    /// The part of the requests after the first attestations that is the App Check exchange's, 0 to 1.
    package var exchangeShare = 0.3
    /// The life of sealed challenges: short enough that they expire while a run lasts.
    package var challengeSeconds = 60
    /// False: requests come as fast as they can be made, and wait for the workers; else they are spread over the faults.
    package var isPaced = true
    package var sessionMilliseconds = 6_000
    package var transactionMilliseconds = 10_000
    /// From the last fault until every request is answered.
    package var drainSeconds = 60.0
    /// More members of worker.json, each followed by a comma.
    package var workerMembers = ""
    /// Puts a network between workers and brokers that does harm of its own.
    package var hasNetwork = false
    /// An operator sets quotas, and deletes and moves the group's offsets.
    package var hasOperator = false
    /// Each worker and each broker has a wall clock of its own, which jumps. Needs clang.
    package var hasClocks = false
    /// Workers keep copies of their ledgers, and follow those of others.
    package var hasCopies = false
    /// Before the first fault an operator deletes the topics of requests and ledger, and creates them again.
    package var recreatesTopics = false
    /// Gateways between stock clients and the topics; 0 = none.
    package var gateways = 0
    /// Stock clients on each way: at each gateway, and at the proxy before all of them.
    package var clients = 15
    /// Tokens that a client asks for until it is done.
    package var wishes = 24
    /// Answers come to the gateways by a topic of their own.
    package var hasReplies = false
    /// Where everything stays; nil = nothing stays.
    package var keep: String?

    package init() {}

    /// The kinds of fault that happen. A single broker does not end unless that is asked for: when it comes back, the
    /// coordinator of Kafka 4.3.1 may take the partitions of a decided transaction for deleted ones and leave their
    /// markers out, which no client can repair.
    package var faultKinds: [ChaosFault] {
        let endings = [ChaosFault.killBroker, .killAllBrokers, .restartBroker]
        return kinds
            ?? ChaosFault.allCases.filter { kind in
                (brokers > 1 || !endings.contains(kind)) && (hasNetwork || !kind.isNetworks)
                    && (hasOperator || !kind.isOperators) && (gateways > 0 || !kind.isGateways)
                    && (hasClocks || !kind.isClocks) && (hasCopies || !kind.isDisks)
                    // What cuts off a gateway would cut off the workers.
                    && !(hasNetwork && kind == .cutOffGateway)
            }
    }

    /// - Parameter servers: where the workers connect; nil = to the brokers themselves.
    func workplace(servers: String?) -> ProgramWorkplace.Options {
        var options = ProgramWorkplace.Options()
        (options.partitions, options.delivery, options.membership) = (partitions, delivery, membership)
        // A worker that is behind its brokers pauses at the same distance as one that is ahead.
        let clock = hasClocks ? #""clock": {"maxAhead": "60s"},"# : ""
        let state = hasCopies ? #""state": {"snapshots": true, "standby": true},"# : ""
        (options.members, options.keep) = (workerMembers + clock + state, keep)
        options.kafka = [
            ("session.timeout.ms", String(sessionMilliseconds)),
            ("transaction.timeout.ms", String(transactionMilliseconds)),
            ("client.id", ChaosOperator.clientID),
        ]
        if hasReplies, gateways > 0 { options.topicMembers = #""replies": "appattest.replies", "# }
        if let servers {
            // A request that is swallowed times out after this time.
            options.kafka += [("bootstrap.servers", servers), ("socket.timeout.ms", "10000")]
        }
        return options
    }

    /// Where no compiler is, clocks stay right, and everything else happens.
    mutating func leaveClocksAlone() {
        hasClocks = false
        kinds?.removeAll(where: \.isClocks)
        if kinds?.isEmpty ?? false { faults = 0 }
    }

    /// Workers, or the first gateway, come to the brokers through the network.
    var needsNetwork: Bool { hasNetwork || gateways > 0 }

    /// Devices of the exchange have some thirty requests each.
    var exchangeDevices: Int { max(5, Int(Double(requests) * exchangeShare) / 30) }

    var deviceCount: Int { devices ?? max(10, requests / 50) }

    /// How many requests may have been sent when a share (0 to 1) of the faults is done; the last one comes a little
    /// before the last fault.
    func requests(at share: Double) -> Int {
        let paced = Double(requests - spareRequests) * min(1, share * 1.05)
        return isPaced ? min(requests, Int(paced.rounded(.up))) : requests
    }

    /// Kept for the search for a worker inside a transaction: without requests there is none.
    var spareRequests: Int { isPaced && faultKinds.contains(.killWorkerInTransaction) ? requests / 20 : 0 }
}

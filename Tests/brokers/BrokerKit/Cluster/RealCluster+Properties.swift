internal import Foundation

extension RealCluster {
    /// A broker's server.properties. Of two lines with one name the later counts.
    func brokerProperties(_ id: Int) -> String {
        let own = common + listeners(id) + replication + access + encryption + disk(id)
        return (own + settings.properties).map { "\($0.name)=\($0.value)\n" }.joined()
    }

    private typealias Lines = [(name: String, value: String)]

    private var common: Lines {
        [
            ("process.roles", "broker,controller"), ("controller.listener.names", "CONTROLLER"),
            ("inter.broker.listener.name", "PLAINTEXT"), ("auto.create.topics.enable", "false"),
            ("offsets.topic.num.partitions", "3"), ("transaction.state.log.num.partitions", "3"),
            ("broker.heartbeat.interval.ms", "500"), ("group.initial.rebalance.delay.ms", "0"),
            ("group.min.session.timeout.ms", "1000"), ("num.network.threads", "2"), ("num.io.threads", "2"),
            ("log.cleaner.dedupe.buffer.size", "16777216"), ("log.cleaner.backoff.ms", "1000"),
            ("transaction.abort.timed.out.transaction.cleanup.interval.ms", "1000"),
        ]
    }

    private var replication: Lines {
        let hasThree = settings.brokers == 3
        let (replicas, needed) = hasThree ? ("3", "2") : ("1", "1")
        return [
            ("default.replication.factor", replicas), ("min.insync.replicas", needed),
            ("offsets.topic.replication.factor", replicas), ("transaction.state.log.replication.factor", replicas),
            ("transaction.state.log.min.isr", needed), ("share.coordinator.state.topic.min.isr", needed),
            ("share.coordinator.state.topic.replication.factor", replicas),
            // Longer than any pause: a single broker that is fenced may forget what its coordinator has decided.
            ("broker.session.timeout.ms", hasThree ? "6000" : "9000"),
        ]
    }

    private func listeners(_ id: Int) -> Lines {
        let mine = ports[id - 1]
        let voters = brokerIDs.map { "\($0)@127.0.0.1:\(ports[$0 - 1].controller)" }.joined(separator: ",")
        var clients = "PLAINTEXT://127.0.0.1:\(mine.plain)"
        if hasUsers { clients += ",SASL_PLAINTEXT://127.0.0.1:\(mine.sasl)" }
        if tls != nil {
            clients += ",TLS://127.0.0.1:\(mine.tls),MUTUAL://127.0.0.1:\(mine.mutual)"
            clients += ",SASLTLS://127.0.0.1:\(mine.saslTLS)"
        }
        let via = settings.proxy != nil ? [mine.via, mine.advertised].map { ",VIA://127.0.0.1:\($0)" } : ["", ""]
        return [
            ("node.id", String(id)), ("controller.quorum.voters", voters), ("log.dirs", "\(folder.path)/\(id)/data"),
            ("listeners", "\(clients)\(via[0]),CONTROLLER://127.0.0.1:\(mine.controller)"),
            ("advertised.listeners", clients + via[1]),
            (
                "listener.security.protocol.map",
                "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,VIA:PLAINTEXT,"
                    + "TLS:SSL,MUTUAL:SSL,SASLTLS:SASL_SSL"
            ),
        ]
    }

    private var hasUsers: Bool { !settings.users.isEmpty }

    private var access: Lines {
        guard hasUsers else { return [] }
        let listener = "listener.name.sasl_plaintext"
        return [
            ("sasl.enabled.mechanisms", "SCRAM-SHA-256,PLAIN"),
            ("\(listener).scram-sha-256.sasl.jaas.config", "\(ClusterTLS.security).scram.ScramLoginModule required;"),
            ("\(listener).plain.sasl.jaas.config", plainModule),
            ("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
            ("super.users", "User:ANONYMOUS"),
        ]
    }

    private var encryption: Lines { tls?.properties(plainModule) ?? [] }

    /// PLAIN with the users' passwords.
    private var plainModule: String {
        let users = settings.users.map { "user_\($0.name)=\"\($0.password)\"" }.joined(separator: " ")
        return "\(ClusterTLS.security).plain.PlainLoginModule required \(users);"
    }

    /// The metadata stays on the ordinary disk, so that a full one is the topics' trouble alone.
    private func disk(_ id: Int) -> Lines {
        settings.diskMegabytes == nil ? [] : [("metadata.log.dir", "\(folder.path)/\(id)/metadata")]
    }
}

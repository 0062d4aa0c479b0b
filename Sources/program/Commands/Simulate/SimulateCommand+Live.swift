internal import AppAttest
internal import Broker
internal import CommandFrame
internal import DeviceLab
internal import HTTP
internal import Kafka
internal import Lab
internal import Settings
internal import Traffic

extension SimulateCommand {
    /// `--live`: stock clients that wait for the answers of a running worker.
    struct Live {
        let devices: Int
        let records: Int
        let seed: UInt64
        let rate: Double?

        /// The time without an answer after which no worker is assumed to be running.
        private static let timeBudget = Duration.seconds(60)
        /// Clients that all back off for longer than this, in milliseconds, are not waited for.
        private static let longestSilence: Int64 = 60_000
        /// A handshake; every other wish takes two calls, and a limited-use token two more for its checks.
        private static let fewestCalls = 2

        /// Runs stock clients over the topics.
        func run(
            _ configuration: Configuration,
            _ apps: [SimulatedApp],
            _ ca: LabCA,
            _ meter: inout ProgressMeter
        )
            throws -> StockTally
        {
            let properties = try configuration.brokerProperties()
            let topic = configuration.topics.requests
            let partitions = try PartitionCounts(Admin(KafkaProperties(properties))).count(of: topic)
            let members = StockFleet.members(apps, ca: ca, devices: devices, seed: seed, wishes: wishes)
            let link = try KafkaStockLink(
                properties: properties,
                topics: configuration.topics,
                partitions: partitions,
                rate: rate
            )
            return try serve(members, link, &meter)
        }

        /// Runs stock clients over HTTP.
        func run(
            _ target: GatewayTarget,
            connections: Int,
            _ apps: [SimulatedApp],
            _ ca: LabCA,
            _ meter: inout ProgressMeter
        ) throws -> (StockTally, LinkAccount?) {
            let members = StockFleet.members(
                apps,
                ca: ca,
                devices: devices,
                seed: seed,
                wishes: wishes,
                checksTokens: target.secret != nil
            )
            let link = try HTTPStockLink(target, connections: OpenFiles.connections(wanted: connections), rate: rate)
            if let failure = link.probe() {
                throw CommandFault(
                    "\(target.base) does not answer (\(failure)): start \(AttestWorker.name) gateway, or name its "
                        + "address with --via."
                )
            }
            let tally = try serve(members, link, &meter)
            return (tally, link.account)
        }

        private func serve(
            _ members: [StockMember],
            _ link: any StockLink,
            _ meter: inout ProgressMeter
        ) throws -> StockTally {
            let fleet = StockFleet(members, link: link, prefix: "stock-\(seed)-\(UInt64.random(in: 0...UInt64.max))")
            fleet.limit = records
            try serve(fleet, &meter)
            try fleet.close()
            return fleet.tally
        }

        /// More than the records allow: the limit ends the run.
        private var wishes: [StockMember.Wish] {
            let most = records / devices / Self.fewestCalls + 2
            return [.session] + (0..<most).map { $0 % 2 == 0 ? .refresh : .limitedUse }
        }

        private func serve(_ fleet: StockFleet, _ meter: inout ProgressMeter) throws {
            var (progress, lastProgress) = (0, ContinuousClock.now)
            while !fleet.isDone {
                let now = WallClock.now()
                try fleet.step(at: now, milliseconds: 20)
                meter.update(fleet.tally.calls)
                try Self.check(fleet.silentUntil, fleet.tally, now)
                // Paced clients, and clients that back off, do not wait for an answer.
                let isResting = !fleet.isWaiting && fleet.tally.broken.isEmpty
                if fleet.answers != progress || isResting { (progress, lastProgress) = (fleet.answers, .now) }
                guard ContinuousClock.now - lastProgress < Self.timeBudget else {
                    let cause = fleet.tally.broken.keys.min().map { " (\($0))" } ?? ""
                    throw CommandFault(
                        "no answer within 60 s\(cause): start \(AttestWorker.name) run on this configuration."
                    )
                }
            }
        }

        /// A 404 keeps a stock client silent for a day: the run does not wait for that.
        private static func check(
            _ end: EvaluationTime?,
            _ tally: StockTally,
            _ now: EvaluationTime
        ) throws(CommandFault) {
            guard let end, end.milliseconds - now.milliseconds > longestSilence else { return }
            let seconds = (end.milliseconds - now.milliseconds) / 1000
            let refused = tally.refused.sorted { $0.key < $1.key }.map { "\($0.value.grouped) \($0.key)" }
            throw CommandFault(
                "every stock client keeps silent for \(Int(seconds).grouped) s or more after \(tally.calls.grouped) "
                    + "calls, as the SDK does; refused: \(refused.joined(separator: ", "))."
            )
        }
    }

    /// Throws if a client was given what is another's.
    static func account(_ account: LinkAccount) throws(CommandFault) {
        guard let first = account.crossings.first else { return }
        throw CommandFault(
            "\(account.crossings.crossings.counted("answer", "belongs", "belong")) to another call; the first: \(first)."
        )
    }

    /// - Throws: where calls were refused and no client got a token: nothing works.
    static func requireTokens(_ tally: StockTally) throws(CommandFault) {
        guard tally.minted == 0, !tally.refused.isEmpty else { return }
        throw CommandFault("no stock client got a token: the refusals above say why.")
    }

    /// The outcome of the clients as lines; throws if an answer is unusable.
    static func account(_ tally: StockTally, devices: Int) throws(CommandFault) -> [String] {
        if let fault = tally.faults.first {
            throw CommandFault(
                "\(tally.faults.count.counted("answer")) cannot be used by a stock client; the first: \(fault)."
            )
        }
        let refused = tally.refused.sorted { $0.key < $1.key }.map { "\($0.value.grouped) \($0.key)" }
        return [
            "\(tally.calls.counted("call")) of \(devices.grouped) stock clients: \(tally.minted.counted("token")), "
                + "\(tally.sessions.grouped) by attestation, \(tally.consumed.grouped) used up",
            "refused: " + (refused.isEmpty ? "none" : refused.joined(separator: ", ")),
        ]
    }
}

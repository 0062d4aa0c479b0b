internal import AppAttest
internal import Broker
internal import DeviceLab
internal import Kafka
internal import Settings
internal import Traffic

extension SimulateCommand {
    /// `--live`: stock clients that wait for the answers of a running worker.
    struct Live {
        let devices: Int
        let records: Int
        let seed: UInt64
        let rate: Double?

        /// After this long without an answer no worker is assumed to be running.
        private static let patience = Duration.seconds(60)
        /// A handshake; every other wish takes two calls, and a limited-use token two more for its checks.
        private static let fewestCalls = 2

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
                let now = EvaluationTime(milliseconds: WallClock.milliseconds())
                try fleet.step(at: now, milliseconds: 20)
                meter.update(fleet.tally.calls)
                // Paced clients, and clients that back off, do not wait for an answer.
                if fleet.answers != progress || !fleet.isWaiting { (progress, lastProgress) = (fleet.answers, .now) }
                guard ContinuousClock.now - lastProgress < Self.patience else {
                    throw CommandFault("no answer within 60 s: start \(AttestWorker.name) run on this configuration.")
                }
            }
        }
    }

    /// The outcome of the clients as lines; throws if an answer is unusable.
    static func account(_ tally: StockTally, devices: Int) throws(CommandFault) -> [String] {
        if let fault = tally.faults.first {
            throw CommandFault(
                "\(tally.faults.count) answers cannot be used by a stock client; the first: \(fault)."
            )
        }
        let refused = tally.refused.sorted { $0.key < $1.key }.map { "\($0.value.grouped) \($0.key)" }
        return [
            "\(tally.calls.grouped) calls of \(devices.grouped) stock clients: \(tally.minted.grouped) tokens, "
                + "\(tally.sessions.grouped) by attestation, \(tally.consumed.grouped) used up",
            "refused: " + (refused.isEmpty ? "none" : refused.joined(separator: ", ")),
        ]
    }
}

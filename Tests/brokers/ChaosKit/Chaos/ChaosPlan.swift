package import BrokerKit
internal import DeviceLab

/// A thing that goes wrong.
package enum ChaosFault: String, Sendable, CaseIterable {
    case killWorker = "kill -9 of a worker"
    case killWorkerInTransaction = "kill -9 of a worker inside a transaction"
    case pauseWorkerPastSession = "worker paused past its session"
    case pauseWorkerPastTransaction = "worker paused past its transaction"
    case terminateWorker = "SIGTERM of a worker"
    case scaleUp = "a worker more"
    case scaleDown = "a worker less"
    case restartBroker = "broker restart"
    case killBroker = "kill -9 of a broker"
    case pauseBroker = "broker pause"
    case killAllBrokers = "kill -9 of all brokers"
    /// Frames that the worker has sent by then arrive after its death.
    case killWorkerInPause = "kill -9 of a worker while no broker answers"
    case lateEnd = "late EndTxn"
    case lateOffsets = "late TxnOffsetCommit"
    case lateAddOffsets = "late AddOffsetsToTxn"
    case lateAddPartitions = "late AddPartitionsToTxn"
    case cutBefore = "connection cut before a request arrives"
    case cutBeforeAnswer = "connection cut before an answer"
    case cutBehindAnswer = "connection cut behind an answer"
    case cutAll = "every connection cut"
    case delayed = "requests and answers delayed"
    case swallowed = "a request or an answer swallowed"
    case throttled = "way throttled"
    case requestsOnly = "requests pass, answers do not"
    case answersOnly = "answers pass, requests do not"
    case blackHole = "nothing passes"
    case killGateway = "kill -9 of a gateway"
    case pauseGateway = "gateway paused"
    case terminateGateway = "SIGTERM of a gateway"
    case cutOffGateway = "gateway cut off from the brokers"
    case quota = "a quota"
    case offsetsDeleted = "the group's offsets deleted"
    case offsetsMovedBack = "the group's offsets moved back"
    case jumpWorkerClock = "a worker's clock jumps"
    case jumpBrokerClock = "a broker's clock jumps"

    case wipeState = "kill -9 of a worker whose copies are removed"
    case flipState = "kill -9 of a worker whose copies are damaged"
    case oldState = "kill -9 of a worker that finds earlier copies"
    case swapStates = "kill -9 of a worker that finds another one's copies"

    enum Side { case workers, brokers, network, gateways, person, clocks, disks }

    var side: Side {
        switch self {
        case .restartBroker, .killBroker, .pauseBroker, .killAllBrokers, .killWorkerInPause: .brokers
        case .cutBefore, .cutBeforeAnswer, .cutBehindAnswer, .cutAll, .delayed, .swallowed, .throttled, .requestsOnly,
            .answersOnly, .blackHole:
            .network
        case .killGateway, .pauseGateway, .terminateGateway, .cutOffGateway: .gateways
        case .quota, .offsetsDeleted, .offsetsMovedBack: .person
        case .jumpWorkerClock, .jumpBrokerClock: .clocks
        case .wipeState, .flipState, .oldState, .swapStates: .disks
        default: lateKey == nil ? .workers : .network
        }
    }

    /// Done by the network between workers and brokers.
    package var isNetworks: Bool { side == .network }
    /// Done to a gateway.
    package var isGateways: Bool { side == .gateways }
    /// Done by an operator, to a group whose workers all run.
    package var isOperators: Bool { side == .person }
    /// Done to the wall clock of one process.
    package var isClocks: Bool { side == .clocks }

    /// Done to copies of ledgers.
    package var isDisks: Bool { side == .disks }

    /// The key whose requests arrive late; nil = none do.
    package var lateKey: APIKey? {
        switch self {
        case .lateEnd: .endTransaction
        case .lateOffsets: .transactionOffsetCommit
        case .lateAddOffsets: .addOffsetsToTransaction
        case .lateAddPartitions: .addPartitionsToTransaction
        default: nil
        }
    }
}

/// A fault with all that is left to chance.
package struct PlannedFault: Sendable, Equatable {
    package var fault: ChaosFault
    /// Chooses its target among those that are there.
    package var target: UInt64
    /// How long it lasts, from 0 (the shortest of its kind) to 1.
    package var length: Double
}

/// A schedule of faults under a seed: every kind before any comes again.
package enum ChaosPlan {
    package static func faults(
        _ count: Int,
        seed: UInt64,
        of kinds: [ChaosFault] = ChaosFault.allCases
    ) -> [PlannedFault] {
        var random = SeededRandom(seed: seed)
        var round: [ChaosFault] = []
        return (0..<count).map { _ in
            if round.isEmpty { round = kinds.shuffled(using: &random) }
            let fault = round.removeLast()
            return PlannedFault(fault: fault, target: random.next(), length: Double(random.next() % 1001) / 1000)
        }
    }
}

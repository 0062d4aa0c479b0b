internal import BrokerKit
internal import Foundation

extension ChaosCrew {
    /// Injects a fault. - Returns: a description; nil if no worker is eligible now.
    func apply(_ planned: PlannedFault) throws -> String? {
        if planned.fault == .scaleUp {
            guard let index = absent.first else { return nil }
            try start(index)
            return "\(members[index].name) is new"
        }
        if planned.fault == .killWorkerInTransaction { return killInTransaction(planned) }
        let candidates = running
        // One worker must stay up to take the partitions.
        guard candidates.count > (planned.fault == .scaleDown ? 2 : 0) else { return nil }
        let index = candidates[Int(planned.target % UInt64(candidates.count))]
        return apply(planned, to: index)
    }

    private func apply(_ planned: PlannedFault, to index: Int) -> String? {
        let name = members[index].name
        let session = Duration.milliseconds(settings.sessionMilliseconds)
        let back = back(planned)
        switch planned.fault {
        case .killWorker, .killGateway:
            strike(index, back)
            return "kill -9 of \(name), back in \(back.text)"
        // Longer than its calls wait, one time of two.
        case .pauseGateway: return pause(index, .seconds(1 + 2 * Double(ChaosGates.deadlineSeconds) * planned.length))
        case .pauseWorkerPastSession: return pause(index, session + .seconds(0.5 + 2 * planned.length))
        case .pauseWorkerPastTransaction:
            let transaction = Duration.milliseconds(settings.transactionMilliseconds)
            return pause(index, max(session, transaction) + .seconds(1 + 2 * planned.length))
        case .killWorkerInPause:
            members[index].state = .doomed(until: .now + ChaosBrokers.deadlyPause * 0.8)
            return "\(name) will be killed meanwhile"
        case .terminateWorker, .terminateGateway:
            end(index, startsAfter: back)
            return "SIGTERM of \(name), back \(back.text) after its end"
        case .scaleDown:
            end(index)
            return "\(name) leaves"
        default: return nil
        }
    }

    /// Three of four come back within their session, one after it.
    func back(_ planned: PlannedFault) -> Duration {
        let session = Duration.milliseconds(settings.sessionMilliseconds)
        return planned.length < 0.75 ? Duration.seconds(2 * planned.length) : session + .seconds(1)
    }

    func strike(_ index: Int, _ back: Duration) {
        members[index].process?.signal(SIGKILL)
        _ = members[index].process?.waitForEnd(seconds: 10)
        members[index].state = .down(until: .now + back)
    }

    private func pause(_ index: Int, _ length: Duration) -> String {
        members[index].process?.signal(SIGSTOP)
        members[index].state = .paused(until: .now + length)
        return "SIGSTOP of \(members[index].name) for \(length.text)"
    }
}

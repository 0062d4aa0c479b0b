internal import KafkaPorts
internal import Member

/// Runs a real writer on simulated producers: one step a job, and between two of them anything may happen.
final class SimulatedWriterHost: WriterHost {
    private unowned let process: SimulatedProcess
    private let writer: OutputWriter
    private var outcomes: [WriterOutcome] = []

    init(_ process: SimulatedProcess, _ settings: OutputWriter.Settings) {
        self.process = process
        writer = OutputWriter(settings) { [unowned process] () throws(KafkaFault) in try process.makeProducer(settings)
        }
    }

    func submit(_ job: WriterJob) {
        guard !process.isDead else { return }
        guard !process.isWriting else {
            return process.violate("has a job for its writer before the last one's outcome")
        }
        process.isWriting = true
        process.broker.counts.note("\(process.broker.now) \(process.name) submits \(job.name)")
        writer.accept(job, at: process.now)
        step()
    }

    private func step() {
        process.later { [self] in
            guard !process.isDead else { return }
            switch writer.step(at: process.now) {
            case .again: step()
            case .report(let outcome):
                outcomes.append(outcome)
                step()
            case .done(let outcome):
                outcomes.append(outcome)
                process.isWriting = false
            }
        }
    }

    func nextOutcome() -> WriterOutcome? { outcomes.isEmpty ? nil : outcomes.removeFirst() }
}

extension WriterJob {
    fileprivate var name: String {
        switch self {
        case .takeOver: "a take-over"
        case .write: "an output"
        case .abort: "an abort"
        case .close: "its end"
        }
    }
}

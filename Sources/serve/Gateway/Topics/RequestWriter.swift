internal import Dispatch
package import Kafka
package import KafkaPorts
internal import Pipeline
package import Streams
internal import Threads

/// Produces requests and events on a separate thread: no call waits for the broker.
package final class RequestWriter: RequestOutlet, Sendable {
    package typealias Report = @Sendable ([DeliveryReport]) -> Void

    private struct State {
        var waiting: [OutboundRequest] = []
        var isStopping = false
        var statistics: [UInt8] = []
        var connectionFault: KafkaFault?
    }

    private static let busyMilliseconds = 5
    private static let idleMilliseconds = 200
    private static let flushMilliseconds = 2_000
    private static let connectMilliseconds = 2_000

    private let properties: KafkaProperties
    private let counts: [String: Int32]
    private let state = Locked(State())
    private let wakeup = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let trouble: @Sendable (KafkaFault) -> Void

    /// - Parameters:
    ///   - counts: of the topics' partitions.
    package init(
        _ properties: KafkaProperties,
        counts: [String: Int32],
        trouble: @escaping @Sendable (KafkaFault) -> Void
    ) {
        (self.properties, self.counts, self.trouble) = (properties, counts, trouble)
    }

    /// - Parameter report: takes what became of records with tickets, on the writer's thread.
    /// - Throws: where no client can be made of the properties.
    package func start(report: @escaping Report) throws(KafkaFault) {
        let fault = Locked<KafkaFault?>(nil)
        let begun = DispatchSemaphore(value: 0)
        DispatchQueue(owner: "gateway.writer").async {
            do throws(KafkaFault) {
                let producer = try self.make()
                // The port opens after this: no call waits for a connection.
                producer.connect(to: self.counts.keys.sorted(), timeoutMilliseconds: Self.connectMilliseconds)
                begun.signal()
                self.work(producer, report)
            } catch {
                fault.withLock { $0 = error }
                begun.signal()
            }
        }
        begun.wait()
        if let fault = fault.withLock({ $0 }) { throw fault }
    }

    /// What the client says of its brokers: the library's last statistics, JSON, and the last fault of a connection.
    package var connections: (statistics: [UInt8], fault: KafkaFault?) {
        state.withLock { ($0.statistics, $0.connectionFault) }
    }

    package func write(_ record: OutboundRequest) {
        state.withLock { $0.waiting.append(record) }
        wakeup.signal()
    }

    /// Ends the thread once what waits is flushed, or two seconds have passed.
    package func stop() {
        state.withLock { $0.isStopping = true }
        wakeup.signal()
        _ = ended.wait(timeout: .now() + .milliseconds(2 * Self.flushMilliseconds))
    }

    private func make() throws(KafkaFault) -> Producer {
        let producer = try Producer(properties)
        producer.know(counts)
        return producer
    }

    private func work(_ first: Producer, _ report: Report) {
        var producer = first
        while true {
            let pause = producer.outstanding > 0 ? Self.busyMilliseconds : Self.idleMilliseconds
            _ = wakeup.wait(timeout: .now() + .milliseconds(pause))
            var records: [OutboundRequest] = []
            let isStopping = state.withLock { state in
                (state.statistics, state.connectionFault) = (producer.statistics, producer.connectionFault)
                swap(&records, &state.waiting)
                return state.isStopping
            }
            for record in records { send(record, producer, report) }
            producer.poll(timeoutMilliseconds: 0)
            deliver(producer, report)
            if producer.fatalFault != nil || producer.isOutdated { replace(&producer, report) }
            if isStopping { break }
        }
        try? producer.flush(timeoutMilliseconds: Self.flushMilliseconds)
        deliver(producer, report)
        ended.signal()
    }

    private func send(_ record: OutboundRequest, _ producer: Producer, _ report: Report) {
        do throws(KafkaFault) {
            try producer.produce(
                topic: record.topic,
                partition: record.partition,
                key: record.key,
                value: record.value,
                headers: record.headers,
                ticket: record.ticket,
                budgetMilliseconds: 0
            )
        } catch {
            trouble(error)
            guard let ticket = record.ticket else { return }
            report([DeliveryReport(ticket: ticket, outcome: .notWritten, fault: error)])
        }
    }

    private func deliver(_ producer: Producer, _ report: Report) {
        let reports = producer.takeReports()
        guard !reports.isEmpty else { return }
        if let fault = reports.lazy.compactMap(\.fault).first { trouble(fault) }
        report(reports)
    }

    /// Flushing a failed producer reports its records as undelivered; one that is well writes them.
    private func replace(_ producer: inout Producer, _ report: Report) {
        if let fault = producer.fatalFault { trouble(fault) }
        try? producer.flush(timeoutMilliseconds: Self.flushMilliseconds)
        deliver(producer, report)
        // What an outdated producer still has to write keeps it.
        guard producer.fatalFault != nil || producer.outstanding == 0 else { return }
        do throws(KafkaFault) { producer = try make() } catch { trouble(error) }
    }
}

/// The outlet for a gateway's records.
package protocol RequestOutlet: Sendable {
    /// Writes a record. Must not wait for the broker.
    func write(_ record: OutboundRequest)
}

/// A record for the requests topic, or for that of events.
package struct OutboundRequest: Sendable {
    package let topic: String
    package let partition: Int32
    package let key: [UInt8]?
    package let value: [UInt8]
    package let headers: [RecordHeader]
    /// nil = no report is needed.
    package let ticket: UInt?

    package init(
        topic: String,
        partition: Int32,
        key: [UInt8]?,
        value: [UInt8],
        headers: [RecordHeader],
        ticket: UInt?
    ) {
        (self.topic, self.partition, self.key) = (topic, partition, key)
        (self.value, self.headers, self.ticket) = (value, headers, ticket)
    }
}

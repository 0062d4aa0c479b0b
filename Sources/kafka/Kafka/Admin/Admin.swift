internal import CRdkafka
package import KafkaPorts
internal import Threads

/// Looks at topics and groups, creates topics, and sets the offsets of a group without members. Every call waits for its
/// answer.
package final class Admin {
    private var owner = Owner("Admin")
    let handle: ClientHandle
    let properties: KafkaProperties

    /// - Parameter properties: librdkafka's settings as for the other clients. Nothing is connected yet.
    package init(_ properties: KafkaProperties) throws(KafkaFault) {
        // Faults are thrown as one line, so the library's own lines would only repeat them.
        let complete = properties.completed(defaults: [("socket.nagle.disable", "true"), ("log_level", "0")])
        handle = try ClientHandle(.producer, complete, context: CallbackContext())
        self.properties = properties
    }

    /// Whether files that the client has read were renewed since: a new one reads those.
    package var isOutdated: Bool { handle.isOutdated }

    /// Every topic that this client may see.
    package func topics(timeoutMilliseconds: Int = 10_000) throws(KafkaFault) -> [TopicDescription] {
        owner.check()
        // A refusal is known soon: the rest of the time is for brokers that do not answer.
        let first = min(timeoutMilliseconds, Self.refusalMilliseconds)
        do throws(KafkaFault) {
            return try handle.topics(timeoutMilliseconds: first)
        } catch {
            let fault = handle.refused(error)
            guard error.isRetriable, !fault.isRefusal, first < timeoutMilliseconds else { throw fault }
        }
        do throws(KafkaFault) {
            return try handle.topics(timeoutMilliseconds: timeoutMilliseconds - first)
        } catch { throw handle.refused(error) }
    }

    /// Whether a broker answers at all: the smallest question there is.
    package func ping(timeoutMilliseconds: Int) throws(KafkaFault) {
        owner.check()
        do throws(KafkaFault) { _ = try handle.brokerIDs(timeoutMilliseconds: timeoutMilliseconds) } catch {
            throw handle.refused(error)
        }
    }

    /// The cluster's id; nil = no broker has told it yet, or none ever does.
    package func clusterID(timeoutMilliseconds: Int = 10_000) -> String? {
        owner.check()
        // A text made for us, freed below.
        guard let text = unsafe rd_kafka_clusterid(handle.pointer, Int32(timeoutMilliseconds)) else { return nil }
        defer { unsafe rd_kafka_mem_free(handle.pointer, text) }
        return unsafe String(cString: text)
    }

    private static let refusalMilliseconds = 3_000
}

extension Admin {
    /// Runs one asynchronous admin call and passes its answer, an event that lives until `read` returns.
    func perform<Answer>(
        _ operation: rd_kafka_admin_op_t,
        _ action: String,
        timeoutMilliseconds: Int,
        call: (_ options: OpaquePointer, _ queue: OpaquePointer) -> Void,
        read: (_ event: OpaquePointer) throws(KafkaFault) -> Answer
    ) throws(KafkaFault) -> Answer {
        owner.check()
        // Both are ours, and destroyed here.
        guard let queue = unsafe rd_kafka_queue_new(handle.pointer) else { throw .fatal("out of memory") }
        defer { unsafe rd_kafka_queue_destroy(queue) }
        guard let options = unsafe rd_kafka_AdminOptions_new(handle.pointer, operation) else {
            throw .fatal("out of memory")
        }
        defer { unsafe rd_kafka_AdminOptions_destroy(options) }
        let timeout = max(1, clampedMilliseconds(timeoutMilliseconds))
        // The error of an option out of range is not requested: the clamped timeout is in range.
        _ = unsafe rd_kafka_AdminOptions_set_request_timeout(options, timeout, nil, 0)
        unsafe call(options, queue)
        // The library's own timeout comes first; the extra second lets its answer arrive.
        guard let event = unsafe rd_kafka_queue_poll(queue, timeout.addingReportingOverflow(1_000).partialValue) else {
            handle.serve()
            throw handle.refused(handle.explained(.timedOut("\(action): no answer in \(timeoutMilliseconds) ms")))
        }
        defer { unsafe rd_kafka_event_destroy(event) }
        let code = unsafe rd_kafka_event_error(event)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            handle.serve()
            let text = unsafe String(cString: rd_kafka_event_error_string(event))
            throw handle.refused(handle.explained(KafkaFault(code, "\(action): \(text)")))
        }
        return try unsafe read(event)
    }
}

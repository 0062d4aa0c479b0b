package import Dispatch

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The place where code runs, as far as it stays the same from one call of an owner to the next.
enum OwnPlace: Equatable, CustomStringConvertible {
    /// A serial queue, which goes from thread to thread.
    case queue(QueueMark)
    /// A task, which does too: tests run in tasks.
    case task(Int)
    case thread(Int64)

    static var here: OwnPlace {
        if let mark = DispatchQueue.getSpecific(key: QueueMark.key) { return .queue(mark) }
        // Only its identity is taken.
        let task = unsafe withUnsafeCurrentTask { unsafe $0?.hashValue }
        return task.map { .task($0) } ?? .thread(OwnThread.number)
    }

    var description: String {
        switch self {
        case .queue(let mark): "queue \(mark.label)"
        case .task(let number): "task \(number)"
        case .thread(let number): "thread \(number)"
        }
    }
}

/// A mark that makes a serial queue known on each thread that it runs on: Dispatch has no name for the present queue.
final class QueueMark: Sendable, Equatable {
    static let key = DispatchSpecificKey<QueueMark>()

    let label: String

    init(_ label: String) { self.label = label }

    static func == (one: QueueMark, other: QueueMark) -> Bool { one === other }
}

extension DispatchQueue {
    /// A serial queue that may own classes; every queue of the program is one.
    package convenience init(owner label: String, qos: DispatchQoS = .unspecified) {
        self.init(label: label, qos: qos)
        setSpecific(key: QueueMark.key, value: QueueMark(label))
    }
}

/// The thread that calls.
package enum OwnThread {
    /// `pthread_self()`.
    package static var number: Int64 {
        #if canImport(Glibc)
            Int64(bitPattern: UInt64(pthread_self()))
        #else
            unsafe Int64(Int(bitPattern: pthread_self()))
        #endif
    }
}

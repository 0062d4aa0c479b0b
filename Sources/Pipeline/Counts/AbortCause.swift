package import Log

/// Why a loop dropped what it had in flight.
package enum AbortCause: String, Sendable, CaseIterable {
    case broker
    /// Another process acts under this one's name.
    case fenced
    case rebalance
    /// The log refuses one of the records.
    case record
}

extension LogFault {
    package var abortCause: AbortCause { isRecordFault ? .record : isFenced ? .fenced : .broker }
}

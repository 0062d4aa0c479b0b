package import Log

/// A record being processed. The timestamp distinguishes it from one at the same offset of a recreated topic.
package struct WorkItem: Hashable, Sendable {
    package let place: RecordPlace
    package let timestamp: Int64

    package init(place: RecordPlace, timestamp: Int64) {
        self.place = place
        self.timestamp = timestamp
    }
}

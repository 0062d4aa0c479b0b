internal import Log

/// News of one partition that does not stop the others.
package struct PartitionNotice: LogFault, Equatable, CustomStringConvertible {
    package let partition: Int32
    package let sentence: String
    /// Whether the partition is held; else reading goes on.
    package let isHeld: Bool

    package let endsLoop = false
    package let requiresAbort = false

    package init(partition: Int32, sentence: String, isHeld: Bool) {
        self.partition = partition
        self.sentence = sentence
        self.isHeld = isHeld
    }

    package var description: String {
        "partition \(partition)" + (isHeld ? " is held, the others go on: " : ": ") + sentence
    }
}

package import Streams

/// A notice about one partition, which does not stop the others.
package struct PartitionNotice: LoopNotice, Equatable {
    package let partition: Int32
    package let sentence: String
    /// Whether the partition is held; else reading goes on.
    package let isHeld: Bool

    package var description: String {
        "partition \(partition)" + (isHeld ? " is held, the others go on: " : ": ") + sentence
    }
}

/// Which partitions came or went.
package struct AssignmentNotice: LoopNotice, Equatable {
    package let kind: Rebalance
    package let partitions: [Int32]

    init(_ kind: Rebalance, _ partitions: [Int32]) { (self.kind, self.partitions) = (kind, partitions.sorted()) }

    package var description: String {
        guard !partitions.isEmpty else { return "no partition is \(kind.rawValue)" }
        let verb = partitions.count == 1 ? "partition \(partitions[0]) is" : "partitions \(numbers) are"
        return "\(verb) \(kind.rawValue)"
    }

    /// Three and more in a row as `0 to 5`.
    private var numbers: String {
        var runs: [ClosedRange<Int32>] = []
        for number in partitions {
            if let last = runs.last, number == last.upperBound + 1 {
                runs[runs.count - 1] = last.lowerBound...number
            } else {
                runs.append(number...number)
            }
        }
        return runs.flatMap { run in
            run.count < 3 ? run.map(String.init) : ["\(run.lowerBound) to \(run.upperBound)"]
        }.joined(separator: ", ")
    }
}

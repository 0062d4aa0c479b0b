package import Log

/// The only member of a group: starts every partition, and notes what the loop says.
package final class SoleMember: GroupMember {
    package private(set) var starts: [Int32] = []
    package private(set) var holds: [Int32] = []
    package private(set) var releases = 0
    /// What the next ``serve()`` says.
    package var news: AssignmentChange?
    /// What each start says, in order; the last one from then on.
    package var reports = [PartitionStart.Report()]
    package let group: [UInt8]? = nil

    package init() {}

    package func serve() -> AssignmentChange? { news.take() }

    package func start(_ partition: Int32, mark: PositionMark?, ledgerIsEmpty: Bool) -> PartitionStart {
        starts.append(partition)
        return .started(reports.count > 1 ? reports.removeFirst() : reports[0])
    }

    package func hold(_ partition: Int32) { holds.append(partition) }
    package func releaseRevoked() { releases += 1 }
}

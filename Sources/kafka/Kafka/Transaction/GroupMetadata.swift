internal import CRdkafka
package import KafkaPorts

/// A member's identity in the group at one moment: group, generation, member id and static instance id.
///
/// Take it when the assignment comes, keep it with every batch polled under that assignment, and pass it to
/// ``TransactionClient/sendOffsets(_:_:_:)``, however much later: the coordinator refuses the offsets of a member that the
/// group has already replaced. Metadata taken later would have the newer generation, and commit records of partitions that
/// another member owns by now.
///
/// Made once and never changed: a call of any thread may read it.
@safe
package final class GroupMetadata: MemberToken, @unchecked Sendable {
    private let pointer: OpaquePointer

    init(takingOwnershipOf pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    /// A group without members: its offsets are those of the transactional id, whose owner fences the others.
    package init(withoutMembersOf group: String) {
        // A copy of the text, in an object that is ours.
        unsafe pointer = rd_kafka_consumer_group_metadata_new(group)
    }

    deinit {
        // The only owner; every call copies what it gets.
        unsafe rd_kafka_consumer_group_metadata_destroy(pointer)
    }

    /// Lends the object to a C call that does not keep it.
    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(pointer)
    }
}

extension Consumer {
    package func token() throws(KafkaFault) -> any MemberToken { try groupMetadata() }

    /// This member as the group knows it now; does not change with the consumer afterwards.
    ///
    /// - Throws: a ``KafkaFault`` with ``KafkaFault/requiresAbort`` if this consumer is not a member at the moment. The
    ///   broker accepts offsets without a member's name unchecked, so such metadata must not exist.
    package func groupMetadata() throws(KafkaFault) -> GroupMetadata {
        let handle = try open()
        let before = handle.memberID
        // A separate object, handed to us.
        let pointer = unsafe rd_kafka_consumer_group_metadata(handle.pointer)
        guard let pointer = unsafe pointer else { throw .fatal("\(topic) is read without a group") }
        let metadata = unsafe GroupMetadata(takingOwnershipOf: pointer)
        let isSame = !before.isEmpty && before == handle.memberID
        guard isSame else { throw .stale("not a member of the group at the moment") }
        return metadata
    }
}

extension ClientHandle {
    /// The name that the coordinator gave this member; empty before it has one.
    fileprivate var memberID: String {
        // A text made for us, freed below.
        guard let text = unsafe rd_kafka_memberid(pointer) else { return "" }
        defer { unsafe rd_kafka_mem_free(pointer, text) }
        return unsafe String(cString: text)
    }
}

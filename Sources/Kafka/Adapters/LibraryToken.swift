internal import KafkaPorts

/// A membership as librdkafka keeps it. Made once and never changed: a call of any thread may read it.
package final class LibraryToken: MemberToken, @unchecked Sendable {
    package let metadata: GroupMetadata

    package init(_ metadata: GroupMetadata) { self.metadata = metadata }
}

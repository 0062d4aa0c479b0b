/// What the model of client library and broker could be wrong about: the contract's scripts must notice each.
package enum WrongModel: String, CaseIterable, Sendable {
    // Of partitions inside the library:
    /// A start ends the application's pause.
    case startResumes
    /// A partition can be sought before it is started.
    case seeksBeforeStart
    /// What was fetched before a step is given after it.
    case keepsFetched
    /// A resume wakes the leader's thread.
    case resumeIsAtOnce
    /// Where an offset is gone, the partition is read from its oldest record.
    case skipsGoneOffset
    /// Partitions start while a commit of offsets has no answer.
    case startsBesideCommit
    // Of the group:
    /// A rebalance waits for no member.
    case waitsForNobody
    /// A loss is known by its event only.
    case lossComesAsEventOnly
    /// Members of one name go on beside each other.
    case namesAreShared
    /// Offsets are committed under any membership.
    case anyTokenIsAccepted
    // Of transactions:
    /// Records under way do not show, so that an abort seems safe.
    case unsettledLooksSettled
    /// A new owner of an id ends its predecessor's transaction with a commit.
    case initCommits
    /// A new owner of an id fences nobody.
    case initFencesNobody
    /// Records of a discarded producer arrive, outside of its transaction.
    case discardedArrive
    /// Aborted records are visible.
    case abortedIsVisible
    /// Offsets of a transaction are committed before its end.
    case offsetsComeEarly
    /// A late copy changes nothing.
    case lateIsRefused
    /// Repeated requests do not show.
    case repeatsAreHidden
    /// A transaction is open for as long as its producer likes.
    case neverTimesOut
    /// Offsets are a worker's, whatever was committed beside them.
    case metadataIsInvented
    // Of readers and queries:
    /// A reader does not wait for open transactions.
    case readsOpen
    /// The ends of ledgers are the last stable offsets.
    case endsAreStable
    /// A stopped partition is read on.
    case stopIsIgnored
    /// Records without a value are skipped.
    case skipsTombstones
    /// A query about offsets is answered while a transaction holds them back.
    case offsetsDoNotWait
    // Of deliveries:
    /// A record of any size is taken.
    case takesLargeRecords
    /// The broker says no offset with which a cut ledger would show.
    case ledgerOffsetsAreHidden
}

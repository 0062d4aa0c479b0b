#if DEBUG
    /// Bugs of a member that the simulation must find; not in release builds. Each was one once, or nearly.
    package enum MemberSabotage: String, Sendable, CaseIterable {
        /// A starting partition is resumed before it is sought: the library may drop the resume.
        case resumeBeforeSeek
        /// Partitions are paused once more after a second assignment: the library may drop their starts.
        case pauseAfterSecondAssign
        /// A seek that a step of the library's own has overtaken ends the member.
        case overtakenSeekEndsWorker
        /// A started partition is not sought a second time: the thread of its leader sleeps.
        case noSecondSeek
        /// A partition that cannot be sought is sought again without an end.
        case seekNeverTakenOverAgain
        /// The ledgers of started partitions are read on.
        case ledgerReadOn
        /// Offsets are asked for in one question only, which waits for the slowest of them.
        case offsetsAskedTogether
        /// A dead process's transaction is waited for until it times out.
        case orphansLeftOpen
        /// The end of a ledger is asked for once.
        case ledgerEndAskedOnce
        /// A restore ends at the last stable offset.
        case restoreToLastStable
        /// The group has no answer to an assignment before the broker has said where reading starts.
        case assignmentNotAnswered
        /// The group is not served while a question has no answer.
        case retryWithoutServing
        /// A question that failed is asked again at once.
        case retryWithoutPause
        /// Each retry of a query makes a client.
        case clientPerRetry
        /// A member that was expelled joins before its partitions were let go.
        case expelledSubscribesEarly
        /// An abort takes partitions over again that are being revoked.
        case revokedTakenOverAgain
        /// The loop's queue waits for a client's end.
        case waitsForDestroy
        /// The group's offset is believed, whatever the ledger's mark says.
        case rowsLeftOut
        /// A mark's number of partitions is not compared with the topics'.
        case partitionCountIgnored
        /// A partition without a mark starts whatever the marks of the others name.
        case unmarkedPartitionTrusted
        /// The first marks are committed without a look at those of others.
        case firstMarkUnseen
        /// A producer goes on although copies of its requests may be on their way.
        case producerKeptAfterRepeat
        /// An output whose outcome is unknown counts as aborted.
        case unknownTakenForAborted
        /// A transaction is aborted while requests add to it.
        case abortBeforeSettled
        /// An abort gives its producer up at once.
        case producerGivenUpEarly
        /// A record that was acknowledged without an offset counts as written.
        case acknowledgedWithoutOffset
        /// An output is committed although a record was not taken.
        case produceFaultIgnored
        /// Offsets are sent while records are in flight.
        case offsetsBeforeFlush
        /// An output is committed under the membership of the moment.
        case freshToken
        /// An output is committed after its assignment was lost.
        case lossIgnored
        /// A failed commit of offsets outside the transaction counts as an abort.
        case asideFaultTakenForAbort
        /// A ledger that was cut under an output is not noticed.
        case cutLedgerIgnored
        /// A record that was dropped for want of room counts as read.
        case droppedRecordCountsAsRead
        /// A partition that starts again at the same offset is reported again.
        case startReportedAgain
        /// A partition is held only once its pause succeeded.
        case holdOnlyAfterPause
    }
#endif

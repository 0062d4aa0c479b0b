extension AnyScript {
    /// A9, A1 to A3 on a library whose threads are slowed, is left out: it needs a patched build of librdkafka.
    package static let all: [AnyScript] = [
        AnyScript(LoneMemberGetsAll.self), AnyScript(SecondMemberJoins.self), AnyScript(UnansweredAssignment.self),
        AnyScript(AssignedPaused.self), AnyScript(SecondPausedAssignment.self), AnyScript(SeekBeforeStart.self),
        AnyScript(NothingFromBeforeSeek.self), AnyScript(FirstRecordAfterResume.self), AnyScript(OffsetGone.self),
        AnyScript(PausedIsSilent.self), AnyScript(StartsWaitForCommit.self), AnyScript(StepsMoveThePosition.self),
        AnyScript(LateFirstOffset.self), AnyScript(StoredOffset.self),
        AnyScript(TopicsAreListed.self),
        AnyScript(QueryWithoutAnswer.self), AnyScript(StoppedPartition.self), AnyScript(MissingOffset.self),
        AnyScript(CloseWithUnansweredChange.self), AnyScript(DiscardedConsumer.self), AnyScript(OldToken.self),
        AnyScript(EndsIncludeOpen.self), AnyScript(ReadingPastOpen.self), AnyScript(VisibleTogether.self),
        AnyScript(AbortLeavesNothing.self), AnyScript(InitEndsPredecessor.self), AnyScript(RefusedRecord.self),
        AnyScript(OffsetsRefused.self), AnyScript(OffsetsWithoutAnswer.self), AnyScript(RepeatsAreCounted.self),
        AnyScript(OvertakenBatch.self), AnyScript(FullQueue.self), AnyScript(FlushInPart.self),
        AnyScript(DiscardedRecords.self), AnyScript(SessionExpires.self), AnyScript(StaticMemberReturns.self),
        AnyScript(NameUsedTwice.self), AnyScript(RemovedMember.self), AnyScript(PendingOffsets.self),
        AnyScript(HeirAborts.self),
        AnyScript(MetadataOfOffsets.self), AnyScript(AbortOfTransaction.self), AnyScript(TransactionTimeOut.self),
        AnyScript(LateCopy.self), AnyScript(CompactedLedger.self), AnyScript(ReaderWithoutTrace.self),
        AnyScript(MemberResumes.self), AnyScript(OrderAtLeastOnce.self), AnyScript(InterruptedRestore.self),
        AnyScript(RecreatedLedger.self), AnyScript(RecreatedLedgerAtLeastOnce.self), AnyScript(UnknownOutcome.self),
    ]
}

extension AnyScript {
    package static let all: [AnyScript] = [
        AnyScript(LoneMemberGetsAll.self), AnyScript(SecondMemberJoins.self), AnyScript(UnansweredAssignment.self),
        AnyScript(AssignedPaused.self), AnyScript(SecondPausedAssignment.self), AnyScript(SeekBeforeStart.self),
        AnyScript(NothingFromBeforeSeek.self), AnyScript(FirstRecordAfterResume.self), AnyScript(OffsetGone.self),
        AnyScript(PausedIsSilent.self), AnyScript(StartsWaitForCommit.self), AnyScript(StepsMoveThePosition.self),
        AnyScript(LateFirstOffset.self),
        AnyScript(TopicsAreListed.self),
        AnyScript(QueryWithoutAnswer.self), AnyScript(StoppedPartition.self), AnyScript(MissingOffset.self),
        AnyScript(CloseWithUnansweredChange.self), AnyScript(DiscardedConsumer.self),
    ]
}

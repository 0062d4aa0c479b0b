import Member
import Pipeline

#if DEBUG
    extension Planted {
        static let all: [Planted] = [
            Planted(.resumeBeforeSeek, .exactlyOnce, 10, "silent"),
            Planted(.pauseAfterSecondAssign, .exactlyOnce, 1, "lose the start"),
            Planted(.overtakenSeekEndsWorker, .exactlyOnce, 4, "without a cause"),
            Planted(.noSecondSeek, .exactlyOnce, 26, "silent"),
            Planted(.seekNeverTakenOverAgain, .exactlyOnce, 183, "again and again, which has stopped"),
            Planted(Sabotage.ledgerReadOn, .exactlyOnce, 695, "differently"),
            Planted(.ledgerEndAskedOnce, .exactlyOnce, 163, "waits for an end"),
            Planted(.restoreToLastStable, .exactlyOnce, 11, "is held"),
            Planted(.assignmentNotAnswered, .exactlyOnce, 22, "group waiting"),
            Planted(.retryWithoutServing, .exactlyOnce, 105, "group waiting"),
            Planted(.retryWithoutPause, .exactlyOnce, 2, "without a pause"),
            Planted(.clientPerRetry, .exactlyOnce, 26, "clients"),
            Planted(.expelledSubscribesEarly, .fenced, 14, "does not know it"),
            Planted(.revokedTakenOverAgain, .exactlyOnce, 7, "has not given"),
            Planted(.waitsForDestroy, .exactlyOnce, 4, "never ends"),
            Planted(.rowsLeftOut, .exactlyOnce, 26, "written on"),
            Planted(.producerKeptAfterRepeat, .exactlyOnce, 11, "answered twice"),
            Planted(.unknownTakenForAborted, .exactlyOnce, 13, "answered twice"),
            Planted(.abortBeforeSettled, .exactlyOnce, 6, "txn_req_cnt"),
            Planted(.producerGivenUpEarly, .exactlyOnce, 2, "could have aborted"),
            Planted(.acknowledgedWithoutOffset, .exactlyOnce, 26, "has no answer"),
            Planted(.produceFaultIgnored, .exactlyOnce, 2, "has no answer"),
            Planted(.offsetsBeforeFlush, .exactlyOnce, 1, "have not arrived"),
            Planted(.freshToken, .exactlyOnce, 64, "before the last one"),
            Planted(.lossIgnored, .exactlyOnce, 27, "is lost"),
            Planted(.asideFaultTakenForAbort, .aside, 1, "went back"),
            Planted(.cutLedgerIgnored, .exactlyOnce, 73, "written on"),
            Planted(.droppedRecordCountsAsRead, .exactlyOnce, 3, "has no answer"),
            Planted(.holdOnlyAfterPause, .exactlyOnce, 237, "which it holds"),
            Planted(.overlayKeptAfterAbort, .exactlyOnce, 3, "is held"),
            Planted(.duplicateCheckSkipped, .exactlyOnce, 2, "answered differently"),
            Planted(.earlyAdmission, .exactlyOnce, 1, "answered differently"),
            Planted(.appliedBeforeCommit, .exactlyOnce, 3, "is held"),
            Planted(.startReportedAgain, .atLeastOnce, 174, "reports it again"),
            Planted(.receiptsReversed, .receipts, 1, "newest receipt"),
            Planted(.receiptTombstoneLeftOut, .receipts, 3, "newest receipt"),
            Planted(.supersededReceiptCounts, .receipts, 3, "differently"),
            Planted(.skippedCounterStays, .window, 12, "accepted at"),
            Planted(.unseenCounterOpens, .replaced, 2, "was used before"),
            Planted(.lowerCounterKept, .atLeastOnce, 205, "remembers"),
        ]
    }
#endif

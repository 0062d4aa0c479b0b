internal import KafkaPorts

/// The consequences of a fault for the output: it is aborted and its records are repeated, unless the fault needs an
/// operator.
extension OutputWriter {
    func failed(_ fault: KafkaFault, at now: Moment) -> Step {
        let cut = forgetCutEnds()
        // Whatever the abort does, everything is asked for again after a cut.
        var isInDoubt = state == .open(.end) || !cut.isEmpty
        let judged = judged(fault, &isInDoubt, at: now)
        let isOpen = if case .open = state { true } else { false }
        state = .failed(isOpen: isOpen, isInDoubt: isInDoubt)
        return .done(.failed(judged, cutLedgers: cut))
    }

    /// The restore shows where a ledger ends that was cut: the old end would cut every later output.
    func forgetCutEnds() -> Set<Int32> {
        let cut = output?.cutLedgers ?? []
        for partition in cut { ownLedgerEnds[partition] = nil }
        return cut
    }

    private func judged(_ fault: KafkaFault, _ isInDoubt: inout Bool, at now: Moment) -> KafkaFault {
        if isOfSettings(fault) { return fault.with(isFatal: true, requiresAbort: false) }
        let verdict = settings.delivery == .transaction ? ofTransaction(fault, &isInDoubt, at: now) : ofRecords(fault)
        return output?.progress(addedTo: verdict, deliveries) ?? verdict
    }

    /// Such as an output without a topic: the client itself is well.
    private func isOfSettings(_ fault: KafkaFault) -> Bool {
        fault.isFatal && fault.code == KafkaErrorCode.fatal.rawValue && producer?.records.fatalFault == nil
    }

    private func ofTransaction(_ fault: KafkaFault, _ isInDoubt: inout Bool, at now: Moment) -> KafkaFault {
        if fault.isRefusal, !fault.mayHeal { return settings.explain(fault).with(isFatal: true, requiresAbort: false) }
        if fault.isFenced, !fences.note(at: now) { return contested(fault) }
        // Neither abortable nor retriable: the library's header asks to treat it as fatal.
        if fault.isFatal || !fault.requiresAbort { isInDoubt = true }
        return fault.with(isFatal: false, requiresAbort: true)
    }

    /// A pause longer than the transaction's time-out looks, once, the same as another process with this name.
    private func contested(_ fault: KafkaFault) -> KafkaFault {
        .fatal(
            "another process uses the transactional id \(settings.transactionalID) (\(fault.message)): give every instance "
                + "of the group a name of its own with --instance"
        )
    }

    /// An abort replaces a broken producer, and bisection searches for a record that is not taken. A refusal by the broker
    /// stays fatal.
    private func ofRecords(_ fault: KafkaFault) -> KafkaFault {
        let isBroken = producer?.records.fatalFault != nil
        let mayPass = fault.mayHeal || (fault.isRetriable || fault.isRecordFault || isBroken) && !fault.isRefusal
        return settings.explain(fault).with(isFatal: !mayPass, requiresAbort: mayPass)
    }
}

package import Log

extension SimulatedMember {
    package func begin() throws {
        precondition(!isUnitOpen, "one unit at a time")
        try strike()
        if isAtomic, broker.isEnding(name) {
            if chance(0.3) {
                broker.counts.add(.concurrentTransactions)
                throw SimulatedFault(.concurrentTransactions)
            }
            broker.finishMarkers(of: name)
        }
        isUnitOpen = true
        buffer = []
    }

    package func append(_ records: [OutboundRecord]) throws {
        precondition(isUnitOpen, "appended between begin and commit")
        try strike()
        // The first record that is not appended; a loop that ignores the fault commits without it and the rest.
        let stopsAt = chance(chances.produceFault) ? Int.random(in: 0...records.count, using: &random) : nil
        for (index, record) in records.inOrder.enumerated() {
            if index == stopsAt { try fail(.produceFault) }
            if isAtomic {
                try refusing { try broker.produce(name, epoch: epoch, record) }
            } else {
                buffer.append(record)
            }
        }
        try strike()
    }

    package func commit(_ positions: [PartitionPosition], of generation: Generation) throws {
        precondition(isUnitOpen, "committed after begin")
        try strike()
        // Of a group without any member nothing is fresh.
        if generation == .fresh, freshStamp == nil { try fail(.fencedGeneration) }
        guard let stamp = stamp(generation) else { preconditionFailure("a batch names the generation it was given") }
        if isAtomic {
            let epoch = try addOffsets(positions, stamp)
            try end(epoch)
        } else {
            try flush(positions, stamp)
        }
        try noteCommitted(positions)
    }

    /// What the member knows after a commit.
    func noteCommitted(_ positions: [PartitionPosition]) throws {
        isUnitOpen = false
        discardRepeated()
        for position in positions { committed[position.partition] = position.offset }
        for partition in owned?.partitions ?? [] {
            ledgerPositions[partition] = broker.log(.ledger, partition).highWatermark
        }
        if chance(chances.crash) {
            broker.counts.add(.crashInCall)
            throw SimulatedCrash()
        }
    }

    /// - Returns: the epoch of the transaction that has the offsets.
    func addOffsets(_ positions: [PartitionPosition], _ stamp: SimulatedGroup.Stamp) throws -> Int {
        guard let epoch else {
            try fail(.fencedProducer)
            return 0
        }
        try refusing { try broker.addOffsets(name, epoch: epoch, positions, stamp) }
        repeatHidden(.offsets(positions, stamp))
        try strike()
        return epoch
    }

    func end(_ epoch: Int) throws {
        guard chance(chances.indefinite) else {
            try refusing { try broker.endTransaction(name, epoch: epoch, commit: true) }
            return repeatHidden(.end(commit: true))
        }
        mustRenew = true
        switch Int.random(in: 0..<3, using: &random) {
        case 0: try fail(.indefiniteLost)
        case 1:
            broker.endLater(name, epoch: epoch, after: Int64.random(in: 1...5_000, using: &random))
            try fail(.indefiniteDelayed)
        default:
            try refusing { try broker.endTransaction(name, epoch: epoch, commit: true) }
            try fail(.indefiniteCommitted)
        }
    }

    /// Outputs, then the ledger, then the positions: duplicates are allowed, losses are not.
    private func flush(_ positions: [PartitionPosition], _ stamp: SimulatedGroup.Stamp) throws {
        guard broker.group.accepts(stamp) else {
            broker.counts.add(.fencedGeneration)
            throw SimulatedFault(.fencedGeneration)
        }
        let stopsAt = chance(chances.indefinite) ? Int.random(in: 0...buffer.count, using: &random) : nil
        mustRenew = true
        for (index, record) in buffer.enumerated() {
            if index == stopsAt { try fail(.halfFlushed) }
            try refusing { try broker.produce(name, epoch: nil, record) }
        }
        if stopsAt != nil { try fail(.halfFlushed) }
        try strike()
        try refusing { try broker.commitOffsets(positions, stamp) }
        mustRenew = false
        buffer = []
    }

    private func fail(_ kind: FaultKind) throws {
        broker.counts.add(kind)
        throw SimulatedFault(kind)
    }

    /// The broker's refusals, as faults of the loop.
    func refusing(_ call: () throws -> Void) throws {
        do { try call() } catch let refusal as BrokerRefusal {
            switch refusal {
            case .fencedProducer:
                mustRenew = true
                try fail(.fencedProducer)
            case .staleGeneration: try fail(.fencedGeneration)
            case .refusedRecord: try fail(.recordFault)
            }
        }
    }

    /// Replaces a producer whose last outcome is unknown, and assigns again, so that the loop looks at the ledger.
    package func abort() throws {
        precondition(detached == nil, "a unit that is being written ends first")
        try strike()
        if isAtomic, !mustRenew, isUnitOpen, let epoch {
            do throws(BrokerRefusal) {
                try broker.endTransaction(name, epoch: epoch, commit: false)
                repeatHidden(.end(commit: false))
            } catch {
                // An abort that fails for good is an ordinary way out.
                broker.counts.add(.fencedProducer)
                mustRenew = true
            }
        }
        if mustRenew {
            if isAtomic { epoch = broker.initProducer(name) }
            owned?.isDue = true
            mustRenew = false
        }
        discardRepeated()
        (isUnitOpen, buffer) = (false, [])
        rewind()
    }

    /// The library has sent a request twice inside the call; the broker answered one copy, and the other is late.
    private func repeatHidden(_ request: SimulatedBroker.LateRequest.Content) {
        guard let epoch, chance(chances.hiddenRepeat) else { return }
        hasRepeated = true
        broker.counts.add(.hiddenRepeat)
        broker.late.append(.init(producer: name, epoch: epoch, content: request, transaction: broker.transactionCount))
    }

    /// After a commit and after an abort: a new epoch, which late copies do not have.
    private func discardRepeated() {
        guard hasRepeated else { return }
        hasRepeated = false
        if !keepsRepeatedProducer { epoch = broker.initProducer(name) }
    }

    var freshStamp: SimulatedGroup.Stamp? {
        // The group's own view: this member, or any other if it is no member.
        broker.group.anyStamp(preferring: memberID)
    }
}

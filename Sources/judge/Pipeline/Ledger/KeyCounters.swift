internal import AppCheck

/// The counters that a key has used: the highest, and those below it that it has skipped.
///
/// Every other counter below the highest counts as used. A record without skipped counters is therefore strict, whether
/// an earlier version of the worker wrote it, `import-keys`, or a worker without a window.
///
/// A record that begins with an import or an artifact does not know how far the device was. Its first accepted counter
/// may itself be a late one, as far behind as the window reaches: nothing up to there is opened.
package struct KeyCounters: Hashable, Sendable {
    /// The greatest window, in counters.
    package static let mostBehind = RegisteredApp.counterWindows.upperBound

    package private(set) var highest: UInt32
    /// Bit i stands for the counter `highest` − 1 − i; 1 = it was skipped, and may be used once.
    package private(set) var skipped: UInt64
    /// How many counters above the highest may have been used where this ledger did not see it; ``allUnseen`` until the
    /// first is accepted.
    package private(set) var unseen: UInt8
    package static let allUnseen = UInt8.max

    /// - Parameters:
    ///   - skipped: bits of counters below 1 are dropped.
    ///   - unseen: more than the greatest window is all.
    package init(highest: UInt32, skipped: UInt64 = 0, unseen: UInt8 = 0) {
        self.highest = highest
        self.skipped = skipped & Self.bits(Int(clamping: Int64(highest) - 1))
        self.unseen = unseen <= Self.mostBehind ? unseen : Self.allUnseen
    }

    /// - Returns: nil if one of them is not from 1 to the highest − 1, or lies more than 64 behind it.
    package init?(highest: UInt32, skipped counters: [UInt32], unseen: UInt8 = 0) {
        var bits: UInt64 = 0
        for counter in counters {
            guard counter > 0, counter < highest, highest - counter <= Self.mostBehind else { return nil }
            bits |= 1 << UInt64(highest - counter - 1)
        }
        self.init(highest: highest, skipped: bits, unseen: unseen)
    }

    /// The skipped counters, lowest first.
    package var skippedCounters: [UInt32] {
        (0..<UInt32(Self.mostBehind)).reversed().filter { skipped >> UInt64($0) & 1 == 1 }.map { highest - 1 - $0 }
    }

    /// Whether an assertion with this counter may be accepted.
    ///
    /// - Parameter window: how far behind the highest; 0 = nowhere.
    package func accepts(_ counter: UInt32, window: Int) -> Bool {
        guard counter <= highest else { return true }
        let behind = Int(highest - counter)
        return behind > 0 && behind <= min(window, Self.mostBehind) && skipped >> UInt64(behind - 1) & 1 == 1
    }

    /// Uses an acceptable counter. What it skips may follow, within the window, unless it may have been used unseen.
    package mutating func use(_ counter: UInt32, window: Int) {
        if counter > highest {
            let step = UInt64(counter - highest)
            let rest = unseen == Self.allUnseen ? 0 : Int(unseen) - Int(min(step, UInt64(unseen)))
            if isUnseen(step, window) {
                // A window may be set later.
                let reach = window == 0 ? Self.allUnseen : UInt8(max(rest, min(window, Self.mostBehind)))
                self = KeyCounters(highest: counter, unseen: reach)
            } else {
                let before = step < 64 ? skipped << step : 0
                let opened = Self.bits(Int(step) - 1 - Int(unseen))
                self = KeyCounters(highest: counter, skipped: before | opened, unseen: UInt8(rest))
            }
        } else if counter < highest, highest - counter <= Self.mostBehind {
            skipped &= ~(1 << UInt64(highest - counter - 1))
        }
        skipped &= Self.bits(window)
    }

    /// Whether a step up says that the key was used elsewhere: a record's first one, and one that skips more than the
    /// window while not all is known. A key whose first counter skips so much was registered before, and forgotten.
    private func isUnseen(_ step: UInt64, _ window: Int) -> Bool {
        unseen == Self.allUnseen || ((highest == 0 || unseen > 0) && step > UInt64(window) + 1)
    }

    /// What both leave unused: of two records of a key that were written apart, neither opens what the other has used.
    package func joined(_ other: KeyCounters) -> KeyCounters {
        guard highest >= other.highest else { return other.joined(self) }
        let step = UInt64(highest - other.highest)
        let below = step < 64 ? other.skipped << step : 0
        // The other's own highest, at bit step − 1, is used.
        let bits = skipped & (below | (step == 0 ? 0 : Self.bits(Int(step) - 1)))
        return KeyCounters(highest: highest, skipped: bits, unseen: step == 0 ? max(unseen, other.unseen) : unseen)
    }

    private static func bits(_ count: Int) -> UInt64 { count >= 64 ? .max : count <= 0 ? 0 : 1 << UInt64(count) - 1 }
}

extension KeyRecord {
    package var counters: KeyCounters {
        get { KeyCounters(highest: counter, skipped: skipped, unseen: unseen) }
        set { (counter, skipped, unseen) = (newValue.highest, newValue.skipped, newValue.unseen) }
    }

    /// The record that an import writes: since the export the device may have used what it had skipped, and counters above.
    package var withoutHistory: KeyRecord {
        var record = self
        record.counters = KeyCounters(highest: counter, unseen: KeyCounters.allUnseen)
        return record
    }
}

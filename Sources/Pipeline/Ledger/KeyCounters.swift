internal import AppCheck

/// The counters that a key has used: the highest, and those below it that it has skipped.
///
/// Every other counter below the highest counts as used. A record without skipped counters is therefore strict, whether
/// an earlier version of the worker wrote it, `import-keys`, or a worker without a window.
package struct KeyCounters: Hashable, Sendable {
    /// The greatest window, in counters.
    package static let mostBehind = RegisteredApp.counterWindows.upperBound

    package private(set) var highest: UInt32
    /// Bit i stands for the counter `highest` − 1 − i; 1 = it was skipped, and may be used once.
    package private(set) var skipped: UInt64

    /// - Parameter skipped: bits of counters below 1 are dropped.
    package init(highest: UInt32, skipped: UInt64 = 0) {
        self.highest = highest
        self.skipped = skipped & Self.bits(Int(clamping: Int64(highest) - 1))
    }

    /// - Returns: nil if one of them is not from 1 to the highest − 1, or lies more than 64 behind it.
    package init?(highest: UInt32, skipped counters: [UInt32]) {
        var bits: UInt64 = 0
        for counter in counters {
            guard counter > 0, counter < highest, highest - counter <= Self.mostBehind else { return nil }
            bits |= 1 << UInt64(highest - counter - 1)
        }
        self.init(highest: highest, skipped: bits)
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

    /// Uses an acceptable counter. What it skips may follow, within the window.
    package mutating func use(_ counter: UInt32, window: Int) {
        if counter > highest {
            let step = UInt64(counter - highest)
            let before = step < 64 ? skipped << step : 0
            self = KeyCounters(highest: counter, skipped: before | Self.bits(Int(step) - 1))
        } else if counter < highest, highest - counter <= Self.mostBehind {
            skipped &= ~(1 << UInt64(highest - counter - 1))
        }
        skipped &= Self.bits(window)
    }

    /// What both leave unused: of two records of a key that were written apart, neither opens what the other has used.
    package func joined(_ other: KeyCounters) -> KeyCounters {
        guard highest >= other.highest else { return other.joined(self) }
        let step = UInt64(highest - other.highest)
        let below = step < 64 ? other.skipped << step : 0
        // The other's own highest, at bit step − 1, is used.
        return KeyCounters(highest: highest, skipped: skipped & (below | (step == 0 ? 0 : Self.bits(Int(step) - 1))))
    }

    private static func bits(_ count: Int) -> UInt64 { count >= 64 ? .max : count <= 0 ? 0 : 1 << UInt64(count) - 1 }
}

extension KeyRecord {
    package var counters: KeyCounters {
        get { KeyCounters(highest: counter, skipped: skipped) }
        set { (counter, skipped) = (newValue.highest, newValue.skipped) }
    }
}

/// A policy on an optional extension entry: the values allowed (nil = any) and what its absence means.
package struct EntryPolicy<Value: Hashable & Sendable>: Sendable {
    package enum WhenMissing: String, Sendable, CaseIterable { case accept, refuse }
    package var allow: Set<Value>?
    package var whenMissing: WhenMissing

    package init(allow: Set<Value>? = nil, whenMissing: WhenMissing = .accept) {
        self.allow = allow
        self.whenMissing = whenMissing
    }

    enum Judgement { case allowed, missing, notAllowed }

    /// - Parameter value: the entry as read; nil = absent.
    func judge(_ value: Value?) -> Judgement {
        guard let value else { return whenMissing == .accept ? .allowed : .missing }
        guard let allow else { return .allowed }
        return allow.contains(value) ? .allowed : .notAllowed
    }
}

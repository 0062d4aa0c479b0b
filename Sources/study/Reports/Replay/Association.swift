/// An association between refusals and what they have in common.
struct Association {
    enum Subject: Equatable {
        case value(Trait)
        /// Nothing but the time.
        case time
    }

    /// A time from which on, or until which, the records lie; nil = they do not begin or end within the capture.
    struct Span: Equatable {
        var from: Int64?
        var until: Int64?
    }

    /// One reason among the subject's units.
    struct Part {
        /// The outcome's number; 0 = any refusal.
        let reason: Int
        let inside: Cell
        let outside: Cell

        init(_ reason: Int, _ inside: Cell, outside: Cell) {
            (self.reason, self.inside, self.outside) = (reason, inside, outside)
        }

        var excess: Double { inside.excess(over: inside.with(outside)) }
    }

    let subject: Subject
    /// Other values that select nearly the same devices.
    let twins: [Trait]
    private(set) var span: Span
    /// The reasons, the one with most hits first.
    private(set) var parts: [Part]

    init(_ subject: Subject, twins: [Trait] = [], _ span: Span, _ part: Part) {
        (self.subject, self.twins, self.span, self.parts) = (subject, twins, span, [part])
    }

    var main: Part { parts[0] }

    mutating func add(_ part: Part, _ span: Span) {
        if part.inside.hits > main.inside.hits { self.span = span }
        parts.append(part)
        parts.sort { ($0.inside.hits, -$0.reason) > ($1.inside.hits, -$1.reason) }
    }

    /// Whether another value is this finding's.
    func covers(_ trait: Trait) -> Bool { subject == .value(trait) || twins.contains(trait) }
}

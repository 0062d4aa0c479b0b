internal import Log

/// Records that were polled and are in no batch yet. Nothing is polled while there are any.
///
///      ┌──────── clocks agree ──────┐
///      ▼                            │ ┌────┐
///     none ── clocks disagree ──▶ doubted ◀┘ still
///     ▲  └─── suspects in it ───▶ pieces ◀─┐ next piece
///     │                             │ └────┘
///     └───────── last piece ────────┘
///
/// A change of assignment or an abort leads back to none: the log, or the next owner, reads the records again.
enum Leftover: DrawnState {
    case none
    /// A round that came while the clocks disagree.
    case doubted(PollRound, ClockDoubt)
    /// The rest of a round with suspects in it: done piece by piece, with nothing else in flight.
    case pieces(ArraySlice<[PolledRecord]>, of: Generation)

    func mayBecome(_ next: Leftover) -> Bool {
        switch (self, next) {
        case (_, .none), (.none, _), (.doubted, .doubted): true
        case (.pieces(let now, _), .pieces(let next, _)): next.count < now.count
        case (.doubted, .pieces), (.pieces, .doubted): false
        }
    }
}

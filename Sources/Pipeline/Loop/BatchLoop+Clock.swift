internal import AppAttest
internal import Log

extension BatchLoop {
    /// Whether a round may be judged by the present clock; if not, it is kept, and the reason is reported once.
    func clockAgrees(with round: PollRound) -> Bool {
        guard let wall = wallClock(), let uptime = uptime() else { return true }
        let doubt = clocks.doubt(
            round.records,
            at: ClockWatch.Now(wall: wall.milliseconds, uptime: uptime),
            settings.clock
        )
        guard let doubt else { return true }
        if clockDoubt == nil { notice(doubt) }
        leftover = .doubted(round, doubt)
        return false
    }
}

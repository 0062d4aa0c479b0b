/// How far a gateway's clock may be off: a token may begin so much later than now, and a gateway that is further off the
/// brokers takes no calls. One figure, so that a gateway that is ready also accepts fresh tokens.
package enum ClockTolerance {
    package static let seconds: Int64 = 60
    package static let milliseconds = 1_000 * seconds
}

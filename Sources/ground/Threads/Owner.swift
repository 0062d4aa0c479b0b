/// The queue, task or thread that a class without a lock belongs to: its first use sets it, and a use from any other is a
/// bug and traps.
///
/// The class keeps it and checks it where it is entered: at each call in debug builds; in release builds at one call in a
/// thousand, since a class that two queues share is soon caught all the same.
package struct Owner {
    private let name: StaticString
    private let interval: Int
    private var place: OwnPlace?
    // Not atomic: only the owner calls, and any other caller is the bug that the check finds.
    private var calls = 0

    /// - Parameters:
    ///   - name: of the class.
    ///   - interval: calls from one check to the next in release builds.
    package init(_ name: StaticString, every interval: Int = 1_000) { (self.name, self.interval) = (name, interval) }

    /// Traps on any queue, task or thread but the owner.
    package mutating func check() {
        #if !DEBUG
            calls += 1
            guard calls >= interval || place == nil else { return }
            calls = 0
        #endif
        let here = OwnPlace.here
        guard let place else { return place = here }
        if place != here { preconditionFailure("\(name) belongs to \(place), and is used on \(here)") }
    }

    /// Hands the class over to its next user. Something else must order the two: a queue, a lock, a thread's end.
    package mutating func release() { place = nil }
}

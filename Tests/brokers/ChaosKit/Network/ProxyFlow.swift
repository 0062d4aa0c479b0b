/// One direction of a connection: what has come in, and the frames that have yet to go out, in order.
struct ProxyFlow {
    /// A side is not read while the other has so much to send.
    static let maxWaiting = 4 << 20

    var input = FrameBuffer()
    private var frames: [(bytes: [UInt8], due: ContinuousClock.Instant)] = []
    private var first = 0
    private var sent = 0
    private(set) var waiting = 0
    /// How many frames have passed.
    private var gone = 0
    /// Frames that were added after this number wait until then.
    private var barrier: (frames: Int, until: ContinuousClock.Instant)?

    var isEmpty: Bool { first == frames.count }
    var mayRead: Bool { waiting < Self.maxWaiting }

    mutating func add(_ bytes: [UInt8], due: ContinuousClock.Instant) {
        frames.append((bytes, due))
        waiting += bytes.count
    }

    /// When the next byte may go out; nil = no byte is waiting.
    var due: ContinuousClock.Instant? {
        guard !isEmpty else { return nil }
        guard let barrier, gone >= barrier.frames else { return frames[first].due }
        return max(barrier.until, frames[first].due)
    }

    /// Lets the present bytes pass, and stops later ones.
    mutating func close(until: ContinuousClock.Instant) {
        barrier = (barrier?.frames ?? gone + frames.count - first, until)
    }

    mutating func open() { barrier = nil }

    mutating func drop() { (frames, first, sent, waiting, barrier) = ([], 0, 0, 0, nil) }

    /// Writes due bytes, at most `limit`. - Returns: how many; nil = the peer has closed.
    mutating func write(to socket: LoopbackSocket, now: ContinuousClock.Instant, limit: Int) -> Int? {
        var written = 0
        while let due, due <= now, written < limit {
            guard let count = socket.write(frames[first].bytes, from: sent, most: limit - written) else { return nil }
            guard count > 0 else { break }
            written += count
            note(count)
        }
        return written
    }

    private mutating func note(_ count: Int) {
        sent += count
        waiting -= count
        guard sent == frames[first].bytes.count else { return }
        frames[first].bytes = []
        (first, sent, gone) = (first + 1, 0, gone + 1)
        guard first == frames.count || first > 256 else { return }
        frames.removeFirst(first)
        first = 0
    }
}

/// The bytes that may pass now, where a way is throttled.
struct ProxyBucket {
    private var left = 0.0
    private var filled = ContinuousClock.now

    mutating func allowance(_ bytesPerSecond: Int, now: ContinuousClock.Instant) -> Int {
        let rate = Double(bytesPerSecond)
        // A tenth of a second's worth at most, and never less than a byte.
        left = min(max(1, rate / 10), left + rate * ((now - filled) / .seconds(1)))
        filled = now
        return Int(left)
    }

    mutating func take(_ count: Int) { left -= Double(count) }
}

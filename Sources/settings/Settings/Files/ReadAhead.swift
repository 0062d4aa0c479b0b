internal import Dispatch
internal import Pipeline
internal import Threads

/// Decompresses a few blocks ahead on a separate queue, while the thread that takes them works.
///
/// Each block taken asks for another one, so that memory is bounded and no thread waits for room.
final class ReadAhead: @unchecked Sendable {
    private static let blocks = 4

    private let queue = DispatchQueue(owner: "read-ahead", qos: .userInitiated)
    private let ready = DispatchSemaphore(value: 0)
    private let filled = Locked<[Result<CompressedInput.Block, CompressedInput.Fault>]>([])
    /// The owner of the input, once this value is made.
    private var owner = Owner("ReadAhead")
    private let input: CompressedInput

    init(_ input: CompressedInput) {
        self.input = input
        for _ in 0..<Self.blocks { ask() }
    }

    private func ask() {
        queue.async {
            self.owner.check()
            let block = Result { () throws(CompressedInput.Fault) in try self.input.next() }
            self.filled.withLock { $0.append(block) }
            self.ready.signal()
        }
    }

    /// The next block; an empty one is the end. Called by one thread.
    func next() throws(CompressedInput.Fault) -> CompressedInput.Block {
        ready.wait()
        let block = filled.withLock { $0.removeFirst() }
        ask()
        return try block.get()
    }
}

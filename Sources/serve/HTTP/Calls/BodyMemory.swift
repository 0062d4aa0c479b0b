internal import CMicrohttpd
internal import Threads

/// The memory that bodies take while they come. The server's thread owns it.
///
/// Who is slow makes room: beyond the bound the bodies that have been read for the longest are given up.
final class BodyMemory: @unchecked Sendable {
    var owner = Owner("BodyMemory")
    private(set) var count = 0
    private let most: Int
    /// The calls in the order in which their first bytes came; some have left since.
    private var queue = ArraySlice<HTTPCallHandle>()
    private var held: [ObjectIdentifier: Int] = [:]
    /// The most that was held since memory was last given back.
    private var peak = 0

    /// Less is not worth a walk through the heap.
    private static let keptBytes = 8 << 20

    init(most: Int) { self.most = most }

    /// - Parameter giveUp: answers a request whose body is dropped.
    func add(_ bytes: UnsafeRawBufferPointer, to handle: HTTPCallHandle, giveUp: (HTTPCallHandle) -> Void) {
        owner.check()
        // The caller's bytes are there until it returns.
        let added = unsafe handle.add(bytes)
        guard added > 0 else { return }
        if held[ObjectIdentifier(handle)] == nil { note(handle) }
        held[ObjectIdentifier(handle), default: 0] += added
        count += added
        peak = max(peak, count)
        while count > most, let oldest = queue.popFirst() {
            guard held[ObjectIdentifier(oldest)] != nil else { continue }
            oldest.body = []
            leave(oldest)
            giveUp(oldest)
        }
        assert(count >= 0 && (count == 0) == held.isEmpty, "what is held is counted")
    }

    private func note(_ handle: HTTPCallHandle) {
        // Most have left once there are twice as many as there are bodies.
        if queue.count > 2 * held.count + 1_024 {
            queue = ArraySlice(queue.filter { held[ObjectIdentifier($0)] != nil })
        }
        queue.append(handle)
    }

    /// Its body is whole, or is no longer wanted.
    func leave(_ handle: HTTPCallHandle) {
        owner.check()
        guard let bytes = held.removeValue(forKey: ObjectIdentifier(handle)) else { return }
        count -= bytes
        assert(bytes > 0 && count >= 0 && (count == 0) == held.isEmpty, "what is held is counted")
        // Bodies of many clients at once leave their memory in the heap, between what is still used.
        guard peak > Self.keptBytes, count < peak / 2 else { return }
        peak = count
        CMicrohttpd_trimHeap()
    }
}

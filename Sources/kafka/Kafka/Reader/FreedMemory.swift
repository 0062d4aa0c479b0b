internal import CRdkafka

/// Freed memory that the allocator keeps: hundreds of MiB after the library's queues were full.
package enum FreedMemory {
    /// Gives it back to the system. Takes milliseconds; not for a hot path.
    package static func giveBack() {
        // Any thread may call it at any time.
        malloc_trim(0)
    }
}

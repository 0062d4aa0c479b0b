internal import CRdkafka

/// What the allocator keeps of memory that was freed: after the library's queues were full, hundreds of MiB.
package enum FreedMemory {
    /// Gives it back to the system. Takes milliseconds; not for a hot path.
    package static func giveBack() {
        // Any thread may call it at any time.
        malloc_trim(0)
    }
}

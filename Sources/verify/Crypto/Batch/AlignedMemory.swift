internal import CBatchVerify

/// Memory for the batch code: aligned as it asks, zeroed, freed with its owner.
@safe final class AlignedMemory {
    // Owned: allocated in the initialiser, freed in deinit.
    let pointer: UnsafeMutableRawPointer
    private let byteCount: Int

    init(byteCount: Int) {
        self.byteCount = byteCount
        // The alignment is a power of two; what is zeroed is as long as the memory.
        unsafe pointer = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: CBV_ALIGNMENT)
        unsafe pointer.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }

    deinit {
        // The only owner.
        unsafe pointer.deallocate()
    }

    @unsafe var bytes: UnsafeMutablePointer<UInt8> { unsafe pointer.assumingMemoryBound(to: UInt8.self) }

    subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < byteCount, "a byte lies inside")
        // Inside, as was just checked.
        return unsafe bytes[index]
    }
}

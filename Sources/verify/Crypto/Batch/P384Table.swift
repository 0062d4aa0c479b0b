internal import CBatchVerify

/// The multiples of a P-384 point that the batch code adds up: 590 KB, made in a few milliseconds, never changed after.
@safe package final class P384Table: Sendable {
    // Written by the initialiser only: every lane may read it at once.
    nonisolated(unsafe) private let memory = AlignedMemory(byteCount: cbv_p384_table_bytes())

    /// The table of the curve's generator (SEC 2, secp384r1), made once in the process.
    static let generator = P384Table(
        x: [
            0xAA87_CA22_BE8B_0537, 0x8EB1_C71E_F320_AD74, 0x6E1D_3B62_8BA7_9B98, 0x59F7_41E0_8254_2A38,
            0x5502_F25D_BF55_296C, 0x3A54_5E38_7276_0AB7,
        ],
        y: [
            0x3617_DE4A_9626_2C6F, 0x5D9E_98BF_9292_DC29, 0xF8F4_1DBD_289A_147C, 0xE9DA_3113_B5F0_B8C0,
            0x0A60_B1CE_1D7E_819D, 0x7A43_1D7C_90EA_0E5F,
        ]
    )

    /// The key's point is on the curve, or the key would not exist.
    package convenience init(of key: P384PublicKey) {
        let bytes = key.x963
        guard let x = P384Number(leftPadding: bytes.span.extracting(1..<49)),
            let y = P384Number(leftPadding: bytes.span.extracting(49..<97))
        else { preconditionFailure("a coordinate has 48 bytes") }
        self.init(x: x.array, y: y.array)
    }

    /// - Parameters: six words each, the most significant first.
    private init(x: [UInt64], y: [UInt64]) {
        // Six words each are read, and the whole of the memory is written.
        unsafe cbv_p384_table_make(x, y, memory.pointer)
    }

    /// The table, valid inside `body` and only to be read.
    @unsafe func withPointer(_ body: (UnsafeRawPointer) -> Void) {
        unsafe body(memory.pointer)
    }
}

internal import CBatchVerify

/// Multiples of both generators; made once per process, on first use.
enum LabTables {
    /// Makes the P-256 table, which the C side keeps.
    static let p256: Void = cbv_lab_p256_prepare()
    static let p384 = LabTable()
}

/// The P-384 generator's multiples.
@safe final class LabTable: Sendable {
    // Written by the initialiser only, and never freed: this object lives as long as the process.
    nonisolated(unsafe) let pointer: UnsafeMutableRawPointer

    fileprivate init() {
        let (x, y) = Self.generator
        let alignment = Int(CBV_ALIGNMENT)
        // The C side writes as many bytes as it says, and reads six words of each coordinate.
        unsafe pointer = .allocate(byteCount: cbv_p384_table_bytes(), alignment: alignment)
        unsafe cbv_p384_table_make(x, y, pointer)
    }

    /// The generator's coordinates (SEC 2, secp384r1), the most significant word first.
    private static let generator: (x: [UInt64], y: [UInt64]) = (
        [
            0xAA87_CA22_BE8B_0537, 0x8EB1_C71E_F320_AD74, 0x6E1D_3B62_8BA7_9B98, 0x59F7_41E0_8254_2A38,
            0x5502_F25D_BF55_296C, 0x3A54_5E38_7276_0AB7,
        ],
        [
            0x3617_DE4A_9626_2C6F, 0x5D9E_98BF_9292_DC29, 0xF8F4_1DBD_289A_147C, 0xE9DA_3113_B5F0_B8C0,
            0x0A60_B1CE_1D7E_819D, 0x7A43_1D7C_90EA_0E5F,
        ]
    )
}

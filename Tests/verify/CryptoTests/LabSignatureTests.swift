import Crypto
import TestKit
import Testing

/// Keys and signatures of the lab are the same in each version: traffic that was made once can be made again.
@Suite struct LabSignatureTests {
    /// The hashes are of what a script made with its own arithmetic.
    @Test(arguments: [
        (LabCurve.p256, "944fa572e3b29857c1bb5ea3f8c09ec8a4a2a5a1eda9d6cc2ecb3dfc975ba788"),
        (.p384, "e3881123d6784529f415c5ae840c65c0a3b8c2feb81f6266ccfde895d52cbe12"),
    ])
    func `keys and signatures are those of another implementation`(curve: LabCurve, hash: String) {
        var made: [UInt8] = []
        for seed in 0..<64 as Range<UInt8> {
            let key = LabKey(curve, seed: [seed])
            made += key.x963
            // The second digest is above the order.
            for digest in [SHA256.hash([seed]).bytes, [UInt8](repeating: 0xFF, count: curve.byteCount)] {
                let signature = key.sign(digest: digest)
                made += signature.r + signature.s
            }
        }
        #expect(SHA256.hash(made).bytes == WycheproofVectors.bytes(hex: hash))
    }
}

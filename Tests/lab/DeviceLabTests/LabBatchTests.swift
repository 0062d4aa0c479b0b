internal import Crypto
internal import DeviceLab
internal import Testing

/// Many made at once are those made alone.
@Suite struct LabBatchTests {
    @Test(arguments: LabCurve.allCases, [1, 2, 63, 64, 65, 130])
    func `keys made together are those made alone`(curve: LabCurve, count: Int) {
        let seeds = (0..<count).map { Array("seed \($0)".utf8) }
        for (key, seed) in zip(LabBatch().keys(curve, seeds: seeds), seeds) {
            let alone = LabKey(curve, seed: seed)
            #expect(key.curve == curve && key.scalar == alone.scalar && key.x963 == alone.x963)
        }
    }

    @Test(arguments: [0, 1, 2, 63, 64, 65, 130])
    func `signatures made together are those made alone, whatever curves are mixed`(count: Int) {
        let batch = LabBatch()
        let requests = (0..<count).map { number in
            let key = LabKey(number % 3 == 0 ? .p384 : .p256, seed: [UInt8(number % 7)])
            // Authorities sign digests as long as the order, devices and leaves shorter ones.
            let text = [UInt8(number), 1]
            let digest = number % 2 == 0 || key.curve == .p256 ? SHA256.hash(text).bytes : LabKey.sha384(text)
            return LabSigningRequest(key: key, digest: digest)
        }
        #expect(batch.sign(requests) == requests.map { $0.key.sign(digest: $0.digest) })
        #expect(batch.sign(requests.reversed()) == requests.reversed().map { $0.key.sign(digest: $0.digest) })
    }

    @Test(arguments: [0x00, 0x01, 0x7F, 0x80, 0xFF] as [UInt8])
    func `digests may be any number`(byte: UInt8) {
        let requests = LabCurve.allCases.map { curve in
            let digest = [UInt8](repeating: byte, count: curve.byteCount)
            return LabSigningRequest(key: LabKey(curve, seed: [3]), digest: digest)
        }
        #expect(LabBatch().sign(requests) == requests.map { $0.key.sign(digest: $0.digest) })
    }
}

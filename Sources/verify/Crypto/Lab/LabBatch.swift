internal import CBatchVerify

package struct LabSigningRequest: Sendable {
    package let key: LabKey
    /// The digest to sign: at most as many bytes as the curve's order.
    package let digest: [UInt8]

    package init(key: LabKey, digest: [UInt8]) { (self.key, self.digest) = (key, digest) }
}

/// Makes keys and signatures, many at once; one per thread.
///
/// Lab keys only, never for secrets: the time that this takes depends on them.
@safe package final class LabBatch {
    // Owned: made in the initialiser, freed in deinit, lent only to calls of this object.
    private let scratch: UnsafeMutableRawPointer
    /// The text that a scalar is hashed from, after its prefix.
    private var text: [UInt8] = []

    /// The most numbers of a call to the C side.
    private static let most = Int(CBV_MOST)

    package init() {
        unsafe scratch = .allocate(byteCount: cbv_lab_scratch_bytes(), alignment: Int(CBV_ALIGNMENT))
    }

    deinit { unsafe scratch.deallocate() }

    package func keys(_ curve: LabCurve, seeds: [[UInt8]]) -> [LabKey] {
        var keys: [LabKey] = []
        keys.reserveCapacity(seeds.count)
        for start in stride(from: 0, to: seeds.count, by: Self.most) {
            let part = seeds[start..<min(start + Self.most, seeds.count)]
            var scalars = LabWords(curve, capacity: part.count)
            for seed in part {
                text.removeAll(keepingCapacity: true)
                text += seed
                scalars.append(hashOf: LabScalarPrefix.key, text)
            }
            scalars.reduce()
            let points = multiply(scalars)
            for place in 0..<part.count {
                keys.append(LabKey(curve, scalar: scalars.bytes(at: place), x963: points.x963(at: place)))
            }
        }
        return keys
    }

    /// Multiples of the generator in X9.63 form, of at most 64 scalars from 1 to below the order.
    func points(_ curve: LabCurve, scalars: [[UInt8]]) -> [[UInt8]] {
        var words = LabWords(curve, capacity: scalars.count)
        for scalar in scalars { words.append(scalar) }
        let points = multiply(words)
        return scalars.indices.map { points.x963(at: $0) }
    }

    /// The signatures, in the order of the requests.
    package func sign(_ requests: [LabSigningRequest]) -> [LabSignature] {
        var signatures = [LabSignature?](repeating: nil, count: requests.count)
        for curve in LabCurve.allCases {
            let places = requests.indices.filter { requests[$0].key.curve == curve }
            for start in stride(from: 0, to: places.count, by: Self.most) {
                sign(requests, places[start..<min(start + Self.most, places.count)], curve, &signatures)
            }
        }
        return signatures.map { signature in
            guard let signature else { preconditionFailure("no known hash makes r or s 0") }
            return signature
        }
    }
}

extension LabBatch {
    private func sign(
        _ requests: [LabSigningRequest],
        _ places: ArraySlice<Int>,
        _ curve: LabCurve,
        _ signatures: inout [LabSignature?]
    ) {
        var scalars = LabWords(curve, capacity: places.count)
        var nonces = LabWords(curve, capacity: places.count)
        var digests = LabWords(curve, capacity: places.count)
        for place in places {
            let request = requests[place]
            scalars.append(request.key.scalar)
            digests.append(request.digest)
            text.removeAll(keepingCapacity: true)
            text += request.key.scalar
            text += request.digest
            nonces.append(hashOf: LabScalarPrefix.nonce, text)
        }
        nonces.reduce()
        let (r, s) = sign(scalars, nonces, digests)
        for (index, place) in places.enumerated() where !r.isZero(at: index) {
            signatures[place] = LabSignature(r: r.bytes(at: index), s: s.bytes(at: index))
        }
    }

    private func sign(_ scalars: LabWords, _ nonces: LabWords, _ digests: LabWords) -> (r: LabWords, s: LabWords) {
        let (curve, count) = (scalars.curve, scalars.count)
        var r = LabWords(curve, zeros: count), s = LabWords(curve, zeros: count)
        // All five arrays hold `count` numbers and live as long as the call; the scratch has the size that was asked.
        unsafe scalars.withWords { d in
            unsafe nonces.withWords { k in
                unsafe digests.withWords { digest in
                    unsafe r.withMutableWords { r in
                        unsafe s.withMutableWords { s in
                            switch curve {
                            case .p256:
                                BatchArithmetic.prepareP256()
                                unsafe cbv_lab_p256_sign(count, d, k, digest, r, s, scratch)
                            case .p384:
                                unsafe P384Table.generator.withPointer {
                                    unsafe cbv_lab_p384_sign(count, $0, d, k, digest, r, s, scratch)
                                }
                            }
                        }
                    }
                }
            }
        }
        return (r, s)
    }

    /// `scalars` times the generator: x and y of each point, one after the other.
    private func multiply(_ scalars: LabWords) -> LabWords {
        let (curve, count) = (scalars.curve, scalars.count)
        var points = LabWords(curve, zeros: 2 * count)
        // Both arrays live as long as the call; a point is as long as two numbers.
        unsafe scalars.withWords { scalars in
            unsafe points.withMutableWords { points in
                switch curve {
                case .p256:
                    BatchArithmetic.prepareP256()
                    unsafe cbv_lab_p256_multiply(count, scalars, points, scratch)
                case .p384:
                    unsafe P384Table.generator.withPointer {
                        unsafe cbv_lab_p384_multiply(count, $0, scalars, points, scratch)
                    }
                }
            }
        }
        return points
    }
}

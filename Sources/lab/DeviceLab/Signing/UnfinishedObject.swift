package import Crypto

/// An object in the making: signatures that many objects wait for are made together.
package enum UnfinishedObject {
    case awaiting(LabSigningRequest, next: (LabSignature) -> UnfinishedObject)
    case finished([UInt8])

    /// The objects' bytes, in their order.
    static func finish(_ objects: [UnfinishedObject], by signer: any LabSigner, _ batch: LabBatch) -> [[UInt8]] {
        var objects = objects
        while true {
            let waiting = objects.indices.filter { objects[$0].request != nil }
            guard !waiting.isEmpty else { return objects.map(\.bytes) }
            let signatures = signer.sign(waiting.compactMap { objects[$0].request }, in: batch)
            for (place, signature) in zip(waiting, signatures) { objects[place].advance(signature) }
        }
    }

    /// The bytes of this one object.
    func finish(by signer: any LabSigner) -> [UInt8] {
        var object = self
        while let request = object.request { object.advance(signer.sign(request)) }
        return object.bytes
    }

    private var request: LabSigningRequest? {
        if case .awaiting(let request, _) = self { request } else { nil }
    }

    private var bytes: [UInt8] {
        guard case .finished(let bytes) = self else { preconditionFailure("every signature was made") }
        return bytes
    }

    private mutating func advance(_ signature: LabSignature) {
        if case .awaiting(_, let next) = self { self = next(signature) }
    }
}

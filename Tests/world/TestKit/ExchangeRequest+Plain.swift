internal import AppAttest
package import AppCheck
package import DeviceLab

/// The verbs of backends, which take the client data's hash as it is.
extension ExchangeRequest {
    package static func plain(
        _ verb: Verb,
        _ object: [UInt8],
        of device: FakeDevice,
        hash: [UInt8] = ExchangeKit.clientDataHash,
        resource: String = ExchangeKit.resource
    ) -> Self {
        let value = RequestRecords.value(
            verb: verb,
            object: object,
            keyID: device.keyID,
            clientDataHash: hash,
            path: "v1/" + resource
        )
        return Self(value, key: device.keyID.recordKey)
    }

    package static func verifyAttestation(
        of device: FakeDevice,
        hash: [UInt8] = ExchangeKit.clientDataHash,
        at time: Int64 = ExchangeKit.start - 1000,
        resource: String = ExchangeKit.resource,
        fault: AttestationFault? = nil,
        receiptFault: ReceiptFault? = nil
    ) -> Self {
        let object = device.attest(
            clientDataHash: hash,
            at: EvaluationTime(milliseconds: time),
            fault: fault,
            receiptFault: receiptFault
        )
        return plain(.verifyAttestation, object, of: device, hash: hash, resource: resource)
    }

    package static func verifyAssertion(
        of device: FakeDevice,
        counter: UInt32,
        hash: [UInt8] = ExchangeKit.clientDataHash,
        resource: String = ExchangeKit.resource,
        fault: AssertionFault? = nil
    ) -> Self {
        let object = device.assertion(clientDataHash: hash, counter: counter, fault: fault)
        return plain(.verifyAssertion, object, of: device, hash: hash, resource: resource)
    }
}

internal import Crypto

extension FakeDevice {
    /// An assertion object as `generateAssertion` returns it; the counter rises by one.
    package mutating func assert(clientDataHash: [UInt8], fault: AssertionFault? = nil) -> [UInt8] {
        counter += 1
        return assertion(clientDataHash: clientDataHash, counter: counter, fault: fault)
    }

    /// The assertion that this device writes with that counter.
    package func assertion(clientDataHash: [UInt8], counter: UInt32, fault: AssertionFault? = nil) -> [UInt8] {
        unfinishedAssertion(clientDataHash: clientDataHash, counter: counter, fault: fault).finish(by: ca.signer)
    }

    /// The same without its signature.
    package func unfinishedAssertion(
        clientDataHash: [UInt8],
        counter: UInt32,
        fault: AssertionFault? = nil
    ) -> UnfinishedObject {
        var draft = AssertionDraft(device: self, clientDataHash: clientDataHash, counter: counter)
        fault?.edit(&draft)
        let (authData, cdHash) = (draft.authData.bytes, model.unsignedCDHash)
        return .awaiting(draft.signingRequest(over: authData)) { signature in
            var parts = AssertionParts(ecdsa: signature, signature: signature.der, authData: authData, cdHash: cdHash)
            fault?.edit(&parts)
            var entries = parts.entries
            fault?.edit(topLevel: &entries)
            var object = CBORBytes.map(entries)
            fault?.edit(&object)
            return .finished(object)
        }
    }
}

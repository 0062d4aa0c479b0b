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
        let effect = fault?.effect ?? .none
        var draft = AssertionDraft(device: self, clientDataHash: clientDataHash, counter: counter)
        if case .draft(let edit) = effect { edit(&draft) }
        let unsigned = draft.unsigned()
        return .awaiting(unsigned.signingRequest) { signature in
            .finished(Self.assertion(unsigned.signed(signature), effect))
        }
    }

    private static func assertion(_ parts: AssertionParts, _ effect: AssertionEffect) -> [UInt8] {
        var parts = parts
        if case .parts(let edit) = effect { edit(&parts) }
        if case .signature(let edit) = effect { parts.signature = edit(parts.ecdsa) }
        var entries = parts.entries
        if case .topLevel(let edit) = effect { edit(&entries) }
        var object = CBORBytes.map(entries)
        if case .bytes(let edit) = effect { edit(&object) }
        return object
    }
}

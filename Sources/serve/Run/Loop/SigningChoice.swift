internal import AppCheck
package import CommandFrame
package import Crypto
package import Settings

/// The signers of this process: OpenSSL, and the library that worker.json names.
package struct SigningChoice {
    private let library: MultiBufferLibrary?
    private let path: String

    /// - Throws: where the named file is not a library that can be used here.
    package init(_ settings: EngineSettings) throws(UsageFault) {
        path = settings.signingLibrary
        guard !path.isEmpty else {
            library = nil
            return
        }
        do throws(MultiBufferFault) { library = try MultiBufferLibrary(path: path) } catch {
            throw UsageFault(
                "engine.signingLibrary: \(path.printable) \(error.description.printable); correct the path, or leave it "
                    + "empty to sign with OpenSSL."
            )
        }
    }

    /// - Parameter alarm: called with a sentence where the library does not sign as OpenSSL does.
    /// - Returns: nil where OpenSSL signs alone.
    package func make(
        _ engine: EngineChoice,
        _ watch: EngineWatch,
        alarm: @escaping SigningLibrary.Alarm
    ) -> SigningLibrary? {
        library.map { SigningLibrary($0, engine: engine.arithmetic == .ifma ? watch : nil, alarm: alarm) }
    }

    /// The text for the start line; nil where OpenSSL signs alone.
    func text(_ signer: TokenSigner, _ keys: TokenKeyRing) -> String? {
        guard let library else { return nil }
        let algorithms = TokenSettings.Algorithm.allCases.filter { algorithm in
            keys.active(algorithm).map { signer.usesLibrary(for: $0.key) } ?? false
        }
        let names = algorithms.isEmpty ? "no key" : algorithms.map(\.rawValue).joined(separator: " and ")
        return "\(library.name) of \(path) for \(names), from \(GroupSize.leastRSA) at once, else by OpenSSL"
    }
}

extension TokenKeyRing {
    /// The signer of these keys.
    ///
    /// - Parameter library: tested with every active key; nil = OpenSSL alone.
    package func signer(_ library: SigningLibrary?) -> TokenSigner {
        guard let library else { return TokenSigner() }
        return TokenSigner(library, keys: keys.filter { $0.state == .active }.map { ($0.kid, $0.key) })
    }
}

package import AppAttest
package import AppCheck

extension DeviceTraits {
    /// Verified evidence where the verification of a request's object succeeded, else what the object claims of itself.
    ///
    /// - Parameter request: nil where the record is refused for its shape.
    package init(_ finding: Finding, _ request: Request?) {
        switch finding.object {
        case .attestation(.success(let evidence)): self.init(evidence)
        case .assertion(.success(let evidence)): self.init(evidence)
        default: self = Self.claimed(in: request) ?? Self()
        }
    }

    /// The traits as a request's object claims them; nil = it has no object.
    static func claimed(in request: Request?) -> DeviceTraits? {
        guard case .object(let object, _)? = request?.body else { return nil }
        switch object {
        case .attestation(let bytes): return DeviceTraits(attestation: bytes)
        case .assertion(let bytes): return DeviceTraits(assertion: bytes)
        }
    }
}

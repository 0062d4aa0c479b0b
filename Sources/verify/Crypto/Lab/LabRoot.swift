/// The roots of lab authorities: with such an authority's file, or a guess of its seed, anybody can make devices that it
/// accepts.
package enum LabRoot {
    /// Common names, which no other authority's roots have.
    package static let attestation = "Lab App Attestation Root CA"
    package static let receipt = "Lab Root CA - G3"

    package static func isLab(_ certificate: CACertificate) -> Bool {
        [attestation, receipt].contains { certificate.subject.contains(Array($0.utf8)) }
    }
}

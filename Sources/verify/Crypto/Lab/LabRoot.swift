/// The roots of lab authorities: with such an authority's file, or a guess of its seed, anybody can make devices that it
/// accepts.
package enum LabRoot {
    /// Common names, which no other authority's roots have.
    package static let attestation = "Lab App Attestation Root CA"
    package static let receipt = "Lab Root CA - G3"

    package static func isLab(_ certificate: CACertificate) -> Bool {
        // With the attribute's head, a UTF8String: a longer name may end in one of these.
        [attestation, receipt].contains { certificate.subject.contains([0x0C, UInt8($0.utf8.count)] + $0.utf8) }
    }
}

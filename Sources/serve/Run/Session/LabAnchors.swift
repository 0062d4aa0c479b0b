internal import Crypto
internal import Settings

/// Anchors of a lab authority in a configuration that serves real devices.
package enum LabAnchors {
    /// The lab authority's file beside a configuration for fake devices: with it anyone can make devices that are
    /// accepted there.
    package static let authorityFile = "lab-authority.json"

    /// One line for each list that holds such an anchor.
    static func warnings(_ anchors: AnchorSettings) -> [String] {
        let lists = [("anchors.attestation", anchors.attestation), ("anchors.receipt", anchors.receipt)]
        return lists.compactMap { name, files in
            guard let file = files.first(where: isLab) else { return nil }
            return
                "worker.json: \(name): \(file.path) is a lab authority's root: every holder of its "
                + "\(authorityFile) can make devices that are accepted; for real devices use Apple's roots "
                + "from Config/anchors"
        }
    }

    private static func isLab(_ file: AnchorSettings.File) -> Bool {
        CACertificate.readAny(file.pem).contains(where: LabRoot.isLab)
    }
}

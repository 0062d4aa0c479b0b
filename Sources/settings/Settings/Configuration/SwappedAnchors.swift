internal import AppAttest
internal import Crypto

/// Apple's two roots, each in the list of the other: no device and no receipt descends from it.
package enum SwappedAnchors {
    /// SHA-256 of Apple App Attestation Root CA.
    static let attestation = "1cb9823ba28ba6ad2d33a006941de2ae4f513ef1d4e831b9f7e0fa7b6242c932"
    /// SHA-256 of Apple Root CA - G3.
    static let receipt = "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"

    /// - Throws: where a list has the wrong one of the two, and not the right one.
    static func check(_ anchors: AnchorSettings) throws(ConfigurationFault) {
        var faults = FaultList()
        let lists = [
            ("attestation", anchors.attestation, attestation, receipt, "Apple's root of receipts"),
            ("receipt", anchors.receipt, receipt, attestation, "Apple's root of attestations"),
        ]
        for (name, files, right, wrong, what) in lists where !files.contains(where: { holds($0, right) }) {
            for (index, file) in files.enumerated() where holds(file, wrong) {
                faults.add(
                    ConfigurationFault(
                        "worker.json: anchors.\(name)[\(index)]: \(file.path) is \(what): attestations need "
                            + "Apple_App_Attestation_Root_CA.pem, receipts Apple_Root_CA_G3.pem; exchange them."
                    )
                )
            }
        }
        try faults.check()
    }

    private static func holds(_ file: AnchorSettings.File, _ fingerprint: String) -> Bool {
        CACertificate.readAny(file.pem).contains { Hexadecimal.encode($0.digest.bytes) == fingerprint }
    }
}

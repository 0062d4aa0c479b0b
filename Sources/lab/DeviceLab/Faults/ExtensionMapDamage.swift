extension AuthDataDraft {
    /// ED: an extension map follows.
    static let extensionFlag: UInt8 = 0x80

    /// Writes the map and announces it, as devices with a map do.
    mutating func announce(map: [UInt8]) {
        extensions = map
        flags |= Self.extensionFlag
    }

    /// Writes the map without announcing it: the effect of a signed hash that began with the map.
    mutating func slipIn(map: [UInt8]) {
        extensions = map
        flags &= ~Self.extensionFlag
    }
}

extension AssertionDraft: AuthenticatedDraft {
    mutating func announce(map: [UInt8]) { authData.announce(map: map) }
}

extension AttestationDraft: AuthenticatedDraft {
    /// Writes a map as a device of iOS 27 does, and lets the leaf name a system that writes one.
    mutating func announce(map: [UInt8]) {
        authData.announce(map: map)
        nameSystemWithMap()
    }

    /// An attestation that an app forges from a device that got the map and the hash as one: nonce and leaf are
    /// Apple's, and so is the receipt, which shows where the hash began.
    mutating func forge(map: [UInt8]) {
        authData.slipIn(map: map)
        attestedHash = map + clientDataHash
        nameSystemWithMap()
    }

    /// Lets the leaf name the last system before 27.
    mutating func nameOldSystem() {
        var traits = device.model.traits
        (traits.version, traits.build) = ("26.4", "23E244")
        leaf.replace(OID.osInformation, value: LeafExtensions.osInformation(traits))
    }

    private mutating func nameSystemWithMap() {
        guard !device.model.traits.version.hasPrefix("27.") else { return }
        leaf.replace(OID.osInformation, value: LeafExtensions.osInformation(DeviceShape.ios27_0_1.traits))
    }
}

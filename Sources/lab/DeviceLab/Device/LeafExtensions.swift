/// The leaf's extensions, shape by shape: Apple's description of key, system and access control.
enum LeafExtensions {
    /// All of them, in Apple's order. The nonce's value comes last of all, when everything else is known.
    static func list(_ traits: ShapeTraits, appID: String) -> [CertificateExtension] {
        var list: [CertificateExtension] = [
            .critical(OID.basicConstraints, DER.sequence()), .critical(OID.keyUsage, [0x03, 0x02, 0x04, 0xF0]),
        ]
        if traits.hasExtendedKeyUsage {
            list.append(CertificateExtension(OID.extendedKeyUsage, DER.sequence(OID.appAttestUsage)))
        }
        list += [
            CertificateExtension(OID.keyProperties, keyProperties(traits, appID: appID)),
            CertificateExtension(OID.osInformation, osInformation(traits)), CertificateExtension(OID.nonce, []),
        ]
        switch traits.accessControl {
        case .none: break
        case .iPhone: list.append(CertificateExtension(OID.accessControl, accessControl(iPhonePolicy)))
        case .mac: list.append(CertificateExtension(OID.accessControl, accessControl(macPolicy)))
        }
        return list
    }

    /// Extension 8.2: `SEQUENCE { [1] OCTET STRING }`, always 38 bytes.
    static func nonceValue(_ nonce: [UInt8]) -> [UInt8] { DER.sequence(DER.explicit(1, DER.octetString(nonce))) }

    /// Extension 8.6: `SEQUENCE { [3] OCTET STRING }`.
    static func accessControl(_ policy: [UInt8]) -> [UInt8] {
        DER.sequence(DER.explicit(3, DER.octetString(policy)))
    }

    /// Apple's one constant for Macs with full security: ok, oa, odel, and osgn by "rsec".
    static let macPolicy = DER.sequence(
        DER.utf8String("11"),
        DER.sequence(
            allowed("ok"),
            allowed("oa"),
            allowed("odel"),
            DER.sequence(
                DER.utf8String("osgn"),
                DER.explicit(0, DER.utf8String("rsec")),
                DER.sequence(DER.explicit(6, DER.integer(1)))
            )
        )
    )

    static let iPhonePolicy = DER.sequence(
        DER.utf8String("11"),
        DER.sequence(allowed("okd"), allowed("oa"), allowed("osgn"), allowed("odel"), allowed("ock"))
    )

    private static func allowed(_ operation: String) -> [UInt8] {
        DER.sequence(DER.utf8String(operation), DER.explicit(1, DER.boolean(true)))
    }

    /// Extension 8.5.
    private static func keyProperties(_ traits: ShapeTraits, appID: String) -> [UInt8] {
        let isOld = traits.accessControl == .none
        let hasKeyTag = traits.detail == .iOS26
        let sks = DER.octetString(Array((traits.hasEarlySKS ? " sks" : "sks ").utf8))
        var parts = number(4, traits.platform == .mac ? 13 : 10)
        parts +=
            number(1200, isOld ? 1 : 0) + number(1201, 0) + number(1202, traits.hasFlag1202 ? 1 : 0)
            + number(1203, isOld ? 1 : 0)
        parts += DER.explicit(1204, DER.octetString(Array(appID.utf8)))
        if traits.hasSKS { parts += DER.explicit(5, sks) }
        parts += number(1206, isOld ? 5 : 4) + number(1207, 0) + number(1209, 0) + number(1210, 0)
        if traits.detail != .version && traits.detail != .versionAndBuild { parts += number(1211, 0) }
        if traits.hasSecondSKS { parts += DER.explicit(1212, sks) }
        if hasKeyTag { parts += number(10, 0) }
        return DER.element(0x30, parts)
    }

    /// Extension 8.7.
    static func osInformation(_ traits: ShapeTraits) -> [UInt8] {
        var parts = text(1400, traits.version)
        switch traits.detail {
        case .version: break
        case .versionAndBuild: parts += text(1403, traits.build)
        case .iOS17:
            parts += number(1104, 0xFFFF_FFFF) + text(1403, traits.build) + text(1405, traits.version)
            parts += number(1406, 0) + text(1420, "21.6.90.0.0,0")
        case .iOS18:
            parts += number(1104, 0xFFFF_FFFE) + text(1403, traits.build) + text(1405, traits.version)
            parts += number(1406, 0) + text(1418, "22.4.72.0.0,0") + text(1420, "22.4.72.0.0,0")
            parts += text(1026, traits.platform.rawValue)
        case .iOS18Internal:
            parts += number(1104, 0xFFFF_FFFF) + fullOSInformation(traits) + text(1029, "Internal")
        case .iOS26:
            parts += number(1104, 2) + text(1401, "1.0.248") + fullOSInformation(traits)
        }
        return DER.element(0x30, parts)
    }

    private static func fullOSInformation(_ traits: ShapeTraits) -> [UInt8] {
        var parts = text(1403, traits.build) + text(1404, traits.version) + text(1405, traits.version)
        for tag in UInt32(1406)...1413 { parts += number(tag, tag == 1412 && traits.platform == .iPhone ? 1 : 0) }
        for tag in UInt32(1418)...1420 { parts += text(tag, "24.1.446.0.0,0") }
        return parts + text(1026, traits.platform.rawValue)
    }

    private static func number(_ tag: UInt32, _ value: UInt64) -> [UInt8] { DER.explicit(tag, DER.integer(value)) }

    private static func text(_ tag: UInt32, _ value: String) -> [UInt8] {
        DER.explicit(tag, DER.octetString(Array(value.utf8)))
    }
}

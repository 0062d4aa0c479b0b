internal import AppAttest
internal import Crypto

extension AssertionFault {
    static let contentRows: [AssertionFaultRow] = [
        AssertionFaultRow(
            .otherAppID,
            .appIDMismatch,
            .draft { $0.authData.rpIDHash = AppID("0000000000.lab.other").rpIDHash.bytes }
        ),
        AssertionFaultRow(
            .appIDCase,
            .appIDMismatch,
            .draft { $0.authData.rpIDHash = AppID($0.device.appID.swappingCase()).rpIDHash.bytes }
        ),
        rest(.restGarbage) { $0 = [0xFF, 0xFF] },
        rest(.restTrailingByte) { $0.append(0) },
        rest(.restTwoMaps) { $0 += $0 },
        rest(.restNotMap) { $0 = CBORBytes.array([$0]) },
        rest(.restTruncated) { $0.removeLast() },
        entries(.restDuplicateEntry) { $0.append($0[0]) },
        AssertionFaultRow(.mapCutOff, .malformedAssertion, .draft { $0.authData.announce(map: []) }),
        // For a caller that puts the map before the hash.
        AssertionFaultRow(.mapMoved, .malformedAssertion, .parts { $0.authData = Array($0.authData.prefix(37)) }),
        // Signed by a device that got the map and the hash as one.
        AssertionFaultRow(
            .mapForged,
            .categoryMissing,
            .draft { $0.authData.slipIn(map: CBORBytes.map($0.device.entriesForFaults)) }
        ),
        entries(.categoryAsText) { $0.setCategory(CBORBytes.text("4")) },
        entries(.categoryThreeBytes) { $0.setCategory(CBORBytes.bytes([4, 0, 0])) },
        entries(.bundleVersionAsBytes) { $0.setBundleVersion(CBORBytes.bytes(Array("1314".utf8))) },
        entries(.categoryMissing, .categoryMissing) { $0.removeCategory() },
        entries(.categoryOther, .categoryNotAllowed) { $0.setCategory(ExtensionEntries.littleEndian(9)) },
        entries(.bundleVersionMissing, .bundleVersionMissing) { $0.removeBundleVersion() },
        entries(.bundleVersionOther, .bundleVersionNotAllowed) { $0.setBundleVersion(CBORBytes.text("0")) },
    ]

    private static func rest(
        _ fault: AssertionFault,
        _ edit: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> AssertionFaultRow {
        AssertionFaultRow(
            fault,
            .malformedAssertion,
            .draft {
                $0.authData.announce(map: CBORBytes.map($0.device.entriesForFaults))
                edit(&$0.authData.extensions)
            }
        )
    }

    private static func entries(
        _ fault: AssertionFault,
        _ expected: Refusal = .malformedAssertion,
        _ edit: @escaping @Sendable (inout [CBORPair]) -> Void
    ) -> AssertionFaultRow {
        AssertionFaultRow(
            fault,
            expected,
            .draft {
                var entries = $0.device.entriesForFaults
                edit(&entries)
                $0.authData.announce(map: CBORBytes.map(entries))
            }
        )
    }
}

import Crypto
import TestKit
import Testing

@testable import AppAttest

/// The access control list of a Mac's key (leaf extension 8.6), and what identifies a Mac (8.5, 8.7).
@Suite struct MacPolicyTests {
    private static let macOS = MadeLeaf.apple(7, DER.sequence(DER.explicit(1026, DER.text("macosx"))))
    private static let iOS = MadeLeaf.apple(7, DER.sequence(DER.explicit(1026, DER.text("iphoneos"))))
    private static let number13 = MadeLeaf.apple(5, DER.sequence(DER.explicit(4, DER.integer([13]))))
    private static let number10 = MadeLeaf.apple(5, DER.sequence(DER.explicit(4, DER.integer([10]))))

    /// Apple's published base64 of the list, as bytes.
    private static let published = WycheproofVectors.bytes(
        hex:
            "30400C023131303A30090C026F6BA1030101FF30090C026F61A1030101FF300B0C046F64656CA1030101FF"
            + "30150C046F73676EA0060C04727365633005A603020101"
    )
    private static let good = MadeLeaf.apple(6, DER.sequence(DER.explicit(3, DER.octets(published))))
    private static let damaged = Array(published.dropLast()) + [0x00]
    private static let changed = MadeLeaf.apple(6, DER.sequence(DER.explicit(3, DER.octets(damaged))))
    private static let otherTag = MadeLeaf.apple(6, DER.sequence(DER.explicit(1, DER.octets(published))))
    private static let longer = MadeLeaf.apple(6, DER.sequence(DER.explicit(3, DER.octets(published))) + [0])

    private static let cases: [(String, [[UInt8]], String)] = [
        ("a Mac with Apple's list", [macOS, good], "valid"),
        ("a Mac by its number only", [number13, good], "valid"),
        ("a Mac without a list", [macOS], "acl-missing"),
        ("a Mac by its number, without a list", [number13], "acl-missing"),
        ("a Mac that calls itself a phone in one place", [iOS, number13], "acl-missing"),
        ("a Mac that calls itself a phone in the other", [macOS, number10], "acl-missing"),
        ("a Mac with another list", [macOS, changed], "acl-mismatch"),
        ("a Mac with the list under another tag", [macOS, otherTag], "acl-mismatch"),
        ("a Mac with a byte after the list", [macOS, longer], "acl-mismatch"),
        ("a Mac with an empty list", [macOS, MadeLeaf.apple(6, [])], "acl-mismatch"),
        ("a phone without a list", [iOS, number10], "valid"),
        ("a phone with any list", [iOS, number10, changed], "valid"),
        ("a device that says nothing", [], "valid"),
    ]

    @Test(arguments: cases) func `macOS policy`(_ name: String, _ extensions: [[UInt8]], _ code: String) throws {
        var attestation = MadeAttestation()
        attestation.leaf.extensions += extensions
        #expect(try attestation.verdict().code == code)
        let lenient = Expectations(appIDs: [MadeAttestation.appID], macACL: .accept)
        #expect(try attestation.verdict(lenient).code == "valid")
    }

    @Test func `the leaf's device information becomes evidence`() throws {
        var attestation = MadeAttestation()
        let system = DER.explicit(1400, DER.text("27.0.1")) + DER.explicit(1104, DER.integer([2]))
        let build = DER.explicit(1403, DER.text("24A446")) + DER.explicit(1026, DER.text("iphoneos"))
        attestation.leaf.extensions.append(MadeLeaf.apple(7, DER.sequence(system, build)))
        let evidence = try attestation.verdict().get()
        #expect(evidence.platform == "iphoneos")
        #expect(evidence.osVersion == "27.0.1 (24A446)")
    }

    private static let unreadable: [(String, [UInt8])] = [
        ("nothing", []),
        ("no sequence", [0x05, 0x00]),
        ("an unfinished member", [0x30, 0x02, 0xBF, 0x88]),
        ("a member of another class", DER.sequence(DER.text("macosx"))),
        ("no text", DER.sequence(DER.explicit(1026, DER.integer([1])))),
        ("two values", DER.sequence(DER.explicit(1026, DER.text("a") + DER.text("b")))),
        ("text that is no UTF-8", DER.sequence(DER.explicit(1026, DER.octets([0xFF])))),
        ("a long text", DER.sequence(DER.explicit(1026, DER.octets([UInt8](repeating: 0x61, count: 256))))),
    ]

    @Test(arguments: unreadable)
    func `unreadable device information is not a reason to refuse`(_ name: String, _ value: [UInt8]) throws {
        var attestation = MadeAttestation()
        attestation.leaf.extensions += [MadeLeaf.apple(5, value), MadeLeaf.apple(7, value)]
        #expect(try attestation.verdict().get().platform == nil)
    }
}

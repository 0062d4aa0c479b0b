/// The device and app as a leaf describes them (extensions 8.5 and 8.7), as far as it can be read.
///
/// Apple documents none of it, so it is evidence: a field that does not parse is nil and never a reason to refuse. The
/// only judgement made from it is whether the macOS policy applies.
struct DeviceInformation: Sendable, Equatable {
    /// 8.7 [1026]: `iphoneos`, `macosx`.
    private(set) var platform: ExactText?
    /// 8.7 [1400], e.g. `27.0.1`.
    private(set) var version: ExactText?
    /// 8.7 [1403], e.g. `24A446`.
    private(set) var build: ExactText?
    /// 8.5 [4]: 10 on iOS, 13 on macOS.
    private(set) var platformNumber: UInt32?
    /// 8.5 [1204]: the App ID in clear.
    private(set) var appID: ExactText?

    /// Longer texts are left out: evidence goes into results.
    private static let maxTextBytes = 255

    init(_ extensions: LeafExtensions, _ bytes: Span<UInt8>) {
        if let range = extensions.osInformation { readOSInformation(range, bytes) }
        if let range = extensions.keyProperties { readKeyProperties(range, bytes) }
    }

    /// Either sign is enough: a Mac must not pass for a phone because one of them has changed.
    var isMac: Bool { platform == "macosx" || platformNumber == 13 }

    /// Version and build, e.g. `27.0.1 (24A446)`.
    var osVersion: ExactText? {
        guard let version else { return nil }
        return build.map { "\(version) (\($0))" } ?? version
    }

    /// The number before the version's first point; nil where there is none.
    var majorVersion: Int? {
        guard let text = version?.utf8 else { return nil }
        let count = text.firstIndex(of: UInt8(ascii: ".")) ?? text.count
        return (1...4).contains(count) ? text.span.decimal(0, count) : nil
    }

    private mutating func readOSInformation(_ range: Range<Int>, _ bytes: Span<UInt8>) {
        Self.forEach(range, bytes) { number, value in
            switch number {
            case 1026: platform = Self.text(value, bytes)
            case 1400: version = Self.text(value, bytes)
            case 1403: build = Self.text(value, bytes)
            default: break
            }
        }
    }

    private mutating func readKeyProperties(_ range: Range<Int>, _ bytes: Span<UInt8>) {
        Self.forEach(range, bytes) { number, value in
            switch number {
            case 4: platformNumber = Self.number(value, bytes)
            case 1204: appID = Self.text(value, bytes)
            default: break
            }
        }
    }

    /// Visits the members of `SEQUENCE { [n] EXPLICIT value … }` up to the first that does not parse.
    private static func forEach(_ range: Range<Int>, _ bytes: Span<UInt8>, _ body: (Int, DERElement) -> Void) {
        guard let content = try? DERReader.only(.sequence, in: range, bytes) else { return }
        var reader = DERReader(content)
        while !reader.isAtEnd, let member = try? reader.next(bytes) {
            guard member.tag.leading == 0xA0 else { continue }
            var inner = DERReader(member.content)
            if let value = try? inner.next(bytes), inner.isAtEnd { body(member.tag.number, value) }
        }
    }

    private static func text(_ value: DERElement, _ bytes: Span<UInt8>) -> ExactText? {
        guard value.tag == .octetString, value.content.count <= maxTextBytes else { return nil }
        return bytes.text(value.content)
    }

    private static func number(_ value: DERElement, _ bytes: Span<UInt8>) -> UInt32? {
        guard value.tag == .integer, let first = value.content.first, bytes[first] < 0x80 else { return nil }
        return bytes.bigEndian(value.content)
    }
}

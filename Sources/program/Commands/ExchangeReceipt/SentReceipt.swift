internal import AppAttest
internal import CommandFrame
internal import JSON
internal import Settings

/// A receipt as a file has it: its bytes, or their Base64.
struct SentReceipt {
    /// Far above every receipt in Base64.
    private static let mostBytes = 64 << 10

    let bytes: [UInt8]
    let content: ReceiptContent
    let appID: String
    private let form: String

    /// - Parameter path: `-` for standard input.
    init(_ path: String) throws(UsageFault) {
        let text: [UInt8]
        do throws(CommandFault) { text = try WholeFile.read(path, most: Self.mostBytes) } catch {
            throw UsageFault("exchange-receipt: \(error.sentence)")
        }
        guard text.count <= Self.mostBytes else {
            throw UsageFault("exchange-receipt: \(path.printable) has more than \(Self.mostBytes) bytes.")
        }
        let compact = text.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let readings = [(text, "its bytes"), (Base64.decode(compact) ?? [], "Base64")]
        for (bytes, form) in readings {
            guard let content = ReceiptContent(unverified: bytes), let appID = ExactText(validating: content.appID)
            else { continue }
            (self.bytes, self.content, self.form, self.appID) = (bytes, content, form, appID.shown)
            return
        }
        throw UsageFault("exchange-receipt: \(path.printable) is neither a receipt nor the Base64 of one.")
    }

    /// What goes over the wire.
    var base64: [UInt8] { Base64.encode(bytes) }

    /// What is known of it without a check.
    var account: String {
        let type = content.type?.rawValue ?? "of unknown type"
        let environment = content.environment?.rawValue ?? "an unnamed environment"
        let created = TimeText.rfc3339(content.createdAt.milliseconds)
        return "a receipt \(type) of \(bytes.count.counted("byte")), read as \(form), of \(appID) in \(environment), "
            + "created \(created)"
    }
}

internal import AppAttest
internal import AppCheck
internal import Broker
internal import CommandFrame
internal import JSON
internal import Pipeline
internal import Settings

/// Whom an operator's command is about.
enum OperatorSubject {
    static let options: [Option] = [
        .value("--key-id", "KEYID", "the key, as results name it"),
        .value("--installation", "ID", "the installation, as the header installation-id names it"),
    ]

    /// - Returns: the subject and its name for people; nil where none is named.
    static func of(_ arguments: Arguments) throws(UsageFault) -> (subject: OperatorCommand.Subject, name: String)? {
        let (key, installation) = (arguments.string("--key-id"), arguments.string("--installation"))
        switch (key, installation) {
        case (let text?, nil):
            guard let keyID = Base64.decode(Array(text.utf8)).flatMap({ KeyID($0.span) }) else {
                throw UsageFault("--key-id must be a key ID, 44 characters of base64, not '\(text.printable)'.")
            }
            return (.key(keyID), "key \(keyID.text)")
        case (nil, let text?):
            guard (1...HeaderReading.installationIDBytes).contains(text.utf8.count) else {
                throw UsageFault("--installation must have 1 to \(HeaderReading.installationIDBytes) bytes.")
            }
            return (.installation(BanID.installation(ExactText(text))), "the installation")
        case (nil, nil): return nil
        default: throw UsageFault("name one: --key-id KEYID or --installation ID.")
        }
    }
}

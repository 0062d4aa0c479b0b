internal import Crypto
internal import Glibc

/// Where worker.json says that a key comes from.
enum KeySource: Equatable {
    case file(String)
    /// A program's absolute path and its arguments: its standard output is what the file would hold.
    case program([String])
    /// A key inside a PKCS #11 token, and the file of the PIN; empty = none.
    case token(HSMKeyName, pin: String)

    /// The subject of a sentence about the key's bytes.
    var name: String {
        switch self {
        case .file(let path): path
        case .program(let command): "the output of \(command[0].printable)"
        case .token(let name, _): name.text.printable
        }
    }

    /// The file whose change asks for a reload; nil where SIGHUP alone does.
    var path: String? { if case .file(let path) = self { path } else { nil } }

    /// Whether a replay that mints nothing goes on without it. Such a replay asks no token.
    func isAbsent(runsPrograms: Bool) -> Bool {
        switch self {
        // The paths are copied for the calls.
        case .file(let path): unsafe access(path, R_OK) != 0
        case .program(let command): unsafe !runsPrograms || access(command[0], X_OK) != 0
        case .token: true
        }
    }
}

extension KeyEntry {
    var source: KeySource { command.isEmpty ? .file(file) : .program(command) }
}

extension SigningKeyEntry {
    var source: KeySource {
        if let key { return .token(key, pin: pin) }
        return command.isEmpty ? .file(file) : .program(command)
    }
}

/// What a key's file holds, or its program writes.
struct KeyInput {
    let bytes: [UInt8]
    /// The file's last change in milliseconds since 1970; nil for a program, whose key may be of any age.
    let modifiedAt: Int64?

    /// - Parameter key: the key's name for the fault: `sealing key k1`.
    init(_ source: KeySource, of key: String) throws(ConfigurationFault) {
        switch source {
        case .token: throw KeyFault.fault(key, source.name, "has no bytes to read")
        case .file(let path):
            let file = try KeyFile(path, of: key)
            (bytes, modifiedAt) = (file.bytes, file.modifiedAt)
        case .program(let command):
            do throws(ProgramFault) { bytes = try ProgramOutput.run(arguments: command, takesErrors: false) } catch {
                let sentence = "worker.json: \(key): \(command[0].printable) \(error.clause)."
                // What it asks may be away for a while: a service manager tries again.
                throw error.isMistake ? ConfigurationFault(sentence) : ConfigurationFault(ofWorld: sentence)
            }
            modifiedAt = nil
        }
    }
}

extension HSMKey {
    /// - Parameters:
    ///   - pin: the path of the PIN's file; empty = none.
    ///   - key: the key's name for the fault.
    static func open(
        _ name: HSMKeyName,
        pin: String,
        within limit: Duration,
        of key: String,
        triesLast: Bool = false
    ) throws(ConfigurationFault) -> HSMKey {
        let pin = try pin.isEmpty ? nil : Self.pin(pin, of: key)
        do throws(HSMFault) {
            return try HSMKey(name, pin: pin, limit: limit, triesLast: triesLast, on: QueueThreads.shared)
        } catch { throw fault(error, name, of: key) }
    }

    static func pin(_ path: String, of key: String) throws(ConfigurationFault) -> Secret {
        var bytes = try KeyFile(path, of: key, remedies: ("name the file of the PIN", "let the worker's user read it"))
            .bytes
        while bytes.last == 0x0A || bytes.last == 0x0D { bytes.removeLast() }
        return Secret(bytes)
    }

    static func fault(_ fault: HSMFault, _ name: HSMKeyName, of key: String) -> ConfigurationFault {
        let sentence = "worker.json: \(key): \(name.text.printable) \(fault.description.printable)"
        // A service manager that starts again and again would lock the token.
        guard !fault.isFinal else { return ConfigurationFault(sentence + ".") }
        return ConfigurationFault(ofWorld: sentence + ".", isSilence: fault == .silent)
    }
}

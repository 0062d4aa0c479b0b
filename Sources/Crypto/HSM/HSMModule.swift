internal import CPKCS11
internal import Threads

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Why a token does not answer, or a module cannot be used: the end of a sentence about the key.
package enum HSMFault: Error, Equatable, Sendable, CustomStringConvertible {
    case module(String)
    /// A step and the code that it ended with.
    case call(String, UInt)
    case noPIN
    /// The public half does not verify the signature.
    case wrongSignature
    case signing(SigningKeyFault)

    package var description: String {
        switch self {
        case .module(let problem): "cannot be reached: its module \(problem)"
        case .call(let step, PKCS11_NONE): "cannot be reached: \(step) finds nothing of that name"
        case .call(let step, PKCS11_SEVERAL): "is not clear: \(step) finds several of that name"
        case .call(let step, PKCS11_SHAPE): "cannot be used: \(step) gives something else than RSA or P-256"
        case .call(let step, let code): "cannot be reached: \(step) ends with \(Self.text(of: code))"
        case .noPIN: "needs a login: name the PIN's file: \"pin\": \"${file:PATH}\""
        case .wrongSignature: "makes signatures that its public half does not verify"
        case .signing(let fault): fault.description
        }
    }

    private static func text(of code: UInt) -> String {
        // A constant text, or none.
        unsafe pkcs11_text(code).map { unsafe String(cString: $0) } ?? "code \(code)"
    }

    /// CKR_SESSION_COUNT: the token allows no further one.
    var isLackOfSessions: Bool { self == .call("C_OpenSession", 0xB1) }

    /// Whether another try may do harm: tokens count wrong PINs and lock themselves.
    package var isFinal: Bool {
        switch self {
        case .noPIN: true
        // CKR_PIN_INCORRECT to CKR_PIN_LOCKED.
        case .call(_, let code): (0xA0...0xA4).contains(code)
        default: false
        }
    }
}

/// A PKCS #11 library, loaded from a path that the operator names and never closed. All keys of the path share it.
@safe final class HSMModule: Sendable {
    private struct State {
        /// Calls inside the library.
        var users = 0
        var isRestarting = false
        /// Rises with each restart: sessions of an earlier one are gone.
        var generation = 0
        /// Keys that sign.
        var signing = 0
    }

    private static let loaded = Locked<[String: HSMModule]>([:])

    // Constants of the library.
    nonisolated(unsafe) let functions: OpaquePointer
    private let state = Locked(State())

    private init(_ functions: OpaquePointer) { unsafe self.functions = unsafe functions }

    static func at(_ path: String) throws(HSMFault) -> HSMModule {
        if let module = loaded.withLock({ $0[path] }) { return module }
        // Code that sees PINs must be root's or this user's. Loaded by its path, since modules look for their other files
        // beside it; the folders are judged, so no other user can exchange it.
        do throws(MultiBufferFault) { close(try CodeFile.open(path, below: nil)) } catch {
            throw .module(error.description)
        }
        guard let library = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL), let functions = unsafe pkcs11_module_of(library)
        else { throw .module("is not a library with the functions of PKCS #11 version 2") }
        let code = unsafe pkcs11_initialize(functions)
        guard code == 0 else { throw .call("C_Initialize", code) }
        return loaded.withLock { modules in
            if let module = modules[path] { return module }
            let module = unsafe HSMModule(functions)
            modules[path] = module
            return module
        }
    }

    /// Calls the library.
    ///
    /// - Returns: nil while it is being restarted.
    func use<Result>(_ body: (_ generation: Int) -> Result) -> Result? {
        let generation: Int? = state.withLock { state in
            guard !state.isRestarting else { return nil }
            state.users += 1
            return state.generation
        }
        guard let generation else { return nil }
        defer { state.withLock { $0.users -= 1 } }
        return body(generation)
    }

    func note(signs: Bool) { state.withLock { $0.signing += signs ? 1 : -1 } }

    /// Has the library forget its tokens and look for them again: some see no other way a token that was taken away and
    /// came back. Not while a key of the module signs, or a call is inside.
    func restart() {
        let mayRestart = state.withLock { state in
            guard state.users == 0, state.signing == 0, !state.isRestarting else { return false }
            state.isRestarting = true
            return true
        }
        guard mayRestart else { return }
        unsafe pkcs11_finalize(functions)
        unsafe pkcs11_initialize(functions)
        state.withLock { state in
            state.isRestarting = false
            state.generation += 1
        }
    }
}

internal import CRdkafka
internal import KafkaPorts

extension KafkaFault {
    /// A fault from a bare code.
    init(_ code: rd_kafka_resp_err_t, _ message: String) {
        self.init(code: code.rawValue, name: Self.name(of: code), message: message)
    }

    /// A fault from a code, naming the action.
    init(_ code: rd_kafka_resp_err_t, doing action: String) {
        self.init(code, "\(action): \(Self.text(of: code))")
    }

    /// Takes over an error object of the library and frees it.
    ///
    /// - Parameter isOfTransaction: whether the object's own three flags count, and no table: the library knows whether the
    ///   transaction can go on.
    init(takingOwnershipOf error: OpaquePointer, doing action: String, isOfTransaction: Bool = false) {
        // The library made the object for us: it is valid until the destroy below, and so are its strings.
        let code = unsafe rd_kafka_error_code(error)
        let text = unsafe String(cString: rd_kafka_error_string(error))
        let bare = KafkaFault(code, "\(action): \(text)")
        let byCode = isOfTransaction ? nil : bare
        self.init(
            code: bare.code,
            name: bare.name,
            message: bare.message,
            isFatal: unsafe rd_kafka_error_is_fatal(error) != 0 || byCode?.isFatal == true,
            isRetriable: unsafe rd_kafka_error_is_retriable(error) != 0 || byCode?.isRetriable == true,
            requiresAbort: unsafe rd_kafka_error_txn_requires_abort(error) != 0 || byCode?.requiresAbort == true
        )
        unsafe rd_kafka_error_destroy(error)
    }

    /// Throws unless the library reports success.
    static func check(_ code: rd_kafka_resp_err_t, _ action: @autoclosure () -> String) throws(KafkaFault) {
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaFault(code, doing: action()) }
    }

    static func name(of code: rd_kafka_resp_err_t) -> String {
        // The library returns static strings.
        unsafe String(cString: rd_kafka_err2name(code))
    }

    static func text(of code: rd_kafka_resp_err_t) -> String {
        // The library returns static strings.
        unsafe String(cString: rd_kafka_err2str(code))
    }
}

extension KafkaErrorCode {
    /// The library's name of the code.
    var libraryName: String { KafkaFault.name(of: rd_kafka_resp_err_t(rawValue)) }
}

/// Calls what writes a terminated text of at most the given size, and returns the text with the call's result.
func libraryText<Result>(_ call: (UnsafeMutablePointer<CChar>?, Int) -> Result) -> (Result, String) {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { text in
        unsafe text.initialize(repeating: 0)
        let result = unsafe call(text.baseAddress, text.count)
        return (result, unsafe text.baseAddress.map { unsafe String(cString: $0) } ?? "")
    }
}

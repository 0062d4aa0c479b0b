internal import Log

extension KafkaFault: LogFault {
    /// Whether rewinding and repeating the same records may help; false where an operator has to act.
    package var isRecoverable: Bool { !isFatal && !isRefusal && (requiresAbort || isRetriable || isMissingTopic) }

    package var endsLoop: Bool { !isRecoverable }
}

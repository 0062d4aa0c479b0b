package import Kafka
internal import Pipeline

extension KafkaFault: LogFault {
    /// Whether rewinding and doing the same records again may help; false where somebody has to look.
    package var isRecoverable: Bool { !isFatal && !isRefusal && (requiresAbort || isRetriable || isMissingTopic) }

    package var endsLoop: Bool { !isRecoverable }
}

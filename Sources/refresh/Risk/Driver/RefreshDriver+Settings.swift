extension RefreshDriver {
    /// A call from its begin until its outcome is final, or its request is acknowledged.
    struct OpenCall {
        let call: DeskCall
        let receipt: HeldReceipt
        /// Whether Apple has answered, and a request is being written.
        var isWriting = false
    }

    package struct Settings: Sendable {
        package var lines = LineSettings()
        package var callsPerSecond = 10.0
        /// Partitions of the receipts topic.
        package var partitions: Int
        package var keys: [ProviderKey]
        /// The names of the apps whose receipts are exchanged.
        package var apps: Set<String>
        /// Bytes of the receipts in memory; one more of each pair may be there.
        package var mostHeldBytes = 32 * 1_024 * 1_024
        /// Visits that are remembered from the positions on, ended ones among them.
        package var mostSpanned = 200_000

        package init(partitions: Int, keys: [ProviderKey], apps: Set<String>) {
            (self.partitions, self.keys, self.apps) = (partitions, keys, apps)
        }
    }
}

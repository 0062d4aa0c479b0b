package enum ReceiptType: String, Sendable, CaseIterable { case attest = "ATTEST", receipt = "RECEIPT" }

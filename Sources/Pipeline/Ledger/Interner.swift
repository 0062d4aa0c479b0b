/// Numbers for the few texts that many keys share (app names, Apple App IDs). 0 stands for none.
struct Interner {
    /// Three bytes: more texts than keys fit into a machine's memory.
    static let maxNumber: UInt32 = 0xFF_FFFF

    private var texts: [String] = [""]
    private var numbers: [String: UInt32] = [:]
    /// The text asked for last: keys come in runs of one app.
    private var last: (text: String, number: UInt32) = ("", 0)

    /// - Returns: nil when all numbers are in use.
    mutating func number(of text: String) -> UInt32? {
        if text == last.text, last.number != 0 { return last.number }
        if let number = numbers[text] {
            last = (text, number)
            return number
        }
        guard let number = UInt32(exactly: texts.count), number <= Self.maxNumber else { return nil }
        texts.append(text)
        numbers[text] = number
        return number
    }

    func text(_ number: UInt32) -> String? { number == 0 ? nil : texts[Int(number)] }
}

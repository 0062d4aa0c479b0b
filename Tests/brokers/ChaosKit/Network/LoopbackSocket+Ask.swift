internal import Foundation

extension LoopbackSocket {
    /// Sends a question on a connection of its own, and waits for the answer, in whatever state the other side is.
    ///
    /// - Parameter take: takes what has come. - Returns: whether that is all.
    /// - Returns: whether all has come: as `take` says, or because the other side has ended.
    @discardableResult
    static func ask(_ port: UInt16, _ question: [UInt8], seconds: Double, take: (ArraySlice<UInt8>) -> Bool) -> Bool {
        guard let socket = connecting(to: port) else { return false }
        var (sent, buffer) = (0, [UInt8](repeating: 0, count: 4096))
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline {
            if sent < question.count {
                switch socket.write(question, from: sent, most: .max) {
                case .bytes(let count): sent += count
                case .wouldBlock: break
                case .ended: return false
                }
            }
            switch socket.read(into: &buffer) {
            case .bytes(let count):
                if take(buffer[..<count]) { return true }
            case .wouldBlock: usleep(500)
            case .ended: return true
            }
        }
        return false
    }

    /// A page's status and text; nil where there is no answer in time.
    static func page(_ page: String, port: UInt16, seconds: Double = 0.5) -> (status: Int, text: Substring)? {
        var answer: [UInt8] = []
        let question = "GET \(page) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        let isAll = ask(port, Array(question.utf8), seconds: seconds) { bytes in
            answer += bytes
            // The other side closes at the end.
            return false
        }
        let words = String(decoding: answer, as: UTF8.self).split(separator: " ", maxSplits: 2)
        guard isAll, words.count > 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
        return (status, words[2])
    }
}

internal import Crypto
internal import JSON

/// The page of every report.
package enum PageTemplate {
    /// How many of a list of records paper shows, and explained reasons: three hundred would fill forty sheets.
    package static let paperRecords = 16

    /// The text before the title, before the body, before the facts and behind them.
    static let parts = html.split(separator: "§").map { String($0) }

    /// Nothing is loaded, and nothing runs but this script, whatever the page says.
    static let policy =
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src \(source(style)); "
        + "script-src \(source(script))"

    private static func source(_ text: String) -> String {
        let hash = Base64.encode(SHA256.hash(Array(text.utf8)).bytes)
        return "'sha256-\(String(decoding: hash, as: UTF8.self))'"
    }

    private static let html = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"/>
        <meta http-equiv="Content-Security-Policy" content="\(policy)"/>
        <meta name="viewport" content="width=device-width,initial-scale=1"/>
        <meta name="color-scheme" content="light dark"/>
        <title>§</title>
        <style>\(style)</style>
        </head>
        <body>
        <main>
        §
        <noscript><p>The page's script draws its charts. Without it, the tables are here.</p></noscript>
        </main>
        <script type="application/json">§</script>
        <script>\(script)</script>
        </body>
        </html>

        """
}

extension PageTemplate {
    static let style = """
        :root{color-scheme:light dark}
        \(colors(":root"))
        \(page)
        \(tables)
        \(texts)
        \(charts)
        @media print{:root{color-scheme:light;\(light);--page:#fff}\(paper)}
        """

    /// - Parameter root: the element that has the colours, which stand in a picture as well.
    package static func colors(_ root: String) -> String {
        "\(root){\(light)}\n@media (prefers-color-scheme:dark){\(root){\(dark)}}"
    }

    /// The style of texts in pictures.
    package static let texts = """
        text{font:13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:var(--ink);
        paint-order:stroke;stroke:var(--card);stroke-width:4px;stroke-linejoin:round}
        text.small{font-size:12px;fill:var(--soft)}text.value{font-weight:600}text.title{font-size:15px;font-weight:600}
        """

    private static let light =
        "--page:#f4f5f7;--card:#fff;--ink:#1b2330;--soft:#515c6b;--line:#d9dee5;--blue:#0072b2;--orange:#d55e00;"
        + "--pink:#cc79a7;--grey:#6b7684;--green:#009e73;"
        + "--h1:#fdebdd;--h2:#f9c9a3;--h3:#ef9a5c;--hl:#dcebf5;--hi:#1b2330"
    private static let dark =
        "--page:#12161c;--card:#1b212a;--ink:#e8ecf1;--soft:#a9b4c2;--line:#364050;--blue:#56b4e9;--orange:#f0883e;"
        + "--pink:#e09bc4;--grey:#8f9aa8;--green:#2fc299;--h1:#3b2c20;--h2:#6b4220;--h3:#b3611a;--hl:#1c3345;--hi:#fff"

    private static let page = """
        *{box-sizing:border-box}
        html{-webkit-text-size-adjust:100%}
        body{margin:0;background:var(--page);color:var(--ink);
        font:16px/1.5 system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
        main{max-width:1120px;margin:0 auto;padding:24px 16px 64px}
        h1{font-size:1.6rem;line-height:1.25;margin:0 0 4px}
        h2{font-size:1.25rem;line-height:1.3;margin:44px 0 4px}
        h3{font-size:1rem;margin:24px 0 4px}
        p{margin:4px 0 12px;color:var(--soft);max-width:52rem}
        p.lead{color:var(--ink)}
        a{color:inherit}h1,h2,nav a,bdi,code{overflow-wrap:anywhere}
        nav{display:flex;flex-wrap:wrap;gap:4px 14px;margin:12px 0 20px;font-size:.875rem}
        code{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.8125rem}
        .card{margin:0 0 16px;padding:16px;background:var(--card);border:1px solid var(--line);border-radius:10px}
        .soft{color:var(--soft)}.paper{display:none}
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:16px 0}
        .tile{padding:12px 16px;background:var(--card);border:1px solid var(--line);border-left:4px solid var(--soft);
        border-radius:10px}
        .tile b{display:block;font-size:1.5rem;line-height:1.25;font-variant-numeric:tabular-nums}
        .tile span{display:block;font-size:.875rem;color:var(--soft)}
        .tile.blue{border-left-color:var(--blue)}.tile.orange{border-left-color:var(--orange)}
        .tile.pink{border-left-color:var(--pink)}.tile.grey{border-left-color:var(--grey)}
        .entry h3{display:flex;flex-wrap:wrap;gap:0 12px;align-items:baseline;margin:0;font-weight:400;
        font-size:.9375rem}
        .entry h3 code{font-size:1rem;font-weight:600}.entry p{margin:4px 0 0;font-size:.875rem}
        .entry p.lead{font-size:.9375rem}
        .entry dl{display:grid;grid-template-columns:minmax(6.5rem,max-content) 1fr;gap:2px 12px;margin:8px 0 0;
        font-size:.9375rem}
        .entry dt{color:var(--soft)}.entry dd{margin:0;min-width:0}
        ol.records{list-style:none}
        .records li{padding:10px 0;border-top:1px solid var(--line);break-inside:avoid}
        .records li:first-child{border-top:0;padding-top:0}
        .records h3,.records dl{font-size:.875rem}.records h3 code{font-size:.875rem}
        .command{display:block;margin-top:4px;padding:6px 8px;background:var(--page);border-radius:6px;user-select:all}
        details summary{cursor:pointer;font-size:.875rem;color:var(--soft)}
        """

    private static let tables = """
        .table{overflow-x:auto}
        table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
        th{color:var(--soft);font-weight:400;text-align:right;padding:4px 8px;vertical-align:bottom}
        td{border-top:1px solid var(--line);padding:4px 8px;text-align:right;vertical-align:top;white-space:nowrap}
        th:first-child,td:first-child,.l{text-align:left}
        td:first-child,td.l{white-space:normal;min-width:8.5rem}
        td .lift{display:block;font-size:.75rem;color:inherit}
        td.high1{background:var(--h1)}td.high2{background:var(--h2)}td.high3{background:var(--h3);color:var(--hi)}
        td.low{background:var(--hl)}
        td:first-child{position:sticky;left:0;background:var(--card)}
        tr:first-child>td{border-top:0}
        td bdi{display:inline-block;max-width:26rem}td.l:last-child bdi,tr.g bdi{max-width:none}
        tr.more td{border-top:0;padding-top:0;color:var(--soft)}
        tr.g td{border-top:0;padding-top:16px;font-weight:600}
        th.drawn,td.drawn{width:55%;min-width:12rem;text-align:left}
        .parts .drawn{width:30%;min-width:6rem;vertical-align:middle}.parts td:first-child{min-width:15rem}
        .parts td{border-top:0;padding:2px 8px}
        """

    private static let charts = """
        .charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:16px;
        margin:0 0 16px}
        .charts .card{margin:0}.wide{grid-column:1/-1}
        figcaption{margin-bottom:8px}figcaption b{display:block;line-height:1.35}
        figcaption span{font-size:.875rem;color:var(--soft)}
        .key{display:flex;flex-wrap:wrap;gap:4px 18px;margin:0 0 8px;padding:0;list-style:none;font-size:.875rem}
        .key i{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:6px;vertical-align:-1px}
        svg{display:block;width:100%}
        .time{height:200px}.row{height:40px}.strip{height:22px}.bar{height:14px}
        .blue{background:var(--blue);fill:var(--blue)}.orange{background:var(--orange);fill:var(--orange)}
        .pink{background:var(--pink);fill:var(--pink)}.grey{background:var(--grey);fill:var(--grey)}
        .green{background:var(--green);fill:var(--green)}.tile{background:var(--card)!important}
        .rule{fill:var(--line)}.band{fill:var(--orange);fill-opacity:.25}
        .bound{stroke:var(--ink);stroke-width:2;fill:none;vector-effect:non-scaling-stroke;stroke-dasharray:6 4}
        .axis{display:flex;justify-content:space-between;font-size:.75rem;color:var(--soft);margin-top:2px;
        font-variant-numeric:tabular-nums}
        path{fill:none;stroke-width:1}.grid{stroke:var(--line)}.edge{stroke:var(--soft)}
        path.point{stroke:var(--card)}
        path.line{stroke-width:2;fill:none;background:none}
        .line.blue{stroke:var(--blue)}.line.orange{stroke:var(--orange)}.line.grey{stroke:var(--grey)}
        @media (max-width:640px){main{padding:16px 10px 48px}.card{padding:12px}.entry dl{grid-template-columns:1fr}
        .entry dd{margin-bottom:6px}.axis .mid{display:none}.time{height:150px}
        table{font-size:.8125rem}th,td{padding:4px}td:first-child,td.l,.parts td:first-child{min-width:6rem}
        th.drawn,td.drawn{min-width:9rem}}
        """

    private static let paper = """
        @page{margin:14mm}
        body{font-size:9.5pt;line-height:1.4}main{max-width:none;padding:0}nav,details{display:none}
        .paper{display:block}.records li:nth-child(n+\(paperRecords + 1)){display:none}
        div.entry:nth-of-type(n+\(paperRecords + 1)) dl{display:none}
        h2{break-after:avoid;margin:18px 0 4px}h3,section>p{break-after:avoid}
        .tiles{grid-template-columns:repeat(4,1fr)}.tile,div.entry,figure,tr{break-inside:avoid}
        code{font-size:7.5pt}.card{padding:8px 10px;margin-bottom:8px}.table{overflow:visible}
        table,.entry p,.entry p.lead,.entry dl,.records h3{font-size:8pt}th,td{padding:2px 5px}
        thead{display:table-header-group}
        .charts{grid-template-columns:1fr 1fr;gap:8px}.key,figcaption{font-size:8.5pt}
        .time{height:110px}.row{height:26px}.strip{height:16px}
        *{-webkit-print-color-adjust:exact;print-color-adjust:exact}
        """
}

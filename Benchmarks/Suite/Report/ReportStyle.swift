/// Looks of page and picture: one palette that colour-blind readers can tell apart (Okabe and Ito), in light and dark.
enum ReportStyle {
    private static let light =
        "--page:#f4f5f7;--card:#fff;--ink:#1b2330;--soft:#515c6b;--line:#d9dee5;"
        + "--c0:#7d8794;--c1:#0072b2;--c2:#d55e00;--c3:#009e73;--c4:#cc79a7"
    private static let dark =
        "--page:#12161c;--card:#1b212a;--ink:#e8ecf1;--soft:#a9b4c2;--line:#364050;"
        + "--c0:#8f9aa8;--c1:#56b4e9;--c2:#e69f00;--c3:#2fc299;--c4:#e09bc4"

    /// - Parameter root: the element that has the colours.
    static func colors(_ root: String) -> String {
        "\(root){\(light)}\n@media (prefers-color-scheme:dark){\(root){\(dark)}}"
    }

    /// Paper is white, whatever the screen is.
    static let paper = "@media print{:root{\(light);--page:#fff}}"

    static let drawing = """
        text{font:13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:var(--ink)}
        text{paint-order:stroke;stroke:var(--card);stroke-width:4px;stroke-linejoin:round}
        text.small{font-size:12px;fill:var(--soft)}
        text.value{font-weight:600}
        text.title{font-size:15px;font-weight:600}
        path{stroke-width:1}
        .grid,.axis,.spread,.mark,.l0,.l1,.l2{fill:none}
        path.grid{stroke:var(--line)}
        path.axis{stroke:var(--soft)}
        path.spread{stroke:var(--ink);stroke-width:1.5}
        path.mark{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:4 3}
        .f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}.f4{fill:var(--c4)}
        path.l0{stroke:var(--c0)}path.l1{stroke:var(--c1)}path.l2{stroke:var(--c2)}
        path.l0,path.l1,path.l2{stroke-width:2}
        path.f0,path.f1,path.f2{stroke:var(--card);stroke-width:1}
        """

    static let page = """
        *{box-sizing:border-box}
        body{margin:0;background:var(--page);color:var(--ink);
        font:16px/1.5 system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
        main{max-width:1120px;margin:0 auto;padding:24px 12px 48px}
        h1{font-size:1.6rem;line-height:1.25;margin:0 0 8px}
        h2{font-size:1.2rem;margin:36px 0 12px}
        p{margin:4px 0;color:var(--soft);max-width:48rem}
        .cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:16px}
        figure,.table{margin:0;padding:16px;background:var(--card);border:1px solid var(--line);border-radius:10px}
        figcaption{margin-bottom:8px}
        figcaption b{display:block;line-height:1.35}
        figcaption span{color:var(--soft);font-size:.875em}
        svg{display:block;width:100%;height:auto}
        .table{overflow-x:auto;margin-bottom:16px}
        table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
        caption{text-align:left;font-weight:600;padding-bottom:8px}
        th{color:var(--soft);font-weight:400;text-align:right;padding:4px 8px;vertical-align:bottom}
        td{border-top:1px solid var(--line);padding:4px 8px;text-align:right;white-space:nowrap}
        th:first-child,td:first-child{text-align:left;padding-left:0;white-space:normal}
        code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.9em}
        @media (max-width:480px){main{padding:16px 8px}figure,.table{padding:12px}
        table{font-size:.75rem}th,td{padding:4px}th:first-child{min-width:6.5rem}}
        @media print{body{font-size:9pt;line-height:1.35}main{max-width:none;padding:0}
        h2{break-after:avoid;margin:14px 0 6px}
        .cards{grid-template-columns:1fr 1fr;gap:8px}figure,.table{break-inside:avoid}p{break-after:avoid}
        figure,.table{padding:8px}.table{overflow:visible}table{font-size:8pt}th,td{padding:2px 8px}
        *{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
        """
}

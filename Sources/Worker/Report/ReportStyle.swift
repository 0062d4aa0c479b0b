/// Looks of a report: one palette that colour-blind readers can tell apart (Okabe and Ito), in light and dark.
enum ReportStyle {
    private static let light =
        "--page:#f4f5f7;--card:#fff;--ink:#1b2330;--soft:#515c6b;--line:#d9dee5;--ok:#0072b2;--no:#d55e00;"
        + "--later:#cc79a7;--dead:#5f6b7a;--h1:#fdebdd;--h2:#f9c9a3;--h3:#ef9a5c;--hl:#dcebf5;--hi:#1b2330"
    private static let dark =
        "--page:#12161c;--card:#1b212a;--ink:#e8ecf1;--soft:#a9b4c2;--line:#364050;--ok:#56b4e9;--no:#f0883e;"
        + "--later:#e09bc4;--dead:#8f9aa8;--h1:#3b2c20;--h2:#6b4220;--h3:#b3611a;--hl:#1c3345;--hi:#fff"

    static let css = """
        :root{color-scheme:light dark;\(light)}
        @media (prefers-color-scheme:dark){:root{\(dark)}}
        \(page)
        \(parts)
        \(charts)
        @media print{:root{color-scheme:light;\(light);--page:#fff}\(paper)}
        """

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
        a{color:inherit}h1,h2,nav a{overflow-wrap:anywhere}
        nav{display:flex;flex-wrap:wrap;gap:4px 14px;margin:12px 0 20px;font-size:.875rem}
        code{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.8125rem;overflow-wrap:anywhere}
        bdi{overflow-wrap:anywhere}
        .card{margin:0 0 16px;padding:16px;background:var(--card);border:1px solid var(--line);border-radius:10px}
        .soft{color:var(--soft)}.small{font-size:.875rem}.r{text-align:right}.no{color:var(--no)}
        """

    private static let parts = """
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:16px 0}
        .tile{padding:12px 16px;background:var(--card);border:1px solid var(--line);border-left:4px solid var(--soft);
        border-radius:10px}
        .tile b{display:block;font-size:1.5rem;line-height:1.25;font-variant-numeric:tabular-nums}
        .tile span{display:block;font-size:.875rem;color:var(--soft)}
        .tile.t-ok{border-left-color:var(--ok)}.tile.t-no{border-left-color:var(--no)}
        .tile.t-later{border-left-color:var(--later)}.tile.t-dead{border-left-color:var(--dead)}
        .table{overflow-x:auto}
        table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
        caption{text-align:left;font-weight:600;padding-bottom:8px}
        th{color:var(--soft);font-weight:400;text-align:right;padding:4px 8px;vertical-align:bottom}
        td{border-top:1px solid var(--line);padding:4px 8px;text-align:right;vertical-align:top;white-space:nowrap}
        th:first-child,td:first-child,.l{text-align:left}
        td:first-child,td.w{white-space:normal}td:first-child{min-width:7rem}
        td.w{min-width:12rem}
        td .lift{display:block;font-size:.75rem;color:inherit}
        td.h1{background:var(--h1)}td.h2{background:var(--h2)}td.h3{background:var(--h3);color:var(--hi)}
        td.hl{background:var(--hl)}
        .heat td:first-child{min-width:8.5rem;position:sticky;left:0;background:var(--card)}
        tr:first-child>td{border-top:0}
        td bdi{display:inline-block;max-width:26rem}tr.g bdi{max-width:none}
        tr.more td{border-top:0;padding-top:0;color:var(--soft)}
        tr.g td{border-top:0;padding-top:16px;font-weight:600}
        .key{display:flex;flex-wrap:wrap;gap:4px 18px;margin:0 0 8px;padding:0;list-style:none;font-size:.875rem}
        .key i{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:6px;vertical-align:-1px}
        .b-ok{background:var(--ok)}.b-no{background:var(--no)}.b-later{background:var(--later)}.b-dead{background:var(--dead)}
        .b-band{background:var(--no);opacity:.3}.b-ink{background:var(--ink);height:2px!important;vertical-align:4px!important}
        .why h3{display:flex;flex-wrap:wrap;gap:0 12px;align-items:baseline;margin:0}
        .why h3 code{font-size:1rem}
        .why p{margin:4px 0 0}
        .why .say{display:grid;grid-template-columns:6.5rem 1fr;gap:2px 12px;margin-top:8px;font-size:.9375rem}
        .why dl{margin:0}.why dt{color:var(--soft)}.why dd{margin:0}
        ol.records{list-style:none;margin:0;padding:0}
        ol.records li{padding:10px 0;border-top:1px solid var(--line);font-size:.875rem;break-inside:avoid}
        ol.records li:first-child{border-top:0;padding-top:0}
        ol.records code{display:block;margin-top:4px;padding:6px 8px;background:var(--page);border-radius:6px;
        user-select:all}
        ol.records dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:0 12px;margin:4px 0 0}
        ol.records dt{color:var(--soft)}ol.records dd{margin:0;min-width:0;overflow-wrap:anywhere}
        .paper{display:none}
        details summary{cursor:pointer;font-size:.875rem;color:var(--soft);margin-top:8px}
        """

    private static let charts = """
        figure{margin:0}
        figcaption{font-size:.875rem;color:var(--soft);margin-bottom:4px}
        svg{display:block;width:100%}
        svg.time{height:200px}svg.row{height:40px}svg.strip{height:22px}svg.bar{height:14px}
        .f-ok{fill:var(--ok)}.f-no{fill:var(--no)}.f-later{fill:var(--later)}.f-dead{fill:var(--dead)}
        .f-band{fill:var(--no);fill-opacity:.22}.f-line{fill:var(--line)}.f-soft{fill:var(--soft);fill-opacity:.25}
        .s-ink{stroke:var(--ink);stroke-width:2;fill:none;vector-effect:non-scaling-stroke}.dash{stroke-dasharray:6 4}
        .axis{display:flex;justify-content:space-between;font-size:.75rem;color:var(--soft);margin-top:2px;
        font-variant-numeric:tabular-nums}
        .line{display:grid;grid-template-columns:14rem 1fr 7rem;gap:0 12px;align-items:center;padding:2px 0;
        font-size:.875rem;break-inside:avoid}
        .line>div{min-width:0}.line .r{font-variant-numeric:tabular-nums}.line>.chart{grid-column:2;grid-row:1}
        .line code{font-size:.8125rem}
        .bars td.bar{width:45%;min-width:7rem;vertical-align:middle}
        .bars td{border-top:0;padding:2px 8px}
        @media (max-width:640px){main{padding:16px 10px 48px}.card{padding:12px}
        .line{grid-template-columns:1fr auto;padding:4px 0}.line>.chart{grid-column:1/-1;grid-row:2}
        .why .say{grid-template-columns:1fr;gap:0}.why dd{margin-bottom:6px}
        td:first-child{min-width:5.5rem}.axis .mid{display:none}svg.time{height:150px}table{font-size:.8125rem}th,td{padding:4px}
        ol.records dl{grid-template-columns:1fr}ol.records dd{margin-bottom:4px}td.w{min-width:6rem}}
        """

    /// Of each list of records, and of the reasons that are explained: three hundred records would fill forty sheets.
    static let paperRecords = 16

    private static let paper = """
        @page{margin:14mm}
        body{font-size:9.5pt;line-height:1.4}main{max-width:none;padding:0}nav,details{display:none}
        .paper{display:block}ol.records li:nth-child(n+\(paperRecords + 1)){display:none}
        #why .card:nth-of-type(n+\(paperRecords + 1)) .say{display:none}
        h2{break-after:avoid;margin:18px 0 4px}h3,section>p{break-after:avoid}
        .tiles{grid-template-columns:repeat(4,1fr)}.tile,.card,figure,tr{break-inside:avoid}
        .card:has(ol),.card:has(.heat){break-inside:auto}code{font-size:7.5pt}
        .card{padding:8px 10px;margin-bottom:8px}.table{overflow:visible}
        table,ol.records li{font-size:8pt}th,td{padding:2px 5px}thead{display:table-header-group}
        .line{grid-template-columns:11rem 1fr 5rem;font-size:8pt}.why .say,.key,figcaption{font-size:8.5pt}
        svg.time{height:110px}svg.row{height:26px}svg.strip{height:16px}
        *{-webkit-print-color-adjust:exact;print-color-adjust:exact}
        """
}

// The style of a report: one type scale, few colours that every kind of colour vision tells apart, light, dark and on paper.
import { chartStyle } from './chart-style.ts'
import { decisionStyle } from './decision-style.ts'

/** Blue for links and evidence for a match, orange for the contrary: Okabe and Ito, "Color Universal Design", 2008. */
const colours = `
:root{color-scheme:light dark;--ground:#fff;--panel:#f5f7f9;--text:#1b1f23;--soft:#56606b;--line:#d8dee4;--more:#0069a6;--less:#d55e00;--third:#009e73;--fourth:#8250b5;--good:#0a7552;--fair:#8a5a00;--poor:#b42318;--good-ground:#e8f6f0;--fair-ground:#fff4de;--poor-ground:#fdecea;--mark:#ffe9a8;--cut:#1b1f23}
@media (prefers-color-scheme:dark){:root{--ground:#14171a;--panel:#1c2126;--text:#e6e9ec;--soft:#a4aeb8;--line:#39424a;--more:#56b4e9;--less:#f0932b;--third:#3fcf9f;--fourth:#c3a0e8;--good:#5fd3a5;--fair:#f0c060;--poor:#ff9b90;--good-ground:#13291f;--fair-ground:#2e2410;--poor-ground:#331a18;--mark:#5c4a12;--cut:#e6e9ec}}
`

const layout = `
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--ground);color:var(--text);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif}
.top,nav,main,footer{max-width:66rem;margin:0 auto;padding:0 1.25rem}
.top{padding-top:1.75rem}
main{padding-bottom:2rem}
.skip{position:absolute;left:-999rem}.skip:focus{left:1rem;top:.5rem;background:var(--ground);padding:.5rem .75rem;z-index:3}
.marking{max-width:none;margin:0 0 1.25rem;padding:.3rem .75rem;text-align:center;font-size:.8rem;font-weight:600;letter-spacing:.06em;background:var(--text);color:var(--ground);overflow-wrap:anywhere}
.kind{margin:0;font-size:.78rem;font-weight:600;letter-spacing:.08em;text-transform:uppercase;color:var(--soft)}
h1{font-size:1.75rem;line-height:1.2;margin:.15rem 0 .35rem;overflow-wrap:anywhere;letter-spacing:-.01em}
h2{font-size:1.25rem;line-height:1.3;margin:2.75rem 0 .75rem;padding-top:1rem;border-top:1px solid var(--line);letter-spacing:-.005em}
h3{font-size:1rem;margin:1.75rem 0 .5rem;overflow-wrap:anywhere}
p{margin:.5rem 0;max-width:46rem}
.lead{margin:0;color:var(--soft);overflow-wrap:anywhere}
small{font-size:.8rem;color:var(--soft);font-weight:400}
a{color:var(--more)}
code,kbd{font:.85em ui-monospace,SFMono-Regular,Menlo,"Liberation Mono",monospace}code{overflow-wrap:anywhere}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;margin:1rem 0 1.25rem;padding:.55rem 0;font-size:.88rem;border-top:1px solid var(--line);border-bottom:1px solid var(--line)}
nav a{text-decoration:none}nav a:hover{text-decoration:underline}
footer{padding-bottom:4rem;font-size:.85rem;color:var(--soft)}
footer .origin{border-top:1px solid var(--line);padding:1rem 0}footer p{max-width:none;overflow-wrap:anywhere}
@media (min-width:86rem){body{display:grid;grid-template-columns:1fr 13rem minmax(0,66rem) 1fr;column-gap:1rem}.top,main,footer{grid-column:3;margin:0;width:100%}main{padding-top:1.25rem}nav{grid-column:2;grid-row:1/4;margin:0;padding:7rem 0 0 1rem}nav ul{position:sticky;top:1.5rem;flex-direction:column;border:0;margin:0;padding:0;gap:.5rem}}
`

const parts = `
.verdict{max-width:none;padding:.8rem 1.1rem;background:var(--panel);border-left:4px solid var(--soft);border-radius:0 6px 6px 0;overflow-wrap:anywhere}
.verdict p{margin:0;max-width:none}.verdict ul{margin:.35rem 0 0;padding-left:1.2rem}
.verdict strong{font-size:1.12rem;margin-right:.4rem}
.verdict.good{border-color:var(--good);background:var(--good-ground)}.verdict.fair{border-color:var(--fair);background:var(--fair-ground)}.verdict.poor{border-color:var(--poor);background:var(--poor-ground)}
.verdict.good strong{color:var(--good)}.verdict.fair strong{color:var(--fair)}.verdict.poor strong{color:var(--poor)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:1rem 0}
.figures div{padding:.6rem .85rem;background:var(--panel);border-radius:6px;border-top:3px solid var(--line)}
.figures .good{border-top-color:var(--good)}.figures .fair{border-top-color:var(--fair)}.figures .poor{border-top-color:var(--poor)}
.figures dt{font-size:.8rem;color:var(--soft)}
.figures dd{margin:0;font-size:1.35rem;line-height:1.3;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.figures small{display:block;line-height:1.4}
.remarks{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.3rem 1.25rem;margin:1rem 0}
.remarks dt{color:var(--soft)}.remarks dd{margin:0;overflow-wrap:anywhere}
.scroll{overflow-x:auto;position:relative}
table{border-collapse:collapse;font-size:.9rem;margin:.5rem 0 1rem}
caption{text-align:left;color:var(--soft);padding-bottom:.35rem;font-size:.85rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .9rem .3rem 0;border-bottom:1px solid var(--line);font-weight:400}
thead th{color:var(--soft);font-size:.8rem;vertical-align:bottom}
thead th strong{color:var(--text);font-size:.9rem}
td.code{white-space:nowrap}
td,tbody th{overflow-wrap:anywhere;min-width:3.5rem;max-width:30rem}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.code,.path,.digest{font:.8rem ui-monospace,SFMono-Regular,Menlo,"Liberation Mono",monospace;overflow-wrap:anywhere}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(21rem,1fr));gap:.5rem 2rem;align-items:start}
.badge{display:inline-block;padding:0 .5rem;border-radius:999px;font-size:.8rem;border:1px solid var(--soft);color:var(--soft);white-space:nowrap}
.badge.good{border-color:var(--good);color:var(--good)}.badge.fair{border-color:var(--fair);color:var(--fair)}.badge.poor{border-color:var(--poor);color:var(--poor)}
summary{cursor:pointer;color:var(--soft);font-size:.85rem}
:focus-visible{outline:2px solid var(--more);outline-offset:2px}
.none{color:var(--soft)}
mark{background:var(--mark);color:inherit;border-radius:2px}
.visually-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.pairwise{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(30rem,100%),1fr));gap:0 2rem}
`

/** Last: each overrules the style of the parts. */
const media = `
@media (max-width:40rem){.top,nav,main,footer{padding-left:.75rem;padding-right:.75rem}.top{padding-top:1rem}.bar{width:6rem}.weights td:last-child{width:6rem}.buttons{width:100%}.remarks{grid-template-columns:minmax(0,1fr)}.remarks dd{margin-bottom:.4rem}.grid{grid-template-columns:1fr}}
@page{margin:15mm}
@media print{td.code{white-space:normal}:root{color-scheme:light;--ground:#fff;--panel:#fff;--text:#000;--soft:#444;--line:#bbb;--more:#0069a6;--less:#d55e00;--third:#009e73;--fourth:#8250b5;--good:#0a7552;--fair:#8a5a00;--poor:#b42318;--good-ground:#fff;--fair-ground:#fff;--poor-ground:#fff;--mark:#ffe9a8;--cut:#000}*{print-color-adjust:exact}body{display:block;font-size:10.5pt}nav,.skip,.controls:not([hidden]),.savebar:not([hidden]),.buttons:not([hidden]),.members button{display:none}.figures div{border:1px solid var(--line)}.marking{background:none;color:#000;border:1px solid #000}.top,main,footer{max-width:none;padding:0}.scroll{overflow:visible}.pair table{min-width:0}.pair td:last-child,.pair th:last-child,.pair .bar{width:8rem}.pair td:nth-child(4){min-width:5rem}.pair[hidden]{display:block}.pair,.cluster,.plot,.chart,.verdict,.figures,tr{break-inside:avoid}h2,h3{break-after:avoid}details:not([open])>*{display:none}}
`

export const pageStyle = `${colours}${layout}${parts}${chartStyle}${decisionStyle}${media}`

// The style of a report: one type scale, few colours that every kind of colour vision tells apart, light, dark and on paper.

/** Blue for links and evidence for a match, orange for the contrary: Okabe and Ito, "Color Universal Design", 2008. */
export const pageStyle = `
:root{color-scheme:light dark;--ground:#fff;--panel:#f6f7f8;--text:#1b1f23;--soft:#59636e;--line:#d5dadf;--more:#0072b2;--less:#d55e00;--third:#009e73;--mark:#ffe9a8;--cut:#1b1f23}
@media (prefers-color-scheme:dark){:root{--ground:#14171a;--panel:#1d2125;--text:#e6e9ec;--soft:#a0aab4;--line:#3a4249;--more:#56b4e9;--less:#e69f00;--third:#3fcf9f;--mark:#5c4a12;--cut:#e6e9ec}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:66rem;margin:0 auto;padding:1.5rem 1.25rem 4rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem}
h2{font-size:1.2rem;margin:2.75rem 0 .75rem;padding-top:.75rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.5rem 0 .5rem}
p{margin:.5rem 0;max-width:46rem}
small{font-size:.8rem;color:var(--soft);font-weight:400}
a{color:var(--more)}
code{white-space:nowrap}code,kbd{font:.85em ui-monospace,SFMono-Regular,Menlo,monospace}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;list-style:none;margin:.75rem 0 1.25rem;padding:0;font-size:.9rem}
.verdict{max-width:none;padding:.75rem 1rem;background:var(--panel);border-left:4px solid var(--soft)}
.verdict strong{font-size:1.1rem;margin-right:.4rem}
.verdict.good{border-color:var(--third)}.verdict.fair{border-color:var(--more)}.verdict.poor{border-color:var(--less)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.75rem;margin:1rem 0}
.figures div{padding:.5rem .75rem;background:var(--panel)}
.figures dt{font-size:.8rem;color:var(--soft)}
.figures dd{margin:0;font-size:1.3rem;font-variant-numeric:tabular-nums}
.figures small{display:block}
.remarks{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;margin:1rem 0}
.remarks dt{color:var(--soft)}.remarks dd{margin:0}
.scroll{overflow-x:auto;position:relative}
table{border-collapse:collapse;font-size:.9rem;margin:.5rem 0 1rem}
caption{text-align:left;color:var(--soft);padding-bottom:.25rem}
th,td{text-align:left;vertical-align:top;padding:.2rem .75rem .2rem 0;border-bottom:1px solid var(--line);font-weight:400}
thead th{color:var(--soft);font-size:.8rem;vertical-align:bottom}
thead th strong{color:var(--text);font-size:.9rem}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.path,.digest{font:.8rem ui-monospace,SFMono-Regular,Menlo,monospace;overflow-wrap:anywhere}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(21rem,1fr));gap:.5rem 2rem;align-items:start}
.weights{width:100%}.weights caption{font-weight:600;color:var(--text)}.weights td:last-child{width:9rem;padding-right:0}
.bar{width:9rem;height:.8rem;display:block;margin-top:.3rem}
.bar .more{fill:var(--more)}.bar .less{fill:var(--less)}
.bar path{vector-effect:non-scaling-stroke}
.bar .zero{stroke:var(--soft);stroke-width:1}
.cut{stroke:var(--cut);stroke-width:1.5;stroke-dasharray:4 3;fill:none}
.bar .cut{stroke-dasharray:2 2;stroke-width:1}
figure{margin:1rem 0}
figcaption{color:var(--soft);font-size:.85rem;max-width:46rem}
.plot svg{width:100%;max-width:46rem;height:auto;display:block}
.plot text,.cluster text{font-size:11px;fill:var(--text)}
path.grid{stroke:var(--line)}path.axis{stroke:var(--soft)}
path.line{fill:none;stroke-width:2}path.line.c1{stroke:var(--more)}path.line.c2{stroke:var(--less);stroke-dasharray:7 3}path.line.c3{stroke:var(--third)}
path.area{stroke:none}path.area.c1{fill:var(--more)}path.area.c2{fill:var(--line)}
.legend{display:flex;gap:1.25rem;list-style:none;margin:.25rem 0;padding:0;font-size:.85rem}
.legend li::before{content:"";display:inline-block;width:1.1rem;height:.35rem;margin-right:.4rem;vertical-align:middle;background:var(--more)}
.legend li.c2::before{background:var(--less)}.areas .legend li.c2::before{background:var(--line)}
.legend li.dot::before{width:.6rem;height:.6rem;border-radius:50%;background:var(--soft)}
@media (min-width:64rem){.plot{display:grid;grid-template-columns:minmax(0,43rem) 1fr;grid-template-rows:1fr auto;column-gap:1.5rem}.plot svg{grid-row:1/3}.plot .legend{flex-direction:column;gap:.25rem;align-self:end}.plot figcaption{grid-column:2;grid-row:2;padding:.4rem 0 2.5rem}}
.plot circle{fill:var(--ground);stroke-width:2.5}.plot circle.c1{stroke:var(--more)}.plot circle.c2{stroke:var(--less)}
path.range{stroke-width:2.5;opacity:.55}path.range.c1{stroke:var(--more)}path.range.c2{stroke:var(--less)}
.clusters{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(19rem,100%),1fr));gap:1rem;align-items:start}
.cluster{margin:0;padding:.75rem;background:var(--panel);min-width:0}
.cluster figcaption{color:var(--text)}.doubts{margin:0;font-size:.85rem;color:var(--less)}
.cluster svg{width:100%;height:auto;display:block}
.edge{fill:none;stroke:var(--more);stroke-width:1.2;opacity:.7}.edge.strong{stroke-width:2}.edge.weak{stroke:var(--less);stroke-dasharray:3 3}
.node circle{fill:var(--ground);stroke:var(--text);stroke-width:1.5}
.node:focus{outline:none}.node:focus circle,.node:hover circle{fill:var(--more)}.node:focus-visible circle{stroke-width:3}
.chosen{min-height:1.3em;margin:.25rem 0;font-size:.8rem;color:var(--soft);overflow-wrap:anywhere}
summary{cursor:pointer;color:var(--soft);font-size:.85rem}
.members{font-size:.8rem}
.viewer{margin-top:1rem}
.controls:not([hidden]){position:sticky;top:0;display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:center;justify-content:space-between;background:var(--ground);padding:.6rem 0;border-bottom:1px solid var(--line);z-index:1}
.buttons{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;font-size:.9rem}
button{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--line);border-radius:4px;padding:.25rem .7rem;cursor:pointer}
button:disabled{opacity:.5;cursor:default}
button[aria-pressed=true]{border-color:var(--more);box-shadow:inset 0 0 0 1px var(--more)}
button kbd{color:var(--soft);margin-right:.2rem}
:focus-visible{outline:2px solid var(--more);outline-offset:2px}
.pair{padding:.75rem 0;border-bottom:1px solid var(--line)}
.pair table{min-width:44rem;width:100%}.pair td:nth-child(2),.pair td:nth-child(3){overflow-wrap:anywhere;min-width:8rem}.pair td:last-child,.pair th:last-child{width:13rem;padding-right:0}.pair .bar{width:13rem}
.pair td:nth-child(4){min-width:7.5rem}.pair tfoot th,.pair tfoot td{font-weight:600;border-bottom:none}
.pair .base th{color:var(--soft)}
.state{display:inline-block;padding:0 .5rem;border-radius:3px;border:1px solid var(--more);color:var(--more);font-size:.85rem}
.state.apart{border-color:var(--less);color:var(--less)}
.ruling{margin-left:.5rem;font-weight:600}
.node.split circle{stroke:var(--less);fill:var(--less)}.cluster .buttons:not([hidden]){margin:.25rem 0;font-size:.8rem}.members button{padding:0 .4rem;font-size:.75rem;white-space:nowrap}.members button[aria-pressed=true]{border-color:var(--less);box-shadow:inset 0 0 0 1px var(--less)}
.decided{margin-top:.75rem}
.savebar:not([hidden]){position:fixed;right:1rem;bottom:1rem;display:flex;gap:.75rem;align-items:center;padding:.6rem .9rem;background:var(--panel);border:1px solid var(--line);border-radius:6px;box-shadow:0 2px 12px #0003;z-index:2}.savebar button{background:var(--more);border-color:var(--more);color:var(--ground);font-weight:600}.savebar kbd{color:inherit}
mark{background:var(--mark);color:inherit;border-radius:2px}
.none{color:var(--soft)}
.visually-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media (max-width:40rem){main{padding:1rem .75rem}.bar{width:6rem}.weights td:last-child{width:6rem}.buttons{width:100%}.remarks{grid-template-columns:1fr}.remarks dd{margin-bottom:.4rem}.grid{grid-template-columns:1fr}}
@media print{:root{--ground:#fff;--panel:#fff;--text:#000;--soft:#444;--line:#bbb;--more:#0072b2;--less:#d55e00;--mark:#ffe9a8;--cut:#000}nav,.controls:not([hidden]),.savebar:not([hidden]),.buttons:not([hidden]),.members button{display:none}.scroll{overflow:visible}.pair table{min-width:0}.pair td:last-child,.pair th:last-child,.pair .bar{width:8rem}.pair td:nth-child(4){min-width:5rem}.pair[hidden]{display:block}.pair,.cluster,.plot{break-inside:avoid}main{max-width:none;padding:0}}
`

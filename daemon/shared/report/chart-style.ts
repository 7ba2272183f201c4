// The style of charts and of bars within tables.
export const chartStyle = `
figure{margin:1.25rem 0}
figcaption{color:var(--soft);font-size:.85rem;max-width:46rem}
.chart{max-width:54rem}
.chart .title{font-weight:600;margin:0 0 .35rem}
.chart figcaption{margin-top:.25rem}
.picture{overflow-x:auto}
.chart svg{width:100%;min-width:30rem;height:auto;display:block}
.chart text{font-size:12px;fill:var(--text)}
.chart text.tick{font-size:11px;fill:var(--soft)}.chart text.strong{font-weight:600}.chart text.value{font-variant-numeric:tabular-nums}
.chart .c1{fill:var(--more)}.chart .c2{fill:var(--less)}.chart .c3{fill:var(--third)}.chart .c4{fill:var(--fourth)}
.chart .zone{opacity:.1}.chart .dot{stroke:var(--ground);stroke-width:1.5}.chart .total{fill:var(--text)}.chart .range{fill:var(--fourth)}
.chart .link{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 2;fill:none}
.chart .cut.strong{stroke-width:2;stroke-dasharray:none}
.chart details{margin-top:.35rem}
.heat{fill:var(--more)}.heat.h0{fill:var(--line);opacity:.45}.heat.h1{opacity:.2}.heat.h2{opacity:.4}.heat.h3{opacity:.6}.heat.h4{opacity:.8}
.spoke{stroke-width:2.5;fill:none;stroke:var(--good)}.spoke.fair{stroke:var(--fair);stroke-dasharray:8 4}.spoke.poor{stroke:var(--poor);stroke-dasharray:2 4}
.chart .node{fill:var(--good);stroke:var(--ground);stroke-width:2}.chart .node.fair{fill:var(--fair)}.chart .node.poor{fill:var(--poor)}.chart .node.own{fill:var(--text)}
.weights{width:100%}.weights caption{font-weight:600;color:var(--text)}.weights td:last-child{width:9rem;padding-right:0}
.bar{width:9rem;height:.8rem;display:block;margin-top:.3rem}
.bar .more{fill:var(--more)}.bar .less{fill:var(--less)}
.bar path{vector-effect:non-scaling-stroke}
.bar .zero{stroke:var(--soft);stroke-width:1}
.cut{stroke:var(--cut);stroke-width:1.5;stroke-dasharray:4 3;fill:none}
.bar .cut{stroke-dasharray:2 2;stroke-width:1}
path.grid{stroke:var(--line)}path.axis{stroke:var(--soft)}
.plot svg{width:100%;max-width:46rem;height:auto;display:block}
.plot text,.cluster text{font-size:11px;fill:var(--text)}
path.line{fill:none;stroke-width:2}path.line.c1{stroke:var(--more)}path.line.c2{stroke:var(--less);stroke-dasharray:7 3}path.line.c3{stroke:var(--third)}
path.area{stroke:none}path.area.c1{fill:var(--more)}path.area.c2{fill:var(--line)}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1.25rem;list-style:none;margin:.25rem 0;padding:0;font-size:.85rem}
.legend li::before{content:"";display:inline-block;width:1.1rem;height:.35rem;margin-right:.4rem;vertical-align:middle;background:var(--more)}
.legend li.c2::before{background:var(--less)}.legend li.c3::before{background:var(--third)}.legend li.c4::before{background:var(--fourth)}.areas .legend li.c2::before{background:var(--line)}
.legend li.dot::before{width:.6rem;height:.6rem;border-radius:50%;background:var(--soft)}
@media (min-width:64rem){.plot{display:grid;grid-template-columns:minmax(0,43rem) 1fr;grid-template-rows:1fr auto;column-gap:1.5rem}.plot svg{grid-row:1/3}.plot .legend{flex-direction:column;gap:.25rem;align-self:end}.plot figcaption{grid-column:2;grid-row:2;padding:.4rem 0 2.5rem}}
.plot circle{fill:var(--ground);stroke-width:2.5}.plot circle.c1{stroke:var(--more)}.plot circle.c2{stroke:var(--less)}
path.range{stroke-width:2.5;opacity:.55}path.range.c1{stroke:var(--more)}path.range.c2{stroke:var(--less)}
`

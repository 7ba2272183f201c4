// The style of pairs and clusters that a reader decides.
export const decisionStyle = `
.clusters{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(19rem,100%),1fr));gap:1rem;align-items:start}
.cluster{margin:0;padding:.75rem;background:var(--panel);border-radius:6px;min-width:0}
.cluster figcaption{color:var(--text)}.doubts{margin:0;font-size:.85rem;color:var(--poor)}
.cluster svg{width:100%;height:auto;display:block}
.edge{fill:none;stroke:var(--more);stroke-width:1.2;opacity:.7}.edge.strong{stroke-width:2}.edge.weak{stroke:var(--less);stroke-dasharray:3 3}
.node circle{fill:var(--ground);stroke:var(--text);stroke-width:1.5}
.node:focus{outline:none}.node:focus circle,.node:hover circle{fill:var(--more)}.node:focus-visible circle{stroke-width:3}
.chosen{min-height:1.3em;margin:.25rem 0;font-size:.8rem;color:var(--soft);overflow-wrap:anywhere}
.members{font-size:.8rem}
.viewer{margin-top:1rem}
.controls:not([hidden]){position:sticky;top:0;display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:center;justify-content:space-between;background:var(--ground);padding:.6rem 0;border-bottom:1px solid var(--line);z-index:1}
.buttons{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;font-size:.9rem}
button{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--line);border-radius:4px;padding:.25rem .7rem;cursor:pointer}
button:disabled{opacity:.5;cursor:default}
button[aria-pressed=true]{border-color:var(--more);box-shadow:inset 0 0 0 1px var(--more)}
button kbd{color:var(--soft);margin-right:.2rem}
.pair{padding:.75rem 0;border-bottom:1px solid var(--line)}
.pair table{min-width:44rem;width:100%}.pair td:nth-child(2),.pair td:nth-child(3){overflow-wrap:anywhere;min-width:8rem}.pair td:last-child,.pair th:last-child{width:13rem;padding-right:0}.pair .bar{width:13rem}
.pair td:nth-child(4){min-width:7.5rem}.pair tfoot th,.pair tfoot td{font-weight:600;border-bottom:none}
.pair .base th{color:var(--soft)}
.state{display:inline-block;padding:0 .5rem;border-radius:3px;border:1px solid var(--more);color:var(--more);font-size:.85rem}
.state.apart{border-color:var(--fair);color:var(--fair)}
.ruling{margin-left:.5rem;font-weight:600}
.node.split circle{stroke:var(--less);fill:var(--less)}.cluster .buttons:not([hidden]){margin:.25rem 0;font-size:.8rem}.members button{padding:0 .4rem;font-size:.75rem;white-space:nowrap}.members button[aria-pressed=true]{border-color:var(--less);box-shadow:inset 0 0 0 1px var(--less)}
.decided{margin-top:.75rem}
.savebar:not([hidden]){position:fixed;right:1rem;bottom:1rem;display:flex;gap:.75rem;align-items:center;padding:.6rem .9rem;background:var(--panel);border:1px solid var(--line);border-radius:6px;box-shadow:0 2px 12px #0003;z-index:2}.savebar button{background:var(--more);border-color:var(--more);color:var(--ground);font-weight:600}.savebar kbd{color:inherit}
`

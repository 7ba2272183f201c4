// The report of a result as one page of HTML: without network, readable without scripts, and with every text of the data escaped.
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { escapeMarkup } from '../../../kernel/text/markup.ts'
import { renderClusters } from './cluster-section.ts'
import { buildPageData } from './decision-lines.ts'
import { formatScore } from './elements.ts'
import { pageScript } from './page-script.ts'
import { pageStyle } from './page-style.ts'
import { renderPairs } from './pair-section.ts'
import type { ReportFacts } from './report-facts.ts'
import { renderCurves, renderHistogram, renderUnlinkable } from './score-sections.ts'
import { renderBlocking, renderSizes, renderSources, renderVerdict, renderWeights } from './table-sections.ts'

/** By which a report is recognised in its place. */
export const report_mark = '<meta name="generator" content="platform: report of a result">'

/** Renders the page; the same facts give the same bytes. */
export function renderReport(facts: ReportFacts): string {
  const { lens, version, cut, scale } = facts
  const title = escapeMarkup(`Result of ${lens} ${version}`)
  const pairs = renderPairs(facts)
  const sections: readonly (readonly [id: string, heading: string, content: string])[] = [
    ['pairs', 'Pairs to decide', pairs.html],
    ['clusters', 'Clusters', renderAllClusters(facts)],
    ['scores', 'Scores', `<div class="areas">${renderHistogram(facts)}</div>`],
    ['threshold', 'Threshold', renderCurves(facts)],
    [
      'weights',
      'Weights',
      `<p>What each level adds to the score, in bits: 1 bit doubles the odds of a match.</p>${renderWeights(facts)}`,
    ],
    ['blocking', 'Blocking', renderBlocking(facts)],
    ['unlinkable', 'Records that cannot be linked', renderUnlinkable(facts)],
    ['sources', 'Sources', renderSources(facts)],
  ]
  const links = sections.map(([id, heading]) => `<li><a href="#${id}">${heading}</a></li>`)
  const content = sections.map(([id, heading, html]) => `<section id="${id}"><h2>${heading}</h2>\n${html}\n</section>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${hashSource(pageScript)}; style-src ${hashSource(pageStyle)}; base-uri 'none'; form-action 'none'">
${report_mark}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${pageStyle}</style>
</head>
<body>
<main>
<header><h1>${title}</h1><p>Records become one entity above a score of ${formatScore(cut, scale)}${scale === 'log_odds' ? ' bits' : ''}.</p></header>
<nav aria-label="Sections"><ul>${links.join('')}</ul></nav>
<section id="verdict" aria-label="Verdict">
${renderVerdict(facts)}
</section>
${content.join('\n')}
</main>
<div class="savebar" hidden><output id="decided" aria-live="polite"></output><button type="button" id="save"><kbd>s</kbd> Save decisions</button></div>
<script type="application/json" id="page-data">${embedJson(buildPageData(facts, pairs.shown))}</script>
<script>${pageScript}</script>
</body>
</html>
`
}

function renderAllClusters(facts: ReportFacts): string {
  const { fields, doubtful, largest } = facts
  const text =
    '<p>A line joins two records that were compared: blue above the cut, dashed orange below it. Open the records of a cluster to split one off, or confirm the cluster as it is.</p>'
  return `${text}${renderClusters('Most doubtful', doubtful, fields)}${renderClusters('Largest of the others', largest, fields)}<h3>Sizes</h3>${renderSizes(facts)}`
}

function hashSource(text: string): string {
  return `'sha256-${Buffer.from(sha256(text), 'hex').toString('base64')}'`
}

/** JSON within a script element: no character of it ends the element or a line of a script, or is invisible. */
function embedJson(value: unknown): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029\p{Cf}]/gu, (mark) =>
    mark.split('').map(escapeUnit).join(''),
  )
}

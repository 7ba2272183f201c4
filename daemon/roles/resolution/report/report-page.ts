// The report of a result: what a person should look at first, and what the scores and the blocking did.
import { html, type Markup } from '../../../shared/report/markup.ts'
import { renderReportPage } from '../../../shared/report/page.ts'
import { renderClusters } from './cluster-section.ts'
import { buildPageData } from './decision-lines.ts'
import { formatScore } from './elements.ts'
import { pageScript } from './page-script.ts'
import { renderPairs } from './pair-section.ts'
import type { ReportFacts } from './report-facts.ts'
import { renderCurves, renderHistogram, renderUnlinkable } from './score-sections.ts'
import { renderBlocking, renderSizes, renderSources, renderVerdict, renderWeights } from './table-sections.ts'

/** Renders the page; the same facts give the same bytes. */
export function renderReport(facts: ReportFacts): string {
  const { lens, version, cut, scale } = facts
  const pairs = renderPairs(facts)
  const weights = html`<p>What each level adds to the score, in bits: 1 bit doubles the odds of a match.</p>${renderWeights(facts)}`
  const sections: readonly (readonly [id: string, heading: string, content: Markup])[] = [
    ['pairs', 'Pairs to decide', pairs.content],
    ['clusters', 'Clusters', renderAllClusters(facts)],
    ['scores', 'Scores', html`<div class="areas">${renderHistogram(facts)}</div>`],
    ['threshold', 'Threshold', renderCurves(facts)],
    ['weights', 'Weights', weights],
    ['blocking', 'Blocking', renderBlocking(facts)],
    ['unlinkable', 'Records that cannot be linked', renderUnlinkable(facts)],
    ['sources', 'Sources', renderSources(facts)],
  ]
  return renderReportPage({
    kind: 'Entity resolution',
    title: `Result of ${lens} ${version}`,
    lead: html`Records become one entity above a score of ${formatScore(cut, scale)}${scale === 'log_odds' ? ' bits' : ''}.`,
    overview: { heading: 'Verdict', content: renderVerdict(facts) },
    sections: sections.map(([id, heading, content]) => ({ id, heading, content })),
    origin: html`<p>The page has values of the data: treat it as the data.</p>`,
    script: {
      text: pageScript,
      data: buildPageData(facts, pairs.shown),
      controls: html`<div class="savebar" role="region" aria-label="Decisions" hidden><output id="decided" aria-live="polite"></output><button type="button" id="save"><kbd>s</kbd> Save decisions</button></div>
`,
    },
  })
}

function renderAllClusters(facts: ReportFacts): Markup {
  const { fields, doubtful, largest } = facts
  const text = html`<p>A line joins two records that were compared: blue above the cut, dashed orange below it. Open the records of a cluster to split one off, or confirm the cluster as it is.</p>`
  return html`${text}${renderClusters('Most doubtful', doubtful, fields)}${renderClusters('Largest of the others', largest, fields)}<h3>Sizes</h3>${renderSizes(facts)}`
}

// Section of the pairs to decide: values side by side with their differences, and the waterfall of the score, field by field.
import { formatWhole } from '../../../shared/report/format-figures.ts'
import { abridge, html, type Markup } from '../../../shared/report/markup.ts'
import { renderScroll } from '../../../shared/report/parts.ts'
import { keepsDecisions, listDecisionCells, max_escaped_length } from './decision-lines.ts'
import { formatScore, max_value_characters, renderBar, renderValue, spanBars } from './elements.ts'
import type { ReportFacts, ReportPair, ReportRecord } from './report-facts.ts'

/** More pairs are left out: a page has to open quickly. */
const max_pairs_characters = 4_000_000

/** Rows of the table of decided pairs. */
const max_decided = 200

export type PairSection = { readonly content: Markup; readonly shown: readonly ReportPair[] }

/** Renders as many pairs as fit; the page says how many. */
export function renderPairs(facts: ReportFacts): PairSection {
  const { pairs, listed_pairs, scale, cut } = facts
  const shown: ReportPair[] = []
  const articles: Markup[] = []
  let characters = 0
  for (const pair of pairs) {
    const article = renderPair(pair, shown.length, { scale, cut })
    characters += article.toString().length + max_escaped_length * listDecisionCells([pair]).join('').length
    if (characters > max_pairs_characters) break
    articles.push(article)
    shown.push(pair)
  }
  const decided = renderDecided(facts)
  if (shown.length === 0) return { content: html`<p>No pair is open.</p>${decided}`, shown }
  const content = html`<p>The ${formatWhole(shown.length)} pairs whose decision changes most, of ${formatWhole(listed_pairs)} pairs in the file of pairs: first those whose score contradicts their clusters, and that move many records. One pair speaks for its two clusters; stop whenever you like.</p>
<p>The bar at the bottom of the page saves what you decide here and below; then run again with <code>--decisions decisions.csv</code>.</p>
<div id="viewer" class="viewer" role="group" aria-label="Pairs to decide">
<div class="controls" hidden>
<div class="buttons"><button type="button" data-move="-1">← Previous</button><output id="position">1 of ${shown.length}</output><button type="button" data-move="1">Next →</button></div>
<div class="buttons"><button type="button" data-decision="confirm"><kbd>c</kbd> Confirm</button><button type="button" data-decision="reject"><kbd>r</kbd> Reject</button><button type="button" data-decision="defer"><kbd>d</kbd> Defer</button></div>
</div>
${articles}
</div>${decided}`
  return { content, shown }
}

/** The pairs that were decided before, and whether the result follows. */
function renderDecided(facts: ReportFacts): Markup {
  const { decided } = facts
  if (decided.length === 0) return html``
  const nameRecord = ({ source, id }: ReportRecord) => html`${abridge(source, 80)} <strong>${abridge(id, 80)}</strong>`
  const rows = decided.slice(0, max_decided).map(({ left, right, isMatch, linked }) => {
    const result = `${linked ? 'together' : 'apart'}${linked === isMatch ? '' : ', not as decided'}`
    return html`<tr><td>${nameRecord(left)}</td><td>${nameRecord(right)}</td><td>${isMatch ? 'confirmed' : 'rejected'}</td><td>${result}</td></tr>`
  })
  const contrary = decided.filter(({ isMatch, linked }) => isMatch !== linked).length
  const remark = contrary > 0 ? `; the result differs from ${formatWhole(contrary)} of them` : ''
  const omitted = decided.length > rows.length ? html`<p>The first ${rows.length} are shown.</p>` : ''
  const kept = keepsDecisions(facts)
    ? 'The saved file has them, too.'
    : 'They are too many for the saved file: keep yours, and name the records of both in one file.'
  return html`<details class="decided"><summary>${formatWhole(decided.length)} ${decided.length === 1 ? 'pair is' : 'pairs are'} decided, and not asked about again${remark}</summary><p>${kept}</p>${omitted}${renderScroll('Decided pairs', html`<table><thead><tr><th scope="col">record</th><th scope="col">record</th><th scope="col">decision</th><th scope="col">in this result</th></tr></thead><tbody>${rows}</tbody></table>`)}</details>`
}

/** What a decision against the result does. */
function describeEffect({ linked, changes }: ReportPair): string {
  const pairs = `${formatWhole(changes)} ${changes === 1 ? 'pair' : 'pairs'} of records`
  return linked ? `a reject separates ${pairs}` : `a confirm joins ${pairs}`
}

function renderPair(pair: ReportPair, at: number, { scale, cut }: Pick<ReportFacts, 'scale' | 'cut'>): Markup {
  const { left, right, linked, score, base, fields } = pair
  const bars = spanBars([base, cut, ...fields.map(({ total }) => total)])
  const format = (value: number) => formatScore(value, scale)
  let from = base
  const rows = fields.map(({ field, left: one, right: other, level, weight, rarity, total }) => {
    const [markedOne, markedOther] = markDifference(one, other)
    const rare = rarity === 0 ? '' : html` <small>${format(rarity)} ${rarity > 0 ? 'rare' : 'common'}</small>`
    const bar = renderBar(bars, from, total, cut)
    from = total
    return html`<tr><th scope="row">${field}</th><td>${markedOne}</td><td>${markedOther}</td><td>${level ?? 'no evidence'}</td><td class="number">${format(weight)}${rare}</td><td>${bar}</td></tr>`
  })
  const nameRecord = (record: ReportPair['left']) =>
    html`${abridge(record.source, 80)} <strong>${abridge(record.id, 80)}</strong> <small>cluster ${record.cluster}</small>`
  const state = linked ? 'linked' : 'not linked'
  return html`<article class="pair" data-pair="${at}" aria-label="Pair ${at + 1}, ${state}"><header><span class="state ${linked ? 'linked' : 'apart'}">${state}</span> score ${format(score)}, cut ${format(cut)}; ${describeEffect(pair)} <span class="ruling"></span></header>
${renderScroll(
  `Fields of pair ${at + 1}`,
  html`<table><thead><tr><th scope="col">field</th><th scope="col">${nameRecord(left)}</th><th scope="col">${nameRecord(right)}</th><th scope="col">level</th><th scope="col" class="number">adds</th><th scope="col"><span class="visually-hidden">bar</span></th></tr></thead>
<tbody><tr class="base"><th scope="row">${scale === 'log_odds' ? 'prior' : 'texts'}</th><td></td><td></td><td></td><td class="number">${format(base)}</td><td>${renderBar(bars, 0, base, cut)}</td></tr>${rows}</tbody>
<tfoot><tr><th scope="row">score</th><td></td><td></td><td></td><td class="number">${format(score)}</td><td>${renderBar(bars, 0, score, cut)}</td></tr></tfoot></table>`,
)}</article>`
}

/** Values with less in common, as a share of the shorter one, are marked as a whole. */
const min_common_share = 0.5

/** Marks the part in which two values differ, between their common beginning and end. */
function markDifference(left: string | undefined, right: string | undefined): readonly [Markup, Markup] {
  if (left === undefined || right === undefined || left === right) return [renderValue(left), renderValue(right)]
  const [one, other] = [[...abridge(left, max_value_characters)], [...abridge(right, max_value_characters)]]
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end++
  if (start + end < shorter * min_common_share) [start, end] = [0, 0]
  const mark = (letters: readonly string[]) => {
    const [before, part, after] = [
      letters.slice(0, start),
      letters.slice(start, letters.length - end),
      letters.slice(letters.length - end),
    ].map((each) => each.join(''))
    return html`${before}${part === '' ? '' : html`<mark>${part}</mark>`}${after}`
  }
  return [mark(one), mark(other)]
}

// Section of the pairs to decide: values side by side with their differences, and the waterfall of the score, field by field.
import { escapeMarkup } from '../../../kernel/text/markup.ts'
import { keepsDecisions, listDecisionCells, max_escaped_length } from './decision-lines.ts'
import { abridge, formatCount, formatScore, renderBar, renderValue, spanBars } from './elements.ts'
import type { ReportFacts, ReportPair, ReportRecord } from './report-facts.ts'

/** More pairs are left out: a page has to open quickly. */
const max_pairs_characters = 4_000_000

/** Rows of the table of decided pairs. */
const max_decided = 200

export type PairSection = { readonly html: string; readonly shown: readonly ReportPair[] }

/** Renders as many pairs as fit; the page says how many. */
export function renderPairs(facts: ReportFacts): PairSection {
  const { pairs, listed_pairs, scale, cut } = facts
  const shown: ReportPair[] = []
  const articles: string[] = []
  let characters = 0
  for (const pair of pairs) {
    const article = renderPair(pair, shown.length, { scale, cut })
    characters += article.length + max_escaped_length * listDecisionCells([pair]).join('').length
    if (characters > max_pairs_characters) break
    articles.push(article)
    shown.push(pair)
  }
  const decided = renderDecided(facts)
  if (shown.length === 0) return { html: `<p>No pair is open.</p>${decided}`, shown }
  const html = `<p>The ${formatCount(shown.length)} pairs whose decision changes most, of ${formatCount(listed_pairs)} pairs in the file of pairs: first those whose score contradicts their clusters, and that move many records. One pair speaks for its two clusters; stop whenever you like.</p>
<p>The bar at the bottom of the page saves what you decide here and below; then run again with <code>--decisions decisions.csv</code>.</p>
<div id="viewer" class="viewer" role="group" aria-label="Pairs to decide">
<div class="controls" hidden>
<div class="buttons"><button type="button" data-move="-1">← Previous</button><output id="position">1 of ${shown.length}</output><button type="button" data-move="1">Next →</button></div>
<div class="buttons"><button type="button" data-decision="confirm"><kbd>c</kbd> Confirm</button><button type="button" data-decision="reject"><kbd>r</kbd> Reject</button><button type="button" data-decision="defer"><kbd>d</kbd> Defer</button></div>
</div>
${articles.join('\n')}
</div>${decided}`
  return { html, shown }
}

/** The pairs that were decided before, and whether the result follows. */
function renderDecided(facts: ReportFacts): string {
  const { decided } = facts
  if (decided.length === 0) return ''
  const nameRecord = ({ source, id }: ReportRecord) =>
    `${escapeMarkup(abridge(source, 80))} <strong>${escapeMarkup(abridge(id, 80))}</strong>`
  const rows = decided.slice(0, max_decided).map(({ left, right, isMatch, linked }) => {
    const result = `${linked ? 'together' : 'apart'}${linked === isMatch ? '' : ', not as decided'}`
    return `<tr><td>${nameRecord(left)}</td><td>${nameRecord(right)}</td><td>${isMatch ? 'confirmed' : 'rejected'}</td><td>${result}</td></tr>`
  })
  const contrary = decided.filter(({ isMatch, linked }) => isMatch !== linked).length
  const remark = contrary > 0 ? `; the result differs from ${formatCount(contrary)} of them` : ''
  const omitted = decided.length > rows.length ? `<p>The first ${rows.length} are shown.</p>` : ''
  const kept = keepsDecisions(facts)
    ? 'The saved file has them, too.'
    : 'They are too many for the saved file: keep yours, and name the records of both in one file.'
  return `<details class="decided"><summary>${formatCount(decided.length)} ${decided.length === 1 ? 'pair is' : 'pairs are'} decided, and not asked about again${remark}</summary><p>${kept}</p>${omitted}<div class="scroll"><table><thead><tr><th scope="col">record</th><th scope="col">record</th><th scope="col">decision</th><th scope="col">in this result</th></tr></thead><tbody>${rows.join('')}</tbody></table></div></details>`
}

/** What a decision against the result does. */
function describeEffect({ linked, changes }: ReportPair): string {
  const pairs = `${formatCount(changes)} ${changes === 1 ? 'pair' : 'pairs'} of records`
  return linked ? `a reject separates ${pairs}` : `a confirm joins ${pairs}`
}

function renderPair(pair: ReportPair, at: number, { scale, cut }: Pick<ReportFacts, 'scale' | 'cut'>): string {
  const { left, right, linked, score, base, fields } = pair
  const bars = spanBars([base, cut, ...fields.map(({ total }) => total)])
  const format = (value: number) => formatScore(value, scale)
  let from = base
  const rows = fields.map(({ field, left: one, right: other, level, weight, rarity, total }) => {
    const [markedOne, markedOther] = markDifference(one, other)
    const rare = rarity === 0 ? '' : ` <small>${format(rarity)} ${rarity > 0 ? 'rare' : 'common'}</small>`
    const bar = renderBar(bars, from, total, cut)
    from = total
    return `<tr><th scope="row">${escapeMarkup(field)}</th><td>${markedOne}</td><td>${markedOther}</td><td>${escapeMarkup(level ?? 'no evidence')}</td><td class="number">${format(weight)}${rare}</td><td>${bar}</td></tr>`
  })
  const nameRecord = (record: ReportPair['left']) =>
    `${escapeMarkup(abridge(record.source, 80))} <strong>${escapeMarkup(abridge(record.id, 80))}</strong> <small>cluster ${record.cluster}</small>`
  const state = linked ? 'linked' : 'not linked'
  return `<article class="pair" data-pair="${at}" aria-label="Pair ${at + 1}, ${state}"><header><span class="state ${linked ? 'linked' : 'apart'}">${state}</span> score ${format(score)}, cut ${format(cut)}; ${describeEffect(pair)} <span class="ruling"></span></header>
<div class="scroll"><table><thead><tr><th scope="col">field</th><th scope="col">${nameRecord(left)}</th><th scope="col">${nameRecord(right)}</th><th scope="col">level</th><th scope="col" class="number">adds</th><th scope="col"><span class="visually-hidden">bar</span></th></tr></thead>
<tbody><tr class="base"><th scope="row">${scale === 'log_odds' ? 'prior' : 'texts'}</th><td></td><td></td><td></td><td class="number">${format(base)}</td><td>${renderBar(bars, 0, base, cut)}</td></tr>${rows.join('')}</tbody>
<tfoot><tr><th scope="row">score</th><td></td><td></td><td></td><td class="number">${format(score)}</td><td>${renderBar(bars, 0, score, cut)}</td></tr></tfoot></table></div></article>`
}

/** Values with less in common, as a share of the shorter one, are marked as a whole. */
const min_common_share = 0.5

/** Marks the part in which two values differ, between their common beginning and end. */
function markDifference(left: string | undefined, right: string | undefined): readonly [string, string] {
  if (left === undefined || right === undefined || left === right) return [renderValue(left), renderValue(right)]
  const [one, other] = [[...abridge(left)], [...abridge(right)]]
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
    ].map((each) => escapeMarkup(each.join('')))
    return `${before}${part === '' ? '' : `<mark>${part}</mark>`}${after}`
  }
  return [mark(one), mark(other)]
}

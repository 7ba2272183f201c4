// Section of doubtful pairs: values side by side with their differences, and the waterfall of the score, field by field.
import { escapeFormula } from '../../../kernel/text/formula-cell.ts'
import { escapeMarkup } from '../../../kernel/text/markup.ts'
import { abridge, formatCount, formatScore, renderBar, renderValue, spanBars } from './elements.ts'
import type { ReportFacts, ReportPair } from './report-facts.ts'

/** More pairs are left out: a page has to open quickly. */
const max_pairs_characters = 4_000_000

/** Characters of one that is escaped in JSON. */
const max_escaped_length = 6

export type PairSection = { readonly html: string; readonly shown: readonly ReportPair[] }

/** Renders as many pairs as fit; the page says how many. */
export function renderPairs({ pairs, listed_pairs, scale, cut }: ReportFacts): PairSection {
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
  if (shown.length === 0) return { html: '<p>No pair lies near the cut.</p>', shown }
  const html = `<p>The ${formatCount(shown.length)} pairs nearest to the cut, on both sides, of ${formatCount(listed_pairs)} pairs in the file of pairs. Decisions apply to the next run that names their file: <code>--decisions decisions.csv</code></p>
<div id="viewer" class="viewer" role="group" aria-label="Doubtful pairs">
<div class="controls" hidden>
<div class="buttons"><button type="button" data-move="-1">← Previous</button><output id="position">1 of ${shown.length}</output><button type="button" data-move="1">Next →</button></div>
<div class="buttons"><button type="button" data-decision="confirm"><kbd>c</kbd> Confirm</button><button type="button" data-decision="reject"><kbd>r</kbd> Reject</button><button type="button" data-decision="defer"><kbd>d</kbd> Defer</button></div>
<div class="buttons"><output id="decided" aria-live="polite">No decision yet</output><button type="button" id="save" disabled>Save decisions</button></div>
</div>
${articles.join('\n')}
</div>`
  return { html, shown }
}

/** Keys of the pairs as cells of a file of decisions, which lacks only the decision. */
export function listDecisionCells(pairs: readonly ReportPair[]): string[] {
  return pairs.map(({ left, right }) => [left.source, left.id, right.source, right.id].map(formatCell).join(','))
}

function formatCell(text: string): string {
  const cell = escapeFormula(text)
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
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
  return `<article class="pair" data-pair="${at}" aria-label="Pair ${at + 1}, ${state}"><header><span class="state ${linked ? 'linked' : 'apart'}">${state}</span> score ${format(score)}, cut ${format(cut)} <span class="ruling"></span></header>
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

// Sections of tables: the verdict, the sources, the weights, blocking, and the sizes of clusters.
import { formatShare, formatWhole } from '../../../shared/report/format-figures.ts'
import { html, type Markup } from '../../../shared/report/markup.ts'
import {
  type ReportFigure,
  renderCallout,
  renderFacts,
  renderFigures,
  renderScroll,
} from '../../../shared/report/parts.ts'
import { describeQuality } from '../explain/describe-quality.ts'
import { formatScore, renderBar, spanBars } from './elements.ts'
import type { ReportFacts } from './report-facts.ts'

const verdicts = {
  good: { title: 'Good', tone: 'good' },
  fair: { title: 'Fair', tone: 'fair' },
  poor: { title: 'Poor', tone: 'poor' },
  no_links: { title: 'No links', tone: 'plain' },
} as const

export function renderVerdict({ quality, counts }: ReportFacts): Markup {
  const words = describeQuality(quality)
  const figureOf = (name: string, value: typeof quality.precision): ReportFigure => ({
    name,
    value: value === undefined ? '–' : formatShare(value.value),
    note: value && `${formatShare(value.low)} to ${formatShare(value.high)}`,
  })
  const figures = [
    figureOf('estimated precision', quality.precision),
    figureOf('estimated recall', quality.recall),
    ...(quality.by_labels?.precision
      ? [
          figureOf('precision by labels', quality.by_labels.precision),
          figureOf('recall by labels', quality.by_labels.recall),
        ]
      : []),
    { name: 'records', value: formatWhole(counts.records) },
    { name: 'entities', value: formatWhole(counts.entities) },
    {
      name: 'clusters',
      value: formatWhole(counts.clusters),
      note: `of ${formatWhole(counts.records_in_clusters)} records`,
    },
    { name: 'pairs compared', value: formatWhole(counts.pairs_compared) },
  ]
  const facts = renderFacts([
    ['Method', words.route],
    ['Before any field', words.prior],
    ['Decided by', words.carried_by],
    ['Look first at', words.doubtful],
  ])
  const { title, tone } = verdicts[quality.verdict]
  return html`${renderCallout(tone, title, [words.verdict.replace(/^\w+: /, '')])}${renderFigures(figures)}${facts}`
}

export function renderSources({ sources, fields }: ReportFacts): Markup {
  const rows = sources.map(
    ({ name, records, path, sha256 }) =>
      html`<tr><th scope="row">${name}</th><td class="number">${formatWhole(records)}</td><td class="path">${path}</td><td class="digest" title="${sha256}">${sha256.slice(0, 12)}…</td></tr>`,
  )
  const columns = fields.map(
    ({ name, columns: names }) => html`<tr><th scope="row">${name}</th><td>${names.join(', ')}</td></tr>`,
  )
  return html`${renderScroll('Sources', html`<table><thead><tr><th scope="col">source</th><th scope="col" class="number">records</th><th scope="col">file</th><th scope="col">SHA-256</th></tr></thead><tbody>${rows}</tbody></table>`)}
<details><summary>Columns of each field</summary><table><thead><tr><th scope="col">field</th><th scope="col">columns read</th></tr></thead><tbody>${columns}</tbody></table></details>`
}

export function renderWeights({ fields }: ReportFacts): Markup {
  const scale = spanBars(
    fields.flatMap(({ levels, missing_bits }) => [...levels.map(({ bits }) => bits), missing_bits]),
  )
  const tables = fields.map(({ name, levels, missing_bits }) => {
    const all = missing_bits === 0 ? levels : [...levels, { level: 'a value is missing', bits: missing_bits }]
    const rows = all.map(
      ({ level, bits }) =>
        html`<tr><th scope="row">${level}</th><td class="number">${formatScore(bits, 'log_odds')}</td><td>${renderBar(scale, 0, bits)}</td></tr>`,
    )
    return html`<table class="weights"><caption>${name}</caption><thead class="visually-hidden"><tr><th scope="col">level</th><th scope="col">bits</th><th scope="col">bar</th></tr></thead><tbody>${rows}</tbody></table>`
  })
  return html`<div class="grid">${tables}</div>`
}

/** Rules beyond are summed up: automatic blocking has many. */
const max_rules = 40

export function renderBlocking({ rules, found_by, counts }: ReportFacts): Markup {
  const found = found_by.filter(({ pairs }) => pairs > 0).toSorted((one, other) => other.pairs - one.pairs)
  const [shown, rest] = [found.slice(0, max_rules), found.slice(max_rules)]
  const scale = spanBars(shown.map(({ pairs }) => pairs))
  const rows = shown.map(
    ({ rule, pairs }) =>
      html`<tr><th scope="row">${rule}</th><td class="number">${formatWhole(pairs)}</td><td>${renderBar(scale, 0, pairs)}</td></tr>`,
  )
  const others =
    rest.length === 0
      ? ''
      : html`<p>${rest.length} further rules found ${formatWhole(rest.reduce((sum, { pairs }) => sum + pairs, 0))} pairs.</p>`
  const table = html`${renderScroll('Pairs of each rule', html`<table><caption>${formatWhole(counts.pairs_compared)} compared pairs, each under the rule that found it</caption><thead><tr><th scope="col">rule</th><th scope="col" class="number">pairs</th><th scope="col"><span class="visually-hidden">bar</span></th></tr></thead><tbody>${rows}</tbody></table>`)}${others}`
  if (rules.length === 0) return table
  const lensRows = rules.map(
    ({ rule, pairs, largest, left_out_count }) =>
      html`<tr><th scope="row">${rule}</th><td class="number">${formatWhole(pairs)}</td><td class="number">${formatWhole(largest)}</td><td class="number">${formatWhole(left_out_count)}</td></tr>`,
  )
  return html`${table}${renderScroll('Rules of the lens', html`<table><caption>Each rule of the lens by itself</caption><thead><tr><th scope="col">rule</th><th scope="col" class="number">pairs</th><th scope="col" class="number">largest block</th><th scope="col" class="number">blocks left out</th></tr></thead><tbody>${lensRows}</tbody></table>`)}`
}

const max_sizes = 14

export function renderSizes({ sizes }: ReportFacts): Markup {
  const shown = sizes.length <= max_sizes ? sizes : [...sizes.slice(0, max_sizes - 4), ...sizes.slice(-4)]
  const scale = spanBars(shown.map(({ clusters }) => Math.log10(1 + clusters)))
  const rows = shown.map(
    ({ size, clusters }) =>
      html`<tr><th scope="row" class="number">${formatWhole(size)}</th><td class="number">${formatWhole(clusters)}</td><td>${renderBar(scale, 0, Math.log10(1 + clusters))}</td></tr>`,
  )
  const omitted =
    sizes.length > shown.length
      ? html`<p>${sizes.length - shown.length} sizes between the first and the last four are left out.</p>`
      : ''
  return html`${renderScroll('Sizes of clusters', html`<table><thead><tr><th scope="col" class="number">records in a cluster</th><th scope="col" class="number">clusters</th><th scope="col">logarithm</th></tr></thead><tbody>${rows}</tbody></table>`)}${omitted}`
}

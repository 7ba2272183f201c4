// Sections of tables: the verdict, the sources, the weights, blocking, and the sizes of clusters.
import { escapeMarkup } from '../../../kernel/text/markup.ts'
import { describeQuality } from '../explain/describe-quality.ts'
import { formatCount, formatScore, formatShare, renderBar, spanBars } from './elements.ts'
import type { ReportFacts } from './report-facts.ts'

const e = escapeMarkup

const verdictTexts = { good: 'Good', fair: 'Fair', poor: 'Poor', no_links: 'No links' } as const

export function renderVerdict({ quality, counts }: ReportFacts): string {
  const words = describeQuality(quality)
  const estimate = (value: typeof quality.precision) =>
    value === undefined
      ? '–'
      : `${formatShare(value.value)}<small>${formatShare(value.low)} to ${formatShare(value.high)}</small>`
  const figures = [
    ['estimated precision', estimate(quality.precision)],
    ['estimated recall', estimate(quality.recall)],
    ...(quality.by_labels?.precision
      ? [
          ['precision by labels', estimate(quality.by_labels.precision)],
          ['recall by labels', estimate(quality.by_labels.recall)],
        ]
      : []),
    ['records', formatCount(counts.records)],
    ['entities', formatCount(counts.entities)],
    ['clusters', `${formatCount(counts.clusters)}<small>of ${formatCount(counts.records_in_clusters)} records</small>`],
    ['pairs compared', formatCount(counts.pairs_compared)],
  ]
  const remarks = [
    ['Method', words.route],
    ['Before any field', words.prior],
    ['Decided by', words.carried_by],
    ['Look first at', words.doubtful],
  ].flatMap(([name = '', text]) => (text === undefined ? [] : [`<dt>${name}</dt><dd>${e(text)}</dd>`]))
  return `<p class="verdict ${quality.verdict}"><strong>${verdictTexts[quality.verdict]}</strong> ${e(words.verdict.replace(/^\w+: /, ''))}</p>
<dl class="figures">${figures.map(([name, figure]) => `<div><dt>${name}</dt><dd>${figure}</dd></div>`).join('')}</dl>
<dl class="remarks">${remarks.join('')}</dl>`
}

export function renderSources({ sources, fields }: ReportFacts): string {
  const rows = sources.map(
    ({ name, records, path, sha256 }) =>
      `<tr><th scope="row">${e(name)}</th><td class="number">${formatCount(records)}</td><td class="path">${e(path)}</td><td class="digest" title="${e(sha256)}">${e(sha256.slice(0, 12))}…</td></tr>`,
  )
  const columns = fields.map(
    ({ name, columns: names }) => `<tr><th scope="row">${e(name)}</th><td>${e(names.join(', '))}</td></tr>`,
  )
  return `<div class="scroll"><table><thead><tr><th scope="col">source</th><th scope="col" class="number">records</th><th scope="col">file</th><th scope="col">SHA-256</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>
<details><summary>Columns of each field</summary><table><thead><tr><th scope="col">field</th><th scope="col">columns read</th></tr></thead><tbody>${columns.join('')}</tbody></table></details>`
}

export function renderWeights({ fields }: ReportFacts): string {
  const scale = spanBars(
    fields.flatMap(({ levels, missing_bits }) => [...levels.map(({ bits }) => bits), missing_bits]),
  )
  const tables = fields.map(({ name, levels, missing_bits }) => {
    const all = missing_bits === 0 ? levels : [...levels, { level: 'a value is missing', bits: missing_bits }]
    const rows = all.map(
      ({ level, bits }) =>
        `<tr><th scope="row">${e(level)}</th><td class="number">${formatScore(bits, 'log_odds')}</td><td>${renderBar(scale, 0, bits)}</td></tr>`,
    )
    return `<table class="weights"><caption>${e(name)}</caption><thead class="visually-hidden"><tr><th scope="col">level</th><th scope="col">bits</th><th scope="col">bar</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
  })
  return `<div class="grid">${tables.join('')}</div>`
}

/** Rules beyond are summed up: automatic blocking has many. */
const max_rules = 40

export function renderBlocking({ rules, found_by, counts }: ReportFacts): string {
  const found = found_by.filter(({ pairs }) => pairs > 0).toSorted((one, other) => other.pairs - one.pairs)
  const [shown, rest] = [found.slice(0, max_rules), found.slice(max_rules)]
  const scale = spanBars(shown.map(({ pairs }) => pairs))
  const rows = shown.map(
    ({ rule, pairs }) =>
      `<tr><th scope="row">${e(rule)}</th><td class="number">${formatCount(pairs)}</td><td>${renderBar(scale, 0, pairs)}</td></tr>`,
  )
  const others =
    rest.length === 0
      ? ''
      : `<p>${rest.length} further rules found ${formatCount(rest.reduce((sum, { pairs }) => sum + pairs, 0))} pairs.</p>`
  const table = `<div class="scroll"><table><caption>${formatCount(counts.pairs_compared)} compared pairs, each under the rule that found it</caption><thead><tr><th scope="col">rule</th><th scope="col" class="number">pairs</th><th scope="col"><span class="visually-hidden">bar</span></th></tr></thead><tbody>${rows.join('')}</tbody></table></div>${others}`
  if (rules.length === 0) return table
  const lensRows = rules.map(
    ({ rule, pairs, largest, left_out_count }) =>
      `<tr><th scope="row">${e(rule)}</th><td class="number">${formatCount(pairs)}</td><td class="number">${formatCount(largest)}</td><td class="number">${formatCount(left_out_count)}</td></tr>`,
  )
  return `${table}<div class="scroll"><table><caption>Each rule of the lens by itself</caption><thead><tr><th scope="col">rule</th><th scope="col" class="number">pairs</th><th scope="col" class="number">largest block</th><th scope="col" class="number">blocks left out</th></tr></thead><tbody>${lensRows.join('')}</tbody></table></div>`
}

const max_sizes = 14

export function renderSizes({ sizes }: ReportFacts): string {
  const shown = sizes.length <= max_sizes ? sizes : [...sizes.slice(0, max_sizes - 4), ...sizes.slice(-4)]
  const scale = spanBars(shown.map(({ clusters }) => Math.log10(1 + clusters)))
  const rows = shown.map(
    ({ size, clusters }) =>
      `<tr><th scope="row" class="number">${formatCount(size)}</th><td class="number">${formatCount(clusters)}</td><td>${renderBar(scale, 0, Math.log10(1 + clusters))}</td></tr>`,
  )
  const omitted =
    sizes.length > shown.length
      ? `<p>${sizes.length - shown.length} sizes between the first and the last four are left out.</p>`
      : ''
  return `<div class="scroll"><table><thead><tr><th scope="col" class="number">records in a cluster</th><th scope="col" class="number">clusters</th><th scope="col">logarithm</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>${omitted}`
}

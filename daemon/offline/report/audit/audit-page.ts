// The report of an audit log: whether its chains are whole, what was done and refused, by whom, and when.
import { renderBarChart } from '../../../shared/report/chart/bar-chart.ts'
import { renderTimeChart } from '../../../shared/report/chart/time-chart.ts'
import { renderWeekChart } from '../../../shared/report/chart/week-chart.ts'
import { formatShare, formatTime, formatWhole } from '../../../shared/report/format-figures.ts'
import { html, type Markup } from '../../../shared/report/markup.ts'
import { type ReportSection, renderReportPage } from '../../../shared/report/page.ts'
import { renderCallout, renderFigures, renderState, renderTable } from '../../../shared/report/parts.ts'
import type { ChainVerdict } from '../../audit/audit-chains.ts'
import { divideSpan } from '../slice-time.ts'
import type { AuditFigures, ListedAuditRecord, NameCounts } from './audit-figures.ts'

export type AuditReport = {
  /** Instant of the report, RFC 3339. */
  readonly at: string
  /** The site or the file that was read. */
  readonly source: string
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly chains: readonly (ChainVerdict & { readonly first?: number; readonly last?: number })[]
  /** Faults of an export as a whole. */
  readonly faults: readonly string[]
  readonly figures: AuditFigures
}

export function renderAuditReport(report: AuditReport): string {
  const { at, source, since, until, figures } = report
  const span = [since && `from ${formatTime(since)}`, until && `to ${formatTime(until)}`].filter(Boolean).join(' ')
  return renderReportPage({
    kind: 'Audit',
    title: `Audit log of ${source}`,
    lead: html`${formatWhole(figures.records)} records${span === '' ? undefined : html` ${span} UTC`}, read at ${formatTime(at)} UTC.`,
    overview: { heading: 'Verdict', content: renderOverview(report) },
    sections: [
      { id: 'chains', heading: 'Chains', content: renderChains(report.chains) },
      { id: 'time', heading: 'Over time', content: renderTimes(figures) },
      { id: 'actions', heading: 'Actions', content: renderNames('Records by action', 'action', figures.actions) },
      { id: 'subjects', heading: 'Subjects', content: renderNames('Records by subject', 'subject', figures.subjects) },
      { id: 'roles', heading: 'Roles', content: renderNames('Records by role', 'role', figures.roles) },
      ...listRecordSections(figures),
    ],
    origin: html`<p>Read from ${source}: records of every tenant and level that the reader may see. Treat the page as the most sensitive of them. The page proves nothing by itself: <code>${'platform audit verify'}</code> checks the chains.</p>`,
  })
}

const max_reasons = 20

function renderOverview({ chains, faults, figures }: AuditReport): Markup {
  const broken = [...faults, ...chains.flatMap(({ writer, faults: own }) => own.map((fault) => `${writer}: ${fault}`))]
  const { records, outcomes, expired, subjects, actions, hours } = figures
  const named = (counts: NameCounts) =>
    `${counts.others.done + counts.others.refused > 0 ? 'over ' : ''}${formatWhole(counts.names.size)}`
  const known = outcomes.done + outcomes.refused
  const callout =
    broken.length > 0
      ? renderCallout('poor', 'Not proven whole.', [
          ...broken.slice(0, max_reasons),
          ...(broken.length > max_reasons ? [`and ${broken.length - max_reasons} more`] : []),
        ])
      : renderCallout('good', 'The chains are whole.', [
          'No record is altered, missing or out of order, and each checkpoint that the site signed matches.',
        ])
  const days = new Set([...hours.keys()].map((hour) => Math.floor(hour / 24))).size
  return html`${callout}${renderFigures([
    { name: 'records', value: formatWhole(records), note: `on ${formatWhole(days)} ${days === 1 ? 'day' : 'days'}` },
    {
      name: 'refused',
      value: formatWhole(outcomes.refused),
      note: known === 0 ? undefined : `${formatShare(outcomes.refused / known)} of the records`,
      tone: outcomes.refused > 0 ? 'fair' : 'good',
    },
    { name: 'subjects', value: named(subjects) },
    { name: 'actions', value: named(actions) },
    { name: 'expired', value: formatWhole(expired), note: 'only their digest is left' },
  ])}`
}

const max_chains = 200

function renderChains(chains: AuditReport['chains']): Markup {
  return renderTable({
    caption: 'Chains: each role writes its own',
    columns: [
      ...['chain', 'state'],
      ...['records', 'first', 'last', 'checkpoints'].map((heading) => ({ heading, kind: 'number' as const })),
      'faults',
    ],
    rows: chains
      .slice(0, max_chains)
      .map(({ writer, records, first, last, checkpoints, faults }) => [
        ...[writer, renderState(faults.length > 0 ? 'poor' : 'good', faults.length > 0 ? 'fault' : 'whole')],
        ...[
          formatWhole(records),
          first === undefined ? '–' : formatWhole(first),
          last === undefined ? '–' : formatWhole(last),
        ],
        ...[formatWhole(checkpoints), faults.join('; ') || '–'],
      ]),
    total: chains.length,
    empty: 'No chain was found.',
  })
}

const hour_ms = 3_600_000
/** 1970-01-01 was a Thursday. */
const first_weekday = 3
const week_hours = 168

function renderTimes({ hours, beyond_hours }: AuditFigures): Markup {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  const week = Array.from({ length: week_hours }, () => 0)
  for (const [hour, { done, refused }] of hours) {
    from = Math.min(from, hour)
    to = Math.max(to, hour)
    const at = (hour + first_weekday * 24) % week_hours
    week[at] = (week[at] ?? 0) + done + refused
  }
  if (hours.size === 0) return html`<p>No record has a time: all events have expired, or there is none.</p>`
  // Narrower columns than an hour would all be empty but one.
  const divided = divideSpan(from * hour_ms, to * hour_ms)
  const step_ms = Math.max(hour_ms, divided.step_ms)
  const columns = Math.floor((to * hour_ms - divided.start) / step_ms) + 1
  const [done, refused] = [Array.from({ length: columns }, () => 0), Array.from({ length: columns }, () => 0)]
  for (const [hour, counts] of hours) {
    const column = Math.floor((hour * hour_ms - divided.start) / step_ms)
    done[column] = (done[column] ?? 0) + counts.done
    refused[column] = (refused[column] ?? 0) + counts.refused
  }
  const omitted = beyond_hours > 0 ? ` ${formatWhole(beyond_hours)} records of further hours are left out.` : ''
  return html`${renderTimeChart({
    title: 'Records over time',
    description: `A column counts the records of its time, refused ones above.${omitted}`,
    measure: 'time of the record',
    ...{ start: divided.start, step_ms },
    series: [
      { name: 'done', tone: 'c1', counts: done },
      { name: 'refused', tone: 'c2', counts: refused },
    ],
  })}${renderWeekChart('Records by hour of the week', week)}`
}

const max_names = 25

function renderNames(title: string, heading: string, { names, others }: NameCounts): Markup {
  const ranked = [...names]
    .map(([name, counts]) => ({ name, ...counts }))
    .toSorted((a, b) => b.done + b.refused - (a.done + a.refused) || (a.name < b.name ? -1 : 1))
  const rest = ranked.slice(max_names).reduce((sum, { done, refused }) => sum + done + refused, 0)
  const beyond = rest + others.done + others.refused
  return renderBarChart({
    title,
    description: `The most frequent first; refused ones are orange.${beyond > 0 ? ` ${formatWhole(beyond)} records of ${heading}s beyond the first ${max_names} are not drawn.` : ''}`,
    measure: 'records',
    formatTick: formatWhole,
    legend: [
      { name: 'done', tone: 'c1' },
      { name: 'refused', tone: 'c2' },
    ],
    rows: ranked.slice(0, max_names).map(({ name, done, refused }) => ({
      name,
      parts: [
        { tone: 'c1', value: done },
        { tone: 'c2', value: refused },
      ],
      text: refused === 0 ? formatWhole(done) : `${formatWhole(done + refused)}, ${formatWhole(refused)} refused`,
    })),
    rowHeading: heading,
  })
}

function listRecordSections({ newest, newest_refused, records, outcomes }: AuditFigures): ReportSection[] {
  const list = (caption: string, items: readonly ListedAuditRecord[], total: number) =>
    renderTable({
      caption,
      columns: ['at (UTC)', 'action', 'outcome', 'subject', 'target', 'chain', { heading: 'record', kind: 'number' }],
      rows: items.map(({ at, action, outcome, subject, target, writer, seq }) => [
        ...[formatTime(at), action, renderState(outcome === 'refused' ? 'fair' : 'good', outcome)],
        ...[subject, target, writer, formatWhole(seq)],
      ]),
      total,
    })
  return [
    { id: 'refused', heading: 'Refused', content: list('Newest refused records', newest_refused, outcomes.refused) },
    { id: 'newest', heading: 'Newest', content: list('Newest records', newest, records) },
  ]
}

// The overview of all dissents of a site: how many are open, why, where, and since when.
import { renderBarChart } from '../../../shared/report/chart/bar-chart.ts'
import { renderTimeChart } from '../../../shared/report/chart/time-chart.ts'
import { formatFraction, formatSpan, formatTime, formatWhole } from '../../../shared/report/format-figures.ts'
import { html, type Markup } from '../../../shared/report/markup.ts'
import type { ReportSection } from '../../../shared/report/page.ts'
import { renderCallout, renderFigures, renderState, renderTable } from '../../../shared/report/parts.ts'
import { sliceTime } from '../slice-time.ts'
import type { DissentReport } from './dissent-page.ts'

export function renderDissentOverview({ at, dissents, total }: DissentReport, open: number): Markup {
  const limits = total > dissents.length ? [`The ${dissents.length} newest of ${total} are counted here.`] : []
  const oldest = dissents.filter(({ status }) => status === 'open').at(-1)
  const age = oldest && (Date.parse(at) - Date.parse(oldest.created_at)) / 1_000
  const callout =
    open === 0
      ? renderCallout('good', 'No dissent is open.', limits)
      : renderCallout('fair', `${open} ${open === 1 ? 'dissent is' : 'dissents are'} open.`, [
          'The contributors correct themselves, or a person decides: platform consensus attest ID --decision match --rationale TEXT',
          ...limits,
        ])
  return html`${callout}${renderFigures([
    { name: 'open', value: formatWhole(open), tone: open === 0 ? 'good' : 'fair' },
    { name: 'resolved', value: formatWhole(dissents.length - open) },
    { name: 'oldest open', value: age === undefined ? '–' : formatSpan(age) },
    {
      name: 'highest conflict, open',
      value: formatFraction(
        dissents.reduce<number | undefined>(
          (most, { status, conflict }) => (status === 'open' ? Math.max(most ?? 0, conflict) : most),
          undefined,
        ),
      ),
    },
  ])}`
}

const max_listed = 200
const bins = 10

export function listOverviewSections({ dissents, total }: DissentReport, detailed: number): ReportSection[] {
  const time = sliceTime(dissents.map(({ created_at }) => Date.parse(created_at)))
  const isOpen = (open: boolean) => time.countBy((at) => (dissents[at]?.status === 'open') === open)
  const history = renderTimeChart({
    title: 'Dissents by time of the conflict',
    description: 'A column counts the sessions that came into conflict in that time.',
    measure: 'time of the conflict',
    ...{ start: time.start, step_ms: time.step_ms },
    series: [
      { name: 'open', tone: 'c2', counts: isOpen(true) },
      { name: 'resolved', tone: 'c1', counts: isOpen(false) },
    ],
  })
  return [
    { id: 'causes', heading: 'Causes', content: renderCauses(dissents) },
    { id: 'history', heading: 'Over time', content: history },
    { id: 'list', heading: 'All dissents', content: renderList(dissents, total, detailed) },
  ]
}

type Dissents = DissentReport['dissents']

function renderCauses(dissents: Dissents): Markup {
  const counts = Array.from({ length: bins }, () => ({ open: 0, resolved: 0 }))
  for (const { conflict, status } of dissents) {
    const bin = counts[Math.min(bins - 1, Math.floor(conflict * bins))]
    if (bin) bin[status]++
  }
  const levels = renderBarChart({
    title: 'Dissents by conflict',
    description: 'How far the contributors of each session disagreed: 0 is agreement, 1 two equal camps at both ends.',
    measure: 'dissents',
    legend: [
      { name: 'open', tone: 'c2' },
      { name: 'resolved', tone: 'c1' },
    ],
    rows: counts.map(({ open, resolved }, at) => ({
      name: `${at / bins} to ${(at + 1) / bins}`,
      parts: [
        { tone: 'c2', value: open },
        { tone: 'c1', value: resolved },
      ],
      text: open + resolved === 0 ? '0' : `${open} open, ${resolved} resolved`,
    })),
    rowHeading: 'conflict',
  })
  return html`${countChart('Dissents by reason', 'reason', dissents, ({ reason }) => reason)}${countChart('Dissents by lens', 'lens', dissents, ({ lens_id }) => lens_id)}${levels}`
}

function countChart(
  title: string,
  rowHeading: string,
  dissents: Dissents,
  keyOf: (dissent: Dissents[number]) => string,
): Markup {
  const counts = [...Map.groupBy(dissents, keyOf)].map(([name, group]) => ({ name, count: group.length }))
  return renderBarChart({
    ...{ title, rowHeading, measure: 'dissents' },
    description: 'Open and resolved ones.',
    rows: counts
      .toSorted((a, b) => b.count - a.count)
      .map(({ name, count }) => ({ name, parts: [{ tone: 'c1', value: count }], text: formatWhole(count) })),
  })
}

function renderList(dissents: Dissents, total: number, detailed: number): Markup {
  const table = renderTable({
    caption: 'Dissents, newest first',
    columns: [
      ...['dissent', 'session', 'state', 'reason', 'lens'],
      ...['conflict', 'score'].map((heading) => ({ heading, kind: 'number' as const })),
      'since (UTC)',
    ],
    rows: dissents
      .slice(0, max_listed)
      .map(({ id, session_id, status, reason, lens_id, conflict, score, created_at, resolution }) => [
        ...[id, session_id],
        renderState(status === 'open' ? 'fair' : 'good', resolution ?? status),
        ...[reason, lens_id, formatFraction(conflict), formatFraction(score), formatTime(created_at)],
      ]),
    total,
    empty: 'No dissent was recorded.',
  })
  const note =
    detailed === 0 ? undefined : html`<p>The ${detailed} open ones with the most conflict follow in detail.</p>`
  return html`${note}${table}`
}

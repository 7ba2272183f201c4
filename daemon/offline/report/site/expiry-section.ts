// Keys and certificates of the site and of its peers by the time of their end.
import type { PublicKey } from '../../../kernel/cryptography/signatures.ts'
import { renderBarChart } from '../../../shared/report/chart/bar-chart.ts'
import { formatSpan, formatTime } from '../../../shared/report/format-figures.ts'
import { html, type Markup } from '../../../shared/report/markup.ts'
import { type ReportTone, renderState, renderTable } from '../../../shared/report/parts.ts'
import type { SiteReport } from './site-report.ts'

export type ReportExpiry = {
  readonly name: string
  readonly kind: string
  /** RFC 3339. */
  readonly end: string
  /** Until the end; negative after it. */
  readonly seconds: number
  readonly tone: ReportTone
}

/** As the doctor warns. */
const notice_days = 30
const day_s = 86_400

/** Active keys and the certificate, the first end first. `now`: epoch milliseconds. */
export function listExpiries({ keys = [], peers = [], certificate }: SiteReport, now: number): ReportExpiry[] {
  const own = keys.map((key) => ({ owner: 'this site', key }))
  const others = peers.flatMap(({ name, keys: theirs }) => theirs.map((key) => ({ owner: name, key })))
  const ends = [...own, ...others].flatMap(({ owner, key }) => listEnd(owner, key))
  const all = [
    ...ends,
    ...(certificate ? [{ name: 'certificate of the site', kind: 'certificate', end: certificate.not_after }] : []),
  ]
  return all
    .map((each) => {
      const seconds = (Date.parse(each.end) - now) / 1_000
      const tone: ReportTone = seconds <= 0 ? 'poor' : seconds < notice_days * day_s ? 'fair' : 'good'
      return { ...each, seconds, tone }
    })
    .toSorted((a, b) => a.seconds - b.seconds)
}

function listEnd(owner: string, { kid, use, status, not_after }: PublicKey) {
  if (status !== 'active' || not_after === undefined) return []
  return [{ name: `${owner}: ${kid}`, kind: `${use} key`, end: not_after }]
}

const max_listed = 200
const max_drawn = 20

export function renderExpiries(report: SiteReport): Markup {
  const expiries = listExpiries(report, Date.parse(report.at))
  if (expiries.length === 0) return html`<p>No active key or certificate that was read has an end.</p>`
  const chart = renderBarChart({
    title: 'Days until the end',
    description: `The next ${Math.min(max_drawn, expiries.length)} keys and certificates that end. The line marks ${notice_days} days.`,
    measure: 'days',
    mark: { at: notice_days, label: `${notice_days} days` },
    rows: expiries.slice(0, max_drawn).map(({ name, seconds, tone }) => ({
      name,
      parts: [{ tone: tone === 'good' ? 'c1' : 'c2', value: Math.max(0, seconds / day_s) }],
      text: seconds <= 0 ? 'ended' : formatSpan(seconds),
    })),
    rowHeading: 'key or certificate',
  })
  const table = renderTable({
    caption: 'Active keys and certificates, the first end first',
    columns: ['name', 'kind', 'state', 'ends (UTC)'],
    rows: expiries
      .slice(0, max_listed)
      .map(({ name, kind, end, tone }) => [
        ...[
          name,
          kind,
          renderState(tone, { good: 'valid', fair: 'ends soon', poor: 'ended', plain: '' }[tone]),
          formatTime(end),
        ],
      ]),
    total: expiries.length,
  })
  return html`${chart}${table}`
}

// The report of a site: whether it is well, its roles, its links to other sites, and what ends soon.
import { renderBarChart } from '../../../shared/report/chart/bar-chart.ts'
import { formatSpan, formatTime, formatWhole } from '../../../shared/report/format-figures.ts'
import { html, type Markup } from '../../../shared/report/markup.ts'
import { renderReportPage } from '../../../shared/report/page.ts'
import {
  type ReportTone,
  renderCallout,
  renderFigures,
  renderState,
  renderTable,
} from '../../../shared/report/parts.ts'
import { listExpiries, renderExpiries } from './expiry-section.ts'
import { isAttentive, listFederationSections } from './federation-sections.ts'
import type { ReportedRole, SiteReport } from './site-report.ts'

export function renderSiteReport(report: SiteReport): string {
  const { at, source, sessions, findings } = report
  return renderReportPage({
    kind: 'Site',
    title: `Federation and health of ${source}`,
    lead: html`As of ${formatTime(at)} UTC.`,
    overview: { heading: 'Verdict', content: renderOverview(report) },
    sections: [
      ...(findings ? [{ id: 'findings', heading: 'Findings', content: renderFindings(findings) }] : []),
      { id: 'roles', heading: 'Roles and dependencies', content: renderRoles(report.roles) },
      ...listFederationSections(report),
      { id: 'expiry', heading: 'Keys and certificates', content: renderExpiries(report) },
      ...(sessions ? [{ id: 'sessions', heading: 'Consensus sessions', content: renderSessions(sessions) }] : []),
    ],
    origin: html`<p>Read from ${source} at ${formatTime(at)} UTC: a moment, not a history. Counters of channels begin with the channel. The page names peers, addresses and keys of the site: treat it so.</p>`,
  })
}

const isDown = ({ state }: ReportedRole) => state.startsWith('not ')
const isDegraded = ({ state, dependencies }: ReportedRole) =>
  state === 'degraded' || dependencies.some((dependency) => dependency.state !== 'ok')

/** What is wrong, the worst first. */
function listComplaints(report: SiteReport): { readonly problems: string[]; readonly warnings: string[] } {
  const { roles, channels = [], findings = [], faults, at } = report
  const expiries = listExpiries(report, Date.parse(at))
  const down = roles.filter(isDown)
  const stopped = channels.filter(({ state }) => state !== 'open')
  const late = channels.filter((channel) => channel.state === 'open' && isAttentive(channel))
  const of = (state: 'problem' | 'warning') => findings.filter((finding) => finding.state === state).length
  const count = (number: number, one: string, many: string) =>
    number === 0 ? [] : [`${number} ${number === 1 ? one : many}`]
  return {
    problems: [
      ...count(down.length, 'role does not run or is not ready', 'roles do not run or are not ready'),
      ...count(stopped.length, 'channel is stopped or frozen', 'channels are stopped or frozen'),
      ...count(of('problem'), 'finding of the doctor is a problem', 'findings of the doctor are problems'),
      ...count(
        expiries.filter(({ tone }) => tone === 'poor').length,
        'key or certificate has ended',
        'keys or certificates have ended',
      ),
    ],
    warnings: [
      ...count(
        roles.filter((role) => !isDown(role) && isDegraded(role)).length,
        'role is degraded',
        'roles are degraded',
      ),
      ...count(
        late.length,
        'channel is stale, has gaps or quarantined messages',
        'channels are stale, have gaps or quarantined messages',
      ),
      ...count(of('warning'), 'warning of the doctor', 'warnings of the doctor'),
      ...count(
        expiries.filter(({ tone }) => tone === 'fair').length,
        'key or certificate ends within 30 days',
        'keys or certificates end within 30 days',
      ),
      ...faults,
    ],
  }
}

function renderOverview(report: SiteReport): Markup {
  const { roles, channels, peers, at } = report
  const { problems, warnings } = listComplaints(report)
  const running = roles.filter((role) => !isDown(role)).length
  const open = channels?.filter((channel) => channel.state === 'open' && !isAttentive(channel)).length ?? 0
  const quarantined = channels?.reduce((sum, { quarantined: held }) => sum + held, 0) ?? 0
  const [next] = listExpiries(report, Date.parse(at))
  const callout =
    problems.length > 0
      ? renderCallout('poor', 'The site needs attention now.', [...problems, ...warnings])
      : warnings.length > 0
        ? renderCallout('fair', 'The site works; look at these in time.', warnings)
        : renderCallout('good', 'The site is well.', ['Nothing that was read is wrong or ends soon.'])
  return html`${callout}${renderFigures([
    {
      name: 'roles ready',
      value: `${running} of ${roles.length}`,
      tone: running < roles.length ? 'poor' : 'good',
    },
    ...(channels
      ? [
          {
            name: 'channels in order',
            value: `${open} of ${channels.length}`,
            note: `${formatWhole(channels.reduce((sum, { backlog }) => sum + backlog, 0))} messages wait`,
            tone: open < channels.length ? ('fair' as const) : ('good' as const),
          },
          {
            name: 'in quarantine',
            value: formatWhole(quarantined),
            tone: quarantined > 0 ? ('fair' as const) : ('good' as const),
          },
        ]
      : []),
    ...(peers ? [{ name: 'peers', value: formatWhole(peers.length) }] : []),
    {
      name: 'next expiry',
      value: next === undefined ? '–' : next.seconds <= 0 ? 'ended' : formatSpan(next.seconds),
      note: next?.name,
      tone: next?.tone ?? 'good',
    },
  ])}`
}

const findingTones: Readonly<Record<string, ReportTone>> = { ok: 'good', warning: 'fair', problem: 'poor' }
const findingRanks: Readonly<Record<string, number>> = { problem: 0, warning: 1, ok: 2 }
const max_findings = 300

function renderFindings(findings: NonNullable<SiteReport['findings']>): Markup {
  const sorted = findings.toSorted((a, b) => (findingRanks[a.state] ?? 0) - (findingRanks[b.state] ?? 0))
  return renderTable({
    caption: 'Findings of platform doctor, the worst first',
    columns: ['check', 'state', 'finding', 'remedy'],
    rows: sorted
      .slice(0, max_findings)
      .map(({ check, state, detail, remedy }) => [
        ...[check, renderState(findingTones[state] ?? 'plain', state), detail, remedy],
      ]),
    total: findings.length,
  })
}

function toneOf(role: ReportedRole): ReportTone {
  if (isDown(role)) return 'poor'
  return isDegraded(role) ? 'fair' : 'good'
}

const max_dependencies = 300

function renderRoles(roles: SiteReport['roles']): Markup {
  const dependencies = roles.flatMap(({ role, dependencies: list }) => list.map((each) => ({ role, ...each })))
  const states = renderTable({
    caption: 'Roles of the profile',
    columns: ['role', 'state', 'version', 'listens'],
    rows: roles.map((role) => [
      role.role,
      renderState(toneOf(role), role.state),
      role.version === undefined ? '–' : String(role.version),
      role.listens?.join(', ') ?? '–',
    ]),
    empty: 'The profile runs no role.',
  })
  if (dependencies.length === 0) return states
  const slowest = dependencies.toSorted((a, b) => b.latency_ms - a.latency_ms)
  const latency = renderBarChart({
    title: 'Latency of dependencies',
    description: 'How long the last check of each dependency took, the slowest first.',
    measure: 'latency in ms',
    rows: slowest.slice(0, 15).map(({ role, name, latency_ms }) => ({
      name: `${role}: ${name}`,
      parts: [{ tone: 'c1', value: latency_ms }],
      text: `${Number(latency_ms.toFixed(1))} ms`,
    })),
    rowHeading: 'dependency',
  })
  const table = renderTable({
    caption: 'Dependencies',
    columns: ['role', 'dependency', 'state', { heading: 'latency', kind: 'number' }, 'detail'],
    rows: dependencies
      .slice(0, max_dependencies)
      .map(({ role, name, state, latency_ms, detail }) => [
        ...[role, name, renderState(state === 'ok' ? 'good' : state === 'degraded' ? 'fair' : 'poor', state)],
        ...[`${Number(latency_ms.toFixed(1))} ms`, detail],
      ]),
    total: dependencies.length,
  })
  return html`${states}${latency}${table}`
}

function renderSessions(sessions: NonNullable<SiteReport['sessions']>): Markup {
  return renderBarChart({
    title: 'Sessions by state',
    description: 'Sessions that the caller may see. Those in conflict wait for a person.',
    measure: 'sessions',
    rows: sessions.map(({ state, count }) => ({
      name: state,
      parts: [{ tone: state === 'IN_CONFLICT' ? 'c2' : 'c1', value: count }],
      text: formatWhole(count),
    })),
    rowHeading: 'state',
  })
}

// The report of dissents: one in detail, or all of a site with those in detail that are open.
import type { z } from 'zod'
import { narrateDissent } from '../../../roles/consensus/combine/narrative.ts'
import type { machineDissent } from '../../../roles/consensus/session/dissent/model.ts'
import type { ConsensusSession } from '../../../roles/consensus/session/model.ts'
import { renderPlot, shareTicks } from '../../../shared/report/chart/plot.ts'
import { formatFraction, formatTime } from '../../../shared/report/format-figures.ts'
import { html, type Markup } from '../../../shared/report/markup.ts'
import { type ReportSection, renderReportPage } from '../../../shared/report/page.ts'
import { renderCallout, renderFacts, renderFigures, renderTable } from '../../../shared/report/parts.ts'
import { formatMarking } from '../format-marking.ts'
import { renderConflict, renderScores, renderTrust, type SessionFigures } from '../session/session-charts.ts'
import { listOverviewSections, renderDissentOverview } from './dissent-overview.ts'

export type Dissent = z.output<typeof machineDissent>

export type DissentReport = {
  /** Instant of the report, RFC 3339. */
  readonly at: string
  /** The site or the URL that was read. */
  readonly source: string
  /** Newest first. */
  readonly dissents: readonly Dissent[]
  /** Those that the service has; more than were read are announced. */
  readonly total: number
  /** The session of the one dissent that was named. */
  readonly session?: Pick<ConsensusSession, 'history' | 'state'> | undefined
}

/** Those of an overview that are drawn: each has several charts. */
const max_detailed = 12

export function renderDissentReport(report: DissentReport): string {
  const { at, source, dissents, session } = report
  const origin = html`<p>Read from ${source} at ${formatTime(at)} UTC. A dissent is the state at the time that the session entered the conflict.</p>`
  const [only] = dissents
  if (session && only) {
    return renderReportPage({
      kind: 'Dissent',
      title: `Session ${only.session_id} in conflict`,
      lead: html`Dissent ${only.id} of ${formatTime(only.created_at)} UTC, lens ${only.lens_id}.`,
      marking: formatMarking(only.classification),
      overview: { heading: 'Verdict', content: renderVerdict(only) },
      sections: [...listDetails(only), { id: 'steps', heading: 'Steps of the session', content: renderSteps(session) }],
      origin,
    })
  }
  const open = dissents.filter(({ status }) => status === 'open').toSorted((a, b) => b.conflict - a.conflict)
  const detailed = open.slice(0, max_detailed)
  const details = detailed.map((dissent, number) => ({
    id: `dissent-${number + 1}`,
    heading: `Open dissent ${number + 1}: conflict ${formatFraction(dissent.conflict)}`,
    content: html`<p>Dissent ${dissent.id} of session <strong>${dissent.session_id}</strong>; ${formatMarking(dissent.classification)}.</p>${renderVerdict(dissent)}${listDetails(dissent, `d${number + 1}-`).map(({ content }) => content)}`,
  }))
  return renderReportPage({
    kind: 'Dissent',
    title: `Dissents of ${source}`,
    lead: html`Sessions whose contributors could not agree, as of ${formatTime(at)} UTC.`,
    marking: describeMarkings(dissents),
    overview: { heading: 'Verdict', content: renderDissentOverview(report, open.length) },
    sections: [...listOverviewSections(report, detailed.length), ...details],
    origin,
  })
}

const max_markings = 8

/** Every classification among the dissents: the page has to be treated as the highest of them. */
function describeMarkings(dissents: readonly Dissent[]): string | undefined {
  const markings = [...new Set(dissents.map(({ classification }) => formatMarking(classification)))].sort()
  if (markings.length === 0) return undefined
  const more = markings.length > max_markings ? ` and ${markings.length - max_markings} more` : ''
  return `Contains: ${markings.slice(0, max_markings).join(' · ')}${more}`
}

const reasonTexts = {
  conflict: 'The contributors disagree too much',
  inconclusive: 'The answers point nowhere clearly',
  total_conflict: 'The answers contradict each other completely',
} as const

function renderVerdict(dissent: Dissent): Markup {
  const { reason, score, conflict, thresholds, quorum, status, resolution, resolved_at, smallest_set } = dissent
  const end =
    status === 'open'
      ? 'It is open: nobody has decided.'
      : `It was resolved (${resolution ?? 'unknown'})${resolved_at === undefined ? '' : ` on ${formatTime(resolved_at)} UTC`}.`
  const { contributor_ids } = smallest_set
  return html`${renderCallout(status === 'open' ? 'poor' : 'good', `${reasonTexts[reason]}.`, [end])}${renderFigures([
    {
      name: 'conflict',
      value: formatFraction(conflict),
      note: `stops a session from ${formatFraction(thresholds.conflict_threshold)}`,
      tone: conflict >= thresholds.conflict_threshold ? 'poor' : 'good',
    },
    {
      name: 'combined score',
      value: formatFraction(score),
      note: `match from ${formatFraction(thresholds.ratify_threshold)}, non-match to ${formatFraction(1 - thresholds.ratify_threshold)}`,
    },
    { name: 'contributors', value: `${quorum.contributors} of ${quorum.n}`, note: `${quorum.m} needed` },
    {
      name: 'would have to change',
      value: contributor_ids === null ? '–' : String(contributor_ids.length),
      note: contributor_ids === null ? 'no group alone prevents it' : contributor_ids.slice(0, 5).join(', '),
    },
  ])}`
}

function readFigures(dissent: Dissent): SessionFigures {
  const { positions, thresholds } = dissent
  const opinions = positions.map(({ contributor_id, pair_score, weight }) => ({
    ...{ name: contributor_id, score: pair_score, weight },
  }))
  return { ...dissent, ...thresholds, opinions }
}

const max_positions = 300

function listDetails(dissent: Dissent, prefix = ''): ReportSection[] {
  const figures = readFigures(dissent)
  return [
    { id: `${prefix}explanation`, heading: 'Explanation', content: renderNarrative(dissent) },
    { id: `${prefix}score`, heading: 'Score and thresholds', content: renderScores(figures) },
    { id: `${prefix}trust`, heading: 'Trust', content: renderTrust(figures.opinions) },
    { id: `${prefix}conflict`, heading: 'Conflict', content: renderConflict(figures, dissent.influence) },
    { id: `${prefix}positions`, heading: 'Positions', content: renderPositions(dissent) },
  ]
}

/** The same words as `platform consensus dissent ID`. */
function renderNarrative(dissent: Dissent): Markup {
  const sections = narrateDissent(dissent, (name) => name).map(
    ({ title, prose, points }) =>
      html`<h3>${title}</h3>${prose.map((text) => html`<p>${text}</p>`)}${points.length > 0 ? html`<ul>${points.map((point) => html`<li>${point}</li>`)}</ul>` : undefined}`,
  )
  return html`${sections}`
}

function renderPositions({ positions, influence }: Dissent): Markup {
  const influences = new Map(influence.map((each) => [each.contributor_id, each]))
  const numbers = ['score', 'weight', 'from the combined', 'score without', 'conflict without']
  const leanings = { match: 'match', non_match: 'non-match', neutral: 'no side' }
  return renderTable({
    caption: 'Positions, lowest score first',
    columns: ['contributor', 'leaning', ...numbers.map((heading) => ({ heading, kind: 'number' as const }))],
    rows: positions.slice(0, max_positions).map(({ contributor_id, pair_score, weight, leaning, deviation }) => {
      const without = influences.get(contributor_id)
      return [
        ...[contributor_id, leanings[leaning], formatFraction(pair_score), formatFraction(weight)],
        deviation === null ? '–' : String(Number(deviation.toFixed(3))),
        ...[formatFraction(without?.score_without), formatFraction(without?.conflict_without)],
      ]
    }),
    total: positions.length,
  })
}

const max_steps = 200

/** How score and conflict moved with each step that was decided on. */
function renderSteps({ history, state }: Pick<ConsensusSession, 'history' | 'state'>): Markup {
  const steps = history.slice(-max_steps)
  const measured = steps.flatMap(({ seq, result }) => (result ? [{ seq, ...result }] : []))
  const [first, last] = [measured[0], measured.at(-1)]
  const plot =
    first && last && measured.length > 1
      ? renderPlot({
          title: 'Score and conflict by step',
          description: 'The combined score and the conflict after each step of the session that was decided on.',
          x: { label: 'number of the step', from: first.seq, to: last.seq },
          y: { label: 'score, conflict', to: 1, ticks: shareTicks },
          lines: [
            { name: 'score', colour: 1, points: measured.map(({ seq, score }) => [seq, score ?? 0]) },
            { name: 'conflict', colour: 2, points: measured.map(({ seq, conflict }) => [seq, conflict]) },
          ],
          marks: [],
        })
      : undefined
  const table = renderTable({
    caption: 'Changes of state',
    columns: [
      ...[{ heading: 'step', kind: 'number' as const }, 'at (UTC)', 'from', 'to', 'by', 'trigger'],
      ...['score', 'conflict'].map((heading) => ({ heading, kind: 'number' as const })),
    ],
    rows: steps.map(({ seq, at, from, to, by, trigger, result }) => [
      ...[seq, formatTime(at), from ?? '–', to, by, trigger],
      ...[formatFraction(result?.score), formatFraction(result?.conflict)],
    ]),
    total: history.length,
  })
  return html`${renderFacts([['State now', state]])}${plot}${table}`
}

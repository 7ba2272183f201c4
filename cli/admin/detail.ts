// Every field of one row, line by line, for the screen that the enter key opens.
import { escapeLine } from '../../daemon/kernel/text/escape-line.ts'
import type { ApiObject } from '../client/client.ts'
import { formatFigure, formatInstant, formatText, selectTone, type Tone } from './cells.ts'
import { wrapText } from './layout.ts'
import { buildRowCommand } from './pane-commands.ts'
import { formatContributors, formatScore } from './tables.ts'
import type { PaneName } from './view.ts'

export type DetailLine = { readonly label: string; readonly text: string; readonly tone?: Tone }

const label_width_chars = 16

/** Lines of the detail screen. `prose`: the explanation of the row, once loaded. `columns` of the terminal. */
export function buildDetail(
  pane: PaneName,
  item: ApiObject,
  prose: readonly string[] | undefined,
  columns: number,
): DetailLine[] {
  const lines = {
    roles: buildRoleDetail,
    sessions: buildSessionDetail,
    pipelines: buildPipelineDetail,
    channels: buildFieldDetail,
    denials: buildFieldDetail,
    guidance: buildFieldDetail,
    services: buildServiceDetail,
    tools: buildFieldDetail,
    quotas: buildQuotaDetail,
    decisions: buildFieldDetail,
  }[pane](item)
  const explanation = (prose ?? []).map((text, index): DetailLine => ({ label: index === 0 ? 'why' : '', text }))
  const text_width_chars = Math.max(20, columns - label_width_chars - 1)
  const command = { label: 'command', text: buildRowCommand(pane, item) }
  return [...lines, ...(prose ? [blankLine] : []), ...explanation, command].flatMap(({ label, text, ...tone }) =>
    // Escaped before it is wrapped, since an escape is longer than its character.
    wrapText(escapeLine(text), text_width_chars).map((line, index) => ({
      label: index === 0 ? label : '',
      text: line,
      ...tone,
    })),
  )
}

const blankLine: DetailLine = { label: '', text: '' }

const detailLine = (label: string, value: unknown): DetailLine[] =>
  value === undefined || value === null ? [] : [{ label, text: formatText(value) }]

const dependencyTones: Readonly<Record<string, Tone>> = { ok: 'good', degraded: 'warn' }

function buildRoleDetail({ name, state, version, url, fault, dependencies = [] }: ApiObject): DetailLine[] {
  const dependencyLines = (dependencies as readonly ApiObject[]).map(
    ({ name: dependency, state: condition, detail, latency_ms }): DetailLine => ({
      label: `needs ${dependency}`,
      text: `${condition}, ${latency_ms} ms${detail ? `: ${detail}` : ''}`,
      tone: dependencyTones[String(condition)] ?? 'bad',
    }),
  )
  return [
    ...detailLine('role', name),
    { label: 'state', text: formatText(state), tone: selectTone(String(state)) },
    ...detailLine('fault', fault),
    ...detailLine('version', version),
    ...detailLine('url', url),
    ...dependencyLines,
  ]
}

function buildSessionDetail(session: ApiObject): DetailLine[] {
  const { state, classification, subject, result, invited, origin, attestation } = session
  const { kind, left, right } = (subject ?? {}) as ApiObject
  const { method, conflict } = (result ?? {}) as ApiObject
  const { level } = (classification ?? {}) as ApiObject
  const attestationFields = attestation as ApiObject | undefined
  return [
    ...detailLine('session', session.id),
    { label: 'state', text: formatText(state), tone: selectTone(String(state)) },
    ...detailLine('outcome', session.decision ?? session.reason),
    ...detailLine('score', formatScore(session)),
    ...detailLine('conflict', formatFigure(conflict)),
    ...detailLine('method', method),
    ...detailLine('heard', `${formatContributors(session)}, ${session.contributions} contributions`),
    ...detailLine('undelivered', session.undelivered),
    ...detailLine('subject', subject && `${kind}: ${left} and ${right}`),
    ...detailLine('lens', `${session.lens_id} ${session.lens_version}`),
    ...detailLine('classification', level),
    ...detailLine('invited', (invited as readonly string[] | undefined)?.join(', ') || undefined),
    ...detailLine('lives at', (origin as ApiObject | undefined)?.peer),
    ...detailLine('evidence', session.evidence_block_id),
    ...detailLine('open dissent', session.open_dissent_id),
    ...detailLine(
      'attested',
      attestationFields && `${attestationFields.decision} by ${attestationFields.by}: ${attestationFields.rationale}`,
    ),
    ...detailLine('created', `${formatInstant(session.created_at)} by ${session.created_by}`),
    blankLine,
    ...buildHistory(session),
  ]
}

function buildPipelineDetail(pipeline: ApiObject): DetailLine[] {
  const { status, fault, last_run, classification, schedule, next_scheduled_run, landing_zone } = pipeline
  const { reason, path, line } = (fault ?? {}) as ApiObject
  const place = path ?? (line === undefined ? undefined : `line ${line}`)
  const run = (last_run ?? {}) as ApiObject
  return [
    ...detailLine('pipeline', pipeline.dag_id),
    { label: 'state', text: formatText(status), tone: selectTone(String(status)) },
    ...detailLine('fault', reason && (place === undefined ? reason : `${place}: ${reason}`)),
    ...detailLine('last run', run.dag_run_id),
    ...(run.state === undefined
      ? []
      : [{ label: 'ended as', text: formatText(run.state), tone: selectTone(String(run.state)) }]),
    ...detailLine('started', run.start_date && formatInstant(run.start_date)),
    ...detailLine('ended', run.end_date && formatInstant(run.end_date)),
    ...detailLine('reason', run.reason),
    ...detailLine('schedule', schedule),
    ...detailLine('next run', next_scheduled_run && formatInstant(next_scheduled_run)),
    ...detailLine('landing zone', landing_zone),
    ...detailLine('classification', (classification as ApiObject | undefined)?.level),
    ...detailLine('uid', pipeline.uid),
    ...detailLine('created', `${formatInstant(pipeline.create_ts)} by ${pipeline.created_by}`),
  ]
}

function buildHistory({ history: steps = [] }: ApiObject): DetailLine[] {
  return (steps as readonly ApiObject[]).map(({ at, from, to, trigger, by, reason, decision }, index) => ({
    label: index === 0 ? 'history' : '',
    text: `${formatInstant(at)}  ${from ? `${from} → ` : ''}${to}${formatReason(reason ?? decision)}  ${trigger} by ${by}`,
    tone: selectTone(String(to)),
  }))
}

function formatReason(reason: unknown): string {
  return reason === undefined ? '' : ` (${reason})`
}

function buildServiceDetail({ tools, ...service }: ApiObject): DetailLine[] {
  const { accepted, offered, list, trouble, breaker } = (tools ?? {}) as ApiObject
  return [
    ...buildFieldDetail(service),
    ...(tools === undefined
      ? []
      : [{ label: 'offered', text: `${offered} of ${accepted} accepted tools and resources` }]),
    ...detailLine('list of tools', list),
    ...detailLine('trouble', trouble),
    ...detailLine('breaker', breaker),
  ]
}

function buildQuotaDetail({ quotas, ...usage }: ApiObject): DetailLine[] {
  const lines = (quotas as readonly ApiObject[]).map(({ guardrail, used, limit, window_s, left, resets_at }) => ({
    label: 'quota',
    text: `${guardrail}: ${used} of ${limit} calls in ${window_s} s, ${left} left${resets_at ? ` until ${formatInstant(resets_at)}` : ''}`,
    ...(left === 0 ? { tone: 'bad' as const } : {}),
  }))
  return [...buildFieldDetail(usage), ...lines]
}

/** One line for each field, in the order of the service. */
function buildFieldDetail(item: ApiObject): DetailLine[] {
  return Object.entries(item).flatMap(([name, value]) => {
    const label = name.replaceAll('_', ' ')
    return name === 'state'
      ? [{ label, text: formatText(value), tone: selectTone(String(value)) }]
      : detailLine(label, value)
  })
}

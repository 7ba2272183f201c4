// All that is known of one row, line by line, for the screen that enter opens.
import type { Answered } from '../client/client.ts'
import { wrapped } from './layout.ts'
import { figure, heardOf, instant, outcomeOf, type Tone, textOf, toneOf } from './tables.ts'
import type { Pane } from './view.ts'

export type DetailLine = { readonly label: string; readonly text: string; readonly tone?: Tone }

const labelWidth = 16

/** `prose`: the explanation of a session's dissent, once it is there. `columns` of the terminal. */
export function detailOf(pane: Pane, item: Answered, prose: string | undefined, columns: number): DetailLine[] {
  const lines = { roles: ofRole, sessions: ofSession, channels: byName, denials: byName }[pane](item)
  const explained =
    prose === undefined
      ? []
      : [
          { label: '', text: '' },
          { label: 'why', text: prose },
        ]
  const room = Math.max(20, columns - labelWidth - 1)
  return [...lines, ...explained].flatMap(({ label, text, ...tone }) =>
    wrapped(text, room).map((part, at) => ({ label: at === 0 ? label : '', text: part, ...tone })),
  )
}

const line = (label: string, value: unknown): DetailLine[] =>
  value === undefined || value === null ? [] : [{ label, text: textOf(value) }]

function ofRole({ name, state, version, url, fault, dependencies = [] }: Answered): DetailLine[] {
  const needs = (dependencies as readonly Answered[]).map(
    ({ name: needed, ok, detail, latency_ms }): DetailLine => ({
      label: `needs ${needed}`,
      text: `${ok ? 'ok' : 'broken'}, ${latency_ms} ms${detail ? `: ${detail}` : ''}`,
      tone: ok ? 'good' : 'bad',
    }),
  )
  return [
    ...line('role', name),
    { label: 'state', text: textOf(state), tone: toneOf(String(state)) },
    ...line('fault', fault),
    ...line('version', version),
    ...line('url', url),
    ...needs,
  ]
}

function ofSession(session: Answered): DetailLine[] {
  const { state, classification, subject, result, invited, origin, attestation } = session
  const { kind, left, right } = (subject ?? {}) as Answered
  const { method, conflict } = (result ?? {}) as Answered
  const { level } = (classification ?? {}) as Answered
  const attested = attestation as Answered | undefined
  return [
    ...line('session', session.id),
    { label: 'state', text: textOf(state), tone: toneOf(String(state)) },
    ...line('outcome', outcomeOf(session)),
    ...line('conflict', figure(conflict)),
    ...line('method', method),
    ...line('heard', `${heardOf(session)}, ${session.contributions} contributions`),
    ...line('undelivered', session.undelivered),
    ...line('subject', subject && `${kind}: ${left} and ${right}`),
    ...line('lens', `${session.lens_id} ${session.lens_version}`),
    ...line('classification', level),
    ...line('invited', (invited as readonly string[] | undefined)?.join(', ') || undefined),
    ...line('lives at', (origin as Answered | undefined)?.peer),
    ...line('evidence', session.evidence_block_id),
    ...line('open dissent', session.open_dissent_id),
    ...line('attested', attested && `${attested.decision} by ${attested.by}: ${attested.rationale}`),
    ...line('created', `${instant(session.created_at)} by ${session.created_by}`),
    { label: '', text: '' },
    ...history(session),
  ]
}

function history({ history: steps = [] }: Answered): DetailLine[] {
  return (steps as readonly Answered[]).map(({ at, from, to, trigger, by, reason, decision }, place) => ({
    label: place === 0 ? 'history' : '',
    text: `${instant(at)}  ${from ? `${from} → ` : ''}${to}${why(reason ?? decision)}  ${trigger} by ${by}`,
    tone: toneOf(String(to)),
  }))
}

function why(given: unknown): string {
  return given === undefined ? '' : ` (${given})`
}

/** Of what is told as it is. */
function byName(item: Answered): DetailLine[] {
  return Object.entries(item).flatMap(([name, value]) => {
    const label = name.replaceAll('_', ' ')
    return name === 'state' ? [{ label, text: textOf(value), tone: toneOf(String(value)) }] : line(label, value)
  })
}

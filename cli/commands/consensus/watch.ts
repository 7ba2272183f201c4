// Follows a session, event by event, until a state is reached or the service ends the stream.
import type { ServerEvent } from '../../../daemon/kernel/operation.ts'
import { refusedOf } from '../../../daemon/kernel/problem.ts'
import { command, Failure } from '../../command.ts'
import { paint, printable, type Row } from '../../output.ts'
import { choice, needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import type { Terminal } from '../../terminal.ts'

export const definition = command({
  words: 'consensus watch',
  summary: 'follow a session’s changes of state, contributions and results',
  notes:
    'Starts with the session’s first event, then waits for more; `--json` prints one JSON line for each: {id, event, data}.',
  takes: { id: needed(text('SESSION', 'the session’s id')) },
  options: {
    until: choice('STATE', 'end once this state is reached', ['RATIFIED', 'IN_CONFLICT', 'WITHDRAWN']),
    after: text('EVENT', 'only what follows the event with this number'),
    ...serviceOptions,
  },
  example: 'platform consensus watch ses_… --until RATIFIED',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const extras = given.after === undefined ? {} : { last_event_id: given.after }
    for await (const event of api.stream('consensus.session.events', { id: given.id }, extras)) {
      // The stream's last word when the service failed: it has no number, and nothing follows it.
      if (event.event === 'problem') throw refusedOf(event.data, 500)
      terminal.print(given.json ? printable(JSON.stringify(event)) : lineOf(event, terminal))
      if (given.until !== undefined && reachedIn(event) === given.until) return 0
    }
    if (given.until === undefined) return 0
    throw new Failure(
      1,
      `the stream ended before the session was ${given.until}`,
      'repeat with --after and the last number',
    )
  },
})

/** A decision is reached with its result, which follows its change of state. */
function reachedIn({ event, data }: ServerEvent): unknown {
  const { to, state } = data as Row
  if (event === 'result') return state
  return event === 'state' && to === 'WITHDRAWN' ? to : undefined
}

const wording: Readonly<Record<string, (data: Row, terminal: Terminal) => string>> = {
  state({ at, from, to, trigger, by, reason, decision }, terminal) {
    const change = `${from ? `${from} → ` : ''}${coloured(terminal, to)}`
    return `${at}  ${change}${inBrackets(reason ?? decision)}  ${trigger} by ${by}`
  },
  contribution({ at, contributor_id, pair_score, accuracy, credibility, submitted_by }) {
    return `${at}  ${contributor_id} scores ${pair_score} (accuracy ${accuracy}, credibility ${credibility})  by ${submitted_by}`
  },
  result({ state, reason, decision, result }, terminal) {
    const { score, conflict } = (result ?? {}) as Row
    const numbers = [numbered('score', score), numbered('conflict', conflict)].filter((part) => part !== undefined)
    return `${coloured(terminal, state)}${inBrackets(reason ?? decision)}  ${numbers.join(', ') || 'without a result'}`
  },
}

/** Kinds of events that a later service may add are told by their name alone. */
function lineOf({ id, event, data }: ServerEvent, terminal: Terminal): string {
  const words = Object.hasOwn(wording, event) && wording[event]?.(harmless(data as Row), terminal)
  return `${printable(id).padStart(3)}  ${words || printable(event)}`
}

/** Names and reasons are what others typed; each is a part of one line. */
function harmless(data: Row): Row {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === 'string' ? printable(value).replaceAll('\n', '\\n') : value,
    ]),
  )
}

function coloured(terminal: Terminal, state: unknown): string {
  return paint(terminal, state === 'RATIFIED' ? 'green' : state === 'IN_CONFLICT' ? 'red' : 'yellow', String(state))
}

function inBrackets(why: unknown): string {
  return why === undefined ? '' : ` (${why})`
}

function numbered(name: string, value: unknown): string | undefined {
  return typeof value === 'number' ? `${name} ${value.toFixed(4)}` : undefined
}

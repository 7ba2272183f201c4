// Follows a session, event by event, until it reaches a state or the service ends the stream.

import type { ServerEvent } from '../../../daemon/kernel/operation/operation.ts'
import { followEvents } from '../../client/follow-events.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, required, text } from '../../program/params.ts'
import { colourText, type OutputRow } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'consensus watch',
  summary: 'Follow the state changes, contributions and results of a session',
  notes: [
    'Starts with the first event of the session, then waits for more. With --json, prints one JSON line for each:',
    '{id, event, data}.',
  ].join('\n'),
  positionals: { id: required(text('SESSION', 'Id of the session')) },
  options: {
    until: choice('STATE', 'End when the session reaches this state', ['RATIFIED', 'IN_CONFLICT', 'WITHDRAWN']),
    after: text('EVENT', 'Only events after the one with this number'),
    ...serviceOptions,
  },
  example: 'platform consensus watch ses_… --until RATIFIED',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    for await (const event of followEvents(api, 'consensus.session.events', { id: params.id }, params.after)) {
      terminal.print(params.json ? JSON.stringify(event) : formatEvent(event, terminal))
      if (params.until !== undefined && readReachedState(event) === params.until) return 0
    }
    if (params.until === undefined) return 0
    throw new CommandFailure(
      1,
      `the stream ended before the session was ${params.until}`,
      'run it again with --after and the number of the last event',
    )
  },
})

/** A decision is reached with its result, which follows its change of state. */
function readReachedState({ event, data }: ServerEvent): unknown {
  const { to, state } = data as OutputRow
  if (event === 'result') return state
  return event === 'state' && to === 'WITHDRAWN' ? to : undefined
}

const eventFormatters: Readonly<Record<string, (data: OutputRow, terminal: Terminal) => string>> = {
  state({ at, from, to, trigger, by, reason, decision }, terminal) {
    const change = `${from ? `${from} → ` : ''}${colourState(terminal, to)}`
    return `${at}  ${change}${formatReason(reason ?? decision)}  ${trigger} by ${by}`
  },
  contribution({ at, contributor_id, pair_score, accuracy, credibility, submitted_by }) {
    return `${at}  ${contributor_id} scores ${pair_score} (accuracy ${accuracy}, credibility ${credibility})  by ${submitted_by}`
  },
  result({ state, reason, decision, result }, terminal) {
    const { score, conflict } = (result ?? {}) as OutputRow
    const numbers = [formatMeasure('score', score), formatMeasure('conflict', conflict)].filter(
      (part) => part !== undefined,
    )
    return `${colourState(terminal, state)}${formatReason(reason ?? decision)}  ${numbers.join(', ') || 'without a result'}`
  },
}

/** One line for an event; an unknown kind, from a later service, shows only its name. */
function formatEvent({ id, event, data }: ServerEvent, terminal: Terminal): string {
  const description = Object.hasOwn(eventFormatters, event) && eventFormatters[event]?.(data as OutputRow, terminal)
  return `${(id ?? '').padStart(3)}  ${description || event}`
}

function colourState(terminal: Terminal, state: unknown): string {
  return colourText(
    terminal,
    state === 'RATIFIED' ? 'green' : state === 'IN_CONFLICT' ? 'red' : 'yellow',
    String(state),
  )
}

function formatReason(reason: unknown): string {
  return reason === undefined ? '' : ` (${reason})`
}

function formatMeasure(name: string, value: unknown): string | undefined {
  return typeof value === 'number' ? `${name} ${value.toFixed(4)}` : undefined
}

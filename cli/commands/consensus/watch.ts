// Follows a session's changes of state until a state is reached or the service ends the stream.
import type { ServerEvent } from '../../../daemon/kernel/operation.ts'
import { command, Failure } from '../../command.ts'
import { paint, printable, type Row } from '../../output.ts'
import { choice, needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import type { Terminal } from '../../terminal.ts'

export const definition = command({
  words: 'consensus watch',
  summary: 'follow a session’s changes of state',
  notes: 'Starts with the session’s first state, then waits for more; `--json` prints one JSON line for each.',
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
      terminal.print(given.json ? printable(JSON.stringify(event.data)) : lineOf(terminal, event))
      if (given.until !== undefined && (event.data as Row).to === given.until) return 0
    }
    if (given.until === undefined) return 0
    throw new Failure(
      1,
      `the stream ended before the session was ${given.until}`,
      'repeat with --after and the last number',
    )
  },
})

function lineOf(terminal: Terminal, { id, data }: ServerEvent): string {
  const { at, from, to, trigger, by, reason, decision, result } = data as Row
  const colour = to === 'RATIFIED' ? 'green' : to === 'IN_CONFLICT' ? 'red' : 'yellow'
  const why = [reason, decision, scoreOf(result as Row | undefined)].filter((part) => part !== undefined).join(', ')
  const change = `${from ? `${from} → ` : ''}${paint(terminal, colour, String(to))}`
  return `${id.padStart(3)}  ${at}  ${change}${why ? ` (${why})` : ''}  ${trigger} by ${printable(String(by))}`
}

function scoreOf(result: Row | undefined): string | undefined {
  return typeof result?.score === 'number' ? `score ${result.score.toFixed(4)}` : undefined
}

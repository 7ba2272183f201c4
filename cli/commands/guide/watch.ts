// Follows the changes of artifacts and the pauses of the curator, one line for each.
import { followEvents } from '../../client/follow-events.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { text } from '../../program/params.ts'
import type { OutputRow } from '../../terminal/output.ts'

export const definition = command({
  words: 'guide watch',
  summary: 'Follow the changes of artifacts and the pauses of the curator',
  notes: [
    'Starts with the next change. With --json, prints one JSON line for each: {id, event, data}; the first, "begin", has an',
    'id to resume from alone.',
  ].join('\n'),
  options: {
    scope: text('SCOPE', 'Only artifacts for this scope: l1, l2, l3 or l3:<service>'),
    after: text('EVENT', 'Only changes after the one with this id'),
    ...serviceOptions,
  },
  example: 'platform guide watch --scope l3:maps',
  async run({ scope, after, ...params }, terminal) {
    const api = await connectService(params, terminal)
    for await (const event of followEvents(api, 'gateway.guide.guidance.stream', { scope }, after)) {
      if (params.json) terminal.print(JSON.stringify(event))
      else if (event.event === 'commit') terminal.print(formatCommit(event.data as OutputRow))
    }
    return 0
  },
})

function formatCommit({ at, action, artifact_type, artifact_id, actor, rationale }: OutputRow): string {
  const object = artifact_id === undefined ? '' : ` ${artifact_type} ${artifact_id}`
  return `${at}  ${action}${object} by ${actor}: ${rationale}`
}

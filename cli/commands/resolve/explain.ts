// Explains the score of a match field by field, as text or JSON.
import { command } from '../../command.ts'
import { printable, show } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve explain',
  summary: 'explain the score of a match, field by field',
  takes: { match: needed(text('MATCH', 'the match’s id')) },
  options: serviceOptions,
  example: 'platform resolve explain match_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const told = await api.call('resolution.entity-match.explain', {
      correlation_id: given.match,
      columns: Math.max(40, Math.min(1_000, terminal.width)),
    })
    show(terminal, given.json, told, () => printable(String(told.text)).trimEnd())
    return 0
  },
})

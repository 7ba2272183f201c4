// Explains the score of a match of the service, field by field.
import { command } from '../../command.ts'
import { printable, show } from '../../output.ts'
import { writeOutputFile } from '../../output-file.ts'
import { needed, text } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve explain',
  summary: 'explain the score of a match of the service, field by field',
  takes: { id: needed(text('MATCH', 'the match’s id')) },
  options: { svg: text('FILE', 'draw it into a new file as well'), ...serviceOptions },
  example: 'platform resolve explain match_… --svg match.svg',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const input = { correlation_id: given.id }
    const explained = await api.call('resolution.entity-match.explain', input)
    if (given.svg) {
      writeOutputFile(given.svg, await api.text('resolution.entity-match.explain', input, 'image/svg+xml'))
    }
    show(terminal, given.json, explained, () => printable(String(explained.text).trimEnd()))
    return 0
  },
})

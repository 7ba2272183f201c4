// Explains the score of a match field by field, as text or JSON.

import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { keepLayout, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve explain',
  summary: 'Explain the score of a match, field by field',
  positionals: { match: required(text('MATCH', 'Id of the match')) },
  options: serviceOptions,
  example: 'platform resolve explain match_…',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const explanation = await api.call('resolution.entity-match.explain', {
      correlation_id: params.match,
      columns: Math.max(40, Math.min(1_000, terminal.width)),
    })
    printResult(terminal, params.json, explanation, () => keepLayout(String(explanation.text).trimEnd()))
    return 0
  },
})

// Shows the guidance that a scope gets now.
import type { ApiObject } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { text, withDefault } from '../../program/params.ts'
import { formatTable, line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'guide preview',
  summary: 'Show the guidance that a scope gets now, without attaching it',
  notes: [
    'Scopes: l1 (front end), l2 (chat model of the gateway), l3:<service> (an agent). What is shown is for a caller with the',
    'rights of this one.',
  ].join('\n'),
  options: {
    scope: withDefault('l1', text('SCOPE', 'Scope of the guidance')),
    intent: text('WORDS', 'Only what is for this class of intents, or for words of one'),
    ...serviceOptions,
  },
  example: 'platform guide preview --scope l3:maps',
  async run({ scope, intent, ...params }, terminal) {
    const api = await connectService(params, terminal)
    const preview = await api.call('gateway.guide.guidance.preview', { scope, intent })
    printResult(terminal, params.json, preview, () => {
      const { artifacts = [], rationale_summary } = (preview.guide_guidance ?? {}) as ApiObject
      const rows = artifacts as readonly ApiObject[]
      const columns = ['id', 'type', 'version', 'rationale', 'content']
      const table = formatTable(terminal, rows, columns, `nothing is attached for ${scope}`)
      return rows.length === 0 ? table : [table, '', String(rationale_summary)].join(line_break)
    })
    return 0
  },
})

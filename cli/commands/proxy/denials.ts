// Shows the requests that the running proxy denied most often.

import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, withDefault } from '../../program/params.ts'
import { formatFields, formatTable, type OutputRow, paragraph_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'proxy denials',
  summary: 'Show the most frequent denials since the proxy started',
  options: { limit: withDefault(20, integer('COUNT', 'Maximum number of results', 1, 256)), ...serviceOptions },
  example: 'platform proxy denials --limit 10',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const denials = await api.call('proxy.denial.list', { limit: params.limit })
    const columns = ['count', 'reason', 'method', 'path', 'last_at', 'last_source']
    printResult(terminal, params.json, denials, () =>
      [
        formatFields(terminal, { since: denials.since, denied: denials.total }),
        formatTable(terminal, denials.items as OutputRow[], columns, 'no denied requests'),
      ].join(paragraph_break),
    )
    return 0
  },
})

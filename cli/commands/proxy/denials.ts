// Shows the requests that the running proxy denied most often.

import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, withDefault } from '../../program/params.ts'
import { formatFields, formatTable, type OutputRow, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'proxy denials',
  summary: 'Show the most frequent denials since the proxy started',
  options: { limit: withDefault(20, integer('COUNT', 'Maximum number of results', 1, 256)), ...serviceOptions },
  example: 'platform proxy denials --limit 10',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const found = await api.call('proxy.denial.list', { limit: given.limit })
    const columns = ['count', 'reason', 'method', 'path', 'last_at', 'last_source']
    printResult(terminal, given.json, found, () =>
      [
        formatFields(terminal, { since: found.since, denied: found.total }),
        formatTable(terminal, found.items as OutputRow[], columns, 'nothing was denied'),
      ].join('\n\n'),
    )
    return 0
  },
})

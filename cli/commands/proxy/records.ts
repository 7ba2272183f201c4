// Lists the audit records of public requests.
import { listAllItems } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, integer, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'proxy records',
  summary: 'List audit records of public requests, newest first',
  options: {
    verdict: choice('VERDICT', 'Only records with this verdict', ['allow', 'denied', 'method_not_allowed']),
    source: text('ADDRESS', 'Only requests of this client'),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 1_000_000)),
    ...serviceOptions,
  },
  example: 'platform proxy records --verdict denied',
  async run(params, terminal) {
    const { verdict, source, limit } = params
    const api = await connectService(params, terminal)
    const items = await listAllItems(api, 'proxy.record.list', { verdict, source }, limit)
    const columns = ['at', 'source', 'method', 'path', 'verdict', 'reason', 'status', 'upstream_status']
    printResult(terminal, params.json, { items }, () => formatTable(terminal, items, columns, 'no records match'))
    return 0
  },
})

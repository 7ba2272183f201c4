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
  async run(given, terminal) {
    const { verdict, source, limit } = given
    const api = await connectService(given, terminal)
    const items = await listAllItems(api, 'proxy.record.list', { verdict, source }, limit)
    const columns = ['at', 'source', 'method', 'path', 'verdict', 'reason', 'status', 'upstream_status']
    printResult(terminal, given.json, { items }, () => formatTable(terminal, items, columns, 'there are no requests'))
    return 0
  },
})

// Lists the audit records of public requests.
import { listAllItems } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, instant, integer, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'proxy records',
  summary: 'List audit records of public requests, newest first',
  options: {
    verdict: choice('VERDICT', 'Only records with this verdict; not_allow is every one but allow', [
      ...['allow', 'denied', 'method_not_allowed', 'not_allow'],
    ]),
    status: integer('STATUS', 'Only responses with this status', 0, 599),
    rule: text('RULE', 'Only requests by this rule of the allowlist, such as "GET /api/v1/report"'),
    source: text('ADDRESS', 'Only requests of this client'),
    since: instant('TIME', 'Only records at or after this time'),
    until: instant('TIME', 'Only records before this time'),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 1_000_000)),
    ...serviceOptions,
  },
  example: 'platform proxy records --verdict not_allow --status 404 --since 2026-05-01',
  async run(params, terminal) {
    const { verdict, status, rule, source, since, until, limit } = params
    const filter = { verdict, status, rule, source, since, until }
    const api = await connectService(params, terminal)
    const items = await listAllItems(api, 'proxy.record.list', filter, limit)
    const columns = ['at', 'source', 'method', 'path', 'verdict', 'reason', 'status', 'upstream_status', 'rule']
    printResult(terminal, params.json, { items }, () => formatTable(terminal, items, columns, 'no records match'))
    return 0
  },
})

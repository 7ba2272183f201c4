// Lists the audit records of public requests.
import { listed } from '../../client/client.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { choice, otherwise, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'proxy records',
  summary: 'list the audit records of public requests, newest first',
  options: {
    verdict: choice('VERDICT', 'only these', ['allow', 'denied', 'method_not_allowed']),
    source: text('ADDRESS', 'only requests of this caller'),
    limit: otherwise(50, whole('COUNT', 'at most so many', 1, 1_000_000)),
    ...serviceOptions,
  },
  example: 'platform proxy records --verdict denied',
  async run(given, terminal) {
    const { verdict, source, limit } = given
    const api = await service(given, terminal)
    const items = await listed(api, 'proxy.record.list', { verdict, source }, limit)
    const columns = ['at', 'source', 'method', 'path', 'verdict', 'reason', 'status', 'upstream_status']
    show(terminal, given.json, { items }, () => table(terminal, items, columns, 'no request has come'))
    return 0
  },
})

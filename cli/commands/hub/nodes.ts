// Lists the nodes of the coalition that this site's hub serves.
import { listed } from '../../client/client.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { otherwise, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'hub nodes',
  summary: 'list the nodes of the coalition, by name, with those that are lost',
  options: { limit: otherwise(50, whole('COUNT', 'at most so many', 1, 100_000)), ...serviceOptions },
  example: 'platform hub nodes --json',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const items = await listed(api, 'hub.node.list', {}, given.limit)
    const columns = ['id', 'state', 'heard_at', 'site', 'node_tenant_id', 'description']
    show(terminal, given.json, { items }, () => table(terminal, items, columns, 'no node has registered'))
    return 0
  },
})

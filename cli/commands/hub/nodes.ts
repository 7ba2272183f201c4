// Lists the nodes of the coalition that this site's hub serves.
import { listAllItems } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'hub nodes',
  summary: 'List the nodes of the coalition, by name, including lost ones',
  options: { limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)), ...serviceOptions },
  example: 'platform hub nodes --json',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items = await listAllItems(api, 'hub.node.list', {}, params.limit)
    const columns = ['id', 'state', 'heard_at', 'site', 'node_tenant_id', 'description']
    printResult(terminal, params.json, { items }, () => formatTable(terminal, items, columns, 'no node has registered'))
    return 0
  },
})

// Lists the decision graphs.
import type { ApiObject } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { formatTable } from '../../terminal/output.ts'
import { printWholeList } from '../../terminal/print-items.ts'

export const definition = command({
  words: 'guide graphs',
  summary: 'List the decision graphs with their sizes and newest snapshots',
  options: serviceOptions,
  example: 'platform guide graphs',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items = (await api.call('gateway.guide.graph.list', {})).items as readonly ApiObject[]
    const rows = items.map(({ snapshots, ...graph }) => {
      const [newest] = snapshots as readonly ApiObject[]
      return { ...graph, snapshot: newest?.snapshot_id, taken_at: newest?.taken_at }
    })
    const columns = ['graph_id', 'nodes', 'edges', 'snapshot', 'taken_at']
    printWholeList(terminal, params.json, items, () => formatTable(terminal, rows, columns, 'there are no graphs'))
    return 0
  },
})

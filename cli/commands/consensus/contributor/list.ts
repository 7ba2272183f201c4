// Lists who may contribute, from the profile and as changed since.
import { listAllItems } from '../../../client/client.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { integer, withDefault } from '../../../program/params.ts'
import { formatTable, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'consensus contributor list',
  summary: 'List who may contribute',
  options: { limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)), ...serviceOptions },
  example: 'platform consensus contributor list',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items = await listAllItems(api, 'consensus.contributor.list', {}, params.limit)
    const columns = ['name', 'signer_keys', 'spoken_for_by', 'origin', 'changed_by', 'changed_at']
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, items, columns, 'nobody is enrolled: platform consensus contributor set NAME --keys ID'),
    )
    return 0
  },
})

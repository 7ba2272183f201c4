// Lists runs of the service, newest first.
import { listAllItems } from '../../client/client.ts'
import { listChoices } from '../../client/operations.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, integer, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve runs',
  summary: 'List runs of the service, newest first',
  options: {
    state: choice('STATE', 'Only those in this state', listChoices('resolution.fusion-run.list', 'state')),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform resolve runs --state failed',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const input = { summary: true, state: params.state }
    const items = await listAllItems(api, 'resolution.fusion-run.list', input, params.limit)
    const columns = ['uid', 'state', 'lens', 'lens_version', 'created_at']
    printResult(terminal, params.json, { items }, () => formatTable(terminal, items, columns, 'no runs match'))
    return 0
  },
})

// Lists the configured sources of signals with their counts and last error.
import * as z from 'zod'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { formatTable, printResult } from '../../../terminal/output.ts'

const sourceError = z.object({ at: z.string(), code: z.string(), detail: z.string() })
const sourceListResponse = z.object({
  items: z.array(z.looseObject({ last_success_at: z.string().optional(), last_error: sourceError.optional() })),
})

export const definition = command({
  words: 'signal source list',
  summary: 'List the configured sources of signals with counts and last error',
  options: { ...serviceOptions },
  example: 'platform signal source list',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const { items } = sourceListResponse.parse(await api.call('intelligence.signal-source.list', {}))
    const rows = items.map(({ last_error, last_success_at: last_success, ...source }) => ({
      ...source,
      last_success,
      last_error: last_error && `${last_error.at} ${last_error.code}: ${last_error.detail}`,
    }))
    const columns = ['name', 'kind', 'taken', 'repeated', 'refused', 'failed', 'last_success', 'last_error']
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, rows, columns, 'The profile configures no sources'),
    )
    return 0
  },
})

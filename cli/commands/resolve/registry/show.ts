// Shows the registries in which the service looks records up, and their age.

import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { formatTable, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve registry show',
  summary: 'Show the registries used for lookups, and their age',
  options: serviceOptions,
  example: 'platform resolve registry show',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const registry = await api.call('resolution.registry.get', {})
    const { matching_pattern, snapshots } = registry as {
      matching_pattern: string
      snapshots: Record<string, unknown>[]
    }
    const emptyText = matching_pattern === 'full_lens' ? 'the registry of its own runs' : 'no snapshot was imported'
    const columns = ['lens', 'lens_version', 'from', 'version', 'made_at', 'age_s', 'records', 'entities']
    printResult(terminal, params.json, registry, () => formatTable(terminal, snapshots, columns, emptyText))
    return 0
  },
})

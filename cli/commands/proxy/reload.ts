// Makes the running proxy read its profile again.

import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'proxy reload',
  summary: 'Reload the allowlist, limits and TLS certificate of the running proxy',
  notes: [
    'No request is dropped. A profile with a fault, or a certificate that has expired or does not match its key,',
    'is refused as a whole, and nothing changes. SIGHUP does the same.',
  ].join('\n'),
  options: { ...serviceOptions },
  example: 'platform proxy reload',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const result = await api.call('proxy.allowlist.reload', {})
    const { applied, needs_restart, rules } = result as { applied: string[]; needs_restart: string[]; rules: number }
    printResult(terminal, params.json, result, () =>
      formatFields(terminal, {
        rules,
        applied: applied.length > 0 ? applied : 'nothing has changed',
        ...(needs_restart.length > 0 ? { needs_restart } : {}),
      }),
    )
    return 0
  },
})

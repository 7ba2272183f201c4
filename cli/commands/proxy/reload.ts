// Has the running door read its profile again.

import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'proxy reload',
  summary: 'have the running door go by allowlist, limits and TLS certificate as they are now',
  notes:
    'No request is dropped. A profile with a fault, or a certificate that is not of its key or has ended, is refused as a whole, and nothing changes. SIGHUP does the same.',
  options: { ...serviceOptions },
  example: 'platform proxy reload',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const done = await api.call('proxy.allowlist.reload', {})
    const { applied, needs_restart, rules } = done as { applied: string[]; needs_restart: string[]; rules: number }
    printResult(terminal, given.json, done, () =>
      formatFields(terminal, {
        rules,
        applied: applied.length > 0 ? applied : 'nothing has changed',
        ...(needs_restart.length > 0 ? { needs_restart } : {}),
      }),
    )
    return 0
  },
})

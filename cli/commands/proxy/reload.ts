// Has the running door read its profile again.
import { command } from '../../command.ts'
import { fields, show } from '../../output.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'proxy reload',
  summary: 'have the running door go by allowlist, limits and TLS certificate as they are now',
  notes:
    'No request is dropped. A profile with a fault, or a certificate that is not of its key or has ended, is refused as a whole, and nothing changes. SIGHUP does the same.',
  options: { ...serviceOptions },
  example: 'platform proxy reload',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const done = await api.call('proxy.allowlist.reload', {})
    const { applied, needs_restart, rules } = done as { applied: string[]; needs_restart: string[]; rules: number }
    show(terminal, given.json, done, () =>
      fields(terminal, {
        rules,
        applied: applied.length > 0 ? applied : 'nothing has changed',
        ...(needs_restart.length > 0 ? { needs_restart } : {}),
      }),
    )
    return 0
  },
})

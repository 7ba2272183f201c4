// Shows what the running door refused most often.
import { command } from '../../command.ts'
import { fields, type Row, show, table } from '../../output.ts'
import { otherwise, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'proxy denials',
  summary: 'show what the door refused most often since it runs, and why',
  options: { limit: otherwise(20, whole('COUNT', 'at most so many', 1, 256)), ...serviceOptions },
  example: 'platform proxy denials --limit 10',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const found = await api.call('proxy.denial.list', { limit: given.limit })
    const columns = ['count', 'reason', 'method', 'path', 'last_at', 'last_source']
    show(terminal, given.json, found, () =>
      [
        fields(terminal, { since: found.since, denied: found.total }),
        table(terminal, found.items as Row[], columns, 'nothing was denied'),
      ].join('\n\n'),
    )
    return 0
  },
})

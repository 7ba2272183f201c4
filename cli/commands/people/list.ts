// Lists the people who are, or were, enrolled, with each of their keys.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'people list',
  summary: 'the people enrolled here, and who was',
  options: { ...siteOption, ...jsonOption },
  example: 'platform people list',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const people = await offline.people()
    const items = await people.list(folder)
    const rows = items.flatMap(({ subject, enrolled, keys }) => keys.map((key) => ({ ...key, subject, enrolled })))
    const columns = ['subject', 'status', 'algorithm', 'fingerprint', 'not_after', 'enrolled']
    show(terminal, given.json, { items }, () => table(terminal, rows, columns, 'nobody is enrolled'))
    return 0
  },
})

// Lists people who are or were enrolled, with each of their keys.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { formatTable } from '../../terminal/output.ts'
import { printWholeList } from '../../terminal/print-items.ts'

export const definition = command({
  words: 'people list',
  summary: 'List current and former enrolled people',
  options: { ...siteOption, ...jsonOption },
  example: 'platform people list',
  async run(params, terminal) {
    const folder = requireOwnSite(params, terminal)
    const people = await offline.people()
    const items = await people.listPeople(folder)
    const rows = items.flatMap(({ subject, enrolled, keys }) => keys.map((key) => ({ ...key, subject, enrolled })))
    const columns = ['subject', 'status', 'algorithm', 'fingerprint', 'not_after', 'enrolled']
    printWholeList(terminal, params.json, items, () => formatTable(terminal, rows, columns, 'nobody is enrolled'))
    return 0
  },
})

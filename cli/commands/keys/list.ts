// Lists the site's keys, their public side only.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { keyColumns } from '../../key-text.ts'
import { show, table } from '../../output.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'keys list',
  summary: 'the site’s keys, oldest first',
  options: { ...siteOption, ...jsonOption },
  example: 'platform keys list',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { list } = await offline.keys()
    const items = list(folder)
    show(terminal, given.json, { items }, () => table(terminal, items, keyColumns, 'the site has no keys'))
    return 0
  },
})

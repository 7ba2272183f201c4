// Lists the keys of the site, or of a medium: their public side only.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { dirOption, foundKeys } from '../../key-place.ts'
import { keyColumns, withAge } from '../../key-text.ts'
import { show, table } from '../../output.ts'
import { jsonOption, siteOption } from '../../site.ts'

export const definition = command({
  words: 'keys list',
  summary: 'the site’s keys with their age and the days left, oldest first',
  options: { ...dirOption, ...siteOption, ...jsonOption },
  example: 'platform keys list',
  async run(given, terminal) {
    const { list } = await offline.keys()
    const items = withAge(list(foundKeys(given, terminal)), Date.now())
    show(terminal, given.json, { items }, () => table(terminal, items, keyColumns, 'there are no keys'))
    return 0
  },
})

// Lists the public halves of the keys of the site, or of a medium.
import { offline } from '../../../daemon/offline/offline.ts'
import { addKeyAge, keyColumns } from '../../format/key.ts'
import { dirOption, requireKeyLocation } from '../../options/key-location.ts'
import { jsonOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { formatTable } from '../../terminal/output.ts'
import { printWholeList } from '../../terminal/print-items.ts'

export const definition = command({
  words: 'keys list',
  summary: 'List the site’s keys with age and days left, oldest first',
  options: { ...dirOption, ...siteOption, ...jsonOption },
  example: 'platform keys list',
  async run(params, terminal) {
    const { listSiteKeys } = await offline.keys()
    const { listWrappingKeys } = await offline.wrappingKeys()
    const location = requireKeyLocation(params, terminal)
    const items = addKeyAge([...listSiteKeys(location), ...listWrappingKeys(location)], Date.now())
    printWholeList(terminal, params.json, items, () => formatTable(terminal, items, keyColumns, 'there are no keys'))
    return 0
  },
})

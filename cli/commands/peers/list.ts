// Lists the pinned peers.

import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { formatTable, type OutputRow } from '../../terminal/output.ts'
import { printWholeList } from '../../terminal/print-items.ts'

export const definition = command({
  words: 'peers list',
  summary: 'List the pinned peers',
  options: { ...siteOption, ...jsonOption },
  example: 'platform peers list',
  async run(params, terminal) {
    const folder = requireOwnSite(params, terminal)
    const peers = await offline.peers()
    const items = await peers.listPeers(folder)
    const columns = [
      'name',
      'tenant_id',
      { heading: 'ceiling', cell: (row: OutputRow) => (row as Peer).ceiling.level },
      { heading: 'keys', cell: (row: OutputRow) => (row as Peer).keys.length },
      'threshold',
      'enrolled',
    ]
    printWholeList(terminal, params.json, items, () => formatTable(terminal, items, columns, 'no peer is pinned'))
    return 0
  },
})

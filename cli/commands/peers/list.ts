// Lists the pinned peers.
import { offline } from '../../../daemon/boot/offline.ts'
import type { Peer } from '../../../daemon/kernel/peer.ts'
import { command } from '../../command.ts'
import { type Row, show, table } from '../../output.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'peers list',
  summary: 'the pinned peers',
  options: { ...siteOption, ...jsonOption },
  example: 'platform peers list',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const peers = await offline.peers()
    const items = await peers.list(folder)
    const columns = [
      'name',
      'tenant_id',
      { heading: 'ceiling', cell: (row: Row) => (row as Peer).ceiling.level },
      { heading: 'keys', cell: (row: Row) => (row as Peer).keys.length },
      'threshold',
      'enrolled',
    ]
    show(terminal, given.json, { items }, () => table(terminal, items, columns, 'no peer is pinned'))
    return 0
  },
})

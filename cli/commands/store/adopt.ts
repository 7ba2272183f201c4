// Says on purpose that the cluster which answers now holds the site's documents.
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { flag } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'store adopt',
  summary: 'take the cluster that answers for that of the documents, after a restore; the site must not run',
  notes: [
    'A site knows the cluster that holds its documents, and the indexes that it has made there. It',
    'does not start on another, and makes no index anew that is lost. Run this after every restore',
    'of a snapshot: audit records since then are copied again. Documents since then are lost.',
  ].join('\n'),
  options: {
    giveUp: flag('make indexes that the cluster lacks anew: their documents are lost for good'),
    yes: flag('do not ask'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform store adopt --yes',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { adoptAnsweringCluster } = await offline.adoption()
    const loss = given.giveUp ? ', and lose the documents of the indexes that it lacks' : ''
    await requireConsent(terminal, given.yes, `Take the cluster that answers now for that of the documents${loss}?`)
    const items = await adoptAnsweringCluster(folder, terminal.env, { give_up: given.giveUp })
    const columns = ['role', 'from', 'cluster', 'given_up']
    printResult(terminal, given.json, { items }, () =>
      formatTable(terminal, items, columns, 'no documents are in a cluster'),
    )
    return 0
  },
})

// Records the answering cluster as the one that holds the site's documents.
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { jsonOption, requireWholeSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { flag } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'store adopt',
  summary: 'Adopt the answering cluster as the document store after a restore',
  notes: [
    'The site must not run. A site records the cluster that holds its documents, and the indexes that it created',
    'there. It does not start on another cluster, and does not recreate a lost index. Run this after every',
    'restore of a snapshot: audit records since the snapshot are copied again. Documents since the snapshot are',
    'lost.',
  ].join('\n'),
  options: {
    giveUp: flag('Recreate indexes that the cluster lacks; their documents are lost for good'),
    yes: flag('Skip the confirmation'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform store adopt --yes',
  async run(params, terminal) {
    const folder = await requireWholeSite(params, terminal)
    const { adoptAnsweringCluster } = await offline.adoption()
    const loss = params.giveUp ? ', and lose the documents of its missing indexes' : ''
    await requireConsent(terminal, params.yes, `Adopt the answering cluster as the document store${loss}?`)
    const items = await adoptAnsweringCluster(folder, terminal.env, { give_up: params.giveUp })
    const columns = ['role', 'from', 'cluster', 'given_up']
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, items, columns, 'no documents are in a cluster'),
    )
    return 0
  },
})

// Moves the site's documents into an OpenSearch cluster, or back into the site's own files.
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { jsonOption, requireWholeSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { choice, flag, required } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

const documentsHomes = { cluster: 'opensearch', files: 'sqlite' } as const

export const definition = command({
  words: 'store migrate',
  summary: 'Move the documents into the cluster of search.host, or back',
  notes: [
    'The site must not run. Each collection is read back, counted and compared by its digest before the move',
    'takes effect. The earlier copy stays where it is and is no longer used. Audit chains and the carriers’',
    'journal stay in the site’s own files. After a move back, remove search.host from the profile.',
  ].join('\n'),
  positionals: { to: required(choice('TO', 'Destination of the documents', ['cluster', 'files'])) },
  options: {
    replace: flag('First remove documents that an earlier move left there'),
    yes: flag('Skip the confirmation'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform store migrate cluster',
  async run(params, terminal) {
    const folder = await requireWholeSite(params, terminal)
    const { migrateStore } = await offline.migration()
    if (params.replace) await requireConsent(terminal, params.yes, 'Remove the documents that are there already?')
    const plan = { to: documentsHomes[params.to], replace: params.replace }
    const items = await migrateStore(folder, terminal.env, plan, (text) => terminal.progress(text))
    terminal.progress('')
    const columns = ['role', 'collection', 'documents', 'digest']
    printResult(terminal, params.json, { to: params.to, items }, () =>
      formatTable(terminal, items, columns, 'the documents are there already'),
    )
    return 0
  },
})

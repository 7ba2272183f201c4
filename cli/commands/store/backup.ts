// Copies the site's databases, whether or not it runs, and verifies each copy.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'store backup',
  summary: 'Copy the databases to a new folder',
  notes: [
    'Works whether or not the site runs. Contains data only: keys, peers and the profile are a few files of the',
    'site’s folder; keep them apart and safe.',
  ].join('\n'),
  positionals: { to: required(text('DIR', 'Folder to create; must not exist')) },
  options: { ...siteOption, ...jsonOption },
  example: 'platform store backup /media/backup/2026-05-03',
  async run(params, terminal) {
    const folder = requireSite(params, terminal)
    const to = resolve(params.to)
    const { backupStore } = await offline.store()
    const backup = await backupStore(folder, terminal.env, to, Date.now(), (text) => terminal.progress(text))
    terminal.progress('')
    const columns = ['role', 'file', 'bytes', 'sha256']
    printResult(terminal, params.json, { folder: to, ...backup }, () =>
      formatTable(terminal, backup.databases, columns, 'nothing'),
    )
    return 0
  },
})

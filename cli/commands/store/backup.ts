// Copies the site's databases, while it runs or not; each copy is checked before it counts.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'store backup',
  summary: 'copy the databases to a new folder, while the site runs or not',
  notes:
    'Holds data alone: keys, peers and the profile are a few files of the site’s folder, to be kept apart and safe.',
  positionals: { to: required(text('DIR', 'a folder that does not exist yet')) },
  options: { ...siteOption, ...jsonOption },
  example: 'platform store backup /media/backup/2026-05-03',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const to = resolve(given.to)
    const { backupStore } = await offline.store()
    const made = await backupStore(folder, terminal.env, to, Date.now(), (text) => terminal.progress(text))
    terminal.progress('')
    const columns = ['role', 'file', 'bytes', 'sha256']
    printResult(terminal, given.json, { folder: to, ...made }, () =>
      formatTable(terminal, made.databases, columns, 'nothing'),
    )
    return 0
  },
})

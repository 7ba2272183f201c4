// Copies the site's databases, while it runs or not; each copy is checked before it counts.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'store backup',
  summary: 'copy the databases to a new folder, while the site runs or not',
  notes:
    'Holds data alone: keys, peers and the profile are a few files of the site’s folder, to be kept apart and safe.',
  takes: { to: needed(text('DIR', 'a folder that does not exist yet')) },
  options: { ...siteOption, ...jsonOption },
  example: 'platform store backup /media/backup/2026-05-03',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const to = resolve(given.to)
    const { backup } = await offline.store()
    const made = await backup(folder, terminal.env, to, Date.now(), (text) => terminal.progress(text))
    terminal.progress('')
    const columns = ['role', 'file', 'bytes', 'sha256']
    show(terminal, given.json, { folder: to, ...made }, () => table(terminal, made.databases, columns, 'nothing'))
    return 0
  },
})

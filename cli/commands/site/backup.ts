// Backs the whole site up into a new folder, whether or not it runs: databases, and everything else under a passphrase.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/offline/offline.ts'
import { passphraseOption, readNewPassphrase } from '../../options/passphrase.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'site backup',
  summary: 'Back up the whole site to a new folder, its keys under a passphrase',
  notes: [
    'Works whether or not the site runs. Databases and messages lie in the folder as they are; profile, keys, identity,',
    'people and peers are in site.jwe, encrypted with a passphrase. A lost passphrase cannot be recovered: keep it apart',
    'from the backup. Files that the profile names outside the site are not in it.',
  ].join('\n'),
  positionals: { to: required(text('DIR', 'Folder to create; must not exist')) },
  options: { ...passphraseOption, ...siteOption, ...jsonOption },
  example: 'platform site backup /media/backup/2026-05-03 --passphrase-file /media/vault/backup-passphrase',
  async run(params, terminal) {
    const folder = requireSite(params, terminal)
    const to = resolve(params.to)
    const { backupSite } = await offline.siteBackup()
    const passphrase = await readNewPassphrase(terminal, params)
    const progress = (line: string) => terminal.progress(line)
    const backup = await backupSite(folder, terminal.env, { to, passphrase, now: Date.now(), progress })
    terminal.progress('')
    const rows = [...backup.databases, { role: 'all', file: 'site.jwe', ...backup.site_files }]
    printResult(terminal, params.json, { folder: to, ...backup }, () =>
      formatTable(terminal, rows, ['role', 'file', 'bytes', 'sha256'], 'nothing'),
    )
    return 0
  },
})

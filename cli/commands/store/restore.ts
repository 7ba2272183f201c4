// Replaces the site's data by a backup, after verifying all of it; the replaced data is kept.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { flag, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'store restore',
  summary: 'Replace the site’s data by a verified backup',
  notes: [
    'The site must not run. The replaced data is kept beside it. The site no longer knows which messages it sent',
    'since the backup: no channel sends until `platform filedrop epoch PEER` has opened its next epoch. Bodies',
    'that were purged since the backup are purged from it again.',
  ].join('\n'),
  positionals: { from: required(text('DIR', 'Folder of `platform store backup`')) },
  options: { yes: flag('Skip the confirmation'), ...siteOption, ...jsonOption },
  example: 'platform store restore /media/backup/2026-05-03 --yes',
  async run(params, terminal) {
    const folder = requireSite(params, terminal)
    const { restoreBackup } = await offline.restore()
    await requireConsent(terminal, params.yes, `Replace the data of ${folder.data} by the backup?`)
    const restored = await restoreBackup(folder, terminal.env, resolve(params.from), Date.now(), (text) =>
      terminal.progress(text),
    )
    terminal.progress('')
    printResult(
      terminal,
      params.json,
      restored,
      () => `restored ${restored.roles.join(', ')}; the replaced data is in ${restored.kept.join(', ')}`,
    )
    if (!restored.roles.includes('site')) return 0
    if (restored.purged_again === undefined)
      terminal.note('the site has no record of purges since the backup: run them again')
    else if (restored.purged_again > 0) terminal.note(`${restored.purged_again} purges since the backup were repeated`)
    return 0
  },
})

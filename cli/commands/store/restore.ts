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
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { restoreBackup } = await offline.restore()
    await requireConsent(terminal, given.yes, `Replace the data of ${folder.data} by the backup?`)
    const done = await restoreBackup(folder, terminal.env, resolve(given.from), Date.now(), (text) =>
      terminal.progress(text),
    )
    terminal.progress('')
    printResult(
      terminal,
      given.json,
      done,
      () => `restored ${done.roles.join(', ')}; the replaced data is in ${done.kept.join(', ')}`,
    )
    if (!done.roles.includes('site')) return 0
    if (done.purged_again === undefined) terminal.note('purges since the backup are not known here: run them again')
    else if (done.purged_again > 0) terminal.note(`${done.purged_again} purges since the backup were repeated`)
    return 0
  },
})

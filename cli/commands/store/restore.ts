// Replaces the site's data by a backup, after verifying all of it; the replaced data is kept.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/offline/offline.ts'
import { requireConsent } from '../../confirmation/require-consent.ts'
import { readInputFile } from '../../file/input-file.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { flag, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'store restore',
  summary: 'Replace the site’s data by a verified backup',
  notes: [
    'The site must not run. The replaced data is kept beside it. The site no longer knows which messages it sent',
    'since the backup: no channel sends until `platform filedrop epoch PEER` has opened its next epoch. Bodies',
    'that were purged since the backup are purged from it again.',
  ].join('\n'),
  positionals: { from: text('DIR', 'Folder of `platform store backup`') },
  options: {
    keys: text('JWKS', 'Public keys of the site, from `platform keys export` (default: those of its folder)'),
    unsigned: flag('Accept a manifest without a valid signature: its data may have been changed by anybody'),
    undo: flag('Take back a restore that was interrupted'),
    yes: flag('Skip the confirmation'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform store restore /media/backup/2026-05-03 --yes',
  async run(params, terminal) {
    const folder = requireSite(params, terminal)
    const { restoreBackup, undoRestore } = await offline.restore()
    if (params.undo) {
      await undoRestore(folder)
      printResult(terminal, params.json, { undone: true }, () => 'the site has the data that it had before the restore')
      return 0
    }
    if (params.from === undefined) throw new CommandFailure(2, 'no folder of a backup is named')
    const from = resolve(params.from)
    const trusted = params.keys === undefined ? undefined : (await offline.keys()).parseJwks(readInputFile(params.keys))
    await requireConsent(terminal, params.yes, `Replace the data of ${folder.data} by the backup?`)
    const restored = await restoreBackup(folder, terminal.env, {
      ...{ from, trusted, unsigned: params.unsigned, now: Date.now() },
      progress: (text) => terminal.progress(text),
    })
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

// Restores a whole site onto an empty folder, after verifying all of the backup.
import { resolve } from 'node:path'
import { offline } from '../../../daemon/offline/offline.ts'
import { passphraseOption, readPassphrase } from '../../options/passphrase.ts'
import { jsonOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'site restore',
  summary: 'Restore a whole site onto an empty folder',
  notes: [
    'Verifies digests, signature, schema, every document and the audit chains before the site appears in the folder. The',
    'site no longer knows which numbers it has used since the backup: no channel sends until `platform filedrop epoch PEER`',
    'has opened its next epoch. Never run the restored site and the original at the same time.',
  ].join('\n'),
  positionals: { from: required(text('DIR', 'Folder of `platform site backup`')) },
  options: { ...passphraseOption, ...siteOption, ...jsonOption },
  example:
    'platform site restore /media/backup/2026-05-03 --site ./alpha --passphrase-file /media/vault/backup-passphrase',
  async run(params, terminal) {
    const dir = resolve(params.site ?? (terminal.env.PLATFORM_SITE || 'site'))
    const { restoreSite } = await offline.siteRestore()
    const passphrase = await readPassphrase(terminal, params, 'Passphrase of the backup: ')
    const restored = await restoreSite(terminal.env, {
      ...{ from: resolve(params.from), dir, passphrase, now: Date.now() },
      progress: (line) => terminal.progress(line),
    })
    terminal.progress('')
    printResult(terminal, params.json, { ...restored, folder: dir }, () =>
      formatFields(terminal, { site: restored.site, folder: dir, databases: restored.roles.join(', ') }),
    )
    for (const peer of restored.peers)
      terminal.note(
        `nothing is sent to ${peer} until: platform filedrop epoch ${peer} (ask ${peer} which epoch its filedrop status shows)`,
      )
    return 0
  },
})

// Prints the site's public keys as a JWKS, for peers to import and third parties to verify with.
import { offline } from '../../../daemon/offline/offline.ts'
import { writeOutputFile } from '../../file/output-file.ts'
import { keyUses } from '../../format/key.ts'
import { dirOption, resolveKeyLocation } from '../../options/key-location.ts'
import { jsonOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { choice, text } from '../../program/params.ts'
import { keepLayout, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'keys export',
  summary: 'Export the site’s public keys as a JWKS',
  notes: 'Send the fingerprints by another route than the file: people compare them at enrolment.',
  options: {
    use: choice('USE', 'Only keys of this use', keyUses),
    out: text('FILE', 'File to create (default: stdout)'),
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys export --out alpha-keys.json',
  async run(params, terminal) {
    const { exportSiteJwks } = await offline.keys()
    const { exportCurrentKeySet } = await offline.keySets()
    const location = resolveKeyLocation(params, terminal)
    const set = exportSiteJwks('dir' in location ? { keys: location.dir } : location.site, params.use)
    const document = JSON.stringify(set, undefined, params.json ? undefined : 2)
    const { out } = params
    if (out === undefined) terminal.print(keepLayout(document))
    else {
      writeOutputFile(out, `${document}\n`)
      printResult(
        terminal,
        params.json,
        { file: out, keys: set.keys.length },
        () => `${out} holds ${set.keys.length} keys`,
      )
    }
    if (params.json) return 0
    if ('site' in location && exportCurrentKeySet(location.site)) {
      terminal.note('peers pin the key set in force: platform keys set show --out FILE')
    }
    for (const { kid, platform_fingerprint } of set.keys) terminal.note(`${kid}  ${platform_fingerprint}`)
    return 0
  },
})

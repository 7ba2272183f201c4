// Prints the site's public keys as a JWKS, for peers to import and third parties to verify with.
import { offline } from '../../../daemon/offline/offline.ts'
import { writeOutputFile } from '../../file/output-file.ts'
import { keyUses } from '../../format/key.ts'
import { dirOption, resolveKeyLocation } from '../../options/key-location.ts'
import { jsonOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { choice, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

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
  async run(given, terminal) {
    const { exportSiteJwks } = await offline.keys()
    const { exportCurrentKeySet } = await offline.keySets()
    const place = resolveKeyLocation(given, terminal)
    const set = exportSiteJwks('dir' in place ? { keys: place.dir } : place.site, given.use)
    const document = JSON.stringify(set, undefined, given.json ? undefined : 2)
    const { out } = given
    if (out === undefined) terminal.print(document)
    else {
      writeOutputFile(out, `${document}\n`)
      printResult(
        terminal,
        given.json,
        { file: out, keys: set.keys.length },
        () => `${out} holds ${set.keys.length} keys`,
      )
    }
    if (given.json) return 0
    if ('site' in place && exportCurrentKeySet(place.site)) {
      terminal.note('peers pin the key set in force: platform keys set show --out FILE')
    }
    for (const { kid, platform_fingerprint } of set.keys) terminal.note(`${kid}  ${platform_fingerprint}`)
    return 0
  },
})

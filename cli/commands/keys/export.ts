// Prints the site's public keys as a JWKS: what a peer imports, and what a third party verifies with.
import { randomBytes } from 'node:crypto'
import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { offline } from '../../../daemon/boot/offline.ts'
import { command, Failure } from '../../command.ts'
import { keyUses } from '../../key-text.ts'
import { choice, text } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'

export const definition = command({
  words: 'keys export',
  summary: 'the site’s public keys as a JWKS, for peers and verifiers',
  notes: 'Tell the fingerprints by another way than the file: people compare them at enrolment.',
  options: {
    use: choice('USE', 'only keys of this use', keyUses),
    out: text('FILE', 'write it there, where no file may be yet; else stdout'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys export --out alpha-keys.json',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { jwks } = await offline.keys()
    const set = jwks(folder, given.use)
    const document = JSON.stringify(set, undefined, given.json ? undefined : 2)
    if (given.out === undefined) terminal.print(document)
    else writeNew(given.out, `${document}\n`)
    if (given.json) return 0
    for (const { kid, platform_fingerprint } of set.keys) terminal.note(`${kid}  ${platform_fingerprint}`)
    return 0
  },
})

/** Whole or not at all, and never over a file that is there. */
function writeNew(file: string, content: string): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600 })
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new Failure(3, `${file} exists already`, 'name another file')
  } finally {
    rmSync(draft, { force: true })
  }
}

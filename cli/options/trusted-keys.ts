// The option that names the keys by which evidence is verified.
import { offline } from '../../daemon/offline/offline.ts'
import { max_key_set_bytes, readInputFile } from '../file/input-file.ts'
import { nameList } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { findOptionalSite } from './site-options.ts'

export const trustedKeysOption = {
  keys: nameList(
    '[NAME=]FILE,...',
    'JWKS or key set of the signer, or of the named site or contributor (default: keys pinned at this site)',
  ),
}

/** The keys of --keys, else those that the site has pinned; none on a machine without a site. */
export async function findTrustedKeys(keys: readonly string[], site: string | undefined, terminal: Terminal) {
  const { readTrustedKeys } = await offline.evidence()
  if (keys.length > 0) {
    const files = keys.map(splitKeysOption)
    const trusted = await Promise.all(
      files.map(({ name, path }) => readTrustedKeys(name, readInputFile(path, max_key_set_bytes))),
    )
    return { trusted, source: 'given', ownSite: false } as const
  }
  const folder = findOptionalSite({ site }, terminal)
  if (!folder) return { trusted: [], source: 'given', ownSite: false } as const
  const { listPinnedKeys } = await offline.pinnedEvidenceKeys()
  return { trusted: await listPinnedKeys(folder, terminal.env), source: 'pinned', ownSite: true } as const
}

/** `bravo=bravo.json` are the keys of bravo, `alpha.json` and `./a=b.json` those of the site that signed the block. */
function splitKeysOption(value: string): { readonly name: string | undefined; readonly path: string } {
  const [, name, path] = /^([^=/\\]+)=(.+)$/.exec(value) ?? []
  return path === undefined ? { name: undefined, path: value } : { name, path }
}

// The option that names the keys by which an audit export is verified.
import { offline } from '../../daemon/offline/offline.ts'
import { max_key_set_bytes, readInputFile } from '../file/input-file.ts'
import { text } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { findOptionalSite } from './site-options.ts'

export const exportKeysOption = {
  keys: text('FILE', 'JWKS or key set of the site that made FILE (default: keys pinned at this site)'),
}

type ExportKeyOptions = { readonly keys: string | undefined; readonly site: string | undefined }

/** Finds the keys of the site that an export names: those of --keys, else the pinned ones. */
export async function createExportKeyFinder(params: ExportKeyOptions, terminal: Terminal) {
  const { readSenderKeys, findPinnedSender } = await offline.filedrop()
  return async (site: string) => {
    if (params.keys !== undefined) return await readSenderKeys(readInputFile(params.keys, max_key_set_bytes))
    const folder = findOptionalSite(params, terminal)
    return folder && (await findPinnedSender(folder, terminal.env, site))
  }
}

// Files of a new site with their modes, as `platform init` creates them.
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'

export type CreatedFile = { readonly name: string; readonly mode: string; readonly isFolder: boolean }

/** Ids of keys differ from site to site; each role has the same files. */
const withoutIds = (name: string) =>
  name.replace(/-[\w-]{16}\.json$/, '-ID.json').replace(/^identity\/roles\/[a-z]+/, 'identity/roles/ROLE')

/** Sorted by name, each once. */
export function listCreatedFiles(dir: string, folder = dir): CreatedFile[] {
  const found = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const place = path.join(folder, entry.name)
    const name = withoutIds(path.relative(dir, place))
    const mode = (statSync(place).mode & 0o7777).toString(8).padStart(4, '0')
    const file = { name: entry.isDirectory() ? `${name}/` : name, mode, isFolder: entry.isDirectory() }
    return entry.isDirectory() ? [file, ...listCreatedFiles(dir, place)] : [file]
  })
  return [...new Map(found.map((file) => [file.name, file])).values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

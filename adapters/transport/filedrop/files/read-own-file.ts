// Reads this site's own small files; `writeDurably` writes them.
import * as fs from 'node:fs'

const max_own_file_bytes = 65_536

/** Undefined when it is absent, not a regular file, or larger than any file of this site. */
export function readOwnFile(path: string): string | undefined {
  const found = fs.lstatSync(path, { throwIfNoEntry: false })
  if (!found?.isFile() || found.size > max_own_file_bytes) return undefined
  return fs.readFileSync(path, 'utf8')
}

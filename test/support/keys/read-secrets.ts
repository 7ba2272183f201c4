// Reads what no output may show: the private members of the key files of a site.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Private parts of every key of a key folder, wrapping keys included, as their files have them. */
export function readSecrets(keys: string): string[] {
  const files = readdirSync(keys, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const texts = files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), 'utf8'))
  return texts.flatMap((text) => [...text.matchAll(/"(?:d|priv|key)": ?"([\w-]+)"/g)].map(([, secret]) => secret ?? ''))
}

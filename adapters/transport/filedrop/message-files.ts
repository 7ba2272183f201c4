// Finds the two files of a message from the path of either, also where quarantine has renamed them.
import { basename, dirname, join } from 'node:path'
import { fileOf, parseName } from './names.ts'

/** `name`: the envelope's as it was published; in quarantine the id has a mark of eight digits behind it. */
export function bothFiles(path: string): { env: string; body: string; name: string } {
  const file = basename(path)
  const stem = /^(.+)\.(env|body)\.json$/.exec(file)?.[1]
  if (stem === undefined) return { env: path, body: path, name: file }
  const published = stem.replace(/^(\d{8}-\d{16})-[0-9a-f]{8}$/, '$1')
  const beside = (part: 'env' | 'body') => join(dirname(path), fileOf(stem, part))
  const name = fileOf(published, 'env')
  return { env: beside('env'), body: beside('body'), name: parseName(name) ? name : file }
}

// Finds the two files of a message from the path of either one, also under their names in quarantine.
import { basename, dirname, join } from 'node:path'
import { parseMessageName, partFileName } from '../files/message-name.ts'

const partName = /^(.+)\.(env|body)\.json$/

/** Whether the file has the name of an envelope or a body, which decides how it is read. */
export function isMessagePart(path: string): boolean {
  return partName.test(basename(path))
}

/** `name`: the envelope's as it was published; in quarantine the id has a mark of eight digits behind it. */
export function findMessageFiles(path: string): { env: string; body: string; name: string } {
  const file = basename(path)
  const stem = partName.exec(file)?.[1]
  if (stem === undefined) return { env: path, body: path, name: file }
  const published = stem.replace(/^(\d{8}-\d{16})-[0-9a-f]{8}$/, '$1')
  const beside = (part: 'env' | 'body') => join(dirname(path), partFileName(stem, part))
  const name = partFileName(published, 'env')
  return { env: beside('env'), body: beside('body'), name: parseMessageName(name) ? name : file }
}

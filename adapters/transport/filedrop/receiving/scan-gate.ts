// Shows a body to the scanner as it was verified: in a file of our own, since whoever brought it may still hold theirs open.
import * as fsp from 'node:fs/promises'
import { join } from 'node:path'
import { bytesOf, type Specimen } from '../checks/specimen.ts'
import { fileOf } from '../names.ts'
import type { Desk } from './fate.ts'
import type { Scanned } from './scanning.ts'

/** The bytes in `work` are those that were verified, whoever else has the old file open. Throws when the disk fails. */
export async function scanBody(stem: string, specimen: Specimen, { line, around }: Desk): Promise<Scanned> {
  const { scanner } = around
  if (!scanner) return { answer: 'clean' }
  const file = fileOf(stem, 'body')
  const path = join(line.folders.work, file)
  const draft = join(line.folders.tmp, `scan-${file}`)
  const handle = await fsp.open(draft, 'w', 0o600)
  try {
    await handle.writeFile(bytesOf(specimen.body))
    // A crash right after the renaming must not leave an empty file in the place of the message.
    await handle.sync()
  } finally {
    await handle.close()
  }
  await fsp.rename(draft, path)
  return await scanner(path)
}

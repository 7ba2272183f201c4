// Ends what a crash cut short after a folder was whole on the medium: its messages leave `ready`, and are not copied twice.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { readDropped } from '../checks/dropped-file.ts'
import type { Line } from '../line.ts'
import { parseName } from '../names.ts'
import { syncFolder } from '../own-file.ts'
import type { Exporting } from './exporting.ts'
import { digestOf, isFolderName, type Manifest, manifest_file, readManifest, type Signer } from './manifest.ts'

export type Held = Manifest['files'][number]

/** How many messages the medium holds already, as this site signed for them, that were still in `ready`. */
export async function finishPickUps(line: Line, media: string, given: Exporting): Promise<number> {
  const { hands, site } = given
  const waiting = hands.site(() => new Set(fs.readdirSync(line.folders.ready)))
  if (waiting.size === 0) return 0
  const stems = new Set<string>()
  const names = hands.medium(() => fs.readdirSync(media).filter(isFolderName))
  for (const name of names.filter((each) => each.startsWith(`${site}-to-${line.peer}-`))) {
    const held = (await ownManifest(join(media, name), line, given))?.files ?? []
    const still = held.filter((file) => waiting.has(file.name) && isThere(join(media, name), line, file, given))
    if (still.length === 0) continue
    hands.site(() => removeFrom(line.folders.ready, still))
    for (const file of still) stems.add(parseName(file.name)?.stem ?? '')
  }
  return stems.size
}

/** Read as its receiver would, with this site's own keys in the place of the pinned ones. */
async function ownManifest(folder: string, line: Line, given: Exporting): Promise<Manifest | undefined> {
  const { hands, site, signatures } = given
  const keys = hands.site(() => [...signatures.publicKeys()])
  const self: Signer = { name: site, keys, threshold: 1 }
  const path = join(folder, manifest_file)
  const read = await hands.medium(() =>
    readManifest(path, { site: line.peer, signatures, peer: async (src) => (src === site ? self : undefined) }),
  )
  return read.is === 'sound' ? read.manifest : undefined
}

/** That it is gone from here is how the sender knows that a carrier took it. */
export function removeFrom(ready: string, held: readonly Pick<Held, 'name'>[]): void {
  for (const { name } of held) fs.rmSync(join(ready, name), { force: true })
  syncFolder(ready)
}

/** Both here and on the medium, byte for byte: what waits here only shares its name is another message. */
function isThere(folder: string, line: Line, { name, bytes, sha384 }: Held, { hands }: Exporting): boolean {
  const holds = (path: string) => {
    const file = readDropped(path, bytes)
    return 'bytes' in file && digestOf(file.bytes) === sha384
  }
  return hands.medium(() => holds(join(folder, name))) && hands.site(() => holds(join(line.folders.ready, name)))
}

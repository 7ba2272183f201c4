// Finishes an export that a crash interrupted: messages that are already on the medium leave `ready`.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { readDroppedFile } from '../files/dropped-file.ts'
import { parseMessageName } from '../files/message-name.ts'
import type { FiledropLink } from '../link/filedrop-link.ts'
import { removeFromReady } from '../sending/publish-message.ts'
import type { NoteSigner } from '../signed-notes.ts'
import type { ChannelExportOptions } from './export-channel.ts'
import {
  type CourierManifest,
  isFolderName,
  type ManifestFile,
  manifest_file,
  readManifest,
  sha384Hex,
} from './manifest.ts'

/** How many messages the medium holds already, as this site signed for them, that were still in `ready`. */
export async function finishPickups(link: FiledropLink, media: string, options: ChannelExportOptions): Promise<number> {
  const { steps, site } = options
  const waiting = steps.site(() => new Set(fs.readdirSync(link.folders.ready)))
  if (waiting.size === 0) return 0
  const stems = new Set<string>()
  const names = steps.medium(() => fs.readdirSync(media).filter(isFolderName))
  for (const name of names.filter((each) => each.startsWith(`${site}-to-${link.peer}-`))) {
    const held = (await readOwnManifest(join(media, name), link, options))?.files ?? []
    const still = held.filter((file) => waiting.has(file.name) && isOnBothSides(join(media, name), link, file, options))
    if (still.length === 0) continue
    steps.site(() => removeFromReady(link.folders.ready, still))
    for (const file of still) stems.add(parseMessageName(file.name)?.stem ?? '')
  }
  return stems.size
}

/** Read as its receiver would, with this site's own keys in the place of the pinned ones. */
async function readOwnManifest(
  folder: string,
  link: FiledropLink,
  options: ChannelExportOptions,
): Promise<CourierManifest | undefined> {
  const { steps, site, signatures } = options
  const keys = steps.site(() => [...signatures.publicKeys()])
  const self: NoteSigner = { name: site, keys, threshold: 1 }
  const path = join(folder, manifest_file)
  const read = await steps.medium(() =>
    readManifest(path, { site: link.peer, signatures, peer: async (src) => (src === site ? self : undefined) }),
  )
  return read.is === 'sound' ? read.manifest : undefined
}

/** Both here and on the medium, byte for byte: what waits here only shares its name is another message. */
function isOnBothSides(
  folder: string,
  link: FiledropLink,
  { name, bytes, sha384 }: ManifestFile,
  { steps }: ChannelExportOptions,
): boolean {
  const holds = (path: string) => {
    const file = readDroppedFile(path, bytes)
    return 'bytes' in file && sha384Hex(file.bytes) === sha384
  }
  return steps.medium(() => holds(join(folder, name))) && steps.site(() => holds(join(link.folders.ready, name)))
}

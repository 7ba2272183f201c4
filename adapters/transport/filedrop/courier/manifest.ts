// What a courier's medium holds for one channel, signed by the sender: which files, how long, with which digests.
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { isRefused, type Refused, refuse } from '../../../../daemon/kernel/errors.ts'
import { jws, type Signatures } from '../../../../daemon/kernel/keys.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import { hex96, siteName } from '../../../../daemon/kernel/transport.ts'
import { type Path, readDropped } from '../checks/dropped-file.ts'
import { strictJson } from '../checks/strict-json.ts'
import { parseName } from '../names.ts'
import { bySigner, claimedEnds } from '../signed-notes.ts'

export const manifest_file = 'MANIFEST.json'

/** So that the payload stays below the 48 KiB of a JWS of this house: a line takes some 190 bytes. */
export const most_messages = 100

/** Sixteen signatures of the largest kind around the largest payload. */
const max_manifest_bytes = 262_144

const name = z.string().refine((given) => parseName(given) !== undefined, 'must be the name of a message’s file')

export const manifest = z
  .strictObject({
    v: z.literal(1),
    type: z.literal('platform.manifest'),
    src: siteName,
    dst: siteName,
    channel: z.string().min(1).max(128),
    created: z.iso.datetime(),
    medium: z.string().regex(/^[0-9a-f]{16}$/),
    files: z
      .array(z.strictObject({ name, bytes: z.int().min(0), sha384: hex96 }))
      .min(1)
      .max(2 * most_messages),
  })
  .refine(({ files }) => new Set(files.map((file) => file.name)).size === files.length, 'names a file twice')
export type Manifest = z.infer<typeof manifest>

export function folderName({ src, dst, medium }: Pick<Manifest, 'src' | 'dst' | 'medium'>): string {
  return `${src}-to-${dst}-${medium}`
}

/** What may be such a folder, by its name; which ends it has is not to be read from it, since sites' names hold hyphens. */
export function isFolderName(given: string): boolean {
  return /^[a-z0-9][a-z0-9-]*-to-[a-z0-9][a-z0-9-]*-[0-9a-f]{16}$/.test(given)
}

export type ManifestRead =
  | { readonly is: 'sound'; readonly manifest: Manifest }
  /** By its own word, which nobody has verified. */
  | { readonly is: 'for_another'; readonly dst: string }
  | { readonly is: 'absent' }
  | { readonly is: 'fault'; readonly detail: string }

export type Reader = {
  readonly site: string
  readonly signatures: Pick<Signatures, 'verify'>
  /** Undefined for a site that is not pinned. */
  readonly peer: (name: string) => Promise<Signer | undefined>
}

export type Signer = Pick<Peer, 'name' | 'keys' | 'threshold'>

/** Verified by the pinned keys of whoever it says that it is from; `dst` must be this site. Throws when the disk fails. */
export async function readManifest(path: Path, { site, signatures, peer: find }: Reader): Promise<ManifestRead> {
  const file = readDropped(path, max_manifest_bytes)
  if ('gone' in file) return { is: 'absent' }
  if ('fault' in file) return { is: 'fault', detail: `${manifest_file}: ${file.fault.detail}` }
  const read = strictJson(file.bytes)
  const note = jws.safeParse(read.outcome === 'value' ? read.value : undefined).data
  const ends = note && claimedEnds(note)
  if (!note || !ends) return { is: 'fault', detail: `${manifest_file} is no manifest` }
  if (ends.dst !== site) return { is: 'for_another', dst: ends.dst }
  const peer = await find(ends.src)
  if (!peer) return { is: 'fault', detail: `${ends.src} is not pinned` }
  const said = ownWord(await bySigner('manifest', note, peer, manifest, signatures), site, peer.name)
  return isRefused(said) ? { is: 'fault', detail: said.message } : { is: 'sound', manifest: said }
}

function ownWord(said: Manifest | Refused, site: string, peer: string): Manifest | Refused {
  if (isRefused(said)) return said
  const isFor = said.dst === site && said.src === peer && said.channel === `filedrop/${peer}/${site}`
  return isFor ? said : refuse('invalid', 'the manifest is of another channel')
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha384').update(bytes).digest('hex')
}

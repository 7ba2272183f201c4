// The signed manifest of a folder on a courier's medium: names, sizes and digests of its files.
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { type Jws, jws, type Signatures } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../../../../daemon/kernel/error/errors.ts'
import { hex96, siteName } from '../../../../daemon/kernel/messaging/statement.ts'
import { parseMessageJson } from '../checks/message-json.ts'
import { type DroppedFilePath, readDroppedFile } from '../files/dropped-file.ts'
import { parseMessageName } from '../files/message-name.ts'
import { claimedEnds, type NoteSigner, verifyPeerNote } from '../signed-notes.ts'

export const manifest_file = 'MANIFEST.json'

/** So that the payload stays below the 48 KiB limit of a JWS: a line takes about 190 bytes. */
export const max_folder_messages = 100

/** Sixteen signatures of the largest kind around the largest payload. */
export const max_manifest_bytes = 262_144

const messageFileName = z
  .string()
  .refine((given) => parseMessageName(given) !== undefined, 'must be the name of a message’s file')

const courierManifest = z
  .strictObject({
    v: z.literal(1),
    type: z.literal('platform.manifest'),
    src: siteName,
    dst: siteName,
    channel: z.string().min(1).max(128),
    created: z.iso.datetime(),
    medium: z.string().regex(/^[0-9a-f]{16}$/),
    files: z
      .array(z.strictObject({ name: messageFileName, bytes: z.int().min(0), sha384: hex96 }))
      .min(1)
      .max(2 * max_folder_messages),
  })
  .refine(({ files }) => new Set(files.map((file) => file.name)).size === files.length, 'names a file twice')
export type CourierManifest = z.infer<typeof courierManifest>
export type ManifestFile = CourierManifest['files'][number]

export function folderName({ src, dst, medium }: Pick<CourierManifest, 'src' | 'dst' | 'medium'>): string {
  return `${src}-to-${dst}-${medium}`
}

/** Whether a name may be such a folder; its ends are not read from it, since names of sites contain hyphens. */
export function isFolderName(given: string): boolean {
  return /^[a-z0-9][a-z0-9-]*-to-[a-z0-9][a-z0-9-]*-[0-9a-f]{16}$/.test(given)
}

export type ManifestReadResult =
  | { readonly is: 'sound'; readonly manifest: CourierManifest }
  /** Claimed by the manifest, unverified. */
  | { readonly is: 'for_another'; readonly dst: string }
  | { readonly is: 'absent' }
  | { readonly is: 'fault'; readonly detail: string }

export type ManifestReaderOptions = {
  readonly site: string
  readonly signatures: Pick<Signatures, 'verify'>
  /** Undefined for a site that is not pinned. */
  readonly peer: (name: string) => Promise<NoteSigner | undefined>
}

/** Verifies a manifest by the pinned keys of the site that it names; `dst` must be this site. Throws when the disk fails. */
export async function readManifest(
  path: DroppedFilePath,
  { site, signatures, peer: find }: ManifestReaderOptions,
): Promise<ManifestReadResult> {
  const file = readDroppedFile(path, max_manifest_bytes)
  if ('gone' in file) return { is: 'absent' }
  if ('fault' in file) return { is: 'fault', detail: `${manifest_file}: ${file.fault.detail}` }
  const note = jws.safeParse(parseMessageJson(file.bytes)).data
  const ends = note && claimedEnds(note)
  if (!note || !ends) return { is: 'fault', detail: `${manifest_file} is not a valid manifest` }
  if (ends.dst !== site) return { is: 'for_another', dst: ends.dst }
  const peer = await find(ends.src)
  if (!peer) return { is: 'fault', detail: `${ends.src} is not pinned` }
  const manifest = await verifyManifest(note, peer, site, signatures)
  return isRefusal(manifest) ? { is: 'fault', detail: manifest.message } : { is: 'sound', manifest }
}

/** The manifest of this peer for `site`. Refuses `signature_invalid` and `invalid`. */
export async function verifyManifest(
  note: Jws,
  peer: NoteSigner,
  site: string,
  signatures: Pick<Signatures, 'verify'>,
): Promise<CourierManifest | Refusal> {
  const manifest = await verifyPeerNote('manifest', note, peer, courierManifest, signatures)
  if (isRefusal(manifest)) return manifest
  const { name } = peer
  const isFor = manifest.dst === site && manifest.src === name && manifest.channel === `filedrop/${name}/${site}`
  return isFor ? manifest : refuse('invalid', 'the manifest is of another channel')
}

export function sha384Hex(bytes: Uint8Array): string {
  return createHash('sha384').update(bytes).digest('hex')
}

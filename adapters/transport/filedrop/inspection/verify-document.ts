// Verifies a signed document that is one file, by the rules of its reader: manifest, receipt, announcement, key set, release.
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { parseKeySet } from '../../../../daemon/kernel/cryptography/key-set.ts'
import { type Jws, jws } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../../../../daemon/kernel/error/errors.ts'
import { epochAnnouncement } from '../../../../daemon/kernel/messaging/one-way-control.ts'
import { releaseApproval, releaseRequest } from '../../../../daemon/kernel/messaging/release.ts'
import { verifyKeySetChain } from '../../../../daemon/shared/key-set/key-succession.ts'
import { parseMessageJson } from '../checks/message-json.ts'
import { max_manifest_bytes, sha384Hex, verifyManifest } from '../courier/manifest.ts'
import { channelName } from '../files/channel-folders.ts'
import { readDroppedFile } from '../files/dropped-file.ts'
import { verifyGapReceipt } from '../sending/reports/gap-receipt.ts'
import { filedropSettings } from '../settings.ts'
import { claimedEnds, verifyNote } from '../signed-notes.ts'
import type { OfflineTrust } from './control-checks.ts'
import { isMessagePart } from './message-files.ts'

type DocumentCheck = (note: Jws, trust: OfflineTrust, path: string) => Promise<Refusal | undefined>

/** By the `typ` of their signatures. */
const documentChecks: Readonly<Record<string, { readonly name: string; readonly run: DocumentCheck }>> = {
  'platform-manifest+jws': { name: 'manifest', run: checkManifest },
  'platform-gap-receipt+jws': { name: 'receipt', run: checkReceipt },
  'platform-epoch+jws': { name: 'epoch', run: checkEpoch },
  'platform-keyset+jws': { name: 'keys', run: checkKeySet },
  'platform-release+jws': { name: 'release', run: checkRelease },
}

export type SignedDocument = {
  readonly name: string
  readonly verify: (trust: OfflineTrust) => Promise<Refusal | undefined>
}

/** Undefined for a file that is not one of these documents, and for one that intake takes for half of a message. */
export function readSignedDocument(path: string): SignedDocument | undefined {
  if (isMessagePart(path)) return undefined
  const file = readDroppedFile(path, max_manifest_bytes)
  const note = 'bytes' in file ? jws.safeParse(parseMessageJson(file.bytes)).data : undefined
  const header = Buffer.from(note?.signatures[0]?.protected ?? '', 'base64url')
  const typ = z.looseObject({ typ: z.string() }).safeParse(parseMessageJson(header)).data?.typ ?? ''
  const check = Object.hasOwn(documentChecks, typ) ? documentChecks[typ] : undefined
  return note && check && { name: check.name, verify: (trust) => check.run(note, trust, path) }
}

async function checkManifest(note: Jws, { pinned, threshold, signatures }: OfflineTrust, path: string) {
  const { src = '', dst = '' } = claimedEnds(note) ?? {}
  const manifest = await verifyManifest(note, { name: src, keys: pinned, threshold }, dst, signatures)
  if (isRefusal(manifest)) return manifest
  const { max_envelope_bytes, max_body_bytes } = filedropSettings.parse({})
  for (const { name, bytes, sha384 } of manifest.files) {
    const file = readDroppedFile(join(dirname(path), name), Math.max(max_envelope_bytes, max_body_bytes))
    const isSame = 'bytes' in file && file.bytes.length === bytes && sha384Hex(file.bytes) === sha384
    if (!isSame) return refuse('invalid', `${name} is not beside the manifest as it lists it`)
  }
  return undefined
}

async function checkReceipt(note: Jws, { pinned, threshold, signatures }: OfflineTrust) {
  const { src = '', dst = '' } = claimedEnds(note) ?? {}
  const receipt = await verifyGapReceipt(note, { name: src, keys: pinned, threshold }, dst, signatures)
  return isRefusal(receipt) ? receipt : undefined
}

async function checkEpoch(note: Jws, { pinned, root_threshold, signatures }: OfflineTrust) {
  const roots = pinned.filter(({ use }) => use === 'root')
  const announcement = await verifyNote('epoch', note, roots, root_threshold, epochAnnouncement, signatures)
  if (isRefusal(announcement)) return announcement
  const { channel, src, dst } = announcement
  return channel === channelName(src, dst) ? undefined : refuse('invalid', 'it announces an epoch of another channel')
}

async function checkKeySet(note: Jws, { pinned: keys, root_threshold, key_set, signatures }: OfflineTrust) {
  const { site = '', tenant_id = '' } = parseKeySet(note) ?? {}
  return await verifyKeySetChain(key_set ?? { site, tenant_id, keys, root_threshold }, [note], { signatures })
}

async function checkRelease(note: Jws, { pinned, signatures }: OfflineTrust) {
  const personal = pinned.filter(({ use }) => use === 'personal')
  const release = await verifyNote('release', note, personal, 1, z.union([releaseRequest, releaseApproval]), signatures)
  return isRefusal(release) ? release : undefined
}

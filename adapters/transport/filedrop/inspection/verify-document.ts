// Verifies a signed document that is one file, by the rules of its reader: manifest, receipt, announcement, key set, release.
import { dirname } from 'node:path'
import * as z from 'zod'
import { findSoleSigner } from '../../../../daemon/kernel/cryptography/counting-signers.ts'
import { parseKeySet } from '../../../../daemon/kernel/cryptography/key-set.ts'
import { type Jws, jws } from '../../../../daemon/kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../../../../daemon/kernel/error/errors.ts'
import { epochAnnouncement } from '../../../../daemon/kernel/messaging/one-way-control.ts'
import {
  findReleaseFault,
  parseRelease,
  personalSignature,
  releaseApproval,
  releaseRequest,
} from '../../../../daemon/kernel/messaging/release.ts'
import { verifyKeySetChain } from '../../../../daemon/shared/key-set/key-succession.ts'
import { parseMessageJson } from '../checks/message-json.ts'
import { groupMessages, readListedMessage } from '../courier/listed-messages.ts'
import { max_manifest_bytes, verifyManifest } from '../courier/manifest.ts'
import { channelName } from '../files/channel-folders.ts'
import { readDroppedFile } from '../files/dropped-file.ts'
import { verifyGapReceipt } from '../sending/reports/gap-receipt.ts'
import { filedropSettings } from '../settings.ts'
import { claimedEnds, type NoteSigner, verifyNote } from '../signed-notes.ts'
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

async function checkManifest(note: Jws, trust: OfflineTrust, path: string) {
  const manifest = await verifyManifest(note, senderOf(note, trust), claimedEnds(note)?.dst ?? '', trust.signatures)
  if (isRefusal(manifest)) return manifest
  const limits = filedropSettings.parse({})
  const found = groupMessages(manifest).flatMap((files) => readListedMessage(dirname(path), files, limits).faults)
  const [first] = found
  return first && refuse('invalid', `${first.file}: ${first.why}`)
}

async function checkReceipt(note: Jws, trust: OfflineTrust) {
  const receipt = await verifyGapReceipt(note, senderOf(note, trust), claimedEnds(note)?.dst ?? '', trust.signatures)
  return isRefusal(receipt) ? receipt : undefined
}

/** The site whose key set is known, or else the one that the note names: keys alone do not say whose they are. */
function senderOf(note: Jws, { pinned: keys, threshold, key_set }: OfflineTrust): NoteSigner {
  return { name: key_set?.site ?? claimedEnds(note)?.src ?? '', keys, threshold }
}

async function checkEpoch(note: Jws, { pinned, root_threshold, key_set, signatures }: OfflineTrust) {
  const roots = pinned.filter(({ use }) => use === 'root')
  const announcement = await verifyNote('epoch', note, roots, root_threshold, epochAnnouncement, signatures)
  if (isRefusal(announcement)) return announcement
  const { channel, src, dst } = announcement
  const isOwn = channel === channelName(src, dst) && src === (key_set?.site ?? src)
  return isOwn ? undefined : refuse('invalid', 'it announces an epoch of another channel')
}

async function checkKeySet(note: Jws, { pinned: keys, root_threshold, key_set, signatures }: OfflineTrust) {
  const { site = '', tenant_id = '' } = parseKeySet(note) ?? {}
  return await verifyKeySetChain(key_set ?? { site, tenant_id, keys, root_threshold }, [note], { signatures })
}

async function checkRelease(note: Jws, { pinned, signatures }: OfflineTrust) {
  const release = parseRelease(releaseRequest, note) ?? parseRelease(releaseApproval, note)
  if (!release) return refuse('invalid', 'what was signed is not a release in canonical JSON')
  if (!personalSignature.safeParse(note).success) return refuse('signature_invalid', 'one person signs, with one key')
  const personal = pinned.filter(({ use }) => use === 'personal')
  const signer = findSoleSigner(await signatures.verify('release', note, personal), release.created)
  if (typeof signer === 'string') return refuse('signature_invalid', `no key of a person holds for it: ${signer}`)
  const fault = findReleaseFault(release)
  return fault === undefined ? undefined : refuse('invalid', fault)
}

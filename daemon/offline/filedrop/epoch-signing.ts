// Signs an epoch announcement with root keys: in the site, on a medium mounted for this purpose, or on a machine
// without a site.

import { hasPrivateHalf, readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { signWithKeys } from '../../../adapters/keys/jose/signatures.ts'
import { selectUsableKeys } from '../../kernel/cryptography/key-set.ts'
import { type Jws, jws } from '../../kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../kernel/encoding/canonical-json.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { type EpochAnnouncement, epochAnnouncement } from '../../kernel/messaging/one-way-control.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/**
 * Signs with every root key of the folder that may sign now. Throws `OfflineCommandError` (3) if there is none, and
 * `KeyLockedError`.
 */
export async function signEpoch(
  dir: string,
  unsigned: EpochAnnouncement,
  passphrase?: () => string | undefined,
): Promise<Jws> {
  const announcement = epochAnnouncement.parse(unsigned)
  const privateKeys = readKeyFiles(dir).filter(hasPrivateHalf)
  const usable = selectUsableKeys(
    privateKeys.map(({ public_key }) => public_key),
    'root',
    announcement.created,
  )
  const keys = privateKeys.filter(({ public_key }) => usable.includes(public_key))
  if (keys.length === 0) {
    throw new OfflineCommandError(
      3,
      `${dir} contains no root key that may sign`,
      'name the folder of the root keys with --keys DIR',
    )
  }
  return await signWithKeys(keys, 'epoch', Buffer.from(canonicalJson(announcement)), passphrase)
}

/** An announcement that root keys in several places sign; `envelope` has the signatures so far. */
export type EpochAnnouncementFile = { readonly announcement: EpochAnnouncement; readonly envelope?: Jws }

/** Parses a file of `filedrop epoch --out` or `keys sign-epoch`. Throws `OfflineCommandError` (2) for other text. */
export function parseEpochFile(text: string): EpochAnnouncementFile {
  const value = parseJson(text)
  const envelope = jws.safeParse(value).data
  const payload = envelope && Buffer.from(envelope.payload, 'base64url').toString('utf8')
  const announcement = epochAnnouncement.safeParse(payload === undefined ? value : parseJson(payload)).data
  if (announcement && (payload === undefined || payload === canonicalJson(announcement)))
    return envelope ? { announcement, envelope } : { announcement }
  throw new OfflineCommandError(
    2,
    'the file is not an epoch announcement',
    '`platform filedrop epoch PEER --out FILE` makes one',
  )
}

/** Adds the signatures of this folder's keys, replacing earlier ones of the same key. Throws as `signEpoch` does. */
export async function addEpochSignatures(
  dir: string,
  { announcement, envelope }: EpochAnnouncementFile,
  passphrase: () => string | undefined,
): Promise<Jws> {
  const signed = await signEpoch(dir, announcement, passphrase)
  const headers = new Set(signed.signatures.map((signature) => signature.protected))
  const otherSignatures = envelope?.signatures.filter((signature) => !headers.has(signature.protected)) ?? []
  return { ...signed, signatures: [...otherSignatures, ...signed.signatures] }
}

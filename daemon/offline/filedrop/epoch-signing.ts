// Signs the announcement of an epoch with root keys: in the site, on a medium mounted for this alone, or where no site is.
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { signWith } from '../../../adapters/keys/jose/signatures.ts'
import { selectUsableKeys } from '../../kernel/cryptography/key-set.ts'
import { type Jws, jws } from '../../kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../kernel/encoding/canonical-json.ts'
import { type EpochAnnouncement, epochAnnouncement } from '../../kernel/messaging/one-way-control.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** By every root key of the folder that may sign now. Throws `OfflineCommandError` (3) when there is none, and `Locked`. */
export async function signEpoch(
  dir: string,
  said: EpochAnnouncement,
  passphrase?: () => string | undefined,
): Promise<Jws> {
  const announcement = epochAnnouncement.parse(said)
  const held = readKeyFiles(dir).filter(({ private_jwk, private_jwe }) => (private_jwk ?? private_jwe) !== undefined)
  const able = selectUsableKeys(
    held.map(({ public_key }) => public_key),
    'root',
    announcement.created,
  )
  const keys = held.filter(({ public_key }) => able.includes(public_key))
  if (keys.length === 0) {
    throw new OfflineCommandError(
      3,
      `there is no root key in ${dir} that may sign`,
      'name the folder that holds it with --keys DIR',
    )
  }
  return await signWith(keys, 'epoch', Buffer.from(canonicalJson(announcement)), passphrase)
}

/** An announcement on its way between root keys that lie apart: `note` as it is signed so far. */
export type EpochAnnouncementFile = { readonly announcement: EpochAnnouncement; readonly envelope?: Jws }

/** What `filedrop epoch --out` wrote, or `keys sign-epoch` after it. Throws `OfflineCommandError` (2) for any other text. */
export function parseEpochFile(text: string): EpochAnnouncementFile {
  const value = parseJsonText(text)
  const note = jws.safeParse(value).data
  const payload = note && Buffer.from(note.payload, 'base64url').toString('utf8')
  const said = epochAnnouncement.safeParse(payload === undefined ? value : parseJsonText(payload)).data
  if (said && (payload === undefined || payload === canonicalJson(said)))
    return note ? { announcement: said, envelope: note } : { announcement: said }
  throw new OfflineCommandError(
    2,
    'the file is no announcement of an epoch',
    '`platform filedrop epoch PEER --out FILE` makes one',
  )
}

/** Signed by the keys of this folder as well; by one that has signed already it is signed anew. Throws as `signEpoch` does. */
export async function addEpochSignatures(
  dir: string,
  { announcement: said, envelope }: EpochAnnouncementFile,
  passphrase: () => string | undefined,
): Promise<Jws> {
  const own = await signEpoch(dir, said, passphrase)
  const headers = new Set(own.signatures.map((each) => each.protected))
  const others = envelope?.signatures.filter((each) => !headers.has(each.protected)) ?? []
  return { ...own, signatures: [...others, ...own.signatures] }
}

function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Signs the announcement of an epoch with root keys that lie in the site, or on a medium that is mounted for this alone.
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { signWith } from '../../../adapters/keys/jose/signatures.ts'
import { canonical } from '../../kernel/canonical.ts'
import { standing } from '../../kernel/key-set.ts'
import type { Jws } from '../../kernel/keys.ts'
import { type EpochAnnouncement, epochAnnouncement } from '../../kernel/one-way.ts'
import { Objection } from './objection.ts'

/** By every root key of the folder that may sign now. Throws `Objection` (3) when there is none, and `Locked`. */
export async function signEpoch(
  dir: string,
  said: EpochAnnouncement,
  passphrase?: () => string | undefined,
): Promise<Jws> {
  const announcement = epochAnnouncement.parse(said)
  const held = readKeyFiles(dir).filter(({ private_jwk, private_jwe }) => (private_jwk ?? private_jwe) !== undefined)
  const able = standing(
    held.map(({ public_key }) => public_key),
    'root',
    announcement.created,
  )
  const keys = held.filter(({ public_key }) => able.includes(public_key))
  if (keys.length === 0) {
    throw new Objection(
      3,
      `there is no root key in ${dir} that may sign`,
      'name the folder that holds it with --keys DIR',
    )
  }
  return await signWith(keys, 'epoch', Buffer.from(canonical(announcement)), passphrase)
}

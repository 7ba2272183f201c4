// Verifies the file of a set of artifacts on any machine: by the keys that a site has pinned, or by those given.
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { findSignerFault, type SignerFault, selectCountingKeys } from '../../kernel/cryptography/counting-signers.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import type { Label } from '../../kernel/label/label.ts'
import { runToEnd } from '../../kernel/role/run-to-end.ts'
import { set_document_type } from '../../roles/gateway/guide/set/format.ts'
import { setReading } from '../../roles/gateway/guide/set/read-set.ts'
import { textFindings } from '../../roles/gateway/service-tool/findings.ts'
import { findPinnedSender, readSenderKeys } from '../filedrop/filedrop-files.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { EnvironmentVariables } from '../site/site-profile.ts'

export type SetSignerKeys = { readonly keys: readonly PublicKey[]; readonly threshold?: number | undefined }

export type SetVerdict = {
  readonly valid: boolean
  readonly fault?: string
  readonly from: string
  readonly to: string
  readonly tenant_id: string
  readonly made_at: string
  readonly digest: string
  readonly label: Label
  readonly signed_by: readonly { readonly kid: string; readonly fingerprint: string }[]
  readonly artifacts: readonly SetFileArtifact[]
}

/** `marks`: kinds of text that misleads a model. */
export type SetFileArtifact = {
  readonly number: number
  readonly origin_id: string
  readonly type: string
  readonly version: number
  readonly level: string
  readonly marks: readonly string[]
  readonly rationale: string
}

/** The keys of a file of --keys. */
export async function readSetKeys(text: string): Promise<SetSignerKeys> {
  return await readSenderKeys(text)
}

/** The keys that the site has pinned for the site that the file names; none for a site that is not pinned. */
export async function findSetKeys(folder: SiteFolder, env: EnvironmentVariables, text: string): Promise<SetSignerKeys> {
  return await findPinnedSender(folder, env, readFile(text).manifest.from)
}

/** Throws `OfflineCommandError` (5) for a file that is not a set, or whose artifacts are not those of its manifest. */
export async function verifySetFile(text: string, { keys, threshold = 1 }: SetSignerKeys): Promise<SetVerdict> {
  const { manifest, signed, digest, artifacts } = readFile(text)
  const messageKeys = keys.filter(({ use }) => use === 'message')
  const verified = await verifyJws(set_document_type, signed, messageKeys)
  const { from, to, tenant_id, made_at, label } = manifest
  const fault = findSignerFault(verified, threshold, made_at)
  const counting = typeof verified === 'string' ? [] : selectCountingKeys(verified.keys, made_at)
  return {
    ...{ valid: fault === undefined, ...(fault ? { fault: faults[fault] } : {}) },
    ...{ from, to, tenant_id, made_at, digest, label },
    signed_by: counting.map(({ kid, fingerprint }) => ({ kid, fingerprint })),
    artifacts: artifacts.map(({ artifact_id: origin_id, type, version, rationale, label: { level }, ...rest }, at) => {
      const found = runToEnd(textFindings([rest.content, rest.applicability, rationale]))
      const marks = [...new Set(found.map(({ kind }) => kind))]
      return { number: at + 1, origin_id, type, version, level, marks, rationale }
    }),
  }
}

const faults: Readonly<Record<SignerFault, string>> = {
  bad_signature: 'the signature is not valid',
  unknown_key: 'no trusted key has signed it',
  key_revoked: 'the key that signed it is revoked',
  key_ended: 'the key that signed it had ended',
  too_few: 'fewer keys have signed it than the threshold of the signer requires',
}

function readFile(text: string) {
  const read = runToEnd(setReading(Buffer.from(text)))
  if ('fault' in read) throw new OfflineCommandError(5, read.fault)
  return read
}

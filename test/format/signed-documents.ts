// Signed documents of a test: any content under any key, as a site with that key could write it.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { GeneralSign } from 'jose'
import { importSigningKey } from '../../adapters/keys/jose/crypto-keys.ts'
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { no_predecessor } from '../../adapters/transport/filedrop/checks/sequence-check.ts'
import { messageName, partFileName } from '../../adapters/transport/filedrop/files/message-name.ts'
import { type Jws, jws } from '../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../daemon/kernel/encoding/canonical-json.ts'

export type JsonMembers = Record<string, unknown>

/**
 * A JWS over the canonical form of the content, or over these bytes, for this purpose: by any key, as a holder of that key
 * could make it.
 */
export async function signContent(
  purpose: string,
  content: JsonMembers | string,
  by: readonly StoredKey[],
): Promise<Jws> {
  const text = typeof content === 'string' ? content : canonicalJson(content)
  const signing = new GeneralSign(new Uint8Array(Buffer.from(text)))
  for (const key of by) {
    const { algorithm: alg, kid } = key.public_key
    signing.addSignature(await importSigningKey(key)).setProtectedHeader({ alg, kid, typ: `platform-${purpose}+jws` })
  }
  return jws.parse(await signing.sign())
}

export type MessageDraft = {
  readonly kind: string
  readonly schema: string
  readonly data: JsonMembers
  readonly label: JsonMembers
  readonly epoch: number
  readonly seq: number
  readonly prev?: string
  readonly created: string
  readonly not_after: string
  /** Members that replace those of the statement. */
  readonly statement?: JsonMembers
  /** The exact body; by default the canonical one. */
  readonly body?: string
}

export type MessageFiles = {
  readonly stem: string
  readonly env: string
  readonly body: string
  readonly digest: string
}

/** A message of alpha to bravo. */
export async function signMessage(content: MessageDraft, by: readonly StoredKey[]): Promise<MessageFiles> {
  const { kind, schema, data, label, epoch, seq, created, not_after, prev = no_predecessor } = content
  const body = content.body ?? canonicalJson({ data, label, schema })
  const statement = {
    ...{ v: 1, type: 'platform.message', channel: 'filedrop/alpha/bravo', src: 'alpha', dst: 'bravo' },
    ...{ sender_tenant_id: 'tenant-alpha', receiver_tenant_id: 'tenant-bravo', epoch, seq, prev },
    msg_id: `msg_${sha384(`${epoch}/${seq}`).slice(0, 32)}`,
    ...{ kind, created, not_after, label, parent_block_ids: [], max_hops: 1 },
    body: { sha384: sha384(body), length: Buffer.byteLength(body), schema },
    ...content.statement,
  }
  const text = canonicalJson(statement)
  const env = JSON.stringify(await signContent('statement', text, by))
  return { stem: messageName(epoch, seq).stem, env, body, digest: sha384(text) }
}

export function writeMessage(folder: string, { stem, env, body }: Omit<MessageFiles, 'digest'>): string {
  fs.mkdirSync(folder, { recursive: true })
  const path = join(folder, partFileName(stem, 'env'))
  fs.writeFileSync(join(folder, partFileName(stem, 'body')), body)
  fs.writeFileSync(path, env)
  return path
}
